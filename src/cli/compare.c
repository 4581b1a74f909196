#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compare_print.h"
#include "cli/print.h"
#include "draw.h"

typedef struct Request {
  const char *against, *output, *rows;
  int64_t seed;
  int split, rollouts, draws, format, threads;
  bool costs, json;
} Request;

enum { MAX_DRAWS = 100000 };

/** A format, with the ending of its files. */
static const struct {
  const char *ending;
  FovComparePrinter *print;
  bool profiles;
} formats[] = {
    {".txt", fov_compare_text, false},  {".md", fov_compare_markdown, false},
    {".csv", fov_compare_csv, true},    {".json", fov_compare_json, true},
    {".tex", fov_compare_latex, false},
};

/** Some of them, and one that is no table. */
enum { TEXT, JSON = 3, FIGURE = sizeof formats / sizeof *formats };

static const char *const format_names[] = {"text", "markdown", "csv", "json", "latex", NULL};
static const char *const splits[] = {"auto", "valid", "test", NULL};

static const FovOption options[] = {
    FOV_CHOICE(Request, split, "auto", splits,
               "split of the results; auto: test if all runs are tested, else valid"),
    FOV_INT(Request, rollouts, "1", 1, 1000, "compare the results of this many rollouts"),
    FOV_TEXT(Request, rows, "compare these rows of sweeps only: soft,gaze; default: all"),
    FOV_TEXT(Request, against, "the recipe to compare all others with, or a part of its name"),
    FOV_BOOL(Request, costs, "no", "also print minutes, parameters, MFLOP and pixels"),
    FOV_INT(Request, draws, "10000", 100, MAX_DRAWS, "draws of each bootstrap"),
    FOV_LONG(Request, seed, "0", 0, 9e15, "random seed of the draws"),
    FOV_CHOICE(Request, format, "text", format_names, "format of the output"),
    FOV_BOOL(Request, json, "no", "the same as --format json"),
    FOV_TEXT(Request, output,
             "write FILE.txt, .md, .csv, .json or .tex, or draw FILE.png, .svg or .pdf"),
    FOV_CLI_THREADS(Request),
    FOV_OPTIONS_END,
};

/** The format of a file by its ending, a table's or a figure's. */
static FovStatus format_of(int *format, const char *path) {
  static const char *const figures[] = {".png", ".svg", ".pdf"};
  for (*format = 0; *format < FIGURE; (*format)++)
    if (fov_has_ending(path, formats[*format].ending)) return FOV_OK;
  for (int i = 0; i < 3; i++)
    if (fov_has_ending(path, figures[i])) return fov_draw_check(path);
  return fov_fail(FOV_ERR_USAGE,
                  "-o %s: expected a name that ends in .txt, .md, .csv, .json, .tex, .png, .svg or "
                  ".pdf",
                  path);
}

static FovStatus write_table(const char *path, const FovCompared *compared, int format) {
  FovReplace file = {0};
  FOV_TRY(fov_replace_begin(&file, path));
  FovStatus status = formats[format].print(file.stream, compared);
  if (status == FOV_OK) return fov_replace_commit(&file);
  fov_replace_abort(&file);
  return status;
}

/** Prints a table with '?' for control characters, which CSV copies from its sources. */
static FovStatus print_table(const FovCompared *compared, int format) {
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  FovStatus status = stream ? formats[format].print(stream, compared) : FOV_OK;
  if (!fov_text_close(&text, stream))
    return fov_fail(FOV_ERR_MEMORY, "no memory for the text of the comparison");
  if (status == FOV_OK) fov_print_text(stdout, text);
  free(text);
  return status;
}

static FovStatus print(const Request *request, const FovCompared *compared, int format) {
  if (!request->output) return print_table(compared, format);
  FOV_TRY(format == FIGURE ? fov_compare_figure(request->output, compared)
                           : write_table(request->output, compared, format));
  fov_print(stdout, "%s: %d recipe%s, %d run%s\n", request->output, compared->recipe_count,
            fov_plural(compared->recipe_count), compared->runs.count,
            fov_plural(compared->runs.count));
  return FOV_OK;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  int asked = request->json ? JSON : request->format, format = asked;
  if (arguments->count == 0)
    return fov_fail(FOV_ERR_USAGE,
                    "no sweep, run, folder of runs or CSV file given; see fovea compare --help");
  if (request->json && request->format != TEXT && request->format != JSON)
    return fov_fail(FOV_ERR_USAGE, "--json and --format %s: expected one of them",
                    format_names[request->format]);
  if (request->output) FOV_TRY(format_of(&format, request->output));
  if (format == FIGURE && (request->costs || request->against))
    return fov_fail(FOV_ERR_USAGE, "-o %s and %s: expected a table, found a figure",
                    request->output, request->costs ? "--costs" : "--against");
  bool chosen = asked != TEXT || fov_arguments_has(arguments, options, "format");
  if (request->output && chosen && asked != format)
    return fov_fail(FOV_ERR_USAGE, "-o %s and --%s%s: expected one of them, or the same format",
                    request->output, request->json ? "" : "format ", format_names[asked]);
  for (int i = 0; i < arguments->count && request->output; i++)
    FOV_TRY(fov_cli_check_output("-o", request->output, arguments->words[i]));
  if (request->output) {
    FOV_TRY(fov_cli_check_folder("-o", request->output));
    FOV_TRY(fov_replace_check(request->output));
  }
  FovCompareRequest what = {.sources = arguments->words,
                            .source_count = arguments->count,
                            .rows = request->rows,
                            .split = (FovCompareSplit)request->split,
                            .rollouts = request->rollouts,
                            .against = request->against,
                            .draws = request->draws,
                            .seed = (uint64_t)request->seed,
                            .costs = request->costs,
                            .threads = fov_cli_threads(request->threads),
                            .profiles = format == FIGURE || formats[format].profiles};
  FovCompared compared;
  FovStatus status = fov_compare(&compared, &what);
  if (status == FOV_OK) status = print(request, &compared, format);
  fov_compared_finish(&compared);
  return status;
}

const FovCommand fov_command_compare = {
    .name = "compare",
    .help = "compare recipes: statistics, tests, conclusions",
    .synopsis = "SWEEP|RUN|FOLDER|CSV...",
    .about =
        "Compares recipes by the results of their runs. A recipe is a configuration without its\n"
        "seed and its environment, which is the task. Prints mean with Student's interval, "
        "median,\n"
        "interquartile mean (IQM) with bootstrap interval, and probability of improvement; then\n"
        "the conclusion for each pair, corrected for the number of pairs.\n"
        "\n"
        "Sources: the folder of a sweep, runs, a folder of runs, or a CSV file with a row per "
        "run:\n"
        "columns task and seed (optional); score, or one or more of error, test_error and\n"
        "valid_error, from 0 to 1; and recipe, or any columns with settings. --rollouts 10\n"
        "takes the columns test_error_10 and valid_error_10 instead. Runs have results if\n"
        "fovea sweep or fovea eval --save has written them. Rows of a sweep file are recipes\n"
        "with the names of the rows; sources with the same rows and other seeds are pooled.\n",
    .examples = "  fovea compare sweeps/cores\n"
                "  fovea compare sweeps/cores --against core=rnn\n"
                "  fovea compare sweeps/cores -o cores.png\n"
                "  fovea compare sweeps/kinds sweeps/more-seeds --rows soft,gaze --costs\n"
                "  fovea compare runs/rnn-s? runs/lstm-s? --split test --rollouts 10 --json\n"
                "  fovea compare sweeps/cores/results.csv others.csv -o table.tex\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
