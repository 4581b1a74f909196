#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/rng.h"
#include "sensor/augment.h"
#include "sensor/sensor.h"
#include "sensor/standard.h"
#include "sensor/window.h"
#include "tests/check.h"

enum { LARGEST = 40 * 40 * 3 };

/** A picture of random pixels. */
typedef struct Picture {
  uint8_t bytes[LARGEST];
  int height, width, channels;
} Picture;

static void draw_picture(Picture *picture, int height, int width, int channels) {
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, (uint64_t)(height * 100 + width));
  *picture = (Picture){.height = height, .width = width, .channels = channels};
  for (int i = 0; i < height * width * channels; i++)
    picture->bytes[i] = (uint8_t)fov_rng_below(&rng, 256);
}

static FovImage image_of(const Picture *p) {
  return (FovImage){
      .bytes = p->bytes, .height = p->height, .width = p->width, .channels = p->channels};
}

/** Where patch s starts along one side of the image; far outside if the location is not a number.
 */
static double patch_start(const FovSensor *sensor, double location, int extent, int width) {
  if (isnan(location)) return -1e9;
  double middle = (location + 1) / 2 * extent;
  return sensor->bilinear ? middle - width / 2. : floor(middle + 0.5) - width / 2;
}

/** The share of a pixel that lies in a cell, along one side. */
static double share_of(double pixel, double cell, int step) {
  return fmax(0, fmin(cell + step, pixel + 1) - fmax(cell, pixel));
}

/** The sensor by its definition: every pixel adds its shares to the cells of each patch that it
 * lies in, two each way at most. */
static void look_slowly(double *glimpse, const FovSensor *sensor, const FovImage *image, double x,
                        double y) {
  int side = sensor->side, channels = image->channels;
  memset(glimpse, 0, (size_t)(sensor->scales * side * side * channels) * sizeof *glimpse);
  for (int s = 0; s < sensor->scales; s++, glimpse += side * side * channels) {
    int step = 1 << s;
    double left = patch_start(sensor, x, image->width, side * step);
    double top = patch_start(sensor, y, image->height, side * step);
    for (int i = 0; i < image->height * image->width * 4; i++) {
      int row = i / 4 / image->width, column = i / 4 % image->width;
      double down = floor((row - top) / step) + i % 2, right = floor((column - left) / step);
      right += i / 2 % 2;
      if (right < 0 || down < 0 || right >= side || down >= side) continue;
      double share = share_of(row, top + down * step, step);
      share *= share_of(column, left + right * step, step);
      for (int c = 0; c < channels; c++)
        glimpse[((int)down * side + (int)right) * channels + c] +=
            share * image->bytes[i / 4 * channels + c] / (255.0 * step * step);
    }
  }
}

static FovGlimpseShape glimpse_of(const FovSensor *sensor, const FovImage *image) {
  return fov_sensor_glimpse(sensor, image->height, image->width, image->channels);
}

static void assert_as_defined(const FovSensor *sensor, const FovImage *image, real x, real y) {
  int features = fov_glimpse_features(glimpse_of(sensor, image));
  assert_int_equal(features, sensor->scales * sensor->side * sensor->side * image->channels);
  double *expected = malloc((size_t)features * sizeof *expected);
  real *glimpse = malloc((size_t)features * sizeof *glimpse);
  assert_true(expected && glimpse);
  for (int i = 0; i < features; i++) glimpse[i] = NAN;
  look_slowly(expected, sensor, image, (double)x, (double)y);
  fov_sensor_look(glimpse, sensor, image, x, y);
  // Without interpolation the sum is exact, so nothing but the quotient is rounded.
  for (int i = 0; i < features; i++)
    assert_near(glimpse[i], expected[i], sensor->bilinear ? 1e-6 : 0.5 * FLT_EPSILON * expected[i],
                "number %d, side %d, scales %d, [%d, %d, %d] at (%g, %g)", i, sensor->side,
                sensor->scales, image->height, image->width, image->channels, (double)x, (double)y);
  free(expected), free(glimpse);
}

/** Inside, half way between pixels, at and over each edge and corner, entirely outside, not a
 * number. */
static const real places[][2] = {
    {0, 0},          {0.3f, -0.2f}, {-0.123f, 0.777f}, {0.5f, 0.5f},
    {-1, -1},        {1, 1},        {-1, 1},           {1, -1},
    {0, -1.1f},      {0, 1.1f},     {-1.3f, 0.1f},     {1.3f, 0.1f},
    {-1.7f, -1.6f},  {1.9f, -1.5f}, {-1.5f, 1.4f},     {1.2f, 1.2f},
    {-3, 0},         {0, 3},        {40, 0},           {0, -40},
    {1e9f, 0},       {0, -1e30f},   {INFINITY, 0},     {0, INFINITY},
    {-INFINITY, 0},  {NAN, 0},      {0, NAN},          {NAN, INFINITY},
    {1e-7f, -1e-7f},
};

enum { PLACES = sizeof places / sizeof *places };

static void a_glimpse_equals_its_definition(void **state) {
  (void)state;
  static const int sides[] = {1, 2, 3, 5, 8, 12};
  static const int pictures[][2] = {{28, 28}, {5, 3}, {3, 5}, {1, 1}, {17, 40}};
  static Picture picture;
  for (size_t p = 0; p < sizeof pictures / sizeof *pictures; p++)
    for (int channels = 1; channels <= 3; channels += 2) {
      draw_picture(&picture, pictures[p][0], pictures[p][1], channels);
      FovImage image = image_of(&picture);
      for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
        // A sensor of four scales computes those of fewer, which the tests below compare.
        FovSensor sensor = {.side = sides[side], .scales = 4, .gain = 1};
        for (int i = 0; i < 2 * PLACES; i++) {
          sensor.bilinear = i >= PLACES;
          assert_as_defined(&sensor, &image, places[i % PLACES][0], places[i % PLACES][1]);
        }
      }
    }
}

/** The glimpses of a bilinear sensor of one scale are those of a bilinear window whose samples are
 * a pixel apart. */
static void a_bilinear_glimpse_is_a_window(void **state) {
  (void)state;
  static Picture picture;
  enum { CELLS = 5 * 5 * 3 };
  const FovSensor sensor = {.side = 5, .scales = 1, .gain = 1, .bilinear = true};
  real glimpse[CELLS], window[CELLS];
  draw_picture(&picture, 28, 17, 3);
  FovImage image = image_of(&picture);
  real *scratch = malloc(fov_window_scratch(&sensor, 28, 17, 3) * sizeof *scratch);
  assert_non_null(scratch);
  for (int place = 0; place < PLACES && fabs((double)places[place][0]) < 2; place++) {
    const FovWindow at = {
        .x = places[place][0], .y = places[place][1], .stride = 1, .sigma = 1, .intensity = 1};
    fov_sensor_look(glimpse, &sensor, &image, at.x, at.y);
    fov_window_look(window, FOV_WINDOW_BILINEAR, &sensor, &image, &at, scratch);
    for (int i = 0; i < CELLS; i++)
      assert_near(glimpse[i], window[i], 2e-6, "number %d at (%g, %g)", i, (double)at.x,
                  (double)at.y);
  }
  free(scratch);
}

static void fewer_scales_are_the_first_of_more(void **state) {
  (void)state;
  static Picture picture;
  draw_picture(&picture, 28, 28, 3);
  FovImage image = image_of(&picture);
  enum { PATCH = 6 * 6 * 3 };
  real all[4 * PATCH], some[4 * PATCH];
  fov_sensor_look(all, &(FovSensor){.side = 6, .scales = 4, .gain = 1}, &image, 0.4f, -0.9f);
  for (int scales = 1; scales <= 4; scales++) {
    for (int i = 0; i < 4 * PATCH; i++) some[i] = 7;
    fov_sensor_look(some, &(FovSensor){.side = 6, .scales = scales, .gain = 1}, &image, 0.4f,
                    -0.9f);
    assert_memory_equal(some, all, scales * PATCH * sizeof *all);
    for (int i = scales * PATCH; i < 4 * PATCH; i++) assert_true(some[i] == 7);
  }
}

/** Patch s is multiplied by gain^s: with gain 4 a bright pixel is as bright in every patch that
 * contains it. */
static void a_gain_brightens_coarse_patches(void **state) {
  (void)state;
  enum { G = 4, S = 3, PATCH = G * G };
  uint8_t pixels[16 * 16] = {[7 * 16 + 9] = 255};
  real plain[S * PATCH], bright[S * PATCH];
  const FovImage image = {.bytes = pixels, .height = 16, .width = 16, .channels = 1};
  fov_sensor_look(plain, &(FovSensor){.side = G, .scales = S, .gain = 1}, &image, 0, 0);
  fov_sensor_look(bright, &(FovSensor){.side = G, .scales = S, .gain = 4}, &image, 0, 0);
  for (int s = 0; s < S; s++) {
    real brightest = 0;
    for (int i = s * PATCH; i < (s + 1) * PATCH; i++) {
      assert_true(bright[i] == plain[i] * (real)(1 << 2 * s));
      brightest = bright[i] > brightest ? bright[i] : brightest;
    }
    assert_true(brightest == 1);
  }
}

static void the_largest_sensor_works(void **state) {
  (void)state;
  static Picture picture;
  draw_picture(&picture, 40, 33, 3);
  FovSensor sensor = {.side = FOV_MAX_SIDE, .scales = FOV_MAX_SCALES, .gain = 1};
  FovImage image = image_of(&picture);
  assert_as_defined(&sensor, &image, 0.1f, -0.3f);
  assert_as_defined(&sensor, &image, 30, -100);
}

static void a_glimpse_by_hand(void **state) {
  (void)state;
  static const uint8_t pixels[] = {
      20,  40,  60,  80,  //
      100, 120, 140, 160, //
      180, 200, 220, 240, //
  };
  FovImage image = {.bytes = pixels, .height = 3, .width = 4, .channels = 1};
  // The centre of three rows is round(1.5) = 2: the patch covers rows 1 and 2, columns 1 and 2;
  // the next one rows 0 to 3, of which the last is outside, and all columns.
  static const real expected[] = {
      120 / 255.0, 140 / 255.0, 200 / 255.0, 220 / 255.0, //
      70 / 255.0,  110 / 255.0, 95 / 255.0,  115 / 255.0, //
  };
  real glimpse[8];
  fov_sensor_look(glimpse, &(FovSensor){.side = 2, .scales = 2, .gain = 1}, &image, 0, 0);
  assert_memory_equal(glimpse, expected, sizeof expected);
  // An odd patch has its pixel in the middle: row 2, column 2.
  fov_sensor_look(glimpse, &(FovSensor){.side = 1, .scales = 1, .gain = 1}, &image, 0, 0);
  assert_true(glimpse[0] == (real)(220 / 255.0));
}

static void corners_and_centre_have_the_paper_s_coordinates(void **state) {
  (void)state;
  enum { N = 6, G = 2 };
  static const struct {
    real x, y;
    int row, column; /**< of the one white pixel */
    int cell;        /**< of the patch in which it must appear */
  } cases[] = {
      {-1, -1, 0, 0, 3}, {1, -1, 0, N - 1, 2}, {-1, 1, N - 1, 0, 1}, {1, 1, N - 1, N - 1, 0},
      {0, 0, 2, 2, 0},   {0, 0, 3, 3, 3},      {1, 0, 2, N - 1, 0},  {0, -1, 0, 3, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t pixels[N * N] = {0};
    pixels[cases[i].row * N + cases[i].column] = 255;
    FovImage image = {.bytes = pixels, .height = N, .width = N, .channels = 1};
    real glimpse[G * G];
    fov_sensor_look(glimpse, &(FovSensor){.side = G, .scales = 1, .gain = 1}, &image, cases[i].x,
                    cases[i].y);
    for (int cell = 0; cell < G * G; cell++)
      assert_near(glimpse[cell], cell == cases[i].cell, 1e-7, "case %zu, cell %d", i, cell);
  }
}

static void wholly_outside_is_black(void **state) {
  (void)state;
  static const real far[] = {-50, 50, 1e9f, -1e9f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN};
  static Picture picture;
  draw_picture(&picture, 9, 9, 1);
  FovImage image = image_of(&picture);
  for (size_t i = 0; i < sizeof far / sizeof *far; i++)
    for (int vertical = 0; vertical < 2; vertical++) {
      real glimpse[4 * 3 * 3];
      fov_sensor_look(glimpse, &(FovSensor){.side = 3, .scales = 4, .gain = 1}, &image,
                      vertical ? 0 : far[i], vertical ? far[i] : 0);
      for (int j = 0; j < 4 * 3 * 3; j++) assert_true(glimpse[j] == 0);
    }
}

static void white_inside_is_one_at_every_scale(void **state) {
  (void)state;
  static Picture picture;
  draw_picture(&picture, 40, 40, 3);
  memset(picture.bytes, 255, sizeof picture.bytes);
  FovImage image = image_of(&picture);
  real glimpse[4 * 5 * 5 * 3];
  fov_sensor_look(glimpse, &(FovSensor){.side = 5, .scales = 4, .gain = 1}, &image, 0, 0);
  for (int i = 0; i < 4 * 5 * 5 * 3; i++) assert_near(glimpse[i], 1, FLT_EPSILON, "number %d", i);
}

/** Fails unless the glimpse is the whole image in the middle of its square, for any place. */
static void assert_whole(const FovImage *image, real x, real y) {
  const FovSensor sensor = {.side = 3, .scales = 2, .whole = true};
  FovGlimpseShape shape = glimpse_of(&sensor, image);
  int side = image->height > image->width ? image->height : image->width, C = image->channels;
  assert_true(shape.scales == 1 && shape.side == side && shape.channels == C);
  int features = fov_glimpse_features(shape);
  assert_int_equal(features, side * side * C);
  real *glimpse = malloc((size_t)(features + 1) * sizeof *glimpse);
  assert_non_null(glimpse);
  for (int i = 0; i <= features; i++) glimpse[i] = 7;
  fov_sensor_look(glimpse, &sensor, image, x, y);
  assert_true(glimpse[features] == 7);
  for (int i = 0; i < features; i++) {
    int row = i / (side * C) - (side - image->height) / 2;
    int column = i / C % side - (side - image->width) / 2;
    bool inside = row >= 0 && row < image->height && column >= 0 && column < image->width;
    size_t pixel = (size_t)((row * image->width + column) * C + i % C);
    if (glimpse[i] != (inside ? image->bytes[pixel] / (real)255 : 0))
      fail_msg("[%d, %d, %d]: number %d is %g", image->height, image->width, C, i,
               (double)glimpse[i]);
  }
  free(glimpse);
}

static void the_whole_image_is_seen_from_anywhere(void **state) {
  (void)state;
  static const int pictures[][2] = {{28, 28}, {5, 3}, {3, 5}, {1, 1}, {17, 40}, {40, 17}, {1, 40}};
  static Picture picture;
  for (size_t p = 0; p < sizeof pictures / sizeof *pictures; p++)
    for (int channels = 1; channels <= 3; channels += 2) {
      draw_picture(&picture, pictures[p][0], pictures[p][1], channels);
      FovImage image = image_of(&picture);
      for (int place = 0; place < PLACES; place++)
        assert_whole(&image, places[place][0], places[place][1]);
    }
}

static void a_large_image_is_seen_whole(void **state) {
  (void)state;
  static uint8_t pixels[2048 * 2048];
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, 0);
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)fov_rng_below(&rng, 256);
  assert_whole(&(FovImage){.bytes = pixels, .height = 2048, .width = 2048, .channels = 1}, 0, 0);
  assert_whole(&(FovImage){.bytes = pixels, .height = 1365, .width = 1024, .channels = 3}, 0, 0);
}

/** The share of pixel `i` in cell `j`, of `side` cells over `extent` pixels. */
static double overlap(int i, int j, int extent, int side) {
  double width = (double)extent / side;
  return fmax(0, fmin(i + 1, (j + 1) * width) - fmax(i, j * width));
}

/** A coarse view by its definition: every pixel adds its share to every cell. */
static void shrink_slowly(double *coarse, const FovImage *image, int side) {
  int H = image->height, W = image->width, C = image->channels;
  double area = (double)H / side * W / side;
  for (int i = 0; i < side * side * C; i++) {
    coarse[i] = 0;
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        coarse[i] += overlap(y, i / C / side, H, side) * overlap(x, i / C % side, W, side) *
                     image->bytes[(y * W + x) * C + i % C] / 255.0 / area;
  }
}

static void a_coarse_view_equals_its_definition(void **state) {
  (void)state;
  static const int sides[] = {1, 2, 3, 5, 12, FOV_MAX_SIDE};
  static const int pictures[][2] = {{28, 28}, {12, 12}, {5, 3}, {3, 5}, {1, 1}, {17, 40}, {40, 1}};
  static double expected[FOV_MAX_SIDE * FOV_MAX_SIDE * 3];
  static real coarse[FOV_MAX_SIDE * FOV_MAX_SIDE * 3 + 1];
  static Picture picture;
  for (size_t p = 0; p < sizeof pictures / sizeof *pictures; p++)
    for (int channels = 1; channels <= 3; channels += 2) {
      draw_picture(&picture, pictures[p][0], pictures[p][1], channels);
      FovImage image = image_of(&picture);
      for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        int numbers = sides[s] * sides[s] * channels;
        coarse[numbers] = 7;
        shrink_slowly(expected, &image, sides[s]);
        fov_sensor_shrink(coarse, &image, sides[s]);
        assert_true(coarse[numbers] == 7);
        for (int i = 0; i < numbers; i++)
          assert_near(coarse[i], expected[i], 0.5 * FLT_EPSILON * expected[i] + 1e-12,
                      "number %d, side %d, [%d, %d, %d]", i, sides[s], image.height, image.width,
                      channels);
      }
    }
}

/** Cells of one and a half pixels, and pixels of two cells. */
static void a_coarse_view_by_hand(void **state) {
  (void)state;
  static const uint8_t pixels[] = {0, 51, 255};
  real coarse[4];
  fov_sensor_shrink(coarse, &(FovImage){.bytes = pixels, .height = 1, .width = 3, .channels = 1},
                    2);
  const double cells[] = {51 / 2. / 1.5 / 255, (51 / 2. + 255) / 1.5 / 255};
  for (int i = 0; i < 4; i++) assert_near(coarse[i], cells[i % 2], 1e-7, "cell %d", i);
}

/** The sum needs more than 32 bits. */
static void a_large_white_image_shrinks_to_one(void **state) {
  (void)state;
  enum { H = FOV_MAX_WHOLE / 2, W = FOV_MAX_WHOLE };
  uint8_t *pixels = malloc((size_t)H * W);
  assert_non_null(pixels);
  memset(pixels, 255, (size_t)H * W);
  real coarse[9];
  for (int side = 1; side <= 3; side++) {
    fov_sensor_shrink(coarse, &(FovImage){.bytes = pixels, .height = H, .width = W, .channels = 1},
                      side);
    for (int i = 0; i < side * side; i++) assert_true(coarse[i] == 1);
  }
  free(pixels);
}

/* ---- Images of floats, and the adjoints ---- */

/** A sensor at a place, or a coarse view of `coarse` cells each way: a linear map A of an image. */
typedef struct Map {
  FovSensor sensor;
  real x, y;
  int coarse; /**< 0: the sensor */
  int height, width, channels;
} Map;

static int outputs_of(const Map *m) {
  if (m->coarse) return m->coarse * m->coarse * m->channels;
  return fov_glimpse_features(fov_sensor_glimpse(&m->sensor, m->height, m->width, m->channels));
}

static void apply(real *y, const Map *m, const FovImage *image) {
  if (m->coarse)
    fov_sensor_shrink(y, image, m->coarse);
  else
    fov_sensor_look(y, &m->sensor, image, m->x, m->y);
}

static void apply_back(real *x, const Map *m, const real *y) {
  if (m->coarse)
    fov_sensor_shrink_back(x, y, m->coarse, m->height, m->width, m->channels);
  else
    fov_sensor_look_back(x, y, &m->sensor, m->x, m->y, m->height, m->width, m->channels);
}

static void fill_normal(FovRng *rng, float *x, int count) {
  for (int i = 0; i < count; i++) x[i] = (float)fov_rng_normal(rng);
}

static double epsilon(void) {
  return sizeof(real) == sizeof(double) ? 1e-13 : 1e-5;
}

/** ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ for random x and y; Aᵀ y is added to the given numbers, and nothing else is
 * written. */
static void assert_adjoint(const Map *m) {
  int inputs = m->height * m->width * m->channels, outputs = outputs_of(m);
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)(inputs * 1000 + outputs));
  float *x = malloc((size_t)inputs * sizeof *x), *y = malloc((size_t)outputs * sizeof *y);
  real *ax = malloc((size_t)(outputs + 1) * sizeof *ax), *g = malloc((size_t)outputs * sizeof *g);
  real *aty = malloc((size_t)(inputs + 2) * sizeof *aty);
  assert_true(x && y && ax && g && aty);
  fill_normal(&rng, x, inputs), fill_normal(&rng, y, outputs);
  for (int i = 0; i < outputs; i++) g[i] = y[i];
  for (int i = 0; i < inputs + 2; i++) aty[i] = 2;
  ax[outputs] = 7;
  apply(ax, m,
        &(FovImage){.height = m->height, .width = m->width, .channels = m->channels, .floats = x});
  apply_back(aty + 1, m, g);
  assert_true(aty[0] == 2 && aty[inputs + 1] == 2 && ax[outputs] == 7);
  double left = 0, right = 0, size = 1;
  for (int i = 0; i < outputs; i++)
    left += (double)ax[i] * y[i], size += fabs((double)ax[i] * y[i]);
  for (int i = 0; i < inputs; i++) right += ((double)aty[i + 1] - 2) * x[i];
  assert_near(left, right, epsilon() * size, "side %d, scales %d, gain %g, coarse %d, at (%g, %g)",
              m->sensor.side, m->sensor.scales, m->sensor.gain, m->coarse, (double)m->x,
              (double)m->y);
  free(x), free(y), free(ax), free(g), free(aty);
}

static const int adjoint_images[][3] = {{28, 28, 1}, {5, 3, 3},  {3, 5, 1},  {1, 1, 3},
                                        {17, 40, 3}, {40, 9, 1}, {64, 64, 1}};

enum { ADJOINT_IMAGES = sizeof adjoint_images / sizeof *adjoint_images };

static Map map_of(const int image[3], FovSensor sensor, int coarse) {
  return (Map){.sensor = sensor,
               .coarse = coarse,
               .height = image[0],
               .width = image[1],
               .channels = image[2]};
}

static void a_glimpse_and_its_adjoint_match(void **state) {
  (void)state;
  static const FovSensor sensors[] = {
      {.side = 1, .scales = 1, .gain = 1},
      {.side = 2, .scales = 4, .gain = 2},
      {.side = 5, .scales = 3, .gain = 1},
      {.side = 12, .scales = 3, .gain = 4},
      {.side = 7, .scales = 8, .gain = 1.5},
      {.side = 3, .scales = 1, .gain = 1, .whole = true},
      {.side = 5, .scales = 3, .gain = 2, .bilinear = true},
  };
  for (int i = 0; i < ADJOINT_IMAGES; i++)
    for (size_t s = 0; s < sizeof sensors / sizeof *sensors; s++)
      for (int place = 0; place < PLACES; place++) {
        Map m = map_of(adjoint_images[i], sensors[s], 0);
        m.x = places[place][0], m.y = places[place][1];
        assert_adjoint(&m);
      }
}

static void a_coarse_view_and_its_adjoint_match(void **state) {
  (void)state;
  static const int sides[] = {1, 2, 3, 5, 12, FOV_MAX_SIDE};
  for (int i = 0; i < ADJOINT_IMAGES; i++)
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
      Map m = map_of(adjoint_images[i], (FovSensor){0}, sides[s]);
      assert_adjoint(&m);
    }
}

/** An image of floats gives what an image of bytes of the same brightness gives. */
static void floats_are_seen_as_bytes_are(void **state) {
  (void)state;
  static Picture picture;
  static float floats[LARGEST];
  static real of_bytes[4 * 12 * 12 * 3 + 40 * 40 * 3], of_floats[4 * 12 * 12 * 3 + 40 * 40 * 3];
  draw_picture(&picture, 40, 17, 3);
  for (int i = 0; i < LARGEST; i++) floats[i] = picture.bytes[i] / 255.0f;
  FovImage bytes = image_of(&picture), image = bytes;
  image.bytes = NULL, image.floats = floats;
  for (int kind = 0; kind < 3; kind++)
    for (int place = 0; place < PLACES; place++) {
      Map m = map_of((int[]){40, 17, 3},
                     (FovSensor){.side = 12, .scales = 4, .gain = 2, .whole = kind == 1},
                     kind == 2 ? 7 : 0);
      m.x = places[place][0], m.y = places[place][1];
      apply(of_bytes, &m, &bytes), apply(of_floats, &m, &image);
      for (int i = 0; i < outputs_of(&m); i++)
        assert_near(of_floats[i], of_bytes[i], 2e-6 * (1 + of_bytes[i]), "kind %d, place %d: %d",
                    kind, place, i);
    }
}

/** Mean and deviation of channel c over pictures, by their definition. */
static void describe_slowly(double *mean, double *deviation, const Picture *pictures, int count,
                            int c) {
  double n = 0, sum = 0, squares = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < count; k++) {
      const Picture *p = &pictures[k];
      for (int i = c; i < p->height * p->width * p->channels; i += p->channels) {
        double brightness = p->bytes[i] / 255.0;
        if (pass == 0) n++, sum += brightness;
        if (pass == 1) squares += (brightness - sum / n) * (brightness - sum / n);
      }
    }
  *mean = sum / n;
  *deviation = sqrt(squares / n);
}

static void check_augmented(int channels, double c, double b) {
  static Picture picture;
  static float floats[LARGEST], of_bytes[LARGEST], of_floats[LARGEST];
  draw_picture(&picture, 17, 11, channels);
  FovImage bytes = image_of(&picture), image = bytes;
  FovAugmentation augmentation = {.contrast = (float)c, .brightness = (float)b};
  image.bytes = NULL, image.floats = floats;
  int numbers = bytes.height * bytes.width * channels;
  for (int i = 0; i < numbers; i++) floats[i] = 2 * picture.bytes[i] / 255.0f - 0.5f;
  fov_augment(of_bytes, &bytes, augmentation);
  fov_augment(of_floats, &image, augmentation);
  for (int i = 0; i < numbers; i++) {
    double dark = (picture.bytes[i] / 255. - 0.5) * (1 + c) + 0.5 + b;
    double wide = ((double)floats[i] - 0.5) * (1 + c) + 0.5 + b;
    assert_near(of_bytes[i], fmin(fmax(dark, 0), 1), 1e-6, "number %d", i);
    assert_near(of_floats[i], fmin(fmax(wide, 0), 1), 1e-6, "number %d of floats", i);
  }
}

static void augmented_images_follow_their_definition(void **state) {
  (void)state;
  for (int channels = 1; channels <= 3; channels += 2) {
    check_augmented(channels, 0, 0);
    check_augmented(channels, 0.4, 0);
    check_augmented(channels, -0.7, -0.2);
    check_augmented(channels, 1, 0.3);
  }
}

/** Contrast and brightness are uniform and independent, and the generator stays as it is. */
static void augmentations_are_drawn_uniformly(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  const FovSensor none = {.side = 1}, sensor = {.contrast = 0.5, .brightness = 0.25};
  assert_false(fov_is_augmented(&none));
  assert_true(fov_is_augmented(&sensor));
  int cells[4][4] = {{0}};
  for (uint64_t i = 0; i < DRAWS; i++) {
    FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, i), before = rng;
    FovAugmentation a = fov_augmentation_draw(&sensor, &rng);
    FovAugmentation again = fov_augmentation_draw(&sensor, &rng);
    assert_memory_equal(&rng, &before, sizeof rng);
    assert_memory_equal(&a, &again, sizeof a);
    assert_true(fabsf(a.contrast) <= 0.5f && fabsf(a.brightness) <= 0.25f);
    int c = (int)((a.contrast + 0.5f) * 4), b = (int)((a.brightness + 0.25f) * 8);
    cells[c > 3 ? 3 : c][b > 3 ? 3 : b]++;
  }
  double chi2 = 0, expected = DRAWS / 16.;
  for (int i = 0; i < 16; i++) chi2 += pow(cells[i / 4][i % 4] - expected, 2) / expected;
  assert_true(chi2 < 37.7); // 15 degrees of freedom: exceeded once in a thousand
}

static void standardised_images_follow_their_definition(void **state) {
  (void)state;
  static Picture pictures[2];
  static float floats[LARGEST], of_bytes[LARGEST], of_floats[LARGEST];
  for (int channels = 1; channels <= 3; channels += 2) {
    FovStandardSums sums = {.pixels = 0};
    for (int k = 0; k < 2; k++) {
      draw_picture(&pictures[k], 17 + 8 * k, 11, channels);
      FovImage image = image_of(&pictures[k]);
      fov_standard_add(&sums, &image);
    }
    FovStandard standard = fov_standard_of(&sums, channels);
    FovImage bytes = image_of(&pictures[1]), image = bytes;
    image.bytes = NULL, image.floats = floats;
    int numbers = bytes.height * bytes.width * channels;
    for (int i = 0; i < numbers; i++) floats[i] = pictures[1].bytes[i] / 255.0f;
    fov_standardise(of_bytes, &bytes, &standard);
    fov_standardise(of_floats, &image, &standard);
    assert_int_equal(standard.channels, channels);
    for (int i = 0; i < numbers; i++) {
      double mean, deviation;
      describe_slowly(&mean, &deviation, pictures, 2, i % channels);
      assert_near(standard.mean[i % channels], mean, 1e-12, "mean of channel %d", i % channels);
      assert_near(standard.deviation[i % channels], deviation, 1e-12, "deviation of channel %d",
                  i % channels);
      double expected = (pictures[1].bytes[i] / 255.0 - mean) / deviation;
      assert_near(of_bytes[i], expected, 1e-6, "number %d", i);
      assert_near(of_floats[i], expected, 1e-6, "number %d of floats", i);
    }
  }
}

/** A far mean does not swallow a small deviation; an image of one brightness has none. */
static void deviations_are_never_zero(void **state) {
  (void)state;
  const float values[] = {1000, 1000.5f, 1000, 1000.5f};
  const uint8_t flat[] = {7, 7, 7, 7};
  FovStandardSums floats = {.pixels = 0}, bytes = {.pixels = 0};
  fov_standard_add(&floats, &(FovImage){.floats = values, .height = 2, .width = 2, .channels = 1});
  fov_standard_add(&bytes, &(FovImage){.bytes = flat, .height = 2, .width = 2, .channels = 1});
  FovStandard far = fov_standard_of(&floats, 1), none = fov_standard_of(&bytes, 1);
  assert_true(far.mean[0] == 1000.25 && far.deviation[0] == 0.25);
  assert_near(none.mean[0], 7 / 255.0, 1e-15, "mean");
  assert_true(none.deviation[0] == 1);
}

static void shrink_to_nothing(void) {
  static const uint8_t one_pixel[1];
  fov_sensor_shrink(NULL, &(FovImage){.bytes = one_pixel, .height = 1, .width = 1, .channels = 1},
                    0);
}

static void shrink_too_much(void) {
  static const uint8_t line[FOV_MAX_WHOLE + 1];
  real coarse[1];
  fov_sensor_shrink(
      coarse, &(FovImage){.bytes = line, .height = 1, .width = FOV_MAX_WHOLE + 1, .channels = 1},
      1);
}

static void look_at_too_much(void) {
  fov_sensor_glimpse(&(FovSensor){.whole = true}, 1, FOV_MAX_WHOLE + 1, 1);
}

static void look_at_nothing(void) {
  real glimpse[1];
  FovImage image = {.height = 1, .width = 1, .channels = 1};
  fov_sensor_look(glimpse, &(FovSensor){.side = 1, .scales = 1, .gain = 1}, &image, 0, 0);
}

static void shrink_bytes_and_floats(void) {
  static const uint8_t byte[1];
  static const float number[1];
  real coarse[1];
  FovImage image = {.bytes = byte, .height = 1, .width = 1, .channels = 1, .floats = number};
  fov_sensor_shrink(coarse, &image, 1);
}

/** What one look counts. */
static void assert_counted(const FovSensor *sensor, const FovImage *image, double x, double y,
                           double numbers, double pixels) {
  real *glimpse = malloc((size_t)fov_glimpse_features(glimpse_of(sensor, image)) * sizeof *glimpse);
  FovProfile *profiles = fov_profiles_create();
  assert_true(glimpse && profiles);
  fov_profile_into(profiles);
  fov_profile_attach(0);
  fov_sensor_look(glimpse, sensor, image, (real)x, (real)y);
  fov_profile_detach();
  fov_profile_into(NULL);
  assert_near(profiles->numbers, numbers, 0, "numbers at (%g, %g)", x, y);
  assert_near(profiles->pixels, pixels, 0, "pixels at (%g, %g)", x, y);
  free(glimpse), free(profiles);
}

/** An image 10 wide and 8 high; patches of 4 x 4 and of 8 x 8 pixels. */
static void pixels_inside_the_image_are_counted(void **state) {
  (void)state;
  Picture picture;
  draw_picture(&picture, 8, 10, 3);
  FovImage image = image_of(&picture);
  const FovSensor retina = {.side = 4, .scales = 2, .gain = 1}, whole = {.whole = true};
  assert_counted(&retina, &image, 0, 0, 2 * 16 * 3, 16 + 64);
  assert_counted(&retina, &image, -1, -1, 2 * 16 * 3, 2 * 2 + 4 * 4);
  // Columns 8 and 9 of the small patch and 6 to 9 of the large one; rows 2 to 5, and all 8.
  assert_counted(&retina, &image, 1, 0, 2 * 16 * 3, 2 * 4 + 4 * 8);
  // The small patch covers columns −5 to −2, the large one −7 to 0.
  assert_counted(&retina, &image, -1.6, 0, 2 * 16 * 3, 1 * 8);
  assert_counted(&retina, &image, 9, 0, 2 * 16 * 3, 0);
  assert_counted(&whole, &image, 0, 0, 10 * 10 * 3, 8 * 10);
}

static void look_at_two_channels(void) {
  static const uint8_t one_pixel[2] = {1, 1};
  real glimpse[4];
  FovImage image = {.bytes = one_pixel, .height = 1, .width = 1, .channels = 2};
  fov_sensor_look(glimpse, &(FovSensor){.side = 1, .scales = 1, .gain = 1}, &image, 0, 0);
}

static void a_callers_bug_aborts(void **state) {
  (void)state;
  assert_true(aborts(look_at_two_channels));
  assert_true(aborts(look_at_nothing));
  assert_true(aborts(shrink_bytes_and_floats));
  assert_true(aborts(look_at_too_much));
  assert_true(aborts(shrink_to_nothing));
  assert_true(aborts(shrink_too_much));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gain_brightens_coarse_patches),
      cmocka_unit_test(a_bilinear_glimpse_is_a_window),
      cmocka_unit_test(a_glimpse_equals_its_definition),
      cmocka_unit_test(fewer_scales_are_the_first_of_more),
      cmocka_unit_test(the_largest_sensor_works),
      cmocka_unit_test(a_glimpse_by_hand),
      cmocka_unit_test(corners_and_centre_have_the_paper_s_coordinates),
      cmocka_unit_test(wholly_outside_is_black),
      cmocka_unit_test(white_inside_is_one_at_every_scale),
      cmocka_unit_test(the_whole_image_is_seen_from_anywhere),
      cmocka_unit_test(a_large_image_is_seen_whole),
      cmocka_unit_test(a_coarse_view_equals_its_definition),
      cmocka_unit_test(a_coarse_view_by_hand),
      cmocka_unit_test(a_large_white_image_shrinks_to_one),
      cmocka_unit_test(a_glimpse_and_its_adjoint_match),
      cmocka_unit_test(a_coarse_view_and_its_adjoint_match),
      cmocka_unit_test(standardised_images_follow_their_definition),
      cmocka_unit_test(augmented_images_follow_their_definition),
      cmocka_unit_test(augmentations_are_drawn_uniformly),
      cmocka_unit_test(deviations_are_never_zero),
      cmocka_unit_test(floats_are_seen_as_bytes_are),
      cmocka_unit_test(pixels_inside_the_image_are_counted),
      cmocka_unit_test(a_callers_bug_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
