/**
 * pairs: two digits anywhere on the canvas, named together: as an unordered pair, of 55 for ten
 * digits, or as their sum, of 19 (Ba et al. 2015, section 4.1).
 *
 * The squares of the digits do not overlap, unless env.apart = no, and the background is empty,
 * unless env.pieces is set. In the paper the sums have an empty background and the pairs have
 * distracting noise in theirs, of which we found no specification; env.pieces puts the clutter of
 * Mnih et al. 2014 there (see fov_canvas_clutter). Clutter may lie on the digits.
 *
 * A reset draws the second digit; then x and y of the first and of the second, both uniformly from
 * all places that keep them inside, again until they are apart; then the clutter, and the
 * distortions of the digits.
 */
#include <stdio.h>
#include <stdlib.h>

#include "envs/canvas.h"

enum { PAIR, SUM };
static const char *const answers[] = {[PAIR] = "pair", [SUM] = "sum", NULL};

typedef struct Options {
  FovCanvasOptions canvas;
  int answer;
  bool apart;
} Options;

typedef struct Pairs {
  FovCanvas canvas;
  Options options;
} Pairs;

/** The number of an unordered pair: (0, 0), (0, 1) … (1, 1), (1, 2) … */
static int pair_of(int a, int b, int classes) {
  int low = a < b ? a : b, high = a < b ? b : a;
  return low * classes - low * (low - 1) / 2 + high - low;
}

static void name_pair(char name[FOV_CANVAS_NAME], int pair, const FovPictures *pictures) {
  char numbers[2][12];
  int low = 0, classes = pictures->classes;
  while (low + 1 < classes && pair_of(low + 1, low + 1, classes) <= pair) low++;
  int high = low + pair - pair_of(low, low, classes);
  snprintf(name, FOV_CANVAS_NAME, "%.30s %.30s", fov_canvas_class(numbers[0], pictures, low),
           fov_canvas_class(numbers[1], pictures, high));
}

/** Two pictures fit side by side or one above the other. */
static FovStatus check_size(const FovCanvas *canvas, const Options *o) {
  int height = canvas->most[0], width = canvas->most[1];
  if (!o->apart || canvas->width >= 2 * width || canvas->height >= 2 * height) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "env.size = %d: expected a canvas on which two images of %d x %d pixels fit side "
                  "by side; make it larger or set env.apart = no",
                  o->canvas.size, width, height);
}

static FovStatus prepare(Pairs *pairs, FovEnvSpec *spec, const Options *o) {
  FovCanvas *canvas = &pairs->canvas;
  int64_t classes = canvas->pictures->classes;
  int64_t count = o->answer == SUM ? 2 * classes - 1 : classes * (classes + 1) / 2;
  pairs->options = *o;
  FOV_TRY(check_size(canvas, o));
  if (count > FOV_MAX_ACTIONS)
    return fov_fail(FOV_ERR_USAGE, "%d classes: expected at most %d answers, found %lld",
                    canvas->pictures->classes, FOV_MAX_ACTIONS, (long long)count);
  spec->actions = (int)count;
  spec->names = NULL;
  return o->answer == SUM ? FOV_OK : fov_canvas_name(canvas, spec, name_pair);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_canvas_create(env, sizeof(Pairs), spec, &o->canvas, split));
  FovStatus status = prepare(*env, spec, o);
  if (status == FOV_OK) return FOV_OK;
  fov_canvas_destroy(*env);
  *env = NULL;
  return status;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Pairs *pairs = env;
  const FovCanvas *canvas = &pairs->canvas;
  uint8_t *image = fov_lane_pixels(lane);
  int64_t other = fov_rng_below(rng, (uint32_t)canvas->pictures->count);
  int a = fov_canvas_label(canvas, index), b = fov_canvas_label(canvas, other);
  FovCrop first = fov_canvas_picture(canvas, index), second = fov_canvas_picture(canvas, other);
  int x[2], y[2];
  do {
    fov_canvas_place(canvas, &x[0], &y[0], first, rng);
    fov_canvas_place(canvas, &x[1], &y[1], second, rng);
  } while (pairs->options.apart && abs(x[0] - x[1]) < first.width &&
           abs(y[0] - y[1]) < first.height);
  lane->label = pairs->options.answer == SUM ? a + b : pair_of(a, b, canvas->pictures->classes);
  fov_canvas_clear(canvas, image);
  fov_canvas_clutter(canvas, image, rng);
  fov_canvas_draw(canvas, image, first, x[0], y[0], rng);
  fov_canvas_draw(canvas, image, second, x[1], y[1], rng);
}

static const FovOption options_table[] = {
    FOV_CANVAS_OPTIONS,
    FOV_INT(FovCanvasOptions, size, "100", 1, 4096, "side of the canvas, pixels"),
    FOV_CANVAS_PIECES("0"),
    FOV_CHOICE(Options, answer, "pair", answers, "the unordered pair of digits, or their sum"),
    FOV_BOOL(Options, apart, "yes", "the digits' squares do not overlap"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_pairs = {
    .plugin = {"pairs", "two digits to name together", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_canvas_destroy,
    .reset = reset,
    .step = fov_canvas_step,
};
