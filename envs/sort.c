/** sort: a sequence of symbols is answered in the order of the alphabet. */
#include <stdlib.h>

#include "envs/letters.h"

static void write_order(int *order, const int32_t *source, int length) {
  for (int i = 0; i < length; i++) {
    int at = i;
    for (; at > 0 && source[order[at - 1]] > source[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)index; // the generator differs from case to case
  fov_letters_draw(env, lane, rng, write_order);
}

const FovEnvType fov_env_sort = {
    FOV_ENV_OF_LETTERS("sort",
                       "a sequence of symbols, to be answered in the order of the alphabet"),
    .reset = reset,
};
