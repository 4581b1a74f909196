#include "learn/rollout/task.h"

static const char *const firsts[] = {"centre", "random", "learned", NULL};

const FovOption fov_task_options[] = {
    FOV_INT(FovTaskOptions, glimpses, "6", 1, FOV_MAX_GLIMPSES,
            "taken before each answer or action"),
    FOV_CHOICE(FovTaskOptions, first, "centre", firsts, "where the first glimpse falls"),
    FOV_OPTIONS_END,
};

FovStatus fov_task_check(const FovTask *task) {
  if (!task->env->spec.control || !task->reward->labelled) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "reward = %s needs labels, and env = %s has none",
                  task->reward->plugin.name, task->env->type->plugin.name);
}

int fov_task_glimpses(const FovTask *task) {
  return task->options.glimpses * task->env->spec.steps;
}

int fov_task_columns(FovPolicyColumn columns[FOV_POLICY_COLUMNS], const FovTask *task) {
  return task->policy->columns ? task->policy->columns(columns, task->policy_options) : 0;
}
