/** Uniform over the image: the floor that a learned policy must beat. */
#include "learn/plugins.h"

static FovVar *choose(real *location, FovTape *tape, FovVar *mean, const FovChoice *choice,
                      FovRng *rng, int lanes) {
  (void)tape, (void)mean, (void)choice;
  for (int b = 0; b < lanes; b++)
    for (int j = 0; j < 2; j++) location[2 * b + j] = 2 * fov_rng_uniform(&rng[b]) - 1;
  return NULL;
}

const FovPolicy fov_policy_random = {
    .plugin = {.name = "random", .help = "uniform over the image; learns nothing"},
    .choose = choose,
};
