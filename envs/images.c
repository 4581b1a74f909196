/**
 * images: one picture, in the middle of the canvas or anywhere, with or without clutter; and its
 * presets centred, translated and cluttered (Mnih et al. 2014, section 4.1).
 *
 * With `steps` above 1 its class is asked for that often, and an episode is right if the last
 * answer is, as in the environments of active perception (Schneider et al. 2026).
 *
 * A reset draws the clutter and then, if the picture may be anywhere, its x and y, uniformly from
 * all places that keep it inside; and its distortion, if there is any. Nothing else is random.
 */
#include "envs/canvas.h"

enum { CENTRE, ANYWHERE };

typedef struct Options {
  FovCanvasOptions canvas;
  int place, steps;
} Options;

typedef struct Images {
  FovCanvas canvas;
  int place, steps;
} Images;

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_canvas_create(env, sizeof(Images), spec, &o->canvas, split));
  Images *images = *env;
  images->place = o->place;
  images->steps = spec->steps = o->steps;
  spec->last = o->steps > 1;
  spec->located = o->place == ANYWHERE;
  return FOV_OK;
}

static FovStatus create_centre(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options o = {.canvas = *(const FovCanvasOptions *)options, .place = CENTRE, .steps = 1};
  return create(env, spec, &o, split);
}

static FovStatus create_anywhere(void **env, FovEnvSpec *spec, const void *options,
                                 FovSplit split) {
  const Options o = {.canvas = *(const FovCanvasOptions *)options, .place = ANYWHERE, .steps = 1};
  return create(env, spec, &o, split);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Images *images = env;
  const FovCanvas *canvas = &images->canvas;
  uint8_t *image = fov_lane_pixels(lane);
  FovCrop picture = fov_canvas_picture(canvas, index);
  int x, y;
  lane->label = fov_canvas_label(canvas, index);
  fov_canvas_clear(canvas, image);
  fov_canvas_clutter(canvas, image, rng);
  if (images->place == CENTRE) {
    fov_canvas_centre(canvas, image, picture, rng);
    return;
  }
  fov_canvas_place(canvas, &x, &y, picture, rng);
  fov_canvas_draw(canvas, image, picture, x, y, rng);
  lane->where[0] = fov_location_of(x, picture.width, canvas->width);
  lane->where[1] = fov_location_of(y, picture.height, canvas->height);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  fov_canvas_step(env, lane, answer, rng);
  lane->terminated = lane->taken + 1 == ((const Images *)env)->steps;
}

#define SIDE(fallback, least, help) FOV_INT(FovCanvasOptions, size, fallback, least, 4096, help)

static const char *const colours[] = {"auto", "grey", "rgb", NULL};
static const char *const fits[] = {"pad", "scale", NULL};
static const char *const places[] = {"centre", "anywhere", NULL};

static const FovOption images_table[] = {
    FOV_CANVAS_OPTIONS,
    FOV_CHOICE(FovPicturesOptions, colour, "auto", colours,
               "auto: grey if all pictures are grey, rgb otherwise"),
    FOV_INT(FovPicturesOptions, picture, "0", 0, 4096,
            "side of the square that pictures are scaled to fit in, pixels; 0: as large as the "
            "largest picture"),
    FOV_CHOICE(FovPicturesOptions, fit, "pad", fits,
               "pictures of several sizes: pad scales all by one factor, scale makes each as large "
               "as fits; the border is black"),
    SIDE("0", 0, "side of the canvas, pixels; 0: the pictures' height and width"),
    FOV_CHOICE(Options, place, "centre", places, "where the picture is on the canvas"),
    FOV_CANVAS_PIECES("0"),
    FOV_INT(Options, steps, "1", 1, 1024, "answers of an episode, all with the picture's class"),
    FOV_OPTIONS_END};

static const FovOption centred_table[] = {
    FOV_CANVAS_OPTIONS,
    SIDE("28", 0, "side of the canvas, pixels; 0: the images' own height and width"),
    FOV_OPTIONS_END};

static const FovOption translated_table[] = {
    FOV_CANVAS_OPTIONS, SIDE("60", 1, "side of the canvas, pixels"), FOV_OPTIONS_END};

static const FovOption cluttered_table[] = {FOV_CANVAS_OPTIONS,
                                            SIDE("60", 1, "side of the canvas, pixels"),
                                            FOV_CANVAS_PIECES("4"), FOV_OPTIONS_END};

/** An environment of this file: its option table, how it is created, and whether its images are
 * standardised. */
#define IMAGES(name, help, table, options, how, standard)                                          \
  const FovEnvType fov_env_##name = {.plugin = {#name, help, table, sizeof(options)},              \
                                     .standardise = standard,                                      \
                                     .create = how,                                                \
                                     .destroy = fov_canvas_destroy,                                \
                                     .reset = reset,                                               \
                                     .step = step}

IMAGES(images, "your own pictures, PNG or IDX", images_table, Options, create, true);
IMAGES(centred, "a digit in the middle of the image", centred_table, FovCanvasOptions,
       create_centre, false);
IMAGES(translated, "a digit anywhere in the image", translated_table, FovCanvasOptions,
       create_anywhere, false);
IMAGES(cluttered, "a digit among pieces of other digits", cluttered_table, FovCanvasOptions,
       create_anywhere, false);
