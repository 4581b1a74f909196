/**
 * pairs: two digits anywhere on the canvas, to be named together (Ba et al. 2015, section 4.1): the
 * unordered pair, of 55 for ten digits, or the sum, of 19.
 *
 * A reset draws the second digit; then x and y of the first and of the second, both uniformly from
 * what keeps them inside, again and again until they are apart, if they have to be.
 */
#include <stdio.h>
#include <stdlib.h>

#include "envs/digits.h"

enum { PAIR, SUM };
static const char *const answers[] = {[PAIR] = "pair", [SUM] = "sum", NULL};

typedef struct Options {
  FovDigitsOptions digits;
  int answer;
  bool apart;
} Options;

typedef struct Pairs {
  FovDigits digits;
  Options options;
} Pairs;

/** The number of an unordered pair: (0, 0), (0, 1) … (1, 1), (1, 2) … */
static int pair_of(int a, int b, int classes) {
  int low = a < b ? a : b, high = a < b ? b : a;
  return low * classes - low * (low - 1) / 2 + high - low;
}

static void name_pair(char name[FOV_DIGITS_NAME], int pair, int classes) {
  int low = 0;
  while (low + 1 < classes && pair_of(low + 1, low + 1, classes) <= pair) low++;
  snprintf(name, FOV_DIGITS_NAME, "%d %d", low, low + pair - pair_of(low, low, classes));
}

static FovStatus prepare(Pairs *pairs, FovEnvSpec *spec, const Options *o) {
  FovDigits *digits = &pairs->digits;
  int classes = digits->pictures.classes, height = digits->pictures.height,
      width = digits->pictures.width;
  pairs->options = *o;
  // Side by side or one above the other.
  if (o->apart && digits->width < 2 * width && digits->height < 2 * height)
    return fov_fail(FOV_ERR_USAGE,
                    "env.size = %d: expected room for two images of %d x %d pixels side by side; "
                    "make it larger or set env.apart = no",
                    o->digits.size, width, height);
  int64_t answers_of =
      o->answer == SUM ? 2 * (int64_t)classes - 1 : (int64_t)classes * (classes + 1) / 2;
  if (answers_of > FOV_MAX_ACTIONS)
    return fov_fail(FOV_ERR_USAGE, "%d classes: expected at most %d answers, found %lld", classes,
                    FOV_MAX_ACTIONS, (long long)answers_of);
  spec->actions = (int)answers_of;
  spec->names = NULL;
  return o->answer == SUM ? FOV_OK : fov_digits_name(digits, spec, name_pair);
}

static FovStatus create(void **env, FovEnvSpec *spec, const void *options, FovSplit split) {
  const Options *o = options;
  FOV_TRY(fov_digits_create(env, sizeof(Pairs), spec, &o->digits, split));
  FovStatus status = prepare(*env, spec, o);
  if (status == FOV_OK) return FOV_OK;
  fov_digits_destroy(*env);
  *env = NULL;
  return status;
}

static void reset(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  const Pairs *pairs = env;
  const FovDigits *digits = &pairs->digits;
  int64_t other = fov_rng_below(rng, (uint32_t)digits->pictures.count);
  int a = fov_digits_label(digits, index), b = fov_digits_label(digits, other);
  FovPatch first = fov_digits_image(digits, index), second = fov_digits_image(digits, other);
  int x[2], y[2];
  do {
    fov_digits_place(digits, &x[0], &y[0], first, rng);
    fov_digits_place(digits, &x[1], &y[1], second, rng);
  } while (pairs->options.apart && abs(x[0] - x[1]) < first.width &&
           abs(y[0] - y[1]) < first.height);
  lane->label = pairs->options.answer == SUM ? a + b : pair_of(a, b, digits->pictures.classes);
  fov_digits_clear(digits, fov_lane_pixels(lane));
  fov_digits_paste(digits, fov_lane_pixels(lane), first, x[0], y[0]);
  fov_digits_paste(digits, fov_lane_pixels(lane), second, x[1], y[1]);
}

static const FovOption options_table[] = {
    FOV_DIGITS_OPTIONS,
    FOV_INT(FovDigitsOptions, size, "100", 1, 4096, "side of the canvas, pixels"),
    FOV_CHOICE(Options, answer, "pair", answers, "the unordered pair of digits, or their sum"),
    FOV_BOOL(Options, apart, "yes", "the digits' squares do not overlap"),
    FOV_OPTIONS_END,
};

const FovEnvType fov_env_pairs = {
    .plugin = {"pairs", "two digits to name together", options_table, sizeof(Options)},
    .create = create,
    .destroy = fov_digits_destroy,
    .reset = reset,
    .step = fov_digits_step,
};
