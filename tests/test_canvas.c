/** The canvas: what it loads and refuses, and the exact pixels of its images. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "envs/canvas.h"

enum { N = 12, H = 10, W = 9 }; // A small data set: digit n has label n % 10.

static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
static char folder[512];

static const char *subset(void) {
  const char *path = getenv("FOVEA_SUBSET");
  return path ? path : "envs/mnist-subset";
}

static const FovEnvType *find(const char *name) {
  const FovEnvType *const *type = fov_envs;
  while (*type && strcmp((*type)->plugin.name, name)) type++;
  assert_non_null(*type);
  return *type;
}

static FovCanvasOptions make_options(const char *data, int size) {
  FovCanvasOptions options = {.pictures.classes = 10, .size = size};
  snprintf(options.pictures.data, sizeof options.pictures.data, "%s", data);
  return options;
}

static FovStatus create_cluttered(FovEnv *env, FovCanvasOptions options, int pieces,
                                  FovSplit split) {
  options.pieces = pieces;
  return fov_env_create(env, find("cluttered"), &options, split);
}

static uint8_t pixel(int n, int y, int x) {
  return (uint8_t)(1 + (n * 37 + y * 11 + x * 5) % 255);
}

static void write_images(const char *name, int count, int height, int width) {
  uint8_t bytes[16 + N * H * W] = {
      0, 0, 8, 3, 0, 0, 0, (uint8_t)count, 0, 0, 0, (uint8_t)height, 0, 0, 0, (uint8_t)width};
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  size_t size = 16;
  for (int n = 0; n < count; n++)
    for (int i = 0; i < height * width; i++) bytes[size++] = pixel(n, i / width, i % width);
  assert_int_equal(fov_file_write(path, bytes, size), FOV_OK);
}

static void write_labels(const char *name, int count) {
  uint8_t bytes[8 + N] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (int n = 0; n < count; n++) bytes[8 + n] = (uint8_t)(n % 10);
  assert_int_equal(fov_file_write(path, bytes, (size_t)(8 + count)), FOV_OK);
}

/** Replaces one byte of a file. */
static void poke(const char *name, long offset, uint8_t byte) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, offset, SEEK_SET), 0);
  assert_int_equal(fputc(byte, file), byte);
  assert_int_equal(fclose(file), 0);
}

static void assert_refused(const char *name, FovCanvasOptions options, FovSplit split,
                           const char *words) {
  FovEnv env;
  assert_int_not_equal(fov_env_create(&env, find(name), &options, split), FOV_OK);
  assert_null(env.impl);
  if (!strstr(fov_error_message(), words)) fail_msg("message: %s", fov_error_message());
}

static void splits_the_train_files(void **state) {
  (void)state;
  static const int64_t counts[] = {10, 2, 5}, firsts[] = {0, 10, 0};
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env;
    FovCanvasOptions options = make_options(folder, 0);
    assert_int_equal(fov_env_create(&env, find("centred"), &options, split), FOV_OK);
    assert_int_equal(env.spec.cases, counts[split]);
    for (int i = 0; i < 3; i++) assert_int_equal(env.spec.division[i], counts[i]);
    for (int64_t i = 0; i < env.spec.cases; i++) {
      int n = (int)(firsts[split] + i);
      assert_int_equal(fov_canvas_label(env.impl, i), n % 10);
      assert_int_equal(fov_canvas_picture(env.impl, i).pixels[0], pixel(n, 0, 0));
    }
    fov_env_finish(&env);
  }
}

static void the_subset_keeps_the_full_sets_order(void **state) {
  (void)state;
  static const int64_t counts[] = {5000, 1000, 1000};
  static const int labels[][3] = {
      {5, 0, 4}, {3, 8, 6}, {7, 2, 1}}; // Of digits 0, 50,000 and test 0.
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env;
    FovCanvasOptions options = make_options(subset(), 28);
    assert_int_equal(fov_env_create(&env, find("centred"), &options, split), FOV_OK);
    assert_int_equal(env.spec.cases, counts[split]);
    for (int i = 0; i < 3; i++) assert_int_equal(fov_canvas_label(env.impl, i), labels[split][i]);
    fov_env_finish(&env);
  }
}

static void finds_data_where_get_mnist_writes_it(void **state) {
  (void)state;
  char path[600];
  setenv("FOVEA_DATA", folder, 1);
  FovEnv env;
  FovCanvasOptions options = make_options("", 0);
  assert_int_equal(fov_env_create(&env, find("centred"), &options, FOV_SPLIT_TEST), FOV_OK);
  fov_env_finish(&env);

  setenv("FOVEA_DATA", "", 1);
  setenv("XDG_CACHE_HOME", folder, 1);
  snprintf(path, sizeof path, "%s/fovea: no MNIST", folder);
  assert_refused("centred", options, FOV_SPLIT_TEST, path);
  assert_refused("centred", options, FOV_SPLIT_TEST, "run experiments/get-mnist");

  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder, 1);
  snprintf(path, sizeof path, "%s/.cache/fovea: no MNIST", folder);
  assert_refused("centred", options, FOV_SPLIT_TEST, path);

  unsetenv("HOME");
  assert_refused("centred", options, FOV_SPLIT_TEST, "set env.data or FOVEA_DATA");
}

/** Options for one pair of the small data set's files. */
static FovCanvasOptions make_pair_options(const char *images, const char *labels) {
  FovCanvasOptions options = make_options("", 0);
  options.pictures.divide = true;
  if (*images)
    snprintf(options.pictures.images, sizeof options.pictures.images, "%.400s/%s", folder, images);
  if (*labels)
    snprintf(options.pictures.labels, sizeof options.pictures.labels, "%.400s/%s", folder, labels);
  return options;
}

/** Opens every split; expected: number of pictures and index of the first, for each split. */
static void assert_splits(FovCanvasOptions options, const int expected[][2]) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env;
    assert_int_equal(fov_env_create(&env, find("centred"), &options, split), FOV_OK);
    assert_int_equal(env.spec.cases, expected[split][0]);
    for (int i = 0; i < 3; i++) assert_int_equal(env.spec.division[i], expected[i][0]);
    assert_int_equal(env.spec.observation.height, H);
    assert_int_equal(env.spec.observation.width, W);
    assert_int_equal(fov_canvas_picture(env.impl, 0).pixels[0], pixel(expected[split][1], 0, 0));
    fov_env_finish(&env);
  }
}

/** No picture of a pair is in two splits, unless env.divide = no. */
static void reads_one_pair_for_every_split(void **state) {
  (void)state;
  enum { SIXTH = N / 6, TRAIN = N - 2 * SIXTH };
  FovCanvasOptions options = make_pair_options(names[0], names[1]);
  assert_splits(options, (int[][2]){{TRAIN, 0}, {SIXTH, TRAIN}, {SIXTH, N - SIXTH}});
  options.pictures.divide = false;
  assert_splits(options, (int[][2]){{N, 0}, {N, 0}, {N, 0}});
}

static uint64_t digest_of(FovCanvasOptions options) {
  FovEnv env;
  assert_int_equal(fov_env_create(&env, find("centred"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  uint64_t digest = env.spec.digest;
  fov_env_finish(&env);
  return digest;
}

/** The digest depends on every pixel and label, and not on the path of the files. */
static void digests_the_data(void **state) {
  (void)state;
  uint64_t digest = digest_of(make_options(folder, 0));
  assert_int_equal(digest_of(make_pair_options(names[0], names[1])), digest);
  poke(names[0], 16 + 3 * H * W, 1);
  assert_int_not_equal(digest_of(make_options(folder, 0)), digest);
  write_images(names[0], N, H, W);
  poke(names[1], 8 + N - 1, 9);
  assert_int_not_equal(digest_of(make_options(folder, 0)), digest);
  write_labels(names[1], N);
  assert_int_equal(digest_of(make_options(folder, 0)), digest);
}

static void refuses_options_that_do_not_match_the_data(void **state) {
  (void)state;
  assert_refused("centred", make_pair_options(names[0], ""), FOV_SPLIT_TEST,
                 "env.images is set without env.labels");
  assert_refused("centred", make_pair_options("", names[1]), FOV_SPLIT_TEST,
                 "env.labels is set without env.images");
  assert_refused("centred", make_pair_options(names[0], names[3]), FOV_SPLIT_TEST,
                 "each of the 12 images");

  FovCanvasOptions few = make_options(folder, 0);
  few.pictures.classes = 4;
  assert_refused("centred", few, FOV_SPLIT_TEST, "label 4: expected 0 to 3, found 4");
  assert_refused("translated", make_options(folder, H - 1), FOV_SPLIT_TEST, "set it to 10 or more");

  write_images("five", 5, H, W);
  write_labels("five-labels", 5);
  FovEnv env;
  FovCanvasOptions small = make_pair_options("five", "five-labels");
  assert_refused("centred", small, FOV_SPLIT_VALID, "expected 6 pictures or more");
  small.pictures.divide = false;
  assert_int_equal(fov_env_create(&env, find("centred"), &small, FOV_SPLIT_TEST), FOV_OK);
  fov_env_finish(&env);
  write_images("five", 5, H, 7);
  small.size = 60;
  assert_int_not_equal(create_cluttered(&env, small, 4, FOV_SPLIT_TEST), FOV_OK);
  assert_non_null(strstr(fov_error_message(), "pieces of 8 x 8 pixels"));
}

static void refuses_too_few_images_to_validate(void **state) {
  (void)state;
  write_images(names[0], 5, H, W);
  write_labels(names[1], 5);
  assert_refused("centred", make_options(folder, 0), FOV_SPLIT_VALID, "found 5");
  write_images(names[0], N, H, W);
  write_labels(names[1], N);
}

static void centres_the_digit(void **state) {
  (void)state;
  enum { SIDE = 15, TOP = (SIDE - H) / 2, LEFT = (SIDE - W) / 2 };
  FovEnv env;
  FovCanvasOptions options = make_options(folder, SIDE);
  assert_int_equal(fov_env_create(&env, find("centred"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  uint8_t image[SIDE][SIDE];
  FovEnvLane lane = {.observation = *image};
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, 0), before = rng;
  fov_env_reset(&env, &lane, 3, &rng);
  assert_memory_equal(&rng, &before, sizeof rng);
  assert_int_equal(lane.label, 3);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      bool inside = y >= TOP && y < TOP + H && x >= LEFT && x < LEFT + W;
      assert_int_equal(image[y][x], inside ? pixel(3, y - TOP, x - LEFT) : 0);
    }
  fov_env_finish(&env);
}

static void pieces_are_added_and_clamped(void **state) {
  (void)state;
  static const uint8_t bright[] = {0, 100, 155, 200, 255, 255};
  uint8_t image[2][4] = {{10, 10, 10, 10}, {10, 155, 101, 255}};
  FovCanvas canvas = {.height = 2, .width = 4, .channels = 1};
  FovCrop patch = {bright, 2, 2, 3}; // The stride skips bright[2] and bright[5].
  fov_canvas_paste(&canvas, *image, patch, 1, 0);
  assert_memory_equal(*image, ((uint8_t[]){10, 10, 110, 10, 10, 255, 255, 255}), 8);
}

/** Where there is no digit, the canvas has the ground's brightness; a digit is added to it. */
static void the_ground_may_be_brighter(void **state) {
  (void)state;
  enum { SIDE = 12, GROUND = 25 };
  FovEnv env;
  FovCanvasOptions options = make_options(folder, SIDE);
  options.ground = GROUND;
  assert_int_equal(fov_env_create(&env, find("centred"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  uint8_t image[SIDE * SIDE];
  FovEnvLane lane = {.observation = image};
  FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, 0);
  fov_env_reset(&env, &lane, 3, &rng);
  for (int i = 0; i < SIDE * SIDE; i++) {
    int y = i / SIDE - (SIDE - H) / 2, x = i % SIDE - (SIDE - W) / 2;
    int digit = y >= 0 && y < H && x >= 0 && x < W ? pixel(3, y, x) : 0;
    assert_int_equal(image[i], digit + GROUND < 255 ? digit + GROUND : 255);
  }
  fov_env_finish(&env);
}

/** Digit 3 at a place between its pixels, 0 outside. */
static double between_pixels(double y, double x) {
  double sum = 0;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      sum += fmax(0, 1 - fabs(y - i)) * fmax(0, 1 - fabs(x - j)) * pixel(3, i, j);
  return sum;
}

/** How far a bent picture is shifted at (y, x), bilinearly between 4 x 4 points from 0 to its size.
 */
static double shift(double points[4][4], double y, double x) {
  double sum = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      sum += fmax(0, 1 - fabs(y * 3 / H - i)) * fmax(0, 1 - fabs(x * 3 / W - j)) * points[i][j];
  return sum;
}

static void check_distortion(double distort, double elastic) {
  enum { SIDE = 12, TOP = (SIDE - H) / 2, LEFT = (SIDE - W) / 2 };
  FovCanvasOptions options = make_options(folder, SIDE);
  options.distort = distort;
  options.elastic = elastic;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env;
    uint8_t image[SIDE * SIDE];
    FovEnvLane lane = {.observation = image};
    FovRng rng = fov_rng_stream(1, FOV_STREAM_ENV, 0), before = rng;
    int64_t index = split == FOV_SPLIT_TRAIN ? 3 : 0;
    assert_int_equal(fov_env_create(&env, find("centred"), &options, split), FOV_OK);
    fov_env_reset(&env, &lane, index, &rng);
    if (split != FOV_SPLIT_TRAIN) {
      assert_memory_equal(&rng, &before, sizeof rng);
      fov_env_finish(&env);
      continue;
    }
    double matrix[] = {1, 0, 0, 1}, points[2][4][4] = {0};
    for (int i = 0; i < 4 && distort > 0; i++)
      matrix[i] += distort * (double)fov_rng_normal(&before);
    for (int i = 0; i < 32 && elastic > 0; i++)
      points[i / 16][i / 4 % 4][i % 4] = elastic * (double)fov_rng_normal(&before);
    assert_memory_equal(&rng, &before, sizeof rng);
    for (int i = 0; i < SIDE * SIDE; i++) {
      int row = i / SIDE - TOP, column = i % SIDE - LEFT;
      double y = row - 0.5 * (H - 1), x = column - 0.5 * (W - 1), expected = 0;
      double right = shift(points[0], row, column), down = shift(points[1], row, column);
      if (row >= 0 && row < H && column >= 0 && column < W)
        expected = between_pixels(matrix[2] * x + matrix[3] * y + 0.5 * (H - 1) + down,
                                  matrix[0] * x + matrix[1] * y + 0.5 * (W - 1) + right);
      if (fabs(image[i] - expected) > 0.51)
        fail_msg("pixel %d: %d, expected %g", i, image[i], expected);
    }
    fov_env_finish(&env);
  }
}

static void distorts_pictures_in_training_only(void **state) {
  (void)state;
  check_distortion(0.3, 0);
  check_distortion(0, 0.8);
  check_distortion(0.3, 0.8);
}

/** The offset at which a canvas shows digit n whole and nothing else; −1 if there is none. */
static int find_digit(const uint8_t *image, int height, int width, int n) {
  for (int place = 0; place < (height - H + 1) * (width - W + 1); place++) {
    int top = place / (width - W + 1), left = place % (width - W + 1), wrong = 0;
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        bool inside = y >= top && y < top + H && x >= left && x < left + W;
        wrong += image[y * width + x] != (inside ? pixel(n, y - top, x - left) : 0);
      }
    if (!wrong) return place;
  }
  return -1;
}

static void translates_uniformly_inside_the_canvas(void **state) {
  (void)state;
  enum { SIDE = 12, PLACES = (SIDE - H + 1) * (SIDE - W + 1), DRAWS = 6000 };
  FovEnv env;
  FovCanvasOptions options = make_options(folder, SIDE);
  assert_int_equal(fov_env_create(&env, find("translated"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  uint8_t image[SIDE * SIDE];
  FovEnvLane lane = {.observation = image};
  int seen[PLACES] = {0};
  for (int i = 0; i < DRAWS; i++) {
    FovRng rng = fov_rng_stream(7, FOV_STREAM_ENV, (uint64_t)i);
    fov_env_reset(&env, &lane, i % 10, &rng);
    assert_int_equal(lane.label, i % 10);
    int place = find_digit(image, SIDE, SIDE, i % 10);
    assert_in_range(place, 0, PLACES - 1);
    seen[place]++;
  }
  double chi2 = 0, expected = (double)DRAWS / PLACES;
  for (int i = 0; i < PLACES; i++) chi2 += pow(seen[i] - expected, 2) / expected;
  assert_true(chi2 < 31.3); // 11 degrees of freedom: exceeded once in a thousand.
  fov_env_finish(&env);
}

enum { SIDE = 60, MNIST = 28 };

/** The generator of Mnih et al. written out in floats: add, clamp at 1. */
static void add_slowly(float canvas[SIDE][SIDE], const FovPictures *pictures, int64_t n, int y0,
                       int x0, int side, int top, int left) {
  const uint8_t *digit = pictures->pixels + n * MNIST * MNIST;
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) {
      float sum = canvas[top + y][left + x] + (float)digit[(y0 + y) * MNIST + x0 + x] / 255.0f;
      canvas[top + y][left + x] = fminf(sum, 1.0f);
    }
}

static void clutter_slowly(float canvas[SIDE][SIDE], const FovPictures *pictures, int pieces,
                           FovRng *rng) {
  for (int i = 0; i < pieces; i++) {
    uint32_t source = fov_rng_below(rng, (uint32_t)pictures->count);
    int x0 = (int)fov_rng_below(rng, 21), y0 = (int)fov_rng_below(rng, 21);
    int left = (int)fov_rng_below(rng, SIDE - 8 + 1), top = (int)fov_rng_below(rng, SIDE - 8 + 1);
    add_slowly(canvas, pictures, source, y0, x0, 8, top, left);
  }
}

static void draw_slowly(float canvas[SIDE][SIDE], const FovPictures *pictures, int64_t index,
                        int pieces, FovRng *rng) {
  memset(canvas, 0, sizeof(float[SIDE][SIDE]));
  clutter_slowly(canvas, pictures, pieces, rng);
  int left = (int)fov_rng_below(rng, SIDE - MNIST + 1);
  int top = (int)fov_rng_below(rng, SIDE - MNIST + 1);
  add_slowly(canvas, pictures, index, 0, 0, MNIST, top, left);
}

static void clutter_equals_its_definition(void **state) {
  (void)state;
  static const int pieces[] = {4, 0, 40}; // Forty overlap, so that some pixels clamp.
  FovSplit split = FOV_SPLIT_TRAIN;
  for (int k = 0; k < 3; k++, split++) {
    FovEnv env;
    assert_int_equal(create_cluttered(&env, make_options(subset(), SIDE), pieces[k], split),
                     FOV_OK);
    uint8_t image[SIDE][SIDE];
    FovEnvLane lane = {.observation = *image};
    for (int64_t index = 0; index < 50; index++) {
      float expected[SIDE][SIDE];
      FovRng rng = fov_rng_stream(3, FOV_STREAM_ENV, (uint64_t)index), slow = rng;
      fov_env_reset(&env, &lane, index, &rng);
      draw_slowly(expected, ((const FovCanvas *)env.impl)->pictures, index, pieces[k], &slow);
      assert_memory_equal(&rng, &slow, sizeof rng);
      assert_int_equal(lane.label, fov_canvas_label(env.impl, index));
      for (int i = 0; i < SIDE * SIDE; i++) {
        int y = i / SIDE, x = i % SIDE;
        assert_int_equal(image[y][x], lrintf(255.0f * expected[y][x]));
      }
    }
    fov_env_finish(&env);
  }
}

typedef struct PairsOptions {
  FovCanvasOptions canvas;
  int answer;
  bool apart;
} PairsOptions;

static FovEnv open_pairs(int pieces) {
  FovEnv env;
  PairsOptions options = {.canvas = make_options(subset(), SIDE), .apart = true};
  options.canvas.pieces = pieces;
  assert_int_equal(find("pairs")->plugin.options_size, sizeof options);
  assert_int_equal(fov_env_create(&env, find("pairs"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  return env;
}

/** Pairs with clutter are the pairs without, and then what the generator of clutter adds. */
static void pairs_have_the_same_clutter(void **state) {
  (void)state;
  enum { PIECES = 20 };
  FovEnv plain = open_pairs(0), cluttered = open_pairs(PIECES);
  uint8_t image[SIDE * SIDE], noisy[SIDE * SIDE];
  FovEnvLane a = {.observation = image}, b = {.observation = noisy};
  for (int64_t index = 0; index < 50; index++) {
    float expected[SIDE][SIDE];
    FovRng rng = fov_rng_stream(3, FOV_STREAM_ENV, (uint64_t)index), slow = rng;
    fov_env_reset(&plain, &a, index, &slow);
    fov_env_reset(&cluttered, &b, index, &rng);
    assert_int_equal(a.label, b.label);
    for (int i = 0; i < SIDE * SIDE; i++) expected[i / SIDE][i % SIDE] = (float)image[i] / 255.0f;
    clutter_slowly(expected, ((const FovCanvas *)plain.impl)->pictures, PIECES, &slow);
    assert_memory_equal(&rng, &slow, sizeof rng);
    for (int i = 0; i < SIDE * SIDE; i++)
      assert_int_equal(noisy[i], lrintf(255.0f * expected[i / SIDE][i % SIDE]));
  }
  fov_env_finish(&plain), fov_env_finish(&cluttered);
}

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.400s/fovea-canvas-XXXXXX", base && *base ? base : "/tmp");
  if (!mkdtemp(folder)) return -1;
  write_images(names[0], N, H, W);
  write_labels(names[1], N);
  write_images(names[2], 5, H, W);
  write_labels(names[3], 5);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const files[] = {"train-images-idx3-ubyte",
                                      "train-labels-idx1-ubyte",
                                      "t10k-images-idx3-ubyte",
                                      "t10k-labels-idx1-ubyte",
                                      "five",
                                      "five-labels"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splits_the_train_files),
      cmocka_unit_test(the_subset_keeps_the_full_sets_order),
      cmocka_unit_test(finds_data_where_get_mnist_writes_it),
      cmocka_unit_test(reads_one_pair_for_every_split),
      cmocka_unit_test(digests_the_data),
      cmocka_unit_test(refuses_options_that_do_not_match_the_data),
      cmocka_unit_test(refuses_too_few_images_to_validate),
      cmocka_unit_test(centres_the_digit),
      cmocka_unit_test(pieces_are_added_and_clamped),
      cmocka_unit_test(the_ground_may_be_brighter),
      cmocka_unit_test(distorts_pictures_in_training_only),
      cmocka_unit_test(translates_uniformly_inside_the_canvas),
      cmocka_unit_test(clutter_equals_its_definition),
      cmocka_unit_test(pairs_have_the_same_clutter),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
