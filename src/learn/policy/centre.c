/** Always the centre of the image: what an agent that never moves its eye can do. */
#include "learn/plugins.h"

static FovVar *choose(real *location, FovTape *tape, FovVar *mean, const FovChoice *choice,
                      FovRng *rng, int lanes) {
  (void)tape, (void)mean, (void)choice, (void)rng;
  memset(location, 0, 2 * (size_t)lanes * sizeof *location);
  return NULL;
}

const FovPolicy fov_policy_centre = {
    .plugin = {.name = "centre", .help = "always the centre of the image; learns nothing"},
    .choose = choose,
};
