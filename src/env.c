#include "env.h"

static void check_spec(const FovEnvSpec *spec, const char *name) {
  FOV_CHECK(spec->height > 0 && spec->width > 0, "%s: an image of %d x %d pixels", name,
            spec->width, spec->height);
  FOV_CHECK(spec->channels == 1 || spec->channels == 3, "%s: %d channels", name, spec->channels);
  FOV_CHECK(spec->actions > 0, "%s: %d actions", name, spec->actions);
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

void fov_env_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  FOV_CHECK(index >= 0 && index < env->spec.cases, "%s: case %lld of %lld", env->type->plugin.name,
            (long long)index, (long long)env->spec.cases);
  lane->reward = 0;
  lane->terminated = lane->truncated = false;
  env->type->reset(env->impl, lane, index, rng);
}

void fov_env_step(const FovEnv *env, FovEnvLane *lane, int action, FovRng *rng) {
  FOV_CHECK(action >= 0 && action < env->spec.actions, "%s: action %d of %d",
            env->type->plugin.name, action, env->spec.actions);
  FOV_CHECK(!lane->terminated && !lane->truncated, "%s: the episode is over: reset the lane first",
            env->type->plugin.name);
  env->type->step(env->impl, lane, action, rng);
}
