#include <getopt.h>
#include <stdio.h>
#include <string.h>

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

static FovStatus parse_theme(FovDrawEpisode *what, const char *text) {
  what->light = strcmp(text, "light") == 0;
  if (what->light || strcmp(text, "dark") == 0) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "--theme %s: expected dark or light", text);
}

static FovStatus parse(Request *request, int argc, char **argv) {
  static const struct option options[] = {
      {"export", required_argument, NULL, 'x'}, {"episode", required_argument, NULL, 'e'},
      {"wrong", no_argument, NULL, 'w'},        {"size", required_argument, NULL, 's'},
      {"theme", required_argument, NULL, 't'},  {0}};
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
    case 'w':
      request->what.wrong = true;
      break;
    case 't':
      FOV_TRY(parse_theme(&request->what, optarg));
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
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {0};
  FOV_TRY(parse(&request, argc, argv));
  if (!request.output) return fov_draw_window(request.source, &request.what);
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, request.source, FOV_RUN_TRACE));
  FOV_TRY(fov_draw_episode(request.output, path, &request.what));
  printf("%s: %sepisode %d of %s\n", request.output, request.what.wrong ? "wrong " : "",
         request.what.episode, path);
  return FOV_OK;
}

const FovCommand fov_command_view = {
    .name = "view",
    .help = "watch recorded episodes, in a window or as a file",
    .usage =
        "usage: fovea view RUN|TRACE [--episode K] [--wrong] [--size WxH] [--theme THEME]\n"
        "                  [--export FILE.png|FILE.gif|FILE.mp4]\n"
        "\n"
        "Opens a window in which the episodes of a trace play back; F1 shows its keys. Of a run\n"
        "it also shows how the gaze developed, and follows a training that goes on (L).\n"
        "\n"
        "  --episode K    counted from 0 (default: 0)\n"
        "  --wrong        counts only the episodes that were answered wrongly or missed\n"
        "                 their goal\n"
        "  --size WxH     pixels (default: 1280x720)\n"
        "  --theme THEME  dark (default) or light\n"
        "  --export FILE  opens no window and needs no display: writes the episode's last\n"
        "                 moment as PNG, or all of it as GIF or, with ffmpeg, as MP4\n"
        "\n"
        "examples:\n"
        "  fovea view runs/cluttered-60-s0\n"
        "  fovea view runs/cluttered-60-s0 --wrong --episode 3 --export gaze.gif\n",
    .run = run,
};
