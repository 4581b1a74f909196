/** Episodes that are played again with other settings, and pictures that an agent looks at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cairo.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "traces.h"
#include "viz/viewer/picture.h"
#include "viz/viewer/rerun.h"
#include "working_folder.h"

static char data[600];
static FovOpenedRun opened;

static int begin(void **state) {
  char run[512];
  snprintf(run, sizeof run, "%s/experiments/trained/cluttered-60", getenv("FOVEA_SOURCE"));
  snprintf(data, sizeof data, "env.data=%s", getenv("FOVEA_SUBSET"));
  if (enter_folder(state) != 0) return -1;
  return fov_opened_run_open(&opened, run) == FOV_OK ? 0 : -1;
}

static int end(void **state) {
  fov_opened_run_finish(&opened);
  return leave_folder(state);
}

/** Settings after those of the data. */
static FovOpenedRun rerun(const char *settings, int episodes, const char *picture) {
  char text[sizeof data + 64];
  FovOpenedRun made;
  snprintf(text, sizeof text, "%s %s", data, settings);
  if (fov_rerun(&made, &opened, episodes, text, picture) != FOV_OK)
    fail_msg("%s", fov_error_message());
  return made;
}

static void assert_refused(const char *settings, const char *picture, const char *why) {
  char text[sizeof data + 64];
  FovOpenedRun made;
  snprintf(text, sizeof text, "%s %s", data, settings);
  assert_int_not_equal(fov_rerun(&made, &opened, 2, text, picture), FOV_OK);
  assert_non_null(strstr(fov_error_message(), why));
}

/** Writes grey pixels, `times` as wide and high, on a black canvas `more` wider. */
static void write_png(const char *path, const uint8_t *pixels, int width, int height, int times,
                      int more) {
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * times + more, height * times);
  for (int i = 0; i < width * height * times * times; i++) {
    int x = i % (width * times), y = i / (width * times);
    uint32_t rgb = pixels[y / times * width + x / times] * 0x010101u;
    memcpy(cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) +
               4 * (x + more / 2),
           &rgb, sizeof rgb);
  }
  cairo_surface_mark_dirty(surface);
  assert_int_equal(cairo_surface_write_to_png(surface, path), CAIRO_STATUS_SUCCESS);
  cairo_surface_destroy(surface);
}

static void test_settings_change_what_is_played(void **state) {
  (void)state;
  FovOpenedRun as_trained = rerun("", 4, NULL), longer = rerun("glimpses=11", 4, NULL);
  FovOpenedRun sampled = rerun("sampled", 4, NULL), again = rerun("", 4, NULL);
  const FovTrace *a = &as_trained.trace, *b = &longer.trace, *c = &sampled.trace;
  assert_int_equal(a->episodes, 4);
  assert_int_equal(a->glimpses, 8);
  assert_int_equal(b->glimpses, 11);
  size_t places = 4 * 8 * 2 * sizeof(float), images = (size_t)4 * a->height * a->width;
  assert_memory_equal(a->images, b->images, images); // the same cases
  assert_memory_equal(a->images, c->images, images);
  assert_memory_equal(a->locations, again.trace.locations, places);
  assert_memory_not_equal(a->locations, c->locations, places);
  assert_non_null(strstr(longer.name, "env.data="));
  FovOpenedRun *all[] = {&as_trained, &longer, &sampled, &again};
  for (int i = 0; i < 4; i++) fov_opened_run_finish(all[i]);
}

static void test_wrong_settings_are_named(void **state) {
  (void)state;
  assert_refused("glimpse=3", NULL, "did you mean 'glimpses'?");
  assert_refused("core.width=3", NULL, "core.width=3");
  assert_refused("sampled=yes", NULL, "sampled");
  FovOpenedRun trace = opened, made;
  trace.is_run = false;
  assert_int_equal(fov_rerun(&made, &trace, 2, "glimpses=3", NULL), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "a trace has no agent"));
}

/** A picture is seen like the case that it is the image of. */
static void test_a_picture_is_looked_at(void **state) {
  (void)state;
  FovOpenedRun cases = rerun("", 4, NULL);
  const FovTrace *a = &cases.trace;
  size_t image = (size_t)a->height * a->width;
  write_png("p.png", a->images + 3 * image, a->width, a->height, 1, 0);
  FovOpenedRun made = rerun("", 1, "p.png");
  const FovTrace *b = &made.trace;
  assert_int_equal(b->episodes, 1);
  assert_memory_equal(b->images, a->images + 3 * image, image);
  // Products of a batch of one may be rounded differently.
  for (int i = 0; i < 8 * 2; i++) assert_close(b->locations[i], a->locations[3 * 8 * 2 + i], 1e-4);
  for (int i = 0; i < 8 * 10; i++)
    assert_close(b->probabilities[i], a->probabilities[3 * 8 * 10 + i], 1e-3);
  assert_int_equal(b->answers[7], a->answers[3 * 8 + 7]);
  for (int t = 0; t < 8; t++) {
    assert_int_equal(b->labels[t], -1);
    assert_true(isnan(b->rewards[t]));
  }
  fov_opened_run_finish(&cases);
  fov_opened_run_finish(&made);
}

static void test_pictures_of_other_sizes_fit_into_the_image(void **state) {
  (void)state;
  const uint8_t grey[] = {10, 200, 90, 30};
  uint8_t pixels[4 * 4], rgb[2 * 2 * 3];
  write_png("large.png", grey, 2, 2, 50, 0);
  assert_int_equal(fov_picture_read(pixels, 2, 2, 1, "large.png"), FOV_OK);
  for (int i = 0; i < 4; i++) assert_true(abs(pixels[i] - grey[i]) <= 12); // smooth at the edges
  write_png("wide.png", grey, 2, 2, 50, 100); // 200 × 100: black above and below
  assert_int_equal(fov_picture_read(pixels, 4, 4, 1, "wide.png"), FOV_OK);
  for (int i = 0; i < 4; i++) assert_true(pixels[i] < 5 && pixels[12 + i] < 5);
  assert_true(abs(pixels[4 + 2] - grey[1]) < 40);
  write_png("same.png", grey, 2, 2, 1, 0);
  assert_int_equal(fov_picture_read(rgb, 2, 2, 3, "same.png"), FOV_OK);
  for (int i = 0; i < 12; i++) assert_int_equal(rgb[i], grey[i / 3]);
}

static void test_what_is_no_picture_is_refused(void **state) {
  (void)state;
  unsigned char header[40] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\0\0\0\0\0\0\1";
  assert_refused("", "absent.png", "absent.png: cannot open");
  assert_int_equal(mkfifo("pipe.png", 0666), 0);
  assert_refused("", "pipe.png", "pipe.png: expected a regular file");
  assert_int_equal(fov_file_write("text.png", "hello, hello, hello, hello", 26), FOV_OK);
  assert_refused("", "text.png", "text.png: not a PNG");
  assert_int_equal(fov_file_write("vast.png", header, sizeof header), FOV_OK);
  assert_refused("", "vast.png", "at most 8192");
  header[16] = 0;
  header[19] = 1;
  assert_int_equal(fov_file_write("torn.png", header, sizeof header), FOV_OK);
  assert_refused("", "torn.png", "torn.png: cannot read");
  FovEnv env;
  FovEnvSpec game = {.observation = fov_byte_image(4, 4, 1), .answer = FOV_ANSWER_MOVE};
  assert_int_equal(fov_picture_env(&env, &game, header), FOV_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settings_change_what_is_played),
      cmocka_unit_test(test_wrong_settings_are_named),
      cmocka_unit_test(test_a_picture_is_looked_at),
      cmocka_unit_test(test_pictures_of_other_sizes_fit_into_the_image),
      cmocka_unit_test(test_what_is_no_picture_is_refused),
  };
  return cmocka_run_group_tests_name("rerun", tests, begin, end);
}
