#include <stdio.h>

#include "cli/cli.h"
#include "cli/print.h"
#include "draw.h"

typedef struct Request {
  const char *output;
} Request;

static const FovOption options[] = {
    FOV_TEXT(Request, output, "the file to write: FILE.png, FILE.svg or FILE.pdf; required"),
    FOV_OPTIONS_END,
};

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  int count = arguments->count;
  if (count == 0) return fov_fail(FOV_ERR_USAGE, "no run given; see fovea plot --help");
  if (!request->output)
    return fov_fail(FOV_ERR_USAGE, "no output given: add -o FILE.png, FILE.svg or FILE.pdf");
  FOV_TRY(fov_draw_curves(request->output, arguments->words, (size_t)count));
  fov_print(stdout, "%s: %d %s\n", request->output, count, count == 1 ? "run" : "runs");
  return FOV_OK;
}

const FovCommand fov_command_plot = {
    .name = "plot",
    .help = "draw learning curves",
    .synopsis = "RUN...",
    .about = "Draws validation error and reward against episodes. Runs that differ only in their\n"
             "seed (NAME-s0, NAME-s1, ...) become their mean with a 95 % band.\n",
    .examples = "  fovea plot runs/cluttered-60-s0 -o curve.png\n"
                "  fovea plot runs/rnn-s? runs/lstm-s? -o cores.svg\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
