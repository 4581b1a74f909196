/** Checks that the parts of a training fit together. */
#include "learn/objective/control.h"
#include "learn/trainer/update.h"

/** Copies of an image are the lanes of one shard, and as many as the baseline needs. */
static FovStatus check_copies(const FovTraining *training) {
  const FovTrainOptions *o = &training->options;
  const FovBaseline *baseline = training->task.baseline;
  if (o->batch % o->copies != 0 || o->shard % o->copies != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "train.copies = %d: expected a number that divides train.batch = %d and "
                    "train.shard = %d",
                    o->copies, o->batch, o->shard);
  if (o->copies < baseline->least_copies)
    return fov_fail(FOV_ERR_USAGE, "baseline = %s needs train.copies of %d or more, found %d",
                    baseline->plugin.name, baseline->least_copies, o->copies);
  return FOV_OK;
}

static FovStatus check_baseline(const FovTraining *training) {
  const FovBaseline *baseline = training->task.baseline;
  const FovObjective *objective = training->objective;
  if (objective->predicts && !baseline->head.build)
    return fov_fail(FOV_ERR_USAGE,
                    "objective = %s needs baseline = learned or answer, found %s; set objective = "
                    "reinforce or baseline = learned",
                    objective->plugin.name, baseline->plugin.name);
  if ((objective->enumerates || objective->likelihood) && baseline->values)
    return fov_fail(FOV_ERR_USAGE, "objective = %s: expected baseline = none, found baseline = %s",
                    objective->plugin.name, baseline->plugin.name);
  if (baseline->from_answer && training->task.env->spec.answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE,
                    "baseline = %s needs labels, which moves and vectors do not have; set baseline "
                    "= learned",
                    baseline->plugin.name);
  if (baseline->from_answer && training->options.answer != FOV_TRAIN_ANSWER_EVERY)
    return fov_fail(FOV_ERR_USAGE,
                    "baseline = %s needs an answer after every glimpse; set train.answer = every",
                    baseline->plugin.name);
  if (baseline->from_answer && training->task.reward->compares && training->task.env->spec.last)
    return fov_fail(FOV_ERR_USAGE,
                    "baseline = %s: expected a reward of one answer, found reward = %s, which "
                    "compares two where env = %s asks again; set baseline = learned",
                    baseline->plugin.name, training->task.reward->plugin.name,
                    training->task.env->type->plugin.name);
  return FOV_OK;
}

static FovStatus check_last(const FovTrainOptions *options) {
  if (options->last == 0 || options->answer == FOV_TRAIN_ANSWER_EVERY) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "train.last = %g: expected train.answer = every, found train.answer = last; set "
                  "train.answer = every or train.last = 0",
                  options->last);
}

/** Objectives that sum over the choices of a case train the last answer only. */
static FovStatus check_answer(const FovTraining *training) {
  const FovObjective *objective = training->objective;
  bool sums = objective->enumerates || objective->likelihood;
  if (!sums || training->options.answer == FOV_TRAIN_ANSWER_LAST) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "objective = %s: expected train.answer = last, found train.answer = every",
                  objective->plugin.name);
}

/** Fails unless the copies of a case choose, and give their answers together, to one question. An
 * environment that also ends some copies before others is not found here. */
static FovStatus check_likelihood(const FovTraining *training) {
  const FovTask *task = &training->task;
  const FovEnvSpec *spec = &task->env->spec;
  const char *objective = training->objective->plugin.name;
  if (!training->objective->likelihood) return FOV_OK;
  if (spec->answer != FOV_ANSWER_CLASS || (spec->steps > 1 && !spec->last))
    return fov_fail(FOV_ERR_USAGE,
                    "objective = %s: expected an environment that asks for one label, found env = "
                    "%s",
                    objective, task->env->type->plugin.name);
  if (task->stop->decide)
    return fov_fail(FOV_ERR_USAGE, "objective = %s: expected stop = never, found stop = %s",
                    objective, task->stop->plugin.name);
  if (task->agent->attention->without_policy)
    return fov_fail(
        FOV_ERR_USAGE,
        "objective = %s: expected an attention that chooses, found attention = %s, with "
        "which all copies of a case are the same",
        objective, task->agent->attention->plugin.name);
  if (training->options.copies < 2)
    return fov_fail(FOV_ERR_USAGE, "objective = %s needs train.copies of 2 or more, found 1",
                    objective);
  return FOV_OK;
}

/** Relaxed choices need labels unless c is learned, and other cases to compare with; only
 * `reinforce` and `gae` use them. */
static FovStatus check_relaxed(const FovTraining *training) {
  const FovTask *task = &training->task;
  const FovAttention *attention = task->agent->attention;
  const FovObjective *objective = training->objective;
  if (!attention->relaxes) return FOV_OK;
  if (!attention->control && task->env->spec.answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s needs labels, which env = %s does not have; set "
                    "attention = relax",
                    attention->plugin.name, task->env->type->plugin.name);
  if (objective->enumerates || objective->likelihood || objective->passes)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s: expected objective = reinforce or gae, found objective = %s; "
                    "set attention = sampled",
                    attention->plugin.name, objective->plugin.name);
  const FovTrainOptions *o = &training->options;
  int others = fov_train_lanes(o) - o->copies;
  if (others < FOV_CONTROL_LANES)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s compares cases: expected %d or more episodes of other cases in "
                    "a shard, found %d (train.copies = %d, train.shard = %d, train.batch = %d)",
                    attention->plugin.name, FOV_CONTROL_LANES, others, o->copies, o->shard,
                    o->batch);
  return FOV_OK;
}

/** A patch as large as the image cannot move inside it. */
static FovStatus check_inside(const FovTask *task) {
  const FovSensor *sensor = &task->agent->sensor;
  FovImage shown = fov_observed(&task->env->spec.observation, NULL);
  bool covers = sensor->whole || (sensor->side >= shown.width && sensor->side >= shown.height);
  if (!sensor->inside || !covers) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "sensor.inside = yes: expected a patch smaller than the image of %d x %d pixels, "
                  "or it cannot move; lower sensor.side or set sensor.whole = no",
                  shown.width, shown.height);
}

static FovStatus check_near(const FovTraining *training) {
  const FovTask *task = &training->task;
  if (training->options.near == 0) return FOV_OK;
  if (task->options.first != FOV_FIRST_RANDOM)
    return fov_fail(FOV_ERR_USAGE, "train.near moves random first glimpses: set first = random");
  if (training->objective->enumerates)
    return fov_fail(FOV_ERR_USAGE, "objective = %s: expected train.near = 0, found %g",
                    training->objective->plugin.name, training->options.near);
  if (!task->env->spec.located)
    return fov_fail(FOV_ERR_USAGE,
                    "train.near needs a target that has a place, and env = %s has none",
                    task->env->type->plugin.name);
  if (task->agent->attention->without_policy)
    return fov_fail(FOV_ERR_USAGE,
                    "train.near: expected an attention that goes to a place, found attention = %s, "
                    "on which it has no effect",
                    task->agent->attention->plugin.name);
  return FOV_OK;
}

static FovStatus check_parts(const FovTraining *training) {
  int parts, shards = fov_train_shards(&training->options);
  fov_train_passes(&parts, training);
  if (parts <= shards) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "objective.parts = %d: expected at most the %d shards of a batch; lower "
                  "train.shard or objective.parts",
                  parts, shards);
}

/** Fails if the previous label, an input of the agent, would be the answer. */
static FovStatus check_previous(const FovTask *task) {
  const FovEnvSpec *spec = &task->env->spec;
  if (task->agent->previous.count == 0 || !spec->last || spec->steps < 2) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "previous: env = %s asks the same question after every glimpse, so the previous "
                  "label would be the answer; set previous = 0",
                  task->env->type->plugin.name);
}

FovStatus fov_train_check(const FovTraining *training) {
  FOV_TRY(fov_task_check(&training->task));
  FOV_TRY(check_previous(&training->task));
  FOV_TRY(check_last(&training->options));
  FOV_TRY(check_answer(training));
  FOV_TRY(fov_train_check_enumeration(training));
  FOV_TRY(check_copies(training));
  FOV_TRY(check_baseline(training));
  FOV_TRY(check_likelihood(training));
  FOV_TRY(check_relaxed(training));
  FOV_TRY(check_inside(&training->task));
  FOV_TRY(check_near(training));
  return check_parts(training);
}
