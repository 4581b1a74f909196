/**
 * One correct environment for each kind of observation and answer that envs/ lacks.
 *
 * spectrum: an image of 5 channels of floats; the label is the brightest channel.
 * largest: a vector; the label is its largest number.
 * remember: tokens that change; the label is the first of them, then the second, …
 * find: an image and, as a cue, a patch of it; the answer is the patch's place, a vector.
 */
#include "kind_envs.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 40, SIDE = 6, BANDS = 5, NUMBERS = 4, TOKENS = 3, WORDS = 7, PATCH = 2 };

static void destroy(void *env) {
  (void)env;
}

static void answer_once(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = true;
}

/* ---- an image of floats ---- */

static FovStatus create_spectrum(void **env, FovEnvSpec *spec, const void *options,
                                 FovSplit split) {
  (void)options, (void)split;
  *env = NULL;
  *spec = (FovEnvSpec){.observation = {.kind = FOV_OBSERVATION_IMAGE,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .channels = BANDS,
                                       .floats = true},
                       .actions = BANDS,
                       .steps = 1,
                       .cases = CASES};
  return FOV_OK;
}

static void reset_spectrum(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  float *image = lane->observation;
  lane->label = (int)(index % BANDS);
  for (int i = 0; i < SIDE * SIDE * BANDS; i++)
    image[i] = fov_rng_uniform(rng) - 2 + 4 * (i % BANDS == lane->label);
}

/* ---- a vector ---- */

static FovStatus create_largest(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)options, (void)split;
  *env = NULL;
  *spec = (FovEnvSpec){.observation = {.kind = FOV_OBSERVATION_VECTOR, .length = NUMBERS},
                       .actions = NUMBERS,
                       .steps = 1,
                       .cases = CASES};
  return FOV_OK;
}

static void reset_largest(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  float *numbers = lane->observation;
  lane->label = (int)(index % NUMBERS);
  for (int i = 0; i < NUMBERS; i++) numbers[i] = fov_rng_uniform(rng) + (i == lane->label);
}

/* ---- tokens ---- */

static FovStatus create_remember(void **env, FovEnvSpec *spec, const void *options,
                                 FovSplit split) {
  (void)options, (void)split;
  *env = NULL;
  *spec = (FovEnvSpec){
      .observation = {.kind = FOV_OBSERVATION_TOKENS, .length = TOKENS, .vocabulary = WORDS},
      .actions = WORDS,
      .steps = TOKENS,
      .changes = true,
      .cases = CASES,
      .state_size = TOKENS * sizeof(int32_t)};
  return FOV_OK;
}

static void reset_remember(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  int32_t *tokens = lane->observation;
  for (int i = 0; i < TOKENS; i++)
    tokens[i] = i == 0 ? (int32_t)(index % WORDS) : (int32_t)fov_rng_below(rng, WORDS);
  memcpy(lane->state, tokens, TOKENS * sizeof *tokens);
  lane->label = tokens[0];
}

/** The next label is in the state, no longer in the observation. */
static void step_remember(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env;
  const int32_t *labels = lane->state;
  int32_t *tokens = lane->observation;
  int next = lane->taken + 1;
  lane->reward = answer->action == lane->label;
  lane->terminated = next == TOKENS;
  lane->label = lane->terminated ? -1 : labels[next];
  for (int i = 0; i < TOKENS; i++) tokens[i] = (int32_t)fov_rng_below(rng, WORDS);
}

/* ---- a cue, and a vector as the answer ---- */

static FovStatus create_find(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)options, (void)split;
  *env = NULL;
  *spec = (FovEnvSpec){.observation = fov_byte_image(SIDE, SIDE, 1),
                       .cue = fov_byte_image(PATCH, PATCH, 1),
                       .answer = FOV_ANSWER_VECTOR,
                       .actions = 2,
                       .steps = 1,
                       .goal = -1,
                       .cases = CASES};
  return FOV_OK;
}

/** target: row and column of the patch's corner. */
static void reset_find(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  uint8_t *image = lane->observation, *patch = lane->cue;
  int places = SIDE - PATCH + 1, row = (int)(index % places), column = (int)(index / 7 % places);
  for (int i = 0; i < SIDE * SIDE; i++) image[i] = (uint8_t)fov_rng_below(rng, 256);
  for (int i = 0; i < PATCH * PATCH; i++)
    patch[i] = image[(row + i / PATCH) * SIDE + column + i % PATCH];
  lane->target[0] = (float)row;
  lane->target[1] = (float)column;
}

static void step_find(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  float y = answer->vector[0] - lane->target[0], x = answer->vector[1] - lane->target[1];
  lane->reward = -(x * x + y * y);
  lane->terminated = true;
}

/* ---- all of them ---- */

#define KIND(name, how)                                                                            \
  static const FovEnvType name = {.plugin = {#name, "another observation or answer", NULL, 0},     \
                                  .create = create_##name,                                         \
                                  .destroy = destroy,                                              \
                                  .reset = reset_##name,                                           \
                                  .step = how}

KIND(spectrum, answer_once);
KIND(largest, answer_once);
KIND(remember, step_remember);
KIND(find, step_find);

const FovEnvType *const kind_envs[] = {&spectrum, &largest, &remember, &find, NULL};
