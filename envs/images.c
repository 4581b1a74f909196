/** images: one's own pictures, in the middle or anywhere, among pieces of others if asked for. */
#include "envs/digits.h"

enum { CENTRE, ANYWHERE };

typedef struct Options {
  FovDigitsOptions digits;
  int place;
} Options;

typedef struct Images {
  FovDigits digits;
  int place;
} Images;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_digits_create(env, sizeof(Images), spec, &o->digits, split));
  ((Images *)*env)->place = o->place;
  return FOV_OK;
}

/** Draws the clutter, then, if it may be anywhere, x and y of the picture. */
static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Images *images = env;
  const FovDigits *digits = &images->digits;
  lane->label = fov_digits_label(digits, index);
  fov_digits_clear(digits, fov_lane_pixels(lane));
  fov_digits_clutter(digits, fov_lane_pixels(lane), rng);
  if (images->place == ANYWHERE)
    fov_digits_scatter(digits, fov_lane_pixels(lane), fov_digits_image(digits, index), rng);
  else
    fov_digits_centre(digits, fov_lane_pixels(lane), fov_digits_image(digits, index));
}

static const char *const colours[] = {"auto", "grey", "rgb", NULL};
static const char *const fits[] = {"pad", "scale", NULL};
static const char *const places[] = {"centre", "anywhere", NULL};

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_CHOICE(FovPicturesOptions, colour, "auto", colours,
               "auto: grey if all pictures are, rgb otherwise"),
    FOV_INT(FovPicturesOptions, picture, "0", 0, 4096,
            "side of the square that pictures are scaled to fit in, pixels; 0: as large as the "
            "largest"),
    FOV_CHOICE(FovPicturesOptions, fit, "pad", fits,
               "pictures of several sizes: pad keeps one scale for all, scale makes each as large "
               "as fits; black around"),
    FOV_INT(FovDigitsOptions, size, "0", 0, 4096,
            "side of the canvas, pixels; 0: the pictures' height and width"),
    FOV_CHOICE(Options, place, "centre", places, "where the picture is on the canvas"),
    FOV_DIGITS_PIECES("0"),
    FOV_OPTIONS_END};

const FovEnvType fov_env_images = {
    .plugin = {"images", "pictures of one's own, PNG or IDX", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_digits_destroy,
    .reset = reset,
    .step = fov_digits_step};
