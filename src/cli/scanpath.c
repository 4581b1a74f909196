#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/stats.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "experiment/scanpath/study.h"
#include "record/csv.h"
#include "record/run.h"

typedef struct Request {
  const char *output, *fixations;
  double blur;
} Request;

static const FovOption options[] = {
    FOV_TEXT(Request, fixations,
             "a CSV file of people's fixations, the reference: columns episode, x and y in pixels "
             "of the image, and observer, if several people looked; without it the first source is "
             "the reference"),
    FOV_REAL(Request, blur, "0.05", 0.005, 1,
             "standard deviation of the density around a fixation, in image widths, for nss and "
             "gain"),
    FOV_TEXT(Request, output, "also write the numbers of each episode to a CSV file"),
    FOV_OPTIONS_END,
};

/* ---- the tables ---- */

/** A column of a row: the finite values of its episodes, mean and 95 % interval. scratch: [E] */
static void print_cell(const double *values, int stride, int episodes, double *scratch) {
  int count = 0;
  char text[32];
  for (int e = 0; e < episodes; e++)
    if (isfinite(values[(size_t)e * stride])) scratch[count++] = values[(size_t)e * stride];
  if (count == 0)
    snprintf(text, sizeof text, "-");
  else if (count == 1)
    snprintf(text, sizeof text, "%.3f", scratch[0]);
  else
    snprintf(text, sizeof text, "%.3f ± %.3f", fov_stats_mean(scratch, count),
             fov_stats_half_width(scratch, count));
  int width = 15 + (strstr(text, "±") != NULL); // which has two bytes
  fov_print(stdout, "  %*s", width, text);
}

/** Prints the name of a row in `width` columns; a long name is cut to "..." and its end. */
static void print_name(const char *name, int width) {
  int columns = fov_text_columns(name, SIZE_MAX);
  const char *lead = columns > width ? "..." : "";
  for (int left = columns - width + 3; *lead && left > 0; left--) name += fov_text_character(name);
  fov_print(stdout, "%s%s%*s", lead, name, columns < width ? width - columns : 0, "");
}

static int name_width(const FovScanpathStudy *study) {
  int width = 6;
  for (int i = 0; i < study->count; i++) {
    int columns = fov_text_columns(study->rows[i].name, SIZE_MAX);
    if (columns > width) width = columns;
  }
  return width < 40 ? width : 40;
}

static void print_head(const char *const *names, int count, int width) {
  fov_print(stdout, "%*s", width, "");
  for (int i = 0; i < count; i++) fov_print(stdout, "  %15s", names[i]);
  fov_print(stdout, "\n");
}

static void print_statistics(const FovScanpathStudy *study, double *scratch) {
  int width = name_width(study);
  print_head(fov_scanpath_statistic_names, FOV_SCANPATH_STATISTICS, width);
  for (int i = 0; i < study->count; i++) {
    const FovScanpathRow *row = &study->rows[i];
    if (!row->statistics) continue;
    print_name(row->name, width);
    for (int s = 0; s < FOV_SCANPATH_STATISTICS; s++)
      print_cell(&row->statistics[0][s], FOV_SCANPATH_STATISTICS, study->episodes, scratch);
    fov_print(stdout, "\n");
  }
}

static void print_measures(const FovScanpathStudy *study, double *scratch) {
  int width = name_width(study);
  fov_print(stdout, "\nAgainst %d scanpath%s of %s, without their first places:\n\n", study->paths,
            fov_plural(study->paths), study->reference);
  print_head(fov_scanpath_measure_names, FOV_SCANPATH_MEASURES, width);
  for (int i = 0; i < study->count; i++) {
    const FovScanpathRow *row = &study->rows[i];
    if (!row->measures) continue;
    print_name(row->name, width);
    for (int m = 0; m < FOV_SCANPATH_MEASURES; m++)
      print_cell(&row->measures[0][m], FOV_SCANPATH_MEASURES, study->episodes, scratch);
    fov_print(stdout, "\n");
  }
}

static FovStatus print_tables(const FovScanpathStudy *study) {
  double *scratch = malloc((size_t)study->episodes * sizeof *scratch);
  if (!scratch) return fov_fail(FOV_ERR_MEMORY, "no memory for the table");
  fov_print(stdout, "%d episode%s: means of the episodes ± 95 %% interval\n", study->episodes,
            fov_plural(study->episodes));
  if (study->subset[0])
    fov_print(stdout, "a selection: %s; for means of a split, record a trace without --wrong\n",
              study->subset);
  if (study->most > study->episodes)
    fov_print(stdout, "the first %d episodes of each source; the longest has %d\n", study->episodes,
              study->most);
  fov_print(stdout, "\n");
  print_statistics(study, scratch);
  if (study->reference) print_measures(study, scratch);
  free(scratch);
  return FOV_OK;
}

/* ---- the CSV file ---- */

/** Writes `count` cells, empty where there is no number. */
static void write_cells(FILE *stream, const double *values, int count) {
  for (int i = 0; i < count; i++) fov_csv_number(stream, "%.9g", values ? values[i] : NAN);
}

static void write_rows(FILE *stream, const FovScanpathStudy *study) {
  fputs("source,episode", stream);
  for (int i = 0; i < FOV_SCANPATH_STATISTICS; i++)
    fprintf(stream, ",%s", fov_scanpath_statistic_names[i]);
  for (int i = 0; i < FOV_SCANPATH_MEASURES && study->reference; i++)
    fprintf(stream, ",%s", fov_scanpath_measure_names[i]);
  fputc('\n', stream);
  for (int i = 0; i < study->count; i++)
    for (int e = 0; e < study->episodes; e++) {
      const FovScanpathRow *row = &study->rows[i];
      fov_csv_print(stream, row->name);
      fprintf(stream, ",%d", e);
      write_cells(stream, row->statistics ? row->statistics[e] : NULL, FOV_SCANPATH_STATISTICS);
      if (study->reference)
        write_cells(stream, row->measures ? row->measures[e] : NULL, FOV_SCANPATH_MEASURES);
      fputc('\n', stream);
    }
}

static FovStatus write_csv(const char *path, const FovScanpathStudy *study) {
  FovReplace file;
  FOV_TRY(fov_replace_begin(&file, path));
  write_rows(file.stream, study);
  return fov_replace_commit(&file);
}

/** The output must not be a trace or the fixations. */
static FovStatus check_output(const Request *request, const FovArguments *arguments) {
  char trace[FOV_PATH_SIZE];
  if (!request->output) return FOV_OK;
  FOV_TRY(
      fov_cli_check_name("-o", request->output, "a CSV file; pictures: fovea view --export FILE"));
  FOV_TRY(fov_cli_check_folder("-o", request->output));
  FOV_TRY(fov_replace_check(request->output));
  for (int i = 0; i < arguments->count; i++) {
    FOV_TRY(fov_run_find(trace, arguments->words[i], FOV_RUN_TRACE));
    FOV_TRY(fov_cli_check_output("-o", request->output, trace));
  }
  return request->fixations ? fov_cli_check_output("-o", request->output, request->fixations)
                            : FOV_OK;
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  const FovScanpathRequest what = {.sources = arguments->words,
                                   .count = arguments->count,
                                   .fixations = request->fixations,
                                   .blur = request->blur};
  if (arguments->count == 0)
    return fov_fail(FOV_ERR_USAGE, "no run or trace given; see fovea scanpath --help");
  FOV_TRY(check_output(request, arguments));
  FovScanpathStudy study;
  FOV_TRY(fov_scanpath_study(&study, &what));
  FovStatus status = request->output ? write_csv(request->output, &study) : FOV_OK;
  if (status == FOV_OK) status = print_tables(&study);
  fov_scanpath_study_finish(&study);
  return status;
}

const FovCommand fov_command_scanpath = {
    .name = "scanpath",
    .help = "describe and compare where agents and people look",
    .synopsis = "RUN|TRACE...",
    .about =
        "Prints statistics of recorded gazes, means of the episodes:\n"
        "  glimpses   number of glimpses\n"
        "  saccade    mean distance from one place to the next, in image widths\n"
        "  path       sum of these distances, in image widths\n"
        "  revisits   number of glimpses that return to an earlier place: closer to it than half\n"
        "             the width of the finest patch, after a glimpse that was farther away\n"
        "  seen       share of the pixels that are inside a patch, %\n"
        "  fine       share of the pixels that are inside a patch of the finest scale, %\n"
        "  decision   number of glimpses after which the answer is always the likeliest\n"
        "\n"
        "Several sources of the same episodes, or one and --fixations, are also compared with a\n"
        "reference:\n"
        "  vector     similarity of the shapes of aligned saccades; 1: equal\n"
        "  direction  similarity of their directions; 1: equal\n"
        "  length     similarity of their lengths; 1: equal\n"
        "  position   similarity of the places where they start; 1: equal\n"
        "  scanmatch  similarity of the sequences of places; 1: equal\n"
        "  dtw        sum of the distances of aligned places, in image widths; 0: equal\n"
        "  nss        the gaze's density at the reference's places, in standard deviations above\n"
        "             its mean\n"
        "  gain       log2 of that density over the reference's density on other images, in bits\n"
        "             for each place\n"
        "The first four are MultiMatch without durations, scanmatch is ScanMatch without\n"
        "durations, and dtw is dynamic time warping. The rows centre and random are gazes drawn\n"
        "around the middle and anywhere: a value no better than theirs means nothing.\n",
    .examples = "  fovea scanpath runs/cluttered-60-s0\n"
                "  fovea scanpath runs/rnn-s0 runs/lstm-s0 -o gaze.csv\n"
                "  fovea scanpath runs/cluttered-60-s0 --fixations people.csv\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
