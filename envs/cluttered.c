/**
 * cluttered: a digit anywhere among pieces of other digits (Mnih et al. 2014, section 4.1).
 *
 * A reset draws the clutter, then x and y of the target, uniformly from all that keep it inside.
 */
#include "envs/digits.h"

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  return fov_digits_create(env, sizeof(FovDigits), spec, options, split);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const FovDigits *digits = env;
  lane->label = fov_digits_label(digits, index);
  fov_digits_clear(digits, fov_lane_pixels(lane));
  fov_digits_clutter(digits, fov_lane_pixels(lane), rng);
  fov_digits_scatter(digits, fov_lane_pixels(lane), fov_digits_image(digits, index), rng);
}

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_INT(FovDigitsOptions, size, "60", 1, 4096, "side of the canvas, pixels"),
    FOV_DIGITS_PIECES("4"), FOV_OPTIONS_END};

const FovEnvType fov_env_cluttered = {.plugin = {"cluttered", "a digit among pieces of others",
                                                 options_table, sizeof(FovDigitsOptions)},
                                      .create = create,
                                      .destroy = fov_digits_destroy,
                                      .reset = reset,
                                      .step = fov_digits_step};
