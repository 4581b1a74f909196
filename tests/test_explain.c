/** Explanations: gradients and maps against differences, with readings held and not, and maps of
 * which the right answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "explain/jacobian.h"
#include "explain/maps.h"
#include "toy.h"

enum { LANES = 3 };

static const bool DOUBLE = sizeof(real) == sizeof(double);

/** Some episodes of a toy agent that are explained. */
typedef struct Scene {
  Toy toy;
  real *values; // owned
  FovArena arena, scratch;
  int64_t cases[LANES];
  FovHeld held;
  double completeness[LANES];
  FovExplained explained;
} Scene;

static FovExplainRequest request_of(const Scene *s, const char *target, bool through) {
  FovExplainRequest request = {.task = &s->toy.task,
                               .values = s->values,
                               .cases = s->cases,
                               .count = LANES,
                               .seed = 3,
                               .split = FOV_SPLIT_TRAIN,
                               .progress = 1,
                               .through = through,
                               .threads = 1};
  assert_int_equal(fov_target_parse(&request.target, target), FOV_OK);
  return request;
}

static void begin(Scene *s, const char *settings, const char *target, bool through) {
  memset(s, 0, sizeof *s);
  toy_create(&s->toy, settings);
  s->values = toy_lively_values(&s->toy);
  for (int b = 0; b < LANES; b++) s->cases[b] = 2 * b + 1;
  FovExplainRequest request = request_of(s, target, through);
  if (fov_explain_check(&request) != FOV_OK) fail_msg("%s: %s", settings, fov_error_message());
  fov_held_play(&s->held, &s->arena,
                &(FovHeldRequest){.task = request.task,
                                  .values = request.values,
                                  .cases = request.cases,
                                  .lanes = LANES,
                                  .seed = request.seed,
                                  .split = request.split,
                                  .progress = 1,
                                  .through = through});
  s->explained = (FovExplained){.held = &s->held,
                                .target = request.target,
                                .arena = &s->arena,
                                .scratch = &s->scratch,
                                .completeness = s->completeness};
}

static void finish(Scene *s) {
  fov_arena_finish(&s->arena), fov_arena_finish(&s->scratch);
  free(s->values);
  toy_finish(&s->toy);
}

static real *new_map(Scene *s) {
  return fov_arena_zeros(&s->arena, fov_explained_pixels(&s->explained) * sizeof(real));
}

/* ---- gradients ---- */

/** dy/dx of pixel i of every lane, by a central difference. pixels: [B, P], as they were. */
static void differ(double slopes[LANES], const Scene *s, float *pixels, size_t i, double h) {
  double y[2][LANES], steps[LANES] = {0};
  size_t numbers = fov_held_pixels(&s->held);
  for (int side = 0; side < 2; side++) {
    for (int b = 0; b < LANES; b++) {
      float *pixel = &pixels[(size_t)b * numbers + i], was = *pixel;
      *pixel = (float)((double)was + (side ? h : -h));
      steps[b] += (side ? 1 : -1) * (double)*pixel;
    }
    fov_explained_values(y[side], &s->explained, pixels);
    memcpy(pixels, s->held.pixels, LANES * numbers * sizeof *pixels);
  }
  for (int b = 0; b < LANES; b++) slopes[b] = (y[1][b] - y[0][b]) / steps[b];
}

static void check_gradient(const char *settings, const char *target, bool through) {
  static Scene s;
  double y[LANES], slopes[LANES], most = 0; // the largest number of the gradient
  begin(&s, settings, target, through);
  size_t numbers = fov_held_pixels(&s.held), count = fov_explained_pixels(&s.explained);
  real *gradient = new_map(&s);
  float *pixels = malloc(count * sizeof *pixels);
  assert_non_null(pixels);
  memcpy(pixels, s.held.pixels, count * sizeof *pixels);
  memcpy(gradient, fov_explained_gradient(y, &s.explained, NULL), count * sizeof *gradient);
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)gradient[i]));
  // Standardised images are floats: the rounding of a short step would show.
  bool standardised = fov_is_standardised(s.held.task.standard);
  for (size_t i = 0; i < numbers; i++) {
    differ(slopes, &s, pixels, i, standardised ? 4e-3 : 1e-5);
    for (int b = 0; b < LANES; b++) {
      double found = (double)gradient[(size_t)b * numbers + i];
      assert_near(found, slopes[b], (standardised ? 1e-4 : 1e-6) * (1 + most),
                  "%s%s, lane %d, pixel %zu", settings, target, b, i);
    }
  }
  if (!(most > 1e-4)) fail_msg("%s: %s does not depend on the pixels", settings, target);
  free(pixels);
  finish(&s);
}

#define WIDE "glimpse.width = 9\n"
#define FILTERS "encoder = conv\nsensor.scales = 2\n" TOY_SMALL_FILTERS

static void test_gradients_of_a_gaze_equal_differences(void **state) {
  (void)state;
  if (!DOUBLE) skip();
  check_gradient("core = rnn\n", "logit", false);
  check_gradient("core = gru\nsensor.scales = 3\n", "logit:label", false);
  check_gradient("core = lstm\nsensor.bilinear = yes\n", "logit:2", false);
  check_gradient("core = none\nsensor.whole = yes\n", "log_p", false);
  check_gradient(FILTERS, "entropy", false);
  check_gradient("baseline = learned\nstop_gradient = both\n", "baseline", false);
  check_gradient("stop_gradient = both\n", "location_x", false);
  check_gradient("policy = relative\n", "location_y", false);
  check_gradient(TOY_TWO_LAYERS, "location_x", false);
  check_gradient(TOY_TWO_LAYERS "stop_gradient = location\n", "location_y", false);
  check_gradient("stop = confident\nstop.threshold = 0.6\n", "logit", false);
  check_gradient("sensor.standardise = yes\n", "logit", false);
  check_gradient("env = toy_turns\n", "logit", false);
  check_gradient("env = toy_game\nreward = correct\n", "logit", false);
  check_gradient("env = toy_find\n", "logit:1", false);
}

static void test_gradients_of_other_readings_equal_differences(void **state) {
  (void)state;
  if (!DOUBLE) skip();
  static const char *const readings[] = {
      TOY_SOFT WIDE,
      TOY_SOFT WIDE "tiles.heads = 3\ntiles.keys = values\n",
      TOY_SOFT WIDE TOY_COARSE,
      TOY_SOFT WIDE TOY_BLOCKS,
      TOY_SOFT WIDE TOY_TWO_LAYERS,
      "attention = local_m\n" TOY_TILES WIDE,
      "attention = local_p\n" TOY_TILES WIDE "attention.distance = 3\n",
      TOY_WINDOW "draw\n",
      TOY_WINDOW "draw\nsensor.gain = 2\n" TOY_TWO_LAYERS,
      TOY_WINDOW "spatial_transformer\n",
  };
  for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
    for (int through = 0; through < 2; through++) check_gradient(readings[i], "logit", through);
}

static void test_gradients_of_hard_choices_equal_differences(void **state) {
  (void)state;
  static const char *const names[] = {"sampled", "straight_through", "gumbel", "reinmax", "rebar"};
  if (!DOUBLE) skip();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char settings[256];
    snprintf(settings, sizeof settings, TOY_SITES WIDE "attention = %s\n", names[i]);
    check_gradient(settings, "log_p", false);
  }
  check_gradient(TOY_SITES WIDE TOY_COARSE "attention = sampled\n", "logit", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients_of_a_gaze_equal_differences),
      cmocka_unit_test(test_gradients_of_other_readings_equal_differences),
      cmocka_unit_test(test_gradients_of_hard_choices_equal_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
