#include "learn/rollout/task.h"

static const char *const firsts[] = {"centre", "random", "learned", NULL};

const FovOption fov_task_options[] = {
    FOV_INT(FovTaskOptions, glimpses, "6", 1, FOV_MAX_GLIMPSES,
            "taken before each answer or action"),
    FOV_CHOICE(FovTaskOptions, first, "centre", firsts, "where the first glimpse falls"),
    FOV_OPTIONS_END,
};

FovStatus fov_spec_check(const FovEnvSpec *spec, const char *env) {
  const FovObservation *shown = &spec->observation;
  char found[FOV_DESCRIPTION];
  fov_observation_describe(found, shown);
  if (shown->kind != FOV_OBSERVATION_IMAGE || (shown->channels != 1 && shown->channels != 3))
    return fov_fail(FOV_ERR_USAGE, "env = %s: expected an image of 1 or 3 channels, found %s", env,
                    found);
  if (spec->answer == FOV_ANSWER_VECTOR)
    return fov_fail(FOV_ERR_USAGE,
                    "env = %s: expected a class or a move as the answer, found a vector of %d "
                    "numbers",
                    env, spec->actions);
  if (spec->cue.kind == FOV_OBSERVATION_NONE) return FOV_OK;
  fov_observation_describe(found, &spec->cue);
  return fov_fail(FOV_ERR_USAGE, "env = %s: expected no cue, found %s", env, found);
}

FovImage fov_lane_image(const FovEnvLane *lane, const FovEnvSpec *spec) {
  const FovObservation *shown = &spec->observation;
  return (FovImage){.bytes = shown->floats ? NULL : lane->observation,
                    .floats = shown->floats ? lane->observation : NULL,
                    .height = shown->height,
                    .width = shown->width,
                    .channels = shown->channels};
}

const char *fov_policy_for(const FovAttention *attention, const FovPolicy *policy) {
  if (attention->reads_all && (policy->head.build || policy->sites)) return "centre";
  if (attention->scores && !policy->sites) return "sites";
  if (!attention->scores && policy->sites) return "gaussian";
  return NULL;
}

FovStatus fov_task_check(const FovTask *task) {
  FOV_TRY(fov_spec_check(&task->env->spec, task->env->type->plugin.name));
  const FovAttention *attention = task->agent->attention;
  const char *other = fov_policy_for(attention, task->policy);
  if (other)
    return fov_fail(FOV_ERR_USAGE, "attention = %s: expected policy = %s, found policy = %s",
                    attention->plugin.name, other, task->policy->plugin.name);
  if (fov_task_glimpses(task) < attention->least_glimpses)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s reads another place with every glimpse: expected glimpses = %d "
                    "or more, found %d",
                    attention->plugin.name, attention->least_glimpses, task->options.glimpses);
  if (task->env->spec.answer != FOV_ANSWER_MOVE || !task->reward->labelled) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "reward = %s needs labels, and env = %s has none",
                  task->reward->plugin.name, task->env->type->plugin.name);
}

int fov_task_glimpses(const FovTask *task) {
  return task->options.glimpses * task->env->spec.steps;
}

void fov_task_bounds(real bounds[2], const FovTask *task) {
  const FovSensor *sensor = &task->agent->sensor;
  const FovObservation *shown = &task->env->spec.observation;
  const int extents[2] = {shown->width, shown->height};
  for (int j = 0; j < 2; j++)
    bounds[j] =
        sensor->inside && !sensor->whole ? (real)fmax(0, 1 - (double)sensor->side / extents[j]) : 1;
}

int fov_task_choices(const FovTask *task) {
  const FovAgent *agent = task->agent;
  int sites = agent->attention->sites ? agent->attention->sites(agent->attention_layout) : 0;
  return task->policy->count ? task->policy->count(task->policy_options, sites) : 0;
}

int fov_task_columns(FovColumn columns[FOV_COLUMNS], const FovTask *task) {
  return task->policy->columns ? task->policy->columns(columns, task->policy_options) : 0;
}
