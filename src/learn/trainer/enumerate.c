/** Playing every sequence of choices of a case, for an objective that enumerates. */
#include "base/text.h"
#include "learn/trainer/update.h"

/* ---- what can be enumerated ---- */

/** T: choices of an episode that ends after its last glimpse. */
static int count_choices(const FovTask *task) {
  return task->options.glimpses - (task->options.first != FOV_FIRST_LEARNED);
}

int fov_train_sequences(const FovTask *task) {
  int N = fov_task_choices(task), sequences = 1;
  for (int i = count_choices(task); i > 0 && sequences <= FOV_MAX_SHARD; i--) sequences *= N;
  return sequences;
}

static FovStatus refuse(const FovTraining *training, const char *expected, const char *key,
                        const char *found) {
  return fov_fail(FOV_ERR_USAGE, "objective = %s: expected %s, found %s = %s",
                  training->objective->plugin.name, expected, key, found);
}

/** Fails unless an episode is a fixed number of choices of which each has a log π, then an answer.
 */
static FovStatus check_episode(const FovTraining *training) {
  const FovTask *task = &training->task;
  const FovAttention *attention = task->agent->attention;
  const FovEnvSpec *spec = &task->env->spec;
  if (spec->answer != FOV_ANSWER_CLASS || spec->steps > 1)
    return refuse(training, "an environment that asks for one label", "env",
                  task->env->type->plugin.name);
  if (attention->through || attention->without_policy)
    return refuse(training, "attention = sampled or gaze, whose choices have a log p", "attention",
                  attention->plugin.name);
  if (fov_task_choices(task) == 0)
    return refuse(training, "policy = tiles, whose choices can be enumerated", "policy",
                  task->policy->plugin.name);
  if (task->stop->decide) return refuse(training, "stop = never", "stop", task->stop->plugin.name);
  if (count_choices(task) == 0)
    return refuse(training, "a choice: set first = learned, or more glimpses", "glimpses", "1");
  return FOV_OK;
}

/** Fails unless the lanes of a case are its sequences. */
static FovStatus check_lanes(const FovTraining *training) {
  const FovTask *task = &training->task;
  const FovTrainOptions *o = &training->options;
  const char *objective = training->objective->plugin.name;
  int sequences = fov_train_sequences(task), choices = count_choices(task);
  if (sequences > FOV_MAX_SHARD)
    return fov_fail(FOV_ERR_USAGE,
                    "objective = %s: expected at most %d sequences of choices, found %d choice%s "
                    "of one of %d tiles; lower glimpses or %s.side",
                    objective, FOV_MAX_SHARD, choices, fov_plural(choices), fov_task_choices(task),
                    task->policy->sites ? "tiles" : "policy");
  int multiple = o->shard < sequences ? sequences : o->shard / sequences * sequences;
  if (o->copies != sequences || o->shard % sequences != 0 || o->batch % sequences != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "objective = %s plays %d sequences of choices of a case: expected train.copies "
                    "= %d, and multiples of it, such as %d, for train.shard and train.batch; found "
                    "%d, %d and %d",
                    objective, sequences, sequences, multiple, o->copies, o->shard, o->batch);
  return FOV_OK;
}

FovStatus fov_train_check_enumeration(const FovTraining *training) {
  if (!training->objective->enumerates) return FOV_OK;
  FOV_TRY(check_episode(training));
  return check_lanes(training);
}

/* ---- enumerating ---- */

void fov_train_enumerate(FovPlan *plan, FovArena *arena, const FovTraining *training) {
  const FovTask *task = &training->task;
  if (!training->objective->enumerates) return;
  FovFirst first = (FovFirst)task->options.first;
  int B = plan->lanes, T = task->options.glimpses, N = fov_task_choices(task);
  // Rows are time steps 0 … T − 1: after the last glimpse nothing is chosen.
  FovChoice *places = FOV_NEW(arena, FovChoice, (size_t)T * B);
  for (int b = 0; b < B; b++) {
    int lane = b % training->options.copies, digits = lane;
    for (int t = T - 1; t >= 0; t--, digits /= N)
      places[t * B + b] = (FovChoice){.index = digits % N};
    if (first == FOV_FIRST_LEARNED) continue;
    places[b] = lane == 0 ? fov_first_choice(first, &plan->policy_rng[b]) : places[b - 1];
  }
  FovChoices *forced = FOV_NEW(arena, FovChoices, 1);
  *forced = (FovChoices){.places = places};
  plan->forced = forced;
}
