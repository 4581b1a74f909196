#include "learn/rollout/rollout.h"

/** A number for a case that no case of another split has; bits 40 to 49 are free. */
static uint64_t name_case(FovSplit split, int64_t index) {
  return (uint64_t)split << 50 | (uint64_t)index;
}

FovRng fov_case_rng(uint64_t seed, FovSplit split, int64_t index) {
  return fov_rng_stream(seed, FOV_STREAM_FIXED_ENV, name_case(split, index));
}

FovPlan fov_plan_list(FovArena *arena, const int64_t *list, int lanes, uint64_t seed,
                      FovSplit split, int repeat) {
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    FOV_CHECK(list[b] < 1ll << 40 && repeat >= 0 && repeat < 1024, "case %lld, repeat %d",
              (long long)list[b], repeat);
    cases[b] = list[b];
    env_rng[b] = fov_case_rng(seed, split, cases[b]);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_FIXED_POLICY,
                                   name_case(split, cases[b]) | (uint64_t)repeat << 40);
  }
  return (FovPlan){.lanes = lanes, .cases = cases, .env_rng = env_rng, .policy_rng = policy_rng};
}

FovPlan fov_plan_cases(FovArena *arena, int64_t first, int lanes, uint64_t seed, FovSplit split,
                       int repeat) {
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  for (int b = 0; b < lanes; b++) cases[b] = first + b;
  return fov_plan_list(arena, cases, lanes, seed, split, repeat);
}

FovPlan fov_plan_full(FovArena *arena, const FovTask *task, int lanes) {
  FovPlan plan = fov_plan_cases(arena, 0, lanes, 0, FOV_SPLIT_TRAIN, 0);
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  for (int b = 0; b < lanes; b++) cases[b] = b % task->env->spec.cases;
  plan.cases = cases;
  plan.predict = task->baseline->head.build;
  plan.augment = true;
  plan.full = true;
  return plan;
}
