#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/print.h"
#include "draw.h"
#include "experiment/trained.h"
#include "record/provenance.h"
#include "record/run.h"

typedef struct Request {
  const char *export, *size, *picture, *method;
  int episode, theme, head, show, page, count, gazes;
  bool wrong;
} Request;

enum { DARK, LIGHT };

static const char *const themes[] = {[DARK] = "dark", [LIGHT] = "light", NULL};

static const char *const shows[] = {[FOV_DRAW_EPISODE] = "episode",     [FOV_DRAW_HEAT] = "heat",
                                    [FOV_DRAW_TARGET] = "target",       [FOV_DRAW_SHEET] = "sheet",
                                    [FOV_DRAW_CONFUSION] = "confusion", NULL};

static const FovOption options[] = {
    FOV_CHOICE(Request, show, "episode", shows,
               "an episode, the heat map of all glimpses, the same relative to the target's place, "
               "the contact sheet of all episodes or the "
               "confusion matrix"),
    FOV_INT(Request, page, "1", 1, 100000,
            "the page of the contact sheet or of the small heat maps"),
    FOV_INT(Request, episode, "0", 0, 100000000, "the episode to show first"),
    FOV_BOOL(Request, wrong, "no",
             "count only episodes that were answered wrongly or missed their goal"),
    FOV_TEXT(Request, picture, "a PNG that the agent of the run looks at instead"),
    FOV_INT(Request, gazes, "0", 0, 100,
            "sample N gazes of the agent of the run, and draw them over the recorded one; 0: none"),
    FOV_TEXT(
        Request, method,
        "explain the answer after each glimpse, as key 7 does; fovea list methods describes the "
        "methods; for sequences: jacobian"),
    FOV_TEXT(
        Request, size,
        "width and height of the window, or of the exported image, GIF or film, in pixels: WxH, "
        "from 320x180 to 7680x4320; default: 1280x720"),
    FOV_INT(Request, count, NULL, 1, 10000,
            "how many episodes a web page shows, from --episode on; default: 20"),
    FOV_INT(Request, head, "0", 0, 64,
            "the head whose weights are shown, for attention over tiles; 0: their mean"),
    FOV_CHOICE(Request, theme, "dark", themes, "background"),
    FOV_TEXT(Request, export,
             "write a file instead of opening a window: the end of the episode, or the alignment "
             "of a sequence, as FILE.png or FILE.svg; all of it as FILE.gif or, with ffmpeg, "
             "FILE.mp4; several episodes as a self-contained web page, FILE.html; an overview "
             "of all episodes as FILE.png, FILE.svg or FILE.pdf"),
    FOV_OPTIONS_END,
};

static FovStatus parse_size(FovDrawEpisode *what, const char *text) {
  char end;
  if (!text) return FOV_OK;
  if (sscanf(text, "%5dx%5d%c", &what->width, &what->height, &end) != 2 || what->width < 320 ||
      what->height < 180 || what->width > 7680 || what->height > 4320)
    return fov_fail(FOV_ERR_USAGE, "--size %.80s: expected WxH from 320x180 to 7680x4320", text);
  return FOV_OK;
}

/** Prints a note if the trace of a trained agent is of other weights than `fovea eval` tests. The
 * trace of a training, which has a last checkpoint, is of its newest evaluation. */
static void note_other_weights(const char *source, const char *trace,
                               const FovProvenance *of_trace) {
  char best[FOV_PATH_SIZE], last[FOV_PATH_SIZE], quoted[FOV_PATH_SIZE];
  FovProvenance of_best;
  if (fov_run_find(best, source, FOV_RUN_BEST) != FOV_OK ||
      fov_run_find(last, source, FOV_RUN_LAST) != FOV_OK || fov_file_exists(last) ||
      fov_provenance_read(&of_best, best) != FOV_OK || fov_provenance_same(&of_best, of_trace))
    return;
  fov_print(stderr,
            "fovea: %s: of other weights (update %lld) than best.safetensors (update %lld); renew "
            "it with: fovea trace %s\n",
            trace, (long long)of_trace->update, (long long)of_best.update,
            fov_text_word(quoted, sizeof quoted, source));
}

/** Refuses options, and a second source, that would change nothing. */
static FovStatus check_effects(const Request *r, int sources) {
  bool web = r->export && fov_has_ending(r->export, ".html");
  bool overview = r->export && r->show != FOV_DRAW_EPISODE;
  bool pages = overview && r->show != FOV_DRAW_CONFUSION;
  const struct {
    bool refused;
    const char *why;
  } rules[] = {
      {r->page > 1 && !pages,
       "--page: expected --export and --show heat, target or sheet, too; PgUp and PgDn turn the "
       "pages of a window"},
      {r->size && web,
       "--size and --export FILE.html: expected one of them; a page fits its window"},
      {r->count > 0 && !web, "--count: expected --export FILE.html, too"},
      {r->episode > 0 && overview,
       "--episode and --show: expected one of them; an overview shows all episodes"},
      {r->head > 0 && overview && !pages,
       "--head and --show confusion: expected one of them; it shows no weights"},
      {r->wrong && overview && !pages,
       "--wrong and --show confusion: expected one of them; it counts all episodes"},
      {sources == 2 && overview,
       "--show: expected one run or trace, found two; an overview shows the episodes of one"},
      {r->picture && (r->wrong || r->episode > 0 || sources == 2),
       "--picture: expected one run, without --wrong and --episode: the picture is the only "
       "episode"},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].refused) return fov_fail(FOV_ERR_USAGE, "%s", rules[i].why);
  return FOV_OK;
}

static FovStatus check_request(const FovDrawEpisode *what, const FovArguments *arguments) {
  if (what->picture && what->gazes)
    return fov_fail(FOV_ERR_USAGE, "--picture and --gazes: expected one of them");
  const char *of_episode = what->method    ? "--method"
                           : what->gazes   ? "--gazes"
                           : what->picture ? "--picture"
                                           : NULL;
  if (of_episode && what->show != FOV_DRAW_EPISODE)
    return fov_fail(FOV_ERR_USAGE, "%s and --show %s: expected one of them", of_episode,
                    shows[what->show]);
  if (arguments->count >= 1 && arguments->count <= 2) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "expected one or two runs or traces, found %d; see fovea view --help",
                  arguments->count);
}

static void print_written(const char *file, const char *source, const char *trace,
                          const FovDrawEpisode *what) {
  static const char *const names[] = {"", "heat map", "heat map from the target", "contact sheet",
                                      "confusion matrix"};
  const char *wrong = what->wrong ? "wrong " : "";
  bool page = fov_has_ending(file, ".html");
  if (what->show != FOV_DRAW_EPISODE)
    fov_print(stdout, "%s: %s of %s", file, names[what->show], trace);
  else if (what->picture)
    fov_print(stdout, "%s: the agent of %s at %s", file, source, what->picture);
  else if (what->gazes)
    fov_print(stdout, "%s: %d sampled gazes over %sepisode %d of %s", file, what->gazes, wrong,
              what->episode, trace);
  else
    fov_print(stdout, page ? "%s: %sepisodes from %d on of %s" : "%s: %sepisode %d of %s", file,
              wrong, what->episode, trace);
  if (what->method) fov_print(stdout, ", explained: %s", what->method);
  fov_print(stdout, "\n");
}

/** Writes `file`. path: the trace of `source`; beside: that of the second agent, if any. */
static FovStatus write_export(const char *file, const char *source, const char *path,
                              const char *beside, FovDrawEpisode *what) {
  const char *const read[] = {path, what->beside ? beside : path,
                              what->picture ? what->picture : path};
  for (int i = 0; i < 3; i++) FOV_TRY(fov_cli_check_output("--export", file, read[i]));
  if (what->show != FOV_DRAW_EPISODE || what->picture || what->gazes || what->method) {
    FOV_TRY(fov_draw_overview(file, source, what));
  } else {
    if (what->beside) what->beside = beside;
    FOV_TRY(fov_draw_episode(file, path, what));
  }
  print_written(file, source, path, what);
  return FOV_OK;
}

/** Unlike an export, the viewer can wait for the first trace of a training. */
static FovStatus find_trace(char *path, const char *source, const Request *request) {
  return request->export ? fov_trained_find_trace(path, source)
                         : fov_run_find(path, source, FOV_RUN_TRACE);
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  FovDrawEpisode what = {.show = (FovDrawShow)request->show,
                         .page = request->page,
                         .episode = request->episode,
                         .count = request->count,
                         .wrong = request->wrong,
                         .light = request->theme == LIGHT,
                         .picture = request->picture,
                         .gazes = request->gazes,
                         .head = request->head,
                         .explain = &fov_cli_explain,
                         .method = request->method};
  FOV_TRY(parse_size(&what, request->size));
  FOV_TRY(check_effects(request, arguments->count));
  FOV_TRY(check_request(&what, arguments));
  char path[FOV_PATH_SIZE], beside[FOV_PATH_SIZE];
  FovProvenance of_trace;
  FOV_TRY(find_trace(path, arguments->words[0], request));
  if (arguments->count == 2) {
    what.beside = arguments->words[1];
    FOV_TRY(find_trace(beside, what.beside, request));
  }
  if (fov_provenance_read(&of_trace, path) == FOV_OK) { // drawing reports why not
    fov_cli_note_file(path, of_trace.checked);
    note_other_weights(arguments->words[0], path, &of_trace);
  }
  if (request->export)
    return write_export(request->export, arguments->words[0], path, beside, &what);
  fov_cli_release_interrupts();
  return fov_draw_window(arguments->words[0], &what);
}

const FovCommand fov_command_view = {
    .name = "view",
    .help = "play recorded episodes in a window or write them to a file",
    .synopsis = "RUN|TRACE [RUN|TRACE]",
    .about =
        "Opens a window that plays the episodes of a trace; F1 lists its keys. For a run, the\n"
        "window also shows earlier traces of the training and can follow a running training\n"
        "(L). A sequence is shown as the matrix of its weights: its source above, its answers on\n"
        "the left. Two runs or traces of the same episodes are shown side by side and step\n"
        "together; F then also selects the episodes that they answer differently. 7 shows which\n"
        "pixels the answer of a run's agent depends on at each glimpse. --export needs no\n"
        "display.\n",
    .examples = "  fovea view runs/cluttered-60-s0\n"
                "  fovea view runs/rnn-s0 runs/lstm-s0\n"
                "  fovea view runs/cluttered-60-s0 --wrong --episode 3 --export gaze.gif\n"
                "  fovea view runs/cluttered-60-s0 --picture digit.png\n"
                "  fovea view runs/cluttered-60-s0 --gazes 10 --episode 4 --export gazes.png\n"
                "  fovea view runs/soft-s0 --head 2 --export head.png\n"
                "  fovea view runs/dates --theme light --export alignment.svg\n"
                "  fovea view runs/cluttered-60-s0 --wrong --count 50 --export wrong.html\n"
                "  fovea view runs/cluttered-60-s0 --method saliency --export explained.html\n"
                "  fovea view runs/cluttered-60-s0 --show heat --export heat.svg\n"
                "  fovea view runs/cluttered-60-s0 --show target --export target.png\n"
                "  fovea view runs/cluttered-60-s0 --show sheet --wrong --export wrong.png\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
