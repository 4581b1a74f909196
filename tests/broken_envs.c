/**
 * Environments with one planted bug each, and the clause of the contract that catches it.
 *
 * Each is a correct environment, a bright pixel in the left or right half of the image, in which
 * one function is replaced.
 */
#include "kind_envs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, CASES = 40, ANSWERS = 2, STEPS = 3 };

/* ---- a correct environment ---- */

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  (void)options, (void)split;
  *env = malloc(32);
  if (!*env) return fov_fail(FOV_ERR_MEMORY, "no memory for an environment");
  *spec = (FovEnvSpec){.observation = fov_byte_image(SIDE, SIDE, 1),
                       .actions = ANSWERS,
                       .steps = STEPS,
                       .cases = CASES,
                       .state_size = sizeof(int)};
  return FOV_OK;
}

/** Sets a pixel of the half that the label names. */
static void draw(FovEnvLane *lane, int label, FovRng *rng) {
  uint8_t *image = fov_lane_pixels(lane);
  int row = (int)fov_rng_below(rng, SIDE), column = (int)fov_rng_below(rng, SIDE / 2);
  memset(image, 0, (size_t)SIDE * SIDE);
  image[row * SIDE + label * SIDE / 2 + column] = 255;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  lane->label = (int)(index % ANSWERS);
  *(int *)lane->state = (int)index;
  draw(lane, lane->label, rng);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  lane->reward = answer->action == lane->label;
  lane->terminated = true;
}

/* ---- bugs of a spec ---- */

static FovStatus create_without_steps(void **env, FovEnvSpec *spec, const void *options,
                                      FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->steps = 0;
  return FOV_OK;
}

static FovStatus create_two_channels(void **env, FovEnvSpec *spec, const void *options,
                                     FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->observation.channels = 2;
  return FOV_OK;
}

static FovStatus create_changing(void **env, FovEnvSpec *spec, const void *options,
                                 FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->changes = true;
  return FOV_OK;
}

static FovStatus create_floats(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->observation.floats = true;
  return FOV_OK;
}

static FovStatus create_tokens(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->observation =
      (FovObservation){.kind = FOV_OBSERVATION_TOKENS, .length = 2, .vocabulary = 3};
  return FOV_OK;
}

static FovStatus create_vector(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->answer = FOV_ANSWER_VECTOR;
  return FOV_OK;
}

// Memory that is never freed stays reachable, so that no leak checker reports it too.
static void *volatile kept[8];
static int kept_count;

static void keep_memory(void *env) {
  if (env) kept[kept_count++ % 8] = env;
}

/* ---- bugs of a reset ---- */

static void reset_beyond_image(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  fov_lane_pixels(lane)[SIDE * SIDE] = 1;
}

static void reset_before_state(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  ((char *)lane->state)[-1] = 1;
}

static void reset_with_rand(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  fov_lane_pixels(lane)[0] = (uint8_t)rand();
}

static void reset_with_counter(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  static int resets;
  reset(env, lane, index, rng);
  *(int *)lane->state = resets++;
}

static void reset_without_clearing(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  lane->label = (int)(index % ANSWERS);
  *(int *)lane->state = (int)index;
  fov_lane_pixels(lane)[lane->label] = (uint8_t)fov_rng_below(rng, 256);
}

static void reset_same_picture(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env;
  lane->label = (int)(index % ANSWERS);
  *(int *)lane->state = (int)index;
  draw(lane, 0, rng);
}

static void reset_label_beyond(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  lane->label = 1 + (int)(index % ANSWERS);
}

static void reset_without_label(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  lane->label = -1;
}

static void reset_with_nan(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env, (void)rng;
  float *image = lane->observation;
  lane->label = (int)(index % ANSWERS);
  *(int *)lane->state = (int)index;
  for (int i = 0; i < SIDE * SIDE; i++) image[i] = i == 5 ? NAN : 0;
}

static void reset_token_beyond(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)env, (void)rng;
  int32_t *tokens = lane->observation;
  lane->label = (int)(index % ANSWERS);
  *(int *)lane->state = (int)index;
  tokens[0] = lane->label;
  tokens[1] = 3;
}

/** target: the pixel's half, or not a number. */
static void reset_target(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  lane->target[0] = (float)lane->label;
  lane->target[1] = 0;
  lane->label = -1;
}

static void reset_target_nan(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset_target(env, lane, index, rng);
  lane->target[1] = NAN;
}

/* ---- bugs of a step ---- */

static void step_paying_all(const void *env, FovEnvLane *lane, const FovAnswer *answer,
                            FovRng *rng) {
  (void)env, (void)rng, (void)answer;
  lane->reward = 1;
  lane->terminated = true;
}

static void step_paying_nan(const void *env, FovEnvLane *lane, const FovAnswer *answer,
                            FovRng *rng) {
  step(env, lane, answer, rng);
  lane->reward = NAN;
}

static void step_for_ever(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  step(env, lane, answer, rng);
  lane->terminated = false;
}

static void step_redrawing(const void *env, FovEnvLane *lane, const FovAnswer *answer,
                           FovRng *rng) {
  step(env, lane, answer, rng);
  draw(lane, lane->label, rng);
}

static void step_with_counter(const void *env, FovEnvLane *lane, const FovAnswer *answer,
                              FovRng *rng) {
  static int steps;
  step(env, lane, answer, rng);
  *(int *)lane->state = steps++;
}

/* ---- bugs of a target's place ---- */

static FovStatus create_located(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  FOV_TRY(create(env, spec, options, split));
  spec->located = true;
  return FOV_OK;
}

static void reset_outside(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  reset(env, lane, index, rng);
  lane->where[0] = 0, lane->where[1] = 2;
}

static void reset_elsewhere(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  static int resets;
  reset(env, lane, index, rng);
  lane->where[0] = lane->where[1] = (float)(resets++ % 2);
}

/* ---- bugs of a look ---- */

static void look_to_end(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env, (void)place, (void)rng;
  lane->terminated = true;
}

static void look_redrawing(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env, (void)place;
  draw(lane, lane->label, rng);
}

static void look_with_counter(const void *env, FovEnvLane *lane, const float place[2],
                              FovRng *rng) {
  static int looks;
  (void)env, (void)place, (void)rng;
  *(int *)lane->state = looks++;
}

static void step_once_more(const void *env, FovEnvLane *lane, const FovAnswer *answer,
                           FovRng *rng) {
  step(env, lane, answer, rng);
  lane->terminated = lane->taken > 0;
}

/* ---- the list ---- */

#define BROKEN(bug, found_by, message, a, b, c, d)                                                 \
  {                                                                                                \
    .type = {.plugin = {bug, "has a planted bug", NULL, 0},                                        \
             .create = (a),                                                                        \
             .destroy = (b),                                                                       \
             .reset = (c),                                                                         \
             .step = (d)},                                                                         \
    .clause = #found_by, .words = (message)                                                        \
  }

/** The same with a look, and two steps. */
#define LOOKING(bug, found_by, message, how)                                                       \
  {                                                                                                \
    .type = {.plugin = {bug, "has a planted bug", NULL, 0},                                        \
             .create = create,                                                                     \
             .destroy = free,                                                                      \
             .reset = reset,                                                                       \
             .step = step_once_more,                                                               \
             .look = (how)},                                                                       \
    .clause = #found_by, .words = (message)                                                        \
  }

const BrokenEnv broken_envs[] = {
    LOOKING("ends-at-once", a_reset_is_a_pure_function, "ends an episode before", look_to_end),
    LOOKING("look-redraws", an_observation_changes_only_if_declared, "changes", look_redrawing),
    LOOKING("counts-looks", a_reset_is_a_pure_function, "the state differs", look_with_counter),
    BROKEN("incomplete", is_complete, "step", create, free, reset, NULL),
    BROKEN("no-steps", has_a_valid_spec, "steps: expected 1 to 65536, found 0",
           create_without_steps, free, reset, step),
    BROKEN("two-channels", has_a_valid_spec, "an image of 8 x 8 x 2 bytes", create_two_channels,
           free, reset, step),
    BROKEN("no-destroy", frees_its_memory, "not freed", create, keep_memory, reset, step),
    BROKEN("past-the-image", a_reset_is_a_pure_function, "outside the observation", create, free,
           reset_beyond_image, step),
    BROKEN("before-the-state", a_reset_is_a_pure_function, "outside the state", create, free,
           reset_before_state, step),
    BROKEN("rand", a_reset_is_a_pure_function, "the observation differs", create, free,
           reset_with_rand, step),
    BROKEN("static-counter", a_reset_is_a_pure_function, "the state differs", create, free,
           reset_with_counter, step),
    BROKEN("not-cleared", a_reset_is_a_pure_function, "the observation differs", create, free,
           reset_without_clearing, step),
    BROKEN("same-picture", different_right_answers_look_different, "look the same", create, free,
           reset_same_picture, step),
    BROKEN("label-beyond", every_episode_ends, "label: expected 0 to 1, found 2", create, free,
           reset_label_beyond, step),
    BROKEN("no-label", threads_change_nothing, "label: expected 0 to 1, found -1", create, free,
           reset_without_label, step),
    BROKEN("nan-in-the-image", a_reset_is_a_pure_function, "observation: number 5", create_floats,
           free, reset_with_nan, step),
    BROKEN("token-beyond", a_reset_is_a_pure_function,
           "token 1: expected 0 to 2, or -1 from the end on, found 3", create_tokens, free,
           reset_token_beyond, step),
    BROKEN("nan-in-the-target", a_reset_is_a_pure_function, "target: number 1", create_vector, free,
           reset_target_nan, step),
    BROKEN("outside", a_reset_is_a_pure_function, "where: expected -1 to 1 or nan, found 2",
           create_located, free, reset_outside, step),
    BROKEN("elsewhere", a_reset_is_a_pure_function, "where differs", create_located, free,
           reset_elsewhere, step),
    BROKEN("unasked", a_reset_is_a_pure_function, "where: expected nan", create, free,
           reset_outside, step),
    BROKEN("any-vector-pays", the_right_answer_earns_most, "earns 1", create_vector, free,
           reset_target, step_paying_all),
    BROKEN("any-answer-pays", the_right_answer_earns_most, "earns 1", create, free, reset,
           step_paying_all),
    BROKEN("nan-reward", the_right_answer_earns_most, "reward: number 0", create, free, reset,
           step_paying_nan),
    BROKEN("never-ends", every_episode_ends, "does not end", create, free, reset, step_for_ever),
    BROKEN("redraws", an_observation_changes_only_if_declared, "changes", create, free, reset,
           step_redrawing),
    BROKEN("never-redraws", an_observation_changes_only_if_declared, "never changes",
           create_changing, free, reset, step),
    BROKEN("counts-steps", a_step_is_a_pure_function, "the state differs", create, free, reset,
           step_with_counter),
    {.clause = NULL},
};
