/** The environment images: how a folder is divided, and the exact pixels of each picture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "envs/canvas.h"
#include "experiment/experiment.h"
#include "plugin.h"

enum { CENTRE, ANYWHERE };

typedef struct Options {
  FovCanvasOptions canvas;
  int place, steps;
} Options;

static char folder[512]; // a new one for each test

/* ---- making folders ---- */

/** "FOLDER/" and the formatted text; in one of four buffers in turn. */
__attribute__((format(printf, 1, 2))) static const char *below(const char *format, ...) {
  static char paths[4][1024];
  static int next;
  char *path = paths[next++ % 4];
  int length = snprintf(path, sizeof *paths, "%s/", folder);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(path + length, sizeof *paths - (size_t)length, format, arguments);
  va_end(arguments);
  return path;
}

static void make(const char *path) {
  assert_int_equal(mkdir(path, 0777), 0);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void write_pixels(const char *path, int height, int width, int channels,
                         const void *pixels) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (unsigned)width,
                     .height = (unsigned)height,
                     .format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
  assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

/** A grey picture of one value. */
static void write_grey(const char *path, int height, int width, int value) {
  uint8_t *pixels = malloc((size_t)(height * width));
  assert_non_null(pixels);
  memset(pixels, value, (size_t)(height * width));
  write_pixels(path, height, width, 1, pixels);
  free(pixels);
}

/** A class of `count` pictures of one pixel, whose values count up from `first` by name. */
static void write_class(const char *path, int count, int first) {
  char file[1100];
  make(path);
  for (int i = count - 1; i >= 0; i--) {
    snprintf(file, sizeof file, "%s/%03d.png", path, i);
    write_grey(file, 1, 1, first + i);
  }
}

/* ---- reading them ---- */

static const FovEnvType *find(const char *name) {
  const FovEnvType *const *type = fov_envs;
  while (*type && strcmp((*type)->plugin.name, name)) type++;
  assert_non_null(*type);
  return *type;
}

static Options options_for(const char *data) {
  Options options = {.canvas.pictures.classes = 10, .steps = 1};
  snprintf(options.canvas.pictures.data, FOV_STRING_SIZE, "%s", data);
  return options;
}

static FovEnv open_split(Options options, FovSplit split) {
  FovEnv env;
  const FovEnvType *type = find("images");
  assert_int_equal(type->plugin.options_size, sizeof options);
  if (fov_env_create(&env, type, &options, split) != FOV_OK) fail_msg("%s", fov_error_message());
  return env;
}

static void assert_refused(Options options, const char *words) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env;
    assert_int_not_equal(fov_env_create(&env, find("images"), &options, split), FOV_OK);
    assert_null(env.impl);
    if (!strstr(fov_error_message(), words)) fail_msg("message: %s", fov_error_message());
  }
}

/** A split's pictures of one pixel, each as value:label. */
static const char *describe(FovSplit split) {
  static char text[1024];
  size_t length = 0;
  FovEnv env = open_split(options_for(folder), split);
  for (int64_t i = 0; i < env.spec.cases; i++)
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "%s%d:%d", i ? " " : "",
                         fov_canvas_picture(env.impl, i).pixels[0], fov_canvas_label(env.impl, i));
  fov_env_finish(&env);
  return text;
}

/** What the environment shows of case `index`; [H, W, C]. */
static const uint8_t *show(const FovEnv *env, int64_t index) {
  static uint8_t image[1 << 16];
  assert_true((size_t)(env->spec.observation.height * env->spec.observation.width *
                       env->spec.observation.channels) <= sizeof image);
  FovEnvLane lane = {.observation = image};
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)index);
  fov_env_reset(env, &lane, index, &rng);
  return image;
}

static void assert_shows(Options options, int height, int width, int channels, int64_t index,
                         const uint8_t *expected) {
  FovEnv env = open_split(options, FOV_SPLIT_TRAIN);
  assert_int_equal(env.spec.observation.height, height);
  assert_int_equal(env.spec.observation.width, width);
  assert_int_equal(env.spec.observation.channels, channels);
  assert_memory_equal(show(&env, index), expected, (size_t)(height * width * channels));
  fov_env_finish(&env);
}

/* ---- what is drawn from pictures ---- */

/** The image is uniformly red except for one dot on the right: every patch that is asked for
 * contains a part of the dot. */
static void locates_no_patch_of_one_colour(void **state) {
  (void)state;
  enum { SIDE = 16, PATCH = 4, X = 12, Y = 8 };
  uint8_t pixels[SIDE * SIDE * 3];
  for (int i = 0; i < SIDE * SIDE * 3; i++) pixels[i] = i % 3 ? 0 : 200;
  pixels[(Y * SIDE + X) * 3 + 1] = 255;
  for (int k = 0; k < 2; k++) {
    make(below("%d", k));
    for (int n = 0; n < 6; n++) write_pixels(below("%d/%d.png", k, n), SIDE, SIDE, 3, pixels);
  }
  char settings[1024];
  snprintf(settings, sizeof settings,
           "plugin = locate\nplugin.data = %s\nplugin.size = 16\nplugin.patch = 4\n"
           "plugin.detail = 0.01\n",
           folder);
  FovSlot slot = plugin_choose(PLUGINS(fov_envs), settings);
  FovEnv env;
  assert_int_equal(
      fov_env_create(&env, (const FovEnvType *)slot.plugin, slot.values, FOV_SPLIT_TRAIN), FOV_OK);
  FovArena arena = {.first = NULL};
  FovEnvLane lane = fov_env_lane(&arena, &env.spec);
  for (int draw = 0; draw < 50; draw++) {
    FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)draw);
    fov_env_reset(&env, &lane, 0, &rng);
    float left = (lane.target[0] + 1) / 2 * (SIDE - PATCH);
    float top = (lane.target[1] + 1) / 2 * (SIDE - PATCH);
    assert_true(left > X - PATCH && left < X + 1 && top > Y - PATCH && top < Y + 1);
  }
  fov_env_finish(&env);
  fov_arena_finish(&arena);
  free(slot.values);
}

/* ---- which pictures ---- */

static void splits_each_class(void **state) {
  (void)state;
  write_class(below("b"), 6, 100);
  write_class(below("a"), 13, 0);
  assert_string_equal(describe(FOV_SPLIT_TRAIN),
                      "0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0 8:0 100:1 101:1 102:1 103:1");
  assert_string_equal(describe(FOV_SPLIT_VALID), "9:0 10:0 104:1");
  assert_string_equal(describe(FOV_SPLIT_TEST), "11:0 12:0 105:1");
}

/** Two classes in folders train and test; a test adds to them. */
static void write_parts(void) {
  make(below("train")), make(below("test"));
  write_class(below("train/a"), 6, 0);
  write_class(below("train/b"), 7, 10);
  write_class(below("test/a"), 1, 20);
  write_class(below("test/b"), 2, 30);
}

static void takes_train_valid_and_test_folders(void **state) {
  (void)state;
  write_parts();
  assert_string_equal(describe(FOV_SPLIT_TRAIN),
                      "0:0 1:0 2:0 3:0 4:0 10:1 11:1 12:1 13:1 14:1 15:1");
  assert_string_equal(describe(FOV_SPLIT_VALID), "5:0 16:1");
  assert_string_equal(describe(FOV_SPLIT_TEST), "20:0 30:1 31:1");
  make(below("valid"));
  write_class(below("valid/a"), 1, 40);
  write_class(below("valid/b"), 1, 50);
  assert_string_equal(describe(FOV_SPLIT_TRAIN),
                      "0:0 1:0 2:0 3:0 4:0 5:0 10:1 11:1 12:1 13:1 14:1 15:1 16:1");
  assert_string_equal(describe(FOV_SPLIT_VALID), "40:0 50:1");
  assert_string_equal(describe(FOV_SPLIT_TEST), "20:0 30:1 31:1");
  char test[600];
  make(below("val"));
  assert_refused(options_for(folder), "expected train, valid and test, found 'val', too");
  snprintf(test, sizeof test, "%s", below("test"));
  assert_int_equal(rename(test, below("other")), 0);
  assert_refused(options_for(folder), "found train without test");
}

/** Answers of two pictures, and those of several, have the names of the folders. */
static void names_answers_by_the_folders(void **state) {
  (void)state;
  static const char *const worlds[] = {"env=pairs", "env=sequence"};
  static const char *const names[][3] = {{"a a", "a b", "b b"}, {"a", "b", "end"}};
  char data[600];
  write_parts();
  snprintf(data, sizeof data, "env.data=%s", folder);
  for (int i = 0; i < 2; i++) {
    FovExperiment experiment;
    FovEnv env;
    assert_int_equal(fov_experiment_init(&experiment), FOV_OK);
    assert_int_equal(fov_settings_add(experiment.settings, worlds[i]), FOV_OK);
    assert_int_equal(fov_settings_add(experiment.settings, data), FOV_OK);
    assert_int_equal(fov_settings_add(experiment.settings, "env.size=2"), FOV_OK);
    assert_int_equal(fov_experiment_resolve(&experiment), FOV_OK);
    assert_int_equal(fov_experiment_env(&env, &experiment, FOV_SPLIT_TRAIN), FOV_OK);
    assert_int_equal(env.spec.actions, 3);
    for (int k = 0; k < 3; k++) assert_string_equal(env.spec.names[k], names[i][k]);
    fov_env_finish(&env);
    fov_experiment_finish(&experiment);
  }
}

/** A folder train is a class if there is no folder test beside it. */
static void a_class_may_be_called_train(void **state) {
  (void)state;
  write_class(below("car"), 6, 0);
  write_class(below("train"), 6, 10);
  assert_string_equal(describe(FOV_SPLIT_TEST), "5:0 15:1");
}

static void only_visible_png_files_count(void **state) {
  (void)state;
  write_class(below("a"), 6, 0);
  write_class(below("b"), 6, 10);
  make(below(".hidden")), make(below("a/folder.png"));
  write_text(below("readme.txt"), "not a class"), write_text(below("a/notes.txt"), "not a picture");
  write_text(below("a/.hidden.png"), "not a picture");
  assert_int_equal(symlink(folder, below("a/up")), 0);
  assert_int_equal(mkfifo(below("b/pipe.png"), 0666), 0);
  write_grey(below("a/9.PNG"), 1, 1, 99);
  assert_int_equal(symlink(below("a/9.PNG"), below("b/link.png")), 0);
  assert_string_equal(describe(FOV_SPLIT_TRAIN), "0:0 1:0 2:0 3:0 4:0 10:1 11:1 12:1 13:1 14:1");
  assert_string_equal(describe(FOV_SPLIT_VALID), "5:0 15:1");
  assert_string_equal(describe(FOV_SPLIT_TEST), "99:0 99:1");
}

static void digests_the_pictures_shown(void **state) {
  (void)state;
  write_class(below("a"), 6, 0);
  write_class(below("b"), 6, 10);
  FovEnv env = open_split(options_for(folder), FOV_SPLIT_TRAIN);
  uint64_t digest = env.spec.digest;
  fov_env_finish(&env);
  assert_int_equal(rename(below("a"), below("a2")), 0);
  env = open_split(options_for(folder), FOV_SPLIT_TRAIN);
  assert_int_equal(env.spec.digest, digest);
  fov_env_finish(&env);
  write_grey(below("b/000.png"), 1, 1, 11);
  env = open_split(options_for(folder), FOV_SPLIT_TRAIN);
  assert_int_not_equal(env.spec.digest, digest);
  fov_env_finish(&env);
}

/* ---- what is refused ---- */

static void refuses_folders_without_classes(void **state) {
  (void)state;
  assert_refused(options_for(below("absent")), "absent: cannot read: No such file");
  assert_refused(options_for(folder), "found no such file and 0 folders");
  write_class(below("a"), 6, 0);
  assert_refused(options_for(folder), "2 to 65536 folders of PNGs, one per class");
  make(below("b"));
  assert_refused(options_for(folder), "/b: expected the PNG pictures of a class, found none");
  write_grey(below("b/0.png"), 1, 1, 0);
  assert_refused(options_for(folder), "/b: expected 6 pictures or more");
  write_text(below("b/notes.txt"), "");
  assert_int_equal(symlink("loop.png", below("b/loop.png")), 0);
  assert_refused(options_for(folder),
                 "/b/loop.png: cannot read: Too many levels of symbolic links");
}

static void names_pictures_of_another_format(void **state) {
  (void)state;
  for (int i = 0; i < 7; i++) write_text(below("%d.jpg", i), "a JPEG");
  assert_refused(options_for(folder), "and 0 folders, but 7 .jpg files: convert them to PNG");
  write_class(below("a"), 6, 0);
  make(below("b"));
  write_text(below("b/0.JPEG"), "a JPEG"), write_text(below("b/notes.txt"), "not a picture");
  assert_refused(options_for(folder), "/b: expected the PNG pictures of a class, found 1 .JPEG "
                                      "file: convert them to PNG, with ImageMagick: mogrify "
                                      "-format png *.JPEG");
}

static void refuses_parts_of_other_classes(void **state) {
  (void)state;
  write_parts();
  write_class(below("test/c"), 1, 0);
  assert_refused(options_for(folder), "/test: expected the folders of the same 2 classes as in "
                                      "train, found one more: 'c'");
  make(below("valid")), make(below("valid/b"));
  assert_refused(options_for(folder), "/valid: expected the folders of the same 2 classes as in "
                                      "train, found no 'a'");
}

/** The headers of all parts are read, whichever part is loaded. */
static void names_a_damaged_picture(void **state) {
  (void)state;
  write_class(below("a"), 6, 0);
  write_class(below("b"), 6, 0);
  write_text(below("b/005.png"), "\x89PNG\r\n\x1a\n");
  assert_refused(options_for(folder), "/b/005.png: expected a valid PNG");
}

/** Changes one byte of a picture in its middle. */
static void damage(const char *path) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  assert_int_equal(fseek(file, ftell(file) / 2 + 8, SEEK_SET), 0);
  int byte = fgetc(file);
  assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
  fputc(byte ^ 0x10, file);
  assert_int_equal(fclose(file), 0);
}

/** The pixels of the test part are checked when the training part is loaded. */
static void checks_the_test_pictures_before_a_training(void **state) {
  (void)state;
  write_class(below("a"), 6, 0);
  write_class(below("b"), 6, 0);
  Options options = options_for(folder);
  FovEnv env = open_split(options, FOV_SPLIT_TRAIN);
  fov_env_finish(&env);
  damage(below("b/005.png"));
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_ERR_FORMAT);
  assert_non_null(strstr(fov_error_message(), "/b/005.png: expected a valid PNG"));
  fov_env_finish(&env);
  env = open_split(options, FOV_SPLIT_VALID);
  fov_env_finish(&env);
}

static void assert_division(int64_t train, int64_t valid, int64_t test) {
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FovEnv env = open_split(options_for(folder), split);
    assert_int_equal(env.spec.division[FOV_SPLIT_TRAIN], train);
    assert_int_equal(env.spec.division[FOV_SPLIT_VALID], valid);
    assert_int_equal(env.spec.division[FOV_SPLIT_TEST], test);
    assert_int_equal(env.spec.cases, env.spec.division[split]);
    fov_env_finish(&env);
  }
}

static void counts_the_pictures_of_each_split(void **state) {
  (void)state;
  write_class(below("a"), 13, 0);
  write_class(below("b"), 7, 0);
  assert_division(9 + 5, 2 + 1, 2 + 1);
}

/** Files with too many pixels in their headers are refused before memory is allocated. */
static void checks_sizes_before_it_allocates(void **state) {
  (void)state;
  static const char header[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x10\0\0\0\x10\0\x08\0\0\0\0"
                               "\xd7\xc8\x7b\xcb"
                               "\0\0\0\x01"
                               "IDAT";
  for (int k = 0; k < 2; k++) {
    make(below("%d", k));
    for (int i = 0; i < 33; i++) {
      FILE *file = fopen(below("%d/%d.png", k, i), "wb");
      assert_non_null(file);
      assert_int_equal(fwrite(header, sizeof header - 1, 1, file), 1);
      assert_int_equal(fclose(file), 0);
    }
  }
  assert_refused(options_for(folder), "expected at most 1073741824 bytes of pixels, found 66 "
                                      "pictures, each 4096 x 4096 x 1 bytes");
}

/* ---- colour and size ---- */

/** Two classes of black pictures, except for the first picture. */
static void write_around(const char *path, int height, int width, int channels,
                         const uint8_t *pixels) {
  write_class(below("a"), 6, 0);
  write_class(below("b"), 6, 0);
  write_pixels(path, height, width, channels, pixels);
}

static void colour_is_found_or_chosen(void **state) {
  (void)state;
  static const uint8_t red[] = {200, 0, 0};
  Options options = options_for(folder);
  write_around(below("a/000.png"), 1, 1, 1, (uint8_t[]){60});
  assert_shows(options, 1, 1, 1, 0, (uint8_t[]){60});
  options.canvas.pictures.colour = FOV_COLOUR_RGB;
  assert_shows(options, 1, 1, 3, 0, (uint8_t[]){60, 60, 60});
  // One coloured picture in the test part gives all of them three channels.
  write_pixels(below("b/005.png"), 1, 1, 3, red);
  options.canvas.pictures.colour = FOV_COLOUR_AUTO;
  assert_shows(options, 1, 1, 3, 0, (uint8_t[]){60, 60, 60});
  write_pixels(below("a/000.png"), 1, 1, 3, red);
  assert_shows(options, 1, 1, 3, 0, red);
  options.canvas.pictures.colour = FOV_COLOUR_GREY;
  assert_shows(options, 1, 1, 1, 0, (uint8_t[]){60});
}

static void pads_to_the_largest(void **state) {
  (void)state;
  write_around(below("a/000.png"), 2, 1, 1, (uint8_t[]){10, 20});
  write_grey(below("b/005.png"), 2, 4,
             1); // The widest picture is in the test part; the highest is not.
  write_grey(below("a/001.png"), 3, 1, 30);
  Options options = options_for(folder);
  assert_shows(options, 3, 4, 1, 0, (uint8_t[]){0, 10, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0});
  assert_shows(options, 3, 4, 1, 1, (uint8_t[]){0, 30, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0});
  // The canvas may be larger.
  options.canvas.size = 4;
  assert_shows(options, 4, 4, 1, 0, (uint8_t[]){0, 10, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  options.canvas.size = 3;
  assert_refused(options, "set it to 4 or more");
}

/** A pixel is the mean of what it covers: whole pixels, parts of pixels, or a part of one pixel. */
static void scales_by_means(void **state) {
  (void)state;
  Options options = options_for(folder);
  options.canvas.pictures.picture = 2;
  write_around(below("a/000.png"), 4, 4, 1,
               (uint8_t[]){0, 4, 100, 101, 8, 12, 102, 103, 255, 255, 1, 0, 255, 255, 0, 0});
  assert_shows(options, 2, 2, 1, 0, (uint8_t[]){6, 102, 255, 0});
  write_pixels(below("a/000.png"), 3, 3, 1, (uint8_t[]){90, 90, 0, 90, 90, 0, 0, 0, 9});
  // From 3 x 3 to 2 x 2, a corner pixel covers 4/9, 2/9, 2/9 and 1/9 of itself.
  assert_shows(options, 2, 2, 1, 0, (uint8_t[]){90, 30, 30, 14});
}

static void scales_all_by_one_factor_or_each_by_its_own(void **state) {
  (void)state;
  write_around(below("a/000.png"), 2, 1, 1, (uint8_t[]){10, 20});
  write_grey(below("a/001.png"), 4, 4, 7);
  Options options = options_for(folder);
  options.canvas.pictures.picture = 2;
  assert_shows(options, 2, 2, 1, 0, (uint8_t[]){15, 0, 0, 0});
  options.canvas.pictures.fit = FOV_FIT_SCALE;
  assert_shows(options, 2, 2, 1, 0, (uint8_t[]){10, 0, 20, 0});
  options.canvas.pictures.picture = 0;
  assert_shows(options, 4, 4, 1, 0,
               (uint8_t[]){0, 10, 10, 0, 0, 10, 10, 0, 0, 20, 20, 0, 0, 20, 20, 0});
}

/* ---- on the canvas ---- */

static const char *subset(void) {
  const char *path = getenv("FOVEA_SUBSET");
  return path ? path : "envs/mnist-subset";
}

/** With the same settings, the same bytes as centred, translated and cluttered. */
static void shows_the_same_as_the_digit_environments(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int size, pieces, place;
  } others[] = {{"centred", 40, 0, CENTRE},
                {"centred", 0, 0, CENTRE},
                {"translated", 60, 0, ANYWHERE},
                {"cluttered", 60, 4, ANYWHERE}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    Options options = options_for(subset());
    options.canvas.size = others[i].size;
    options.canvas.pieces = others[i].pieces;
    options.place = others[i].place;
    FovEnv mine = open_split(options, FOV_SPLIT_TEST), other;
    assert_int_equal(fov_env_create(&other, find(others[i].name), &options.canvas, FOV_SPLIT_TEST),
                     FOV_OK);
    assert_int_equal(mine.spec.digest, other.spec.digest);
    for (int64_t n = 0; n < 50; n++) {
      uint8_t copy[60 * 60];
      size_t size = (size_t)(mine.spec.observation.height * mine.spec.observation.width);
      memcpy(copy, show(&mine, n), size);
      assert_memory_equal(show(&other, n), copy, size);
    }
    fov_env_finish(&mine), fov_env_finish(&other);
  }
}

static void scales_and_colours_idx_too(void **state) {
  (void)state;
  Options options = options_for(subset());
  FovEnv plain = open_split(options, FOV_SPLIT_TEST);
  options.canvas.pictures.colour = FOV_COLOUR_RGB;
  options.canvas.pictures.picture = 14;
  FovEnv small = open_split(options, FOV_SPLIT_TEST);
  assert_int_equal(small.spec.observation.height * small.spec.observation.width *
                       small.spec.observation.channels,
                   14 * 14 * 3);
  const uint8_t *large = fov_canvas_picture(plain.impl, 3).pixels;
  const uint8_t *pixels = fov_canvas_picture(small.impl, 3).pixels;
  for (int i = 0; i < 14 * 14 * 3; i++) {
    const uint8_t *corner = large + i / 3 / 14 * 2 * 28 + i / 3 % 14 * 2;
    assert_int_equal(pixels[i], (corner[0] + corner[1] + corner[28] + corner[29] + 2) / 4);
  }
  fov_env_finish(&plain), fov_env_finish(&small);
}

/** Copies the files of the subset. */
static void copy_digits(void) {
  static const char *const names[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                      "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
  for (size_t i = 0; i < 4; i++) {
    char from[1100], *data;
    size_t size;
    snprintf(from, sizeof from, "%s/%s", subset(), names[i]);
    assert_int_equal(fov_file_read(&data, &size, from, 1 << 20), FOV_OK);
    assert_int_equal(fov_file_write(below("%s", names[i]), data, size), FOV_OK);
    free(data);
  }
}

/** A training needs no test files, but damaged ones are found before it. */
static void checks_the_test_digits_before_a_training(void **state) {
  (void)state;
  static const char *const names[] = {"t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"};
  copy_digits();
  Options options = options_for(folder);
  FovEnv env = open_split(options, FOV_SPLIT_TRAIN);
  assert_int_equal(env.spec.division[FOV_SPLIT_TEST], 1000);
  fov_env_finish(&env);
  for (int i = 0; i < 2; i++) {
    damage(below("%s", names[i]));
    assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN),
                     FOV_ERR_FORMAT);
    assert_non_null(strstr(fov_error_message(), names[i]));
    assert_non_null(strstr(fov_error_message(), ": damaged gzip file"));
    env = open_split(options, FOV_SPLIT_VALID);
    fov_env_finish(&env);
  }
  assert_int_equal(remove(below("%s", names[1])), 0);
  env = open_split(options, FOV_SPLIT_TRAIN);
  assert_int_equal(env.spec.division[FOV_SPLIT_TEST], 0);
  fov_env_finish(&env);
}

/** Writes black pictures of class 0 and their labels. part: "train" or "t10k" */
static void write_digits(const char *part, unsigned char count, unsigned char side) {
  static const char zeros[70 * 32 * 32];
  const unsigned char head[] = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
  const unsigned char label_head[] = {0, 0, 8, 1, 0, 0, 0, count};
  size_t size = (size_t)count * side * side;
  assert_true(size <= sizeof zeros);
  FILE *images = fopen(below("%s-images-idx3-ubyte", part), "wb");
  FILE *labels = fopen(below("%s-labels-idx1-ubyte", part), "wb");
  assert_true(images && labels);
  assert_int_equal(fwrite(head, sizeof head, 1, images), 1);
  assert_int_equal(fwrite(zeros, size, 1, images), 1);
  assert_int_equal(fwrite(label_head, sizeof label_head, 1, labels), 1);
  assert_int_equal(fwrite(zeros, count, 1, labels), 1);
  assert_int_equal(fclose(images) | fclose(labels), 0);
}

/** The limit is of all pictures of a file: the validation split holds a sixth of them, and the test
 * file is checked before a training. */
static void checks_the_sizes_of_idx_files(void **state) {
  (void)state;
  static const unsigned char counts[2][2] = {{66, 3}, {6, 66}};
  static const FovSplit splits[] = {FOV_SPLIT_VALID, FOV_SPLIT_TRAIN};
  Options options = options_for(folder);
  options.canvas.pictures.picture = 4096;
  for (int i = 0; i < 2; i++) {
    FovEnv env;
    write_digits("train", counts[i][0], 4);
    write_digits("t10k", counts[i][1], 4);
    assert_int_equal(fov_env_create(&env, find("images"), &options, splits[i]), FOV_ERR_FORMAT);
    assert_non_null(strstr(fov_error_message(), i ? "t10k" : "train"));
    assert_non_null(strstr(fov_error_message(), "found 66 pictures, each 4096 x 4096 x 1 bytes"));
  }
}

/** Test pictures that do not fit are found before a training, not after it. */
static void refuses_test_digits_that_do_not_fit(void **state) {
  (void)state;
  Options options = options_for(folder);
  FovEnv env;
  write_digits("train", 6, 4);
  write_digits("t10k", 6, 5);
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "expected a canvas on which images of 5 x 5 pixels"));
  options.canvas.size = 5;
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_finish(&env);
  write_digits("train", 6, 5);
  write_digits("t10k", 6, 4);
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_OK);
  fov_env_finish(&env);
  options.canvas.size = 0;
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "5 x 5 pixels, found 4 x 4: set env.size to 5"));
  write_digits("train", 6, 8);
  write_digits("t10k", 6, 6);
  options.canvas.size = 20;
  options.canvas.pieces = 1;
  assert_int_equal(fov_env_create(&env, find("images"), &options, FOV_SPLIT_TRAIN), FOV_ERR_FORMAT);
  assert_non_null(strstr(fov_error_message(), "found 6 x 6: make them larger"));
}

/** Without env.data, variables name the folder. */
static void refuses_variables_that_name_no_folder(void **state) {
  (void)state;
  static const char *const names[] = {"FOVEA_DATA", "XDG_CACHE_HOME", "HOME"};
  char *before[3], endless[PATH_MAX];
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    before[i] = value ? strdup(value) : NULL;
    unsetenv(names[i]);
  }
  assert_refused(options_for(""), "no folder to look for MNIST in: set env.data or FOVEA_DATA");
  memset(endless, 'x', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  setenv("FOVEA_DATA", endless, 1);
  assert_refused(options_for(""), "xxx...: expected a path of less than 4096 bytes, found 41");
  unsetenv("FOVEA_DATA");
  for (int i = 0; i < 3; i++) {
    if (before[i]) setenv(names[i], before[i], 1);
    free(before[i]);
  }
}

enum { SIDE = 9, CANVAS = 20, PIECES = 5 };

/** The generator of clutter written out, one channel at a time. */
static void add_slowly(int canvas[CANVAS][CANVAS][3], FovCrop from, int y0, int x0, int side,
                       FovRng *rng) {
  int left = (int)fov_rng_below(rng, (uint32_t)(CANVAS - side + 1));
  int top = (int)fov_rng_below(rng, (uint32_t)(CANVAS - side + 1));
  for (int i = 0; i < side * side * 3; i++) {
    int y = i / 3 / side, x = i / 3 % side, c = i % 3;
    int sum = canvas[top + y][left + x][c] + from.pixels[((y0 + y) * SIDE + x0 + x) * 3 + c];
    canvas[top + y][left + x][c] = sum < 255 ? sum : 255;
  }
}

/** Writes two classes of six pictures. */
static void write_classes(int channels) {
  uint8_t pixels[SIDE * SIDE * 3];
  for (int k = 0; k < 2; k++) {
    make(below("%d", k));
    for (int n = 0; n < 6; n++) {
      for (int i = 0; i < SIDE * SIDE * channels; i++)
        pixels[i] = (uint8_t)(k * 31 + n * 57 + i * 3);
      write_pixels(below("%d/%d.png", k, n), SIDE, SIDE, channels, pixels);
    }
  }
}

static void clutters_in_colour(void **state) {
  (void)state;
  write_classes(3);
  Options options = options_for(folder);
  options.place = ANYWHERE;
  options.canvas.size = CANVAS;
  options.canvas.pieces = PIECES;
  FovEnv env = open_split(options, FOV_SPLIT_TRAIN);
  for (int64_t index = 0; index < env.spec.cases; index++) {
    int canvas[CANVAS][CANVAS][3] = {0};
    FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)index);
    for (int i = 0; i < PIECES; i++) {
      FovCrop from = fov_canvas_picture(env.impl, fov_rng_below(&rng, (uint32_t)env.spec.cases));
      int x0 = (int)fov_rng_below(&rng, 2), y0 = (int)fov_rng_below(&rng, 2);
      add_slowly(canvas, from, y0, x0, 8, &rng);
    }
    add_slowly(canvas, fov_canvas_picture(env.impl, index), 0, 0, SIDE, &rng);
    const uint8_t *image = show(&env, index);
    for (int i = 0; i < CANVAS * CANVAS * 3; i++)
      assert_int_equal(image[i], canvas[i / 3 / CANVAS][i / 3 % CANVAS][i % 3]);
  }
  fov_env_finish(&env);
}

/** A piece is a part of what its whole picture would be. */
static void pieces_are_cut_from_distorted_pictures(void **state) {
  (void)state;
  uint8_t whole[CANVAS * CANVAS] = {0}, image[CANVAS * CANVAS] = {0};
  write_classes(1);
  Options options = options_for(folder);
  options.canvas.size = CANVAS;
  options.canvas.pieces = 1;
  options.canvas.distort = 0.3;
  options.canvas.elastic = 0.8;
  options.canvas.distort_pieces = true;
  FovEnv env = open_split(options, FOV_SPLIT_TRAIN);
  FovRng rng = fov_rng_stream(5, FOV_STREAM_ENV, 0), after = rng;
  FovCrop from = fov_canvas_picture(env.impl, fov_rng_below(&rng, (uint32_t)env.spec.cases));
  int left = (int)fov_rng_below(&rng, 2), top = (int)fov_rng_below(&rng, 2);
  int x = (int)fov_rng_below(&rng, CANVAS - 8 + 1), y = (int)fov_rng_below(&rng, CANVAS - 8 + 1);
  fov_canvas_draw(env.impl, whole, from, 0, 0, &rng);
  fov_canvas_clutter(env.impl, image, &after);
  assert_memory_equal(&rng, &after, sizeof rng);
  for (int i = 0; i < CANVAS * CANVAS; i++) {
    int row = i / CANVAS - y, column = i % CANVAS - x;
    bool inside = row >= 0 && row < 8 && column >= 0 && column < 8;
    assert_int_equal(image[i], inside ? whole[(top + row) * CANVAS + left + column] : 0);
  }
  fov_env_finish(&env);
}

/* ---- a folder for each test ---- */

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.400s/fovea-images-XXXXXX", base && *base ? base : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[600];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

/* ---- sharing them ---- */

static const FovPictures *pictures_of(const FovEnv *env) {
  return ((const FovCanvas *)env->impl)->pictures;
}

/** Environments of the same split and options have one copy, freed with the last of them. */
static void the_same_pictures_are_loaded_once(void **state) {
  (void)state;
  Options options = options_for(getenv("FOVEA_SUBSET")), other = options;
  other.canvas.pictures.picture = 20;
  FovEnv first = open_split(options, FOV_SPLIT_VALID),
         second = open_split(options, FOV_SPLIT_VALID);
  FovEnv test = open_split(options, FOV_SPLIT_TEST), smaller = open_split(other, FOV_SPLIT_VALID);
  assert_ptr_equal(pictures_of(&first), pictures_of(&second));
  assert_ptr_not_equal(pictures_of(&first), pictures_of(&test));
  assert_ptr_not_equal(pictures_of(&first), pictures_of(&smaller));
  fov_env_finish(&first);
  assert_int_equal(pictures_of(&second)->count, second.spec.cases); // still there
  fov_env_finish(&second);
  fov_env_finish(&test);
  fov_env_finish(&smaller);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_pictures_are_loaded_once),
      TEST(splits_each_class),
      TEST(takes_train_valid_and_test_folders),
      TEST(names_answers_by_the_folders),
      TEST(a_class_may_be_called_train),
      TEST(only_visible_png_files_count),
      TEST(digests_the_pictures_shown),
      TEST(refuses_folders_without_classes),
      TEST(refuses_parts_of_other_classes),
      TEST(names_a_damaged_picture),
      TEST(names_pictures_of_another_format),
      TEST(checks_the_test_pictures_before_a_training),
      TEST(counts_the_pictures_of_each_split),
      TEST(checks_sizes_before_it_allocates),
      TEST(colour_is_found_or_chosen),
      TEST(pads_to_the_largest),
      TEST(scales_by_means),
      TEST(scales_all_by_one_factor_or_each_by_its_own),
      TEST(shows_the_same_as_the_digit_environments),
      TEST(scales_and_colours_idx_too),
      TEST(checks_the_test_digits_before_a_training),
      TEST(checks_the_sizes_of_idx_files),
      TEST(refuses_test_digits_that_do_not_fit),
      TEST(refuses_variables_that_name_no_folder),
      TEST(clutters_in_colour),
      TEST(pieces_are_cut_from_distorted_pictures),
      TEST(locates_no_patch_of_one_colour),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
