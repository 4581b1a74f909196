#include <stdlib.h>

#include "cli/cli.h"
#include "cli/explain.h"

/** Settings on top of the checkpoint's: words that are not of methods, and those that undo what
 * only training needs. */
typedef struct Changes {
  const char **list;
  int count;
} Changes;

/** Whether the attention holds back a share of a gradient in training. */
static bool holds_back(const FovTrained *trained) {
  const FovPlugin *plugin = trained->experiment.slots[FOV_SLOT_ATTENTION].plugin;
  return fov_option_find(plugin->options, "gradient") != NULL;
}

static FovStatus load(FovTrained *trained, const char *run, const FovExplainCommand *command,
                      Changes *changes) {
  FovSplit split = (FovSplit)command->split;
  FOV_TRY(fov_trained_load(trained, run, changes->list, changes->count, split));
  if (!command->through || !holds_back(trained)) return FOV_OK;
  fov_trained_finish(trained);
  for (int i = 0; i < changes->count; i++)
    if (fov_cli_sets(changes->list[i], "attention.gradient"))
      return fov_fail(FOV_ERR_USAGE, "--through and %s: expected one of them", changes->list[i]);
  changes->list[changes->count++] = "attention.gradient=1";
  return fov_trained_load(trained, run, changes->list, changes->count, split);
}

static FovStatus collect(Changes *changes, const char *const *words, int count) {
  changes->list = calloc((size_t)count + 1, sizeof *changes->list);
  if (!changes->list) return fov_fail(FOV_ERR_MEMORY, "no memory for %d words", count);
  for (int i = 0; i < count; i++)
    if (!fov_is_method_option(words[i])) changes->list[changes->count++] = words[i];
  return FOV_OK;
}

static FovStatus check_class(const FovExplainCommand *command, const FovEnvSpec *spec) {
  if (command->class < 0) return FOV_OK;
  if (spec->answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE, "--class %d: this environment has no classes", command->class);
  if (command->class < spec->actions) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "--class %d: expected a class from 0 to %d", command->class,
                  spec->actions - 1);
}

/** A seed whose initial values the training did not start from. */
static uint64_t weights_seed(const FovExperiment *experiment) {
  int64_t seed = experiment->eval.seed + 1;
  return (uint64_t)(seed == experiment->general.seed ? seed + 1 : seed);
}

static FovStatus select_episodes(FovExplainSubject *subject, const FovExplainCommand *command) {
  const FovTrained *trained = &subject->trained;
  int64_t cases = trained->env.spec.cases;
  FovExplainRequest *request = &subject->request;
  *request = (FovExplainRequest){.task = &trained->task,
                                 .values = trained->values,
                                 .seed = (uint64_t)trained->experiment.eval.seed,
                                 .weights_seed = weights_seed(&trained->experiment),
                                 .split = trained->split,
                                 .progress = trained->progress,
                                 .through = command->through,
                                 .threads = fov_cli_threads(command->threads)};
  FOV_TRY(fov_target_parse(&request->target, command->target ? command->target : "logit"));
  request->target.time = command->time;
  FOV_TRY(fov_explain_check(request));
  FOV_TRY(check_class(command, &trained->env.spec));
  FovExplainFilter filter = {.count = command->episodes < cases ? command->episodes : cases,
                             .wrong = command->wrong,
                             .label = command->class};
  FovStatus status = fov_explain_select(&subject->cases, &request->count, request, &filter);
  request->cases = subject->cases;
  return status;
}

FovStatus fov_explain_read(FovTrained *trained, const char *run, const FovExplainCommand *command,
                           const char *const *words, int count) {
  Changes changes = {.count = 0};
  *trained = (FovTrained){.values = NULL};
  FOV_TRY(collect(&changes, words, count));
  FovStatus status = load(trained, run, command, &changes);
  free(changes.list);
  return status;
}

FovStatus fov_explain_load(FovExplainSubject *subject, const char *run,
                           const FovExplainCommand *command, const char *const *words, int count) {
  *subject = (FovExplainSubject){.cases = NULL};
  FovStatus status = fov_explain_read(&subject->trained, run, command, words, count);
  fov_cli_notes(subject->trained.experiment.settings);
  FOV_TRY(status);
  fov_cli_note_file(subject->trained.path, subject->trained.checked);
  return select_episodes(subject, command);
}

void fov_explain_finish(FovExplainSubject *subject) {
  free(subject->cases);
  fov_trained_finish(&subject->trained);
}
