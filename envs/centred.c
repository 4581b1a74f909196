/** centred: one digit in the middle of the canvas; no draws. With size 0, any IDX images as is. */
#include "envs/digits.h"

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  return fov_digits_create(env, sizeof(FovDigits), spec, options, split);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  (void)rng;
  const FovDigits *digits = env;
  lane->label = fov_digits_label(digits, index);
  fov_digits_clear(digits, fov_lane_pixels(lane));
  fov_digits_centre(digits, fov_lane_pixels(lane), fov_digits_image(digits, index));
}

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_INT(FovDigitsOptions, size, "28", 0, 4096,
            "side of the canvas, pixels; 0: the images' own height and width"),
    FOV_OPTIONS_END};

const FovEnvType fov_env_centred = {.plugin = {"centred", "a digit in the middle of the image",
                                               options_table, sizeof(FovDigitsOptions)},
                                    .create = create,
                                    .destroy = fov_digits_destroy,
                                    .reset = reset,
                                    .step = fov_digits_step};
