#include "learn/rollout/task.h"

#include "sensor/augment.h"

static const char *const firsts[] = {"centre", "random", "learned", NULL};

const FovOption fov_task_options[] = {
    FOV_INT(FovTaskOptions, glimpses, "6", 1, FOV_MAX_GLIMPSES,
            "taken before each answer or action"),
    FOV_CHOICE(
        FovTaskOptions, first, "centre", firsts,
        "where the first glimpse falls; the default is learned if the attention chooses sites"),
    FOV_OPTIONS_END,
};

static FovStatus check_shown(const FovObservation *shown, const char *env, const char *what) {
  char found[FOV_DESCRIPTION];
  bool image = shown->kind == FOV_OBSERVATION_IMAGE;
  if (shown->kind == FOV_OBSERVATION_VECTOR) return FOV_OK;
  bool first = strcmp(what, "observation") == 0; // only it may be a sequence
  if (shown->kind == FOV_OBSERVATION_TOKENS && first) return FOV_OK;
  if (image && (shown->channels == 1 || shown->channels == 3)) return FOV_OK;
  fov_observation_describe(found, shown);
  return fov_fail(FOV_ERR_USAGE, "env = %s: %s: expected an image of 1 or 3 channels%s, found %s",
                  env, what, first ? ", a vector or a sequence" : " or a vector", found);
}

FovStatus fov_spec_check(const FovEnvSpec *spec, const char *env) {
  FOV_TRY(check_shown(&spec->observation, env, "observation"));
  if (spec->cue.kind == FOV_OBSERVATION_NONE) return FOV_OK;
  return check_shown(&spec->cue, env, "cue");
}

FovImage fov_observed(const FovObservation *shown, const void *values) {
  if (shown->kind == FOV_OBSERVATION_TOKENS)
    return (FovImage){.tokens = values, .height = 1, .width = shown->length, .channels = 1};
  if (shown->kind == FOV_OBSERVATION_VECTOR)
    return (FovImage){.floats = values, .height = 1, .width = 1, .channels = shown->length};
  return (FovImage){.bytes = shown->floats ? NULL : values,
                    .floats = shown->floats ? values : NULL,
                    .height = shown->height,
                    .width = shown->width,
                    .channels = shown->channels};
}

FovImage fov_lane_image(const FovEnvLane *lane, const FovEnvSpec *spec) {
  return fov_observed(&spec->observation, lane->observation);
}

const char *fov_policy_for(const FovAttention *attention, const FovPolicy *policy) {
  if (attention->without_policy && strcmp(policy->plugin.name, "centre") != 0) return "centre";
  if (attention->scores && !policy->sites) return "sites";
  if (!attention->scores && policy->sites) return "gaussian";
  return NULL;
}

/** Fails if reward or stop rule need what the answer does not have. */
static FovStatus check_answer(const FovTask *task) {
  FovAnswerKind answer = task->env->spec.answer;
  const char *env = task->env->type->plugin.name;
  if (answer != FOV_ANSWER_CLASS && task->reward->labelled)
    return fov_fail(FOV_ERR_USAGE, "reward = %s needs labels, and env = %s has none",
                    task->reward->plugin.name, env);
  if (answer == FOV_ANSWER_VECTOR && task->stop->reads_answer)
    return fov_fail(FOV_ERR_USAGE,
                    "stop = %s needs the probabilities of an answer, and env = %s asks for a "
                    "vector, which has none",
                    task->stop->plugin.name, env);
  return FOV_OK;
}

/** Fails if a vector would be augmented, or if there is a cue, which is not augmented. */
static FovStatus check_augmentation(const FovTask *task) {
  const FovEnvSpec *spec = &task->env->spec;
  bool images = spec->observation.kind == FOV_OBSERVATION_IMAGE;
  if (!fov_is_augmented(&task->agent->sensor) || (images && spec->cue.kind == FOV_OBSERVATION_NONE))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "sensor.contrast, sensor.brightness: expected an environment of images without a "
                  "cue, found env = %s; set both to 0",
                  task->env->type->plugin.name);
}

FovStatus fov_task_check(const FovTask *task) {
  FOV_TRY(fov_spec_check(&task->env->spec, task->env->type->plugin.name));
  const FovAttention *attention = task->agent->attention;
  const char *other = fov_policy_for(attention, task->policy);
  if (other)
    return fov_fail(FOV_ERR_USAGE, "attention = %s: policy = %s does not fit; set policy = %s",
                    attention->plugin.name, task->policy->plugin.name, other);
  if (fov_task_glimpses(task) < attention->least_glimpses)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s reads another place with every glimpse: expected glimpses = %d "
                    "or more, found %d",
                    attention->plugin.name, attention->least_glimpses, task->options.glimpses);
  if (attention->scores && task->env->spec.observation.kind == FOV_OBSERVATION_TOKENS &&
      task->options.first != FOV_FIRST_LEARNED)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s: expected first = learned, because another place may have no "
                    "symbol; found first = %s",
                    attention->plugin.name, firsts[task->options.first]);
  if (attention->scores && task->env->type->look)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s chooses by what is shown, but env = %s changes what is shown "
                    "when a place is looked at; set attention = gaze",
                    attention->plugin.name, task->env->type->plugin.name);
  FOV_TRY(check_augmentation(task));
  return check_answer(task);
}

int fov_task_glimpses(const FovTask *task) {
  return task->options.glimpses * task->env->spec.steps;
}

FovView fov_task_view(const FovTask *task, int taken) {
  return (FovView){.changed = task->env->spec.changes,
                   .fixed = taken == 0 && task->options.first != FOV_FIRST_LEARNED,
                   .time = (real)(2.0 * taken / fov_task_glimpses(task) - 1)};
}

void fov_task_bounds(real bounds[2], const FovTask *task) {
  const FovSensor *sensor = &task->agent->sensor;
  FovImage shown = fov_observed(&task->env->spec.observation, NULL);
  const int extents[2] = {shown.width, shown.height};
  for (int j = 0; j < 2; j++)
    bounds[j] =
        sensor->inside && !sensor->whole ? (real)fmax(0, 1 - (double)sensor->side / extents[j]) : 1;
}

int fov_task_choices(const FovTask *task) {
  const FovAgent *agent = task->agent;
  const FovAttention *attention = agent->attention;
  FovGrid grid = {0};
  if (attention->sites) grid = attention->sites(agent->attention_layout);
  return task->policy->count ? task->policy->count(task->policy_options, grid.across * grid.down)
                             : 0;
}

int fov_task_columns(FovColumn columns[FOV_COLUMNS], const FovTask *task) {
  return task->policy->columns ? task->policy->columns(columns, task->policy_options) : 0;
}
