/** reverse: a sequence of symbols is answered from the last one to the first. */
#include <stdlib.h>

#include "envs/letters.h"

static void write_order(int *order, const int32_t *source, int length) {
  (void)source;
  for (int i = 0; i < length; i++) order[i] = length - 1 - i;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)index; // the generator differs from case to case
  fov_letters_draw(env, lane, rng, write_order);
}

const FovEnvType fov_env_reverse = {
    FOV_ENV_OF_LETTERS("reverse", "a sequence of symbols, to be answered backwards"),
    .reset = reset,
};
