/**
 * locate: where in a picture is the patch that the cue shows? The same question is asked after
 * every glimpse (Schneider et al. 2026; localisation in ap_gym, where MNIST is called MNISTSearch).
 *
 * The patch has `patch` × `patch` pixels around a place that is uniform in [−1, 1]², drawn with
 * every reset: x, then y, after the clutter and the distortion. At ±1 the patch's edge is on the
 * picture's, as for the sensor with sensor.inside; between pixels it is bilinear. If every
 * channel's brightness has a standard deviation below `detail`, the patch is drawn again,
 * MOST_DRAWS times in all. The answer is the place. An answer y earns −3/2 ‖y − target‖²; the
 * policy charges for the steps.
 */
#include <math.h>

#include "envs/canvas.h"

enum { MOST_DRAWS = 1000 };

typedef struct Options {
  FovCanvasOptions canvas;
  int patch, steps;
  double detail;
} Options;

typedef struct Locate {
  FovCanvas canvas;
  int patch, steps;
  double detail;
} Locate;

static FovStatus check_patch(const FovCanvas *canvas, int patch) {
  int least = canvas->height < canvas->width ? canvas->height : canvas->width;
  if (2 * patch <= least) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "env.patch = %d: expected at most %d, half of the image's side",
                  patch, least / 2);
}

/** Describes what is asked. The goal: the root mean squared distance of the answers is at most the
 * patch's width, 2 patch / (side − patch) in units of places. */
static void describe(FovEnvSpec *spec, const Locate *world) {
  const FovCanvas *canvas = &world->canvas;
  float rest[2] = {(float)(canvas->width - world->patch), (float)(canvas->height - world->patch)};
  float near = 2 * (float)world->patch / fminf(rest[0], rest[1]);
  spec->cue = (FovObservation){.kind = FOV_OBSERVATION_IMAGE,
                               .height = world->patch,
                               .width = world->patch,
                               .channels = canvas->channels,
                               .floats = true};
  spec->answer = FOV_ANSWER_VECTOR;
  spec->actions = 2;
  spec->names = NULL;
  spec->steps = world->steps;
  spec->goal = -(float)world->steps * FOV_VECTOR_LOSS * near * near / 2;
  spec->place[0] = rest[0] / (float)canvas->width;
  spec->place[1] = rest[1] / (float)canvas->height;
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_canvas_create(env, sizeof(Locate), spec, &o->canvas, split));
  Locate *world = *env;
  world->patch = o->patch;
  world->steps = o->steps;
  world->detail = o->detail;
  FovStatus status = check_patch(&world->canvas, o->patch);
  if (status == FOV_OK) {
    describe(spec, world);
    return FOV_OK;
  }
  fov_canvas_destroy(world);
  *env = NULL;
  return status;
}

/** The brightness at pixel (x, y) and between it and its neighbours on the right and below,
 * `across` and `down` of the way; channel c. */
static float brightness(const FovCanvas *canvas, const uint8_t *image, int x, int y, int c,
                        float across, float down) {
  int right = x + 1 < canvas->width, below = y + 1 < canvas->height, C = canvas->channels;
  const uint8_t *pixel = image + ((size_t)y * (size_t)canvas->width + (size_t)x) * (size_t)C + c;
  const uint8_t *under = pixel + (size_t)below * (size_t)canvas->width * (size_t)C;
  const float upper[] = {pixel[0], pixel[right * C]}, lower[] = {under[0], under[right * C]};
  return fov_canvas_between(upper, lower, across, down) / 255;
}

/** The patch at `place`, [patch, patch, C]. */
static void cut(float *patch, const Locate *world, const uint8_t *image, const float place[2]) {
  const FovCanvas *canvas = &world->canvas;
  int side = world->patch;
  double left = ((double)place[0] + 1) / 2 * (canvas->width - side);
  double top = ((double)place[1] + 1) / 2 * (canvas->height - side);
  int x = (int)left, y = (int)top;
  float across = (float)(left - x), down = (float)(top - y);
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++)
      for (int c = 0; c < canvas->channels; c++)
        *patch++ = brightness(canvas, image, x + j, y + i, c, across, down);
}

/** The largest standard deviation of a channel of a patch: a patch of one colour has none. */
static double deviation(const float *patch, int pixels, int channels) {
  double most = 0;
  for (int c = 0; c < channels; c++) {
    double sum = 0, squares = 0;
    for (int i = c; i < pixels * channels; i += channels) {
      sum += (double)patch[i];
      squares += (double)patch[i] * (double)patch[i];
    }
    most = fmax(most, squares / pixels - sum / pixels * (sum / pixels));
  }
  return sqrt(most);
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Locate *world = env;
  const FovCanvas *canvas = &world->canvas;
  uint8_t *image = fov_lane_pixels(lane);
  fov_canvas_clear(canvas, image);
  fov_canvas_clutter(canvas, image, rng);
  fov_canvas_centre(canvas, image, fov_canvas_picture(canvas, index), rng);
  int pixels = world->patch * world->patch, draws = 0;
  do {
    for (int j = 0; j < 2; j++) lane->target[j] = 2 * fov_rng_uniform(rng) - 1;
    cut(lane->cue, world, image, lane->target);
  } while (deviation(lane->cue, pixels, canvas->channels) < world->detail && ++draws < MOST_DRAWS);
}

static void step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)rng;
  lane->reward = -fov_vector_loss(answer->vector, lane->target, 2);
  lane->terminated = lane->taken + 1 == ((const Locate *)env)->steps;
}

static const FovOption options_table[] = {
    FOV_CANVAS_OPTIONS,
    FOV_INT(FovCanvasOptions, size, "28", 0, 4096,
            "side of the canvas, pixels; 0: the images' own height and width"),
    FOV_CANVAS_PIECES("0"),
    FOV_INT(Options, patch, "5", 1, 64, "side of the patch to find, pixels"),
    FOV_INT(Options, steps, "16", 1, 1024, "answers of an episode, one after every glimpse"),
    FOV_REAL(Options, detail, "0", 0, 0.5,
             "least standard deviation of a channel of the patch, which is drawn up to 1000 times; "
             "0: a patch may be blank"),
    FOV_OPTIONS_END};

const FovEnvType fov_env_locate = {
    .plugin = {"locate", "the place of a patch of the image (Schneider et al. 2026)", options_table,
               sizeof(Options)},
    .standardise = true,
    .create = create,
    .destroy = fov_canvas_destroy,
    .reset = reset,
    .step = step,
};
