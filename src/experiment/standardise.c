/** Mean and deviation of what an environment shows. */
#include "experiment/experiment.h"
#include "sensor/standard.h"

enum { MOST_CASES = 10000, MOST_PIXELS = 100000000 };

/** Adds what all cases show; of many cases or large images, those of a random order that fit. */
static FovStatus add_cases(FovStandardSums *sums, const FovEnv *env, FovEnvLane *lane) {
  const FovObservation *shown = &env->spec.observation;
  uint64_t cases = (uint64_t)env->spec.cases;
  double fitting = (double)MOST_PIXELS / shown->height / shown->width;
  uint64_t most = fitting < 1 ? 1 : fitting < MOST_CASES ? (uint64_t)fitting : MOST_CASES;
  bool all = cases <= most;
  for (uint64_t i = 0; i < (all ? cases : most); i++) {
    int64_t index = (int64_t)(all ? i : fov_rng_permute(i, cases, 0));
    FovRng rng = fov_case_rng(0, FOV_SPLIT_TRAIN, index);
    FOV_TRY(fov_env_try_reset(env, lane, index, &rng));
    FovImage image = fov_lane_image(lane, &env->spec);
    fov_standard_add(sums, &image);
  }
  return FOV_OK;
}

FovStatus fov_experiment_standardise(FovExperiment *experiment, const FovEnv *env) {
  FovStandardise choice = (FovStandardise)experiment->sensor.standardise;
  experiment->standard = (FovStandard){.channels = 0};
  if (choice == FOV_STANDARDISE_NO || (choice == FOV_STANDARDISE_AUTO && !env->type->standardise))
    return FOV_OK;
  FovArena arena = {.first = NULL};
  FovStandardSums sums = {.pixels = 0};
  FovEnvLane lane = fov_env_lane(&arena, &env->spec);
  FovStatus status = add_cases(&sums, env, &lane);
  fov_arena_finish(&arena);
  FOV_TRY(status);
  experiment->standard = fov_standard_of(&sums, env->spec.observation.channels);
  return FOV_OK;
}
