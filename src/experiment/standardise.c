/** Mean and deviation of what an environment shows. */
#include <stdlib.h>

#include "experiment/experiment.h"
#include "sensor/standard.h"

enum { MOST_CASES = 10000, MOST_PIXELS = 100000000 };

/** Adds what all cases show; of many, or of large images, what cases drawn without replacement
 * show.
 */
static FovStatus add_cases(FovStandardSums *sums, const FovEnv *env, FovEnvLane *lane) {
  const FovObservation *shown = &env->spec.observation;
  uint64_t cases = (uint64_t)env->spec.cases;
  double fitting = (double)MOST_PIXELS / shown->height / shown->width;
  int count = fitting < 1 ? 1 : fitting < MOST_CASES ? (int)fitting : MOST_CASES;
  bool all = cases <= (uint64_t)count;
  for (uint64_t i = 0; i < (all ? cases : (uint64_t)count); i++) {
    int64_t index = (int64_t)(all ? i : fov_rng_permute(i, cases, 0));
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
