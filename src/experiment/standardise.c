/** Mean and deviation of what an environment shows. */
#include <stdlib.h>

#include "experiment/experiment.h"
#include "sensor/standard.h"

enum { MOST_CASES = 10000 };

/** Adds what cases show, evenly spaced over all of them. */
static FovStatus add_cases(FovStandardSums *sums, const FovEnv *env, FovEnvLane *lane) {
  int64_t count = env->spec.cases < MOST_CASES ? env->spec.cases : MOST_CASES;
  for (int64_t i = 0; i < count; i++) {
    int64_t index = i * (env->spec.cases / count);
    FovRng rng =
        fov_rng_stream(0, FOV_STREAM_FIXED_ENV, (uint64_t)FOV_SPLIT_TRAIN << 50 | (uint64_t)index);
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
