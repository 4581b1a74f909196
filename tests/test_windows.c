/** Windows: glimpses by their definition, their derivative, and windows far out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/rng.h"
#include "sensor/window.h"
#include "tests/check.h"

enum { LARGEST = 40 * 40 * 3, MOST = 3 * 17 * 17 * 3 };

static const bool DOUBLE = sizeof(real) == sizeof(double);

/** An image of random numbers, and what a test of it needs. */
typedef struct Subject {
  uint8_t bytes[LARGEST];
  float floats[LARGEST];
  FovImage image;
  FovSensor sensor;
  FovWindowKind kind;
  real *scratch; // owned
  int numbers;
} Subject;

static void begin(Subject *t, FovWindowKind kind, FovSensor sensor, int height, int width,
                  int channels, bool floats) {
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, (uint64_t)(height * 100 + width));
  *t = (Subject){.sensor = sensor, .kind = kind};
  for (int i = 0; i < height * width * channels; i++) {
    t->bytes[i] = (uint8_t)fov_rng_below(&rng, 256);
    t->floats[i] = (float)fov_rng_normal(&rng);
  }
  t->image = (FovImage){.bytes = floats ? NULL : t->bytes,
                        .floats = floats ? t->floats : NULL,
                        .height = height,
                        .width = width,
                        .channels = channels};
  t->numbers = fov_glimpse_features(fov_sensor_glimpse(&sensor, height, width, channels));
  assert_in_range(t->numbers, 1, MOST);
  t->scratch = malloc(fov_window_scratch(&sensor, height, width, channels) * sizeof(real));
  assert_non_null(t->scratch);
}

static void finish(Subject *t) {
  free(t->scratch);
}

static void look(real *glimpse, const Subject *t, FovWindow window) {
  for (int i = 0; i < t->numbers; i++) glimpse[i] = NAN;
  fov_window_look(glimpse, t->kind, &t->sensor, &t->image, &window, t->scratch);
}

/** The weight of pixel p in a filter, by its definition. */
static double weigh(FovWindowKind kind, double centre, double sigma, int p) {
  if (kind == FOV_WINDOW_BILINEAR) return fmax(0, 1 - fabs(p - centre));
  double sum = 0;
  for (int q = -400; q < 400; q++) sum += exp(-pow(q - centre, 2) / (2 * sigma * sigma));
  return exp(-pow(p - centre, 2) / (2 * sigma * sigma)) / sum;
}

static double centre_of(double location, int extent, int side, double stride, int sample) {
  return (location + 1) / 2 * extent - 0.5 + (sample - (side - 1) / 2.0) * stride;
}

/** A sample [s, i, j, c] by its definition. */
static double sample_of(const Subject *t, FovWindow w, int s, int i, int j, int c) {
  const FovImage *image = &t->image;
  int G = t->sensor.side, H = image->height, W = image->width, C = image->channels;
  double stride = (double)w.stride * (1 << s), sigma = (double)w.sigma * (1 << s), sum = 0;
  double across[40], x = centre_of((double)w.x, W, G, stride, j);
  for (int p = 0; p < W; p++) across[p] = weigh(t->kind, x, sigma, p);
  for (int q = 0; q < H; q++) {
    double down = weigh(t->kind, centre_of((double)w.y, H, G, stride, i), sigma, q);
    for (int p = 0; p < W; p++) {
      int at = (q * W + p) * C + c;
      double brightness = image->bytes ? image->bytes[at] / 255.0 : (double)image->floats[at];
      sum += down * across[p] * brightness;
    }
  }
  return (double)w.intensity * pow(t->sensor.gain, s) * sum;
}

static void assert_as_defined(const Subject *t, FovWindow w) {
  int G = t->sensor.side, C = t->image.channels;
  real glimpse[MOST];
  look(glimpse, t, w);
  for (int n = 0; n < t->numbers; n++) {
    int c = n % C, j = n / C % G, i = n / C / G % G, s = n / C / G / G;
    double expected = sample_of(t, w, s, i, j, c);
    assert_near(glimpse[n], expected, (DOUBLE ? 1e-12 : 3e-5) * (1 + fabs(expected)),
                "kind %d, [%d, %d, %d] at (%g, %g), stride %g, sigma %g: [%d, %d, %d, %d]", t->kind,
                t->image.height, t->image.width, C, (double)w.x, (double)w.y, (double)w.stride,
                (double)w.sigma, s, i, j, c);
  }
}

/** Inside, at and over the edges, outside; dense, sparse, on pixels; sharp and blurred. */
static const FovWindow windows[] = {
    {0, 0, 1, 0.5f, 1},
    {0.31f, -0.22f, 0.7f, 1.3f, 1.5f},
    {-1, 1, 2.6f, 0.3f, 0.25f},
    {0.93f, 0.4f, 1.9f, 4, 1},
    {-0.4f, -1.2f, 0.05f, 0.05f, 2},
    {0.1f, 0.2f, 9, 0.02f, 1},
    {1.8f, -0.6f, 1.1f, 0.9f, 1},
    {-3, 2, 0.5f, 0.7f, 1},
};

enum { WINDOWS = sizeof windows / sizeof *windows };

static void a_glimpse_equals_its_definition(void **state) {
  (void)state;
  static const int shapes[][3] = {{20, 20, 1}, {5, 17, 1}, {17, 6, 3}, {1, 1, 1}};
  static const FovSensor sensors[] = {{.side = 4, .scales = 3, .gain = 1},
                                      {.side = 1, .scales = 1, .gain = 1},
                                      {.side = 17, .scales = 1, .gain = 1},
                                      {.side = 5, .scales = 2, .gain = 2}};
  static Subject t;
  for (int kind = 0; kind < 2; kind++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      for (size_t s = 0; s < sizeof sensors / sizeof *sensors; s++) {
        begin(&t, (FovWindowKind)kind, sensors[s], shapes[i][0], shapes[i][1], shapes[i][2],
              s % 2 == 1);
        for (int w = 0; w < WINDOWS; w++) assert_as_defined(&t, windows[w]);
        finish(&t);
      }
}

/** Bilinear samples one pixel apart are the pixels that the retina sees. */
static void samples_on_pixels_are_the_retina_s(void **state) {
  (void)state;
  static Subject t;
  begin(&t, FOV_WINDOW_BILINEAR, (FovSensor){.side = 6, .scales = 1, .gain = 1}, 20, 16, 3, false);
  static const real places[][2] = {{0, 0}, {0.5f, -0.3f}, {-1, 0.9f}, {1, 1}};
  for (int i = 0; i < 4; i++) {
    real glimpse[MOST], expected[MOST];
    fov_sensor_look(expected, &t.sensor, &t.image, places[i][0], places[i][1]);
    look(glimpse, &t, (FovWindow){places[i][0], places[i][1], 1, 1, 1});
    for (int n = 0; n < t.numbers; n++)
      assert_near(glimpse[n], expected[n], 1e-5, "place %d, number %d", i, n);
  }
  finish(&t);
}

/* ---- the derivative ---- */

/** A weight of both signs, different for each number. */
static double weight_of(int n) {
  return sin(1 + 3 * n);
}

static double loss_of(const Subject *t, FovWindow w) {
  real glimpse[MOST];
  double loss = 0;
  look(glimpse, t, w);
  for (int n = 0; n < t->numbers; n++) loss += weight_of(n) * (double)glimpse[n];
  return loss;
}

static FovWindow gradient_of(const Subject *t, FovWindow w) {
  real glimpse[MOST], gradient[MOST];
  FovWindow sum = {.x = 0};
  look(glimpse, t, w);
  for (int n = 0; n < t->numbers; n++) gradient[n] = (real)weight_of(n);
  fov_window_look_back(&sum, gradient, glimpse, t->kind, &t->sensor, &t->image, &w, t->scratch);
  return sum;
}

static real *number_of(FovWindow *w, int i) {
  real *const numbers[] = {&w->x, &w->y, &w->stride, &w->sigma, &w->intensity};
  return numbers[i];
}

static const char *const names[] = {"x", "y", "stride", "sigma", "intensity"};

static void assert_derivative(const Subject *t, FovWindow w) {
  FovWindow gradient = gradient_of(t, w);
  for (int i = 0; i < 5; i++) {
    double e = DOUBLE ? 1e-6 : 4e-3, sides[2];
    for (int k = 0; k < 2; k++) {
      FovWindow moved = w;
      *number_of(&moved, i) += (real)(k ? e : -e);
      sides[k] = loss_of(t, moved);
    }
    double expected = (sides[1] - sides[0]) / (2 * e);
    assert_near(*number_of(&gradient, i), expected, (DOUBLE ? 1e-7 : 0.02) * (1 + fabs(expected)),
                "kind %d, [%d, %d, %d] at (%g, %g): d/d%s", t->kind, t->image.height,
                t->image.width, t->image.channels, (double)w.x, (double)w.y, names[i]);
  }
}

/** Away from the kinks of bilinear samples, and of the edge of what a Gaussian reaches. */
static void the_gradient_equals_differences(void **state) {
  (void)state;
  static const int shapes[][3] = {{20, 20, 1}, {7, 17, 1}, {17, 9, 3}};
  static const FovWindow smooth[] = {{0.0312f, -0.1247f, 0.713f, 1.3f, 1.5f},
                                     {-0.7123f, 0.8141f, 1.317f, 0.8f, 0.3f},
                                     {1.0712f, 0.1041f, 1.117f, 1.1f, 2}};
  static Subject t;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < 3; i++)
      for (int side = 1; side <= 5; side += 2) {
        FovSensor sensor = {.side = side, .scales = 2, .gain = 1.5};
        begin(&t, (FovWindowKind)kind, sensor, shapes[i][0], shapes[i][1], shapes[i][2], i == 1);
        for (int w = 0; w < 3 && (DOUBLE || kind == 0); w++) assert_derivative(&t, smooth[w]);
        finish(&t);
      }
}

/** A glimpse is linear in the brightness of each pixel, so any step of it has the derivative. */
static void assert_pixel_gradient(Subject *t, FovWindow w, real *gradient) {
  int count = t->image.height * t->image.width * t->image.channels;
  double before = loss_of(t, w);
  for (int i = 0; i < count; i++) gradient[i] = 3;
  t->image.gradient = gradient;
  gradient_of(t, w);
  t->image.gradient = NULL;
  for (int i = 0; i < count; i++) {
    float brightness = t->floats[i];
    uint8_t byte = t->bytes[i];
    t->floats[i] += 0.25f, t->bytes[i] ^= 64;
    double step = t->image.floats ? (double)t->floats[i] - (double)brightness
                                  : ((double)t->bytes[i] - byte) / 255;
    assert_near(gradient[i] - 3, (loss_of(t, w) - before) / step, DOUBLE ? 1e-10 : 1e-4,
                "kind %d, pixel %d of [%d, %d, %d]", t->kind, i, t->image.height, t->image.width,
                t->image.channels);
    t->floats[i] = brightness, t->bytes[i] = byte;
  }
}

static void the_gradient_of_the_pixels_equals_differences(void **state) {
  (void)state;
  static const int shapes[][3] = {{20, 20, 1}, {5, 17, 1}, {17, 6, 3}};
  static Subject t;
  static real gradient[20 * 20];
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < 3; i++)
      for (int floats = 0; floats < 2; floats++) {
        FovSensor sensor = {.side = 5, .scales = 2, .gain = 1.5};
        begin(&t, (FovWindowKind)kind, sensor, shapes[i][0], shapes[i][1], shapes[i][2], floats);
        for (int w = 0; w < WINDOWS; w++) assert_pixel_gradient(&t, windows[w], gradient);
        finish(&t);
      }
}

/** On a pixel, the derivative is the difference from the next one. */
static void a_bilinear_sample_on_a_pixel_has_the_derivative_to_the_right(void **state) {
  (void)state;
  static Subject t;
  begin(&t, FOV_WINDOW_BILINEAR, (FovSensor){.side = 1, .scales = 1, .gain = 1}, 1, 8, 1, true);
  real location = (real)(2 * 3 + 1) / 8 - 1, glimpse, one = 1; // pixel 3
  FovWindow gradient = {.x = 0}, w = {location, 0, 1, 1, 1};
  look(&glimpse, &t, w);
  assert_close(glimpse, t.floats[3], 1e-6);
  fov_window_look_back(&gradient, &one, &glimpse, t.kind, &t.sensor, &t.image, &w, t.scratch);
  assert_close(gradient.x, 4 * (t.floats[4] - t.floats[3]), 1e-5);
  finish(&t);
}

/* ---- cost ---- */

/** What one look counts: rows and columns that filters reach, of G = 4 samples each way. */
static void assert_counted(FovWindowKind kind, FovWindow window, int rows, int cols) {
  enum { G = 4, C = 3 };
  static Subject t;
  real glimpse[MOST];
  FovProfile *profiles = fov_profiles_create();
  assert_non_null(profiles);
  begin(&t, kind, (FovSensor){.side = G, .scales = 1, .gain = 1}, 20, 30, C, false);
  fov_profile_into(profiles);
  fov_profile_attach(0);
  look(glimpse, &t, window);
  fov_profile_detach();
  fov_profile_into(NULL);
  assert_close(profiles->flops, 2 * C * (G * rows * cols + G * G * cols), 0);
  assert_close(profiles->numbers, G * G * C, 0);
  assert_close(profiles->pixels, rows * cols, 0);
  finish(&t);
  free(profiles);
}

/** A blurred window reaches all pixels; bilinear samples the two around them, on each axis. */
static void pixels_that_filters_reach_are_counted(void **state) {
  (void)state;
  assert_counted(FOV_WINDOW_GAUSSIAN, (FovWindow){0, 0, 1, 20, 1}, 20, 30);
  assert_counted(FOV_WINDOW_BILINEAR, (FovWindow){0.01f, 0.01f, 3, 1, 1}, 8, 8);
  assert_counted(FOV_WINDOW_BILINEAR, (FovWindow){0.01f, 0.01f, 0.2f, 1, 1}, 2, 2);
  assert_counted(FOV_WINDOW_BILINEAR, (FovWindow){0.01f, 4, 3, 1, 1}, 0, 8);
}

/* ---- out of range ---- */

static void assert_finite(const Subject *t, FovWindow w) {
  real glimpse[MOST];
  look(glimpse, t, w);
  for (int n = 0; n < t->numbers; n++) assert_true(isfinite(glimpse[n]));
  FovWindow gradient = gradient_of(t, w);
  for (int i = 0; i < 5; i++)
    if (!isfinite(*number_of(&gradient, i)))
      fail_msg("kind %d at (%g, %g), stride %g, sigma %g: d/d%s is %g", t->kind, (double)w.x,
               (double)w.y, (double)w.stride, (double)w.sigma, names[i],
               (double)*number_of(&gradient, i));
}

static void any_window_gives_finite_numbers(void **state) {
  (void)state;
  static Subject t;
  const real places[] = {0, -1, 1e30f, -INFINITY, NAN};
  const real sizes[] = {0, 1e-30f, 1e-3f, 50, 1000, NAN, -1};
  for (int kind = 0; kind < 2; kind++) {
    begin(&t, (FovWindowKind)kind, (FovSensor){.side = 3, .scales = 2, .gain = 1}, 9, 9, 1, false);
    for (int i = 0; i < 5 * 5; i++)
      for (int k = 0; k < 7 * 7; k++)
        assert_finite(&t, (FovWindow){places[i / 5], places[i % 5], sizes[k / 7], sizes[k % 7], 1});
    finish(&t);
  }
}

static void look_whole(void) {
  static Subject t;
  real glimpse[MOST];
  begin(&t, FOV_WINDOW_BILINEAR, (FovSensor){.side = 3, .scales = 1, .gain = 1}, 9, 9, 1, false);
  t.sensor.whole = true;
  look(glimpse, &t, windows[0]);
}

static void a_window_of_a_whole_image_aborts(void **state) {
  (void)state;
  assert_true(aborts(look_whole));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_glimpse_equals_its_definition),
      cmocka_unit_test(samples_on_pixels_are_the_retina_s),
      cmocka_unit_test(the_gradient_equals_differences),
      cmocka_unit_test(the_gradient_of_the_pixels_equals_differences),
      cmocka_unit_test(a_bilinear_sample_on_a_pixel_has_the_derivative_to_the_right),
      cmocka_unit_test(pixels_that_filters_reach_are_counted),
      cmocka_unit_test(any_window_gives_finite_numbers),
      cmocka_unit_test(a_window_of_a_whole_image_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
