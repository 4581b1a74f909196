/** A random map: what a method must be better than. */
#include "explain/method.h"

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  const FovHeld *held = explained->held;
  size_t numbers = fov_held_pixels(held);
  for (int b = 0; b < held->lanes; b++) {
    FovRng rng = fov_rng_stream(explained->seed, FOV_STREAM_EXPLAIN, (uint64_t)held->cases[b]);
    for (size_t i = 0; i < numbers; i++) map[(size_t)b * numbers + i] = fov_rng_uniform(&rng);
  }
}

const FovMethod fov_method_random = {
    .plugin = {.name = "random", .help = "numbers from 0 to 1, to compare with"},
    .ignores_target = true,
    .map = map,
};
