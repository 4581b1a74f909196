#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "draw.h"

static FovStatus run(int argc, char **argv) {
  static const struct option options[] = {{"output", required_argument, NULL, 'o'}, {0}};
  const char *output = NULL;
  for (int letter; (letter = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
    if (letter != 'o') return fov_cli_bad_option(&fov_command_plot, argv);
    output = optarg;
  }
  if (optind == argc) return fov_fail(FOV_ERR_USAGE, "no run given; see fovea plot --help");
  if (!output)
    return fov_fail(FOV_ERR_USAGE, "say where to with -o FILE.png, FILE.svg or FILE.pdf");
  FOV_TRY(fov_draw_curves(output, (const char *const *)argv + optind, (size_t)(argc - optind)));
  printf("%s: %d %s\n", output, argc - optind, argc - optind == 1 ? "run" : "runs");
  return FOV_OK;
}

const FovCommand fov_command_plot = {
    .name = "plot",
    .help = "draw learning curves",
    .usage = "usage: fovea plot RUN... -o FILE.png|FILE.svg|FILE.pdf\n"
             "\n"
             "Draws validation error and reward against episodes. Runs that differ only in their\n"
             "seed (NAME-s0, NAME-s1, ...) become their mean with a 95 % band.\n"
             "\n"
             "examples:\n"
             "  fovea plot runs/cluttered-60-s0 -o curve.png\n"
             "  fovea plot runs/rnn-s? runs/lstm-s? -o cores.svg\n",
    .run = run,
};
