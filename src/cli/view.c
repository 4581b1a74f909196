#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "draw.h"
#include "record/run.h"

typedef struct Request {
  const char *source, *output;
  FovDrawEpisode what;
} Request;

static FovStatus parse_size(FovDrawEpisode *what, const char *text) {
  char end;
  if (sscanf(text, "%dx%d%c", &what->width, &what->height, &end) != 2 || what->width < 320 ||
      what->height < 180 || what->width > 7680 || what->height > 4320)
    return fov_fail(FOV_ERR_USAGE, "--size %s: expected WxH from 320x180 to 7680x4320", text);
  return FOV_OK;
}

static FovStatus parse(Request *request, int argc, char **argv) {
  static const struct option options[] = {{"export", required_argument, NULL, 'x'},
                                          {"episode", required_argument, NULL, 'e'},
                                          {"size", required_argument, NULL, 's'},
                                          {0}};
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (letter) {
    case 'x':
      request->output = optarg;
      break;
    case 'e':
      FOV_TRY(fov_cli_number(&number, optarg, "--episode", 0, 100000000));
      request->what.episode = (int)number;
      break;
    case 's':
      FOV_TRY(parse_size(&request->what, optarg));
      break;
    default:
      return fov_cli_bad_option(&fov_command_view, argv);
    }
  }
  if (optind + 1 != argc)
    return fov_fail(FOV_ERR_USAGE, "one run or trace is expected; see fovea view --help");
  request->source = argv[optind];
  if (!request->output)
    return fov_fail(FOV_ERR_USAGE, "say where to with --export FILE.png or FILE.gif");
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {0};
  FOV_TRY(parse(&request, argc, argv));
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, request.source, FOV_RUN_TRACE));
  FOV_TRY(fov_draw_episode(request.output, path, &request.what));
  printf("%s: episode %d of %s\n", request.output, request.what.episode, path);
  return FOV_OK;
}

const FovCommand fov_command_view = {
    .name = "view",
    .help = "draw a recorded episode",
    .usage = "usage: fovea view RUN|TRACE --export FILE.png|FILE.gif [--episode K] [--size WxH]\n"
             "\n"
             "Draws an episode of a trace: its last moment as a PNG, or all of it as a GIF.\n"
             "\n"
             "  --episode K  counted from 0 (default: 0)\n"
             "  --size WxH   pixels (default: 1280x720)\n"
             "\n"
             "example:\n"
             "  fovea view runs/cluttered-60-s0 --episode 3 --export gaze.gif\n",
    .run = run,
};
