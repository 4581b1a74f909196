/**
 * cluttered: a digit anywhere among pieces of other digits (Mnih et al. 2014, section 4.1).
 *
 * A reset draws, for each piece in turn: the digit of the split it comes from (it may be the target
 * itself), x and y of the 8×8 crop in that digit, x and y of its place; then x and y of the target.
 * All are uniform over what keeps the crop in its digit and the piece or target on the canvas.
 */
#include "envs/digits.h"

enum { CROP = 8 };

typedef struct Options {
  FovDigitsOptions digits;
  int pieces;
} Options;

typedef struct Cluttered {
  FovDigits digits;
  int pieces;
} Cluttered;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_digits_create(env, sizeof(Cluttered), spec, &o->digits, split));
  Cluttered *cluttered = *env;
  cluttered->pieces = o->pieces;
  int height = cluttered->digits.images.dims[1], width = cluttered->digits.images.dims[2];
  if (height >= CROP && width >= CROP) return FOV_OK;
  fov_digits_destroy(*env);
  *env = NULL;
  return fov_fail(FOV_ERR_FORMAT,
                  "clutter is cut in pieces of %d x %d pixels: expected images as large, found "
                  "%d x %d",
                  CROP, CROP, width, height);
}

static FovPatch draw_piece(const FovDigits *digits, FovRng *rng) {
  FovPatch source = fov_digits_image(digits, fov_rng_below(rng, (uint32_t)digits->count));
  uint32_t x = fov_rng_below(rng, (uint32_t)(source.width - CROP + 1));
  uint32_t y = fov_rng_below(rng, (uint32_t)(source.height - CROP + 1));
  const uint8_t *corner = source.pixels + (size_t)y * (size_t)source.stride + x;
  return (FovPatch){corner, CROP, CROP, source.stride};
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Cluttered *cluttered = env;
  const FovDigits *digits = &cluttered->digits;
  lane->label = fov_digits_label(digits, index);
  fov_digits_clear(digits, lane->image);
  for (int i = 0; i < cluttered->pieces; i++)
    fov_digits_scatter(digits, lane->image, draw_piece(digits, rng), rng);
  fov_digits_scatter(digits, lane->image, fov_digits_image(digits, index), rng);
}

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_INT(FovDigitsOptions, size, "60", 1, 4096, "side of the canvas, pixels"),
    FOV_INT(Options, pieces, "4", 0, 1000, "pieces of clutter, 8 x 8 pixels each"),
    FOV_OPTIONS_END};

const FovEnvType fov_env_cluttered = {
    .plugin = {"cluttered", "a digit among pieces of others", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_digits_destroy,
    .reset = reset,
    .step = fov_digits_step};
