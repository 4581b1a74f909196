#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "experiment/trained.h"
#include "record/recorder.h"

typedef struct Request {
  const char *source, *output;
  char **changes;
  int change_count, episodes;
  FovSplit split;
  bool sampled;
} Request;

static FovStatus record(const Request *request, const char *path, FovTrained *trained) {
  FovWorkspace workspace;
  FovRecordRequest what = {.task = &trained->task,
                           .values = trained->values,
                           .update = trained->update,
                           .episodes = request->episodes,
                           .progress = trained->progress,
                           .sampled = request->sampled,
                           .seed = (uint64_t)trained->experiment.eval.seed,
                           .split = trained->split};
  FovTrace trace;
  FOV_TRY(fov_workspace_create(&workspace, 1));
  FovStatus status = fov_record_trace(&trace, &what, &workspace);
  fov_workspace_finish(&workspace);
  FOV_TRY(status);
  status = fov_trace_write(&trace, path);
  if (status == FOV_OK) printf("%s: %d episodes of %s\n", path, trace.episodes, trained->path);
  fov_trace_finish(&trace);
  return status;
}

/** The trace stands in the run unless told otherwise; a lone checkpoint has no place for it. */
static FovStatus choose_path(char *path, const Request *request) {
  struct stat status;
  if (request->output) {
    if (strlen(request->output) >= FOV_PATH_SIZE)
      return fov_fail(FOV_ERR_USAGE, "-o: a path of more than %d bytes", FOV_PATH_SIZE - 1);
    strcpy(path, request->output);
    return FOV_OK;
  }
  if (stat(request->source, &status) != 0 || !S_ISDIR(status.st_mode))
    return fov_fail(FOV_ERR_USAGE, "%s: not a run directory; name the trace with -o FILE",
                    request->source);
  return fov_run_find(path, request->source, FOV_RUN_TRACE);
}

static FovStatus parse(Request *request, int argc, char **argv) {
  static const struct option options[] = {{"episodes", required_argument, NULL, 'e'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"split", required_argument, NULL, 's'},
                                          {"sampled", no_argument, NULL, 'S'},
                                          {0}};
  long long number;
  for (int letter; (letter = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
    switch (letter) {
    case 'e':
      FOV_TRY(fov_cli_number(&number, optarg, "--episodes", 1, 100000));
      request->episodes = (int)number;
      break;
    case 'o':
      request->output = optarg;
      break;
    case 's':
      FOV_TRY(fov_cli_split(&request->split, optarg));
      break;
    case 'S':
      request->sampled = true;
      break;
    default:
      return fov_cli_bad_option(&fov_command_trace, argv);
    }
  }
  if (optind == argc)
    return fov_fail(FOV_ERR_USAGE, "no run or checkpoint given; see fovea trace --help");
  request->source = argv[optind++];
  request->changes = argv + optind;
  request->change_count = argc - optind;
  return FOV_OK;
}

static FovStatus run(int argc, char **argv) {
  Request request = {.episodes = 100, .split = FOV_SPLIT_VALID};
  char path[FOV_PATH_SIZE];
  FOV_TRY(parse(&request, argc, argv));
  FOV_TRY(choose_path(path, &request));
  FovTrained trained;
  FovStatus status = fov_trained_load(&trained, request.source, request.changes,
                                      request.change_count, request.split);
  if (status == FOV_OK) status = record(&request, path, &trained);
  fov_trained_finish(&trained);
  return status;
}

const FovCommand fov_command_trace = {
    .name = "trace",
    .help = "record episodes of a trained agent",
    .usage = "usage: fovea trace RUN|CHECKPOINT [key=value ...] [--episodes N] [--split SPLIT]\n"
             "                   [--sampled] [-o FILE]\n"
             "\n"
             "Records what an agent saw, where it looked and what it thought: a safetensors file.\n"
             "\n"
             "  --episodes N   the first N cases of the split (default: 100)\n"
             "  --split SPLIT  train, valid (default) or test\n"
             "  --sampled      sample the policy; otherwise it looks at its mean\n"
             "  -o FILE        default: RUN/trace.safetensors\n"
             "\n"
             "examples:\n"
             "  fovea trace runs/cluttered-60-s0 --episodes 1000\n"
             "  fovea trace runs/cluttered-60-s0 policy=random -o random.safetensors\n",
    .run = run,
};
