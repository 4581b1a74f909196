#include "env.h"

static void check_spec(const FovEnvSpec *spec, const char *name) {
  FOV_CHECK(spec->height > 0 && spec->width > 0, "%s: an image of %d x %d pixels", name,
            spec->width, spec->height);
  FOV_CHECK(spec->channels == 1 || spec->channels == 3, "%s: %d channels", name, spec->channels);
  FOV_CHECK(spec->actions > 0 && spec->actions <= FOV_MAX_ACTIONS, "%s: %d actions", name,
            spec->actions);
  FOV_CHECK(spec->steps > 0 && spec->steps <= FOV_MAX_STEPS, "%s: %d steps", name, spec->steps);
  FOV_CHECK(spec->cases > 0, "%s: %lld cases", name, (long long)spec->cases);
}

FovStatus fov_env_create(FovEnv *env, const FovEnvType *type, const void *options, FovSplit split) {
  *env = (FovEnv){.type = type};
  FOV_TRY(type->create(&env->impl, &env->spec, options, split));
  check_spec(&env->spec, type->plugin.name);
  return FOV_OK;
}

void fov_env_finish(FovEnv *env) {
  if (env->type) env->type->destroy(env->impl);
  *env = (FovEnv){0};
}

/** A label is due as long as the episode goes on, unless it is about control. */
static void check_label(const FovEnv *env, const FovEnvLane *lane) {
  int label = lane->label, least = env->spec.control ? -1 : 0;
  int most = env->spec.control ? -1 : env->spec.actions - 1;
  FOV_CHECK(fov_env_over(lane) || (label >= least && label <= most),
            "%s: label %d, expected %d to %d", env->type->plugin.name, label, least, most);
}

void fov_env_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  FOV_CHECK(index >= 0 && index < env->spec.cases, "%s: case %lld of %lld", env->type->plugin.name,
            (long long)index, (long long)env->spec.cases);
  lane->label = -1;
  lane->reward = 0;
  lane->terminated = lane->truncated = false;
  lane->taken = 0;
  env->type->reset(env->impl, lane, index, rng);
  check_label(env, lane);
}

void fov_env_step(const FovEnv *env, FovEnvLane *lane, int action, FovRng *rng) {
  FOV_CHECK(action >= 0 && action < env->spec.actions, "%s: action %d of %d",
            env->type->plugin.name, action, env->spec.actions);
  FOV_CHECK(!fov_env_over(lane), "%s: the episode is over: reset the lane first",
            env->type->plugin.name);
  lane->reward = 0;
  env->type->step(env->impl, lane, action, rng);
  lane->taken++;
  lane->truncated = !lane->terminated && lane->taken == env->spec.steps;
  check_label(env, lane);
}
