#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "experiment/trained.h"
#include "record/recorder.h"

typedef struct Request {
  const char *output;
  int episodes, wrong, split;
  bool sampled;
} Request;

static const FovOption options[] = {
    FOV_INT(Request, episodes, "100", 1, 100000, "record the first N cases of the split"),
    FOV_INT(Request, wrong, "0", 0, 100000,
            "after them, record the first N other cases that were answered wrongly or missed their "
            "goal"),
    FOV_CHOICE(Request, split, "valid", fov_split_names, "which cases"),
    FOV_BOOL(Request, sampled, "no",
             "sample the choices; otherwise they are deterministic, as in eval"),
    FOV_TEXT(Request, output, "the file to write; default: RUN/trace.safetensors"),
    FOV_OPTIONS_END,
};

static void print_result(const char *path, const FovTrace *trace, const Request *request,
                         const FovTrained *trained) {
  int64_t cases = trained->env.spec.cases;
  int first = request->episodes < cases ? request->episodes : (int)cases;
  int wrong = trace->episodes - first;
  fov_print(stdout, "%s: %d episode%s of %s\n", path, trace->episodes, fov_plural(trace->episodes),
            trained->path);
  if (first < request->episodes)
    fov_print(stdout, "%d episodes were asked for; the %s split has %lld case%s\n",
              request->episodes, fov_split_names[request->split], (long long)cases,
              fov_plural(cases));
  if (request->wrong > 0)
    fov_print(stdout, "--wrong added the last %d: a wrong answer or a missed goal\n", wrong);
  if (wrong < request->wrong)
    fov_print(stdout, "%d wrong ones were asked for; the other cases have %d\n", request->wrong,
              wrong);
}

static FovStatus record(const Request *request, const char *path, FovTrained *trained) {
  FovWorkspace workspace;
  FovRecordRequest what = {.task = &trained->task,
                           .values = trained->values,
                           .update = trained->update,
                           .episodes = request->episodes,
                           .wrong = request->wrong,
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
  if (status == FOV_ERR_FORMAT) // numbers out of range
    status = fov_fail(FOV_ERR_NUMBER, "%s; not written: the agent's weights are too large",
                      fov_error_message());
  if (status == FOV_OK) print_result(path, &trace, request, trained);
  fov_trace_finish(&trace);
  return status;
}

/** By default the trace is a file of the run; a single checkpoint has no folder for it. */
static FovStatus choose_path(char *path, const Request *request, const char *source) {
  struct stat status;
  if (request->output) {
    if (strlen(request->output) >= FOV_PATH_SIZE)
      return fov_fail(FOV_ERR_USAGE, "-o: a path of more than %d bytes", FOV_PATH_SIZE - 1);
    strcpy(path, request->output);
    return fov_cli_check_name("-o", path, "a safetensors file; pictures: fovea view --export FILE");
  }
  if (stat(source, &status) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot open: %s", source, strerror(errno));
  if (!S_ISDIR(status.st_mode))
    return fov_fail(FOV_ERR_USAGE, "%s: not a run directory; name the trace with -o FILE", source);
  return fov_run_find(path, source, FOV_RUN_TRACE);
}

static FovStatus run(const void *values, const FovArguments *arguments) {
  const Request *request = values;
  char path[FOV_PATH_SIZE];
  if (arguments->count == 0)
    return fov_fail(FOV_ERR_USAGE, "no run or checkpoint given; see fovea trace --help");
  FOV_TRY(choose_path(path, request, arguments->words[0]));
  FOV_TRY(fov_replace_check(path));
  FovTrained trained;
  FovStatus status = fov_trained_load(&trained, arguments->words[0], arguments->words + 1,
                                      arguments->count - 1, (FovSplit)request->split);
  fov_cli_notes(trained.experiment.settings);
  if (status == FOV_OK) fov_cli_note_file(trained.path, trained.checked);
  if (status == FOV_OK) status = fov_cli_check_trained("-o", path, &trained);
  if (status == FOV_OK) status = record(request, path, &trained);
  fov_trained_finish(&trained);
  return status;
}

const FovCommand fov_command_trace = {
    .name = "trace",
    .help = "record episodes of a trained agent",
    .synopsis = "RUN|CHECKPOINT [key=value ...]",
    .about = "Records what an agent saw, where it looked and what it answered, as a safetensors\n"
             "file. key=value changes a setting that it was trained with.\n",
    .examples = "  fovea trace runs/cluttered-60-s0 --episodes 1000\n"
                "  fovea trace runs/cluttered-60-s0 --split test --episodes 20 --wrong 10\n"
                "  fovea trace runs/cluttered-60-s0 policy=random -o random.safetensors\n",
    .options = options,
    .size = sizeof(Request),
    .run = run,
};
