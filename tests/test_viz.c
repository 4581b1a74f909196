#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gif_lib.h>

#include "check.h"
#include "draw.h"
#include "drawn.h"
#include "experiment/plot/curves.h"
#include "record/progress.h"
#include "sensor/sensor.h"
#include "viz/plots/legend.h"
#include "viz/scene/drawing.h"
#include "viz/scene/episode.h"
#include "viz/scene/heat.h"
#include "viz/scene/layout.h"
#include "viz/scene/part_map.h"
#include "viz/scene/reconstruction.h"
#include "viz/scene/scene.h"
#include "viz/viewer/player.h"
#include "working_folder.h"

/** fontconfig keeps its cache until the process ends; the leak checker ignores it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfontconfig";
}

static void assert_fails(FovStatus found, FovStatus expected, const char *mentions) {
  assert_int_equal(found, expected);
  assert_non_null(strstr(fov_error_message(), mentions));
  assert_null(strchr(fov_error_message(), '\n'));
}

/* ---- pictures, read back ---- */

static uint32_t pixel(cairo_surface_t *picture, double x, double y) {
  const unsigned char *data = cairo_image_surface_get_data(picture);
  uint32_t rgb;
  memcpy(&rgb, data + (int)y * cairo_image_surface_get_stride(picture) + 4 * (int)x, sizeof rgb);
  return rgb & 0xffffff;
}

static cairo_surface_t *read_png(const char *path, int width, int height) {
  cairo_surface_t *picture = cairo_image_surface_create_from_png(path);
  assert_int_equal(cairo_surface_status(picture), CAIRO_STATUS_SUCCESS);
  assert_int_equal(cairo_image_surface_get_width(picture), width);
  assert_int_equal(cairo_image_surface_get_height(picture), height);
  return picture;
}

static uint32_t rgb_of(FovColour colour) {
  return (uint32_t)lround(255 * colour.r) << 16 | (uint32_t)lround(255 * colour.g) << 8 |
         (uint32_t)lround(255 * colour.b);
}

static int count_pixels(cairo_surface_t *picture, FovBox box, uint32_t rgb) {
  int count = 0;
  for (double y = box.y; y < box.y + box.h; y++)
    for (double x = box.x; x < box.x + box.w; x++) count += pixel(picture, x, y) == rgb;
  return count;
}

/* ---- axes ---- */

static void assert_ticks(FovAxis axis, int wanted, const double *expected, int count) {
  double ticks[FOV_TICKS];
  assert_int_equal(fov_axis_ticks(ticks, &axis, wanted), count);
  for (int i = 0; i < count; i++) assert_close(ticks[i], expected[i], 1e-12);
}

static void test_ticks_are_round(void **state) {
  (void)state;
  assert_ticks((FovAxis){.lo = 0, .hi = 1}, 6, (double[]){0, 0.2, 0.4, 0.6, 0.8, 1}, 6);
  assert_ticks((FovAxis){.lo = -0.7, .hi = 1.2}, 4, (double[]){-0.5, 0, 0.5, 1}, 4);
  assert_ticks((FovAxis){.lo = 0, .hi = 3e6}, 3, (double[]){0, 1e6, 2e6, 3e6}, 4);
  assert_ticks((FovAxis){.lo = 1.5, .hi = 60, .log = true}, 6, (double[]){2, 5, 10, 20, 50}, 5);
  double ticks[FOV_TICKS];
  FovAxis vast = {.lo = 1e-307, .hi = 1e308, .log = true};
  int count = fov_axis_ticks(ticks, &vast, 6);
  assert_in_range(count, 4, FOV_TICKS);
  assert_true(ticks[0] < 1e-240 && ticks[count - 1] > 1e240);
  assert_ticks((FovAxis){.lo = 0.5, .hi = 5000, .log = true}, 6, (double[]){1, 10, 100, 1000}, 4);
  FovAxis narrow = {.lo = 0.3, .hi = nextafter(0.3, 1)}; // numbers of steps have no units
  assert_in_range(fov_axis_ticks(ticks, &narrow, 6), 1, FOV_TICKS);
}

/** Cut texts are UTF-8, without which cairo draws nothing more. */
static void test_texts_are_cut_between_characters(void **state) {
  (void)state;
  static const struct {
    const char *text, *cut;
  } cases[] = {{"Caf\xC3\xA9s", "Caf..."},
               {"\xE6\x97\xA5\xE6\x9C\xAC", "\xE6\x97\xA5..."},
               {"abcdefgh", "abcd..."}};
  cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 64, 64);
  cairo_t *cr = cairo_create(picture);
  fov_set_font(cr, 12, false);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[32];
    snprintf(text, sizeof text, "%s", cases[i].text);
    fov_fit_text(cr, text, sizeof text, 1);
    assert_string_equal(text, cases[i].cut);
  }
  char path[400] = "a";
  for (size_t i = 1; i < 300; i += 2) strcpy(path + i, "\xC3\xA9"); // cut in the middle
  fov_text(cr, 0, 32, FOV_ALIGN_LEFT, "%s", path);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_destroy(picture);
}

static void test_axis_maps_its_ends_and_middle(void **state) {
  (void)state;
  FovAxis linear = {.lo = -1, .hi = 3, .from = 100, .to = 20};
  assert_close(fov_axis_at(&linear, -1), 100, 1e-9);
  assert_close(fov_axis_at(&linear, 1), 60, 1e-9);
  FovAxis log = {.lo = 1, .hi = 100, .from = 0, .to = 10, .log = true};
  assert_close(fov_axis_at(&log, 10), 5, 1e-9);
  assert_close(fov_axis_at(&log, -2), 0, 1e-9); // a band below zero ends at the edge
}

/* ---- curves ---- */

/** A run with the errors given at episodes 0, step, 2 step, … */
static void write_run(const char *name, int64_t step, const double *errors, int count) {
  char path[300];
  assert_int_equal(mkdir(name, 0700), 0);
  snprintf(path, sizeof path, "%s/progress.csv", name);
  for (int i = 0; i < count; i++) {
    FovProgress row = {.update = i,
                       .episodes = i * step,
                       .seconds = i,
                       .valid_error = errors[i],
                       .valid_reward = 1 - errors[i]};
    assert_int_equal(fov_progress_append(path, &row), FOV_OK);
  }
}

static FovStatus plot_as(const char *path, const FovCurvesRequest *how, bool seeds) {
  FovCurves curves;
  FovStatus status = fov_curves_read(&curves, how);
  if (status == FOV_OK) status = fov_draw_curves(path, &curves, seeds);
  fov_curves_finish(&curves);
  return status;
}

static FovStatus plot(const char *path, const char *const *runs, int count) {
  return plot_as(path, &(FovCurvesRequest){.sources = runs, .source_count = count}, false);
}

static const FovBox left_panel = {136, 150, 828, 590}; // pixels, with two to a unit

/** Whether a pixel has the tint of the first experiment's band. */
static bool is_band(uint32_t rgb) {
  return (rgb >> 16) < 0xdb && (rgb & 255) > 0xd8;
}

static void test_one_seed_is_a_line_without_a_band(void **state) {
  (void)state;
  write_run("single", 1000, (double[]){0.9, 0.5, 0.45}, 3);
  assert_int_equal(plot("single.png", (const char *[]){"single"}, 1), FOV_OK);
  cairo_surface_t *picture = read_png("single.png", 2000, 840);
  assert_int_equal(pixel(picture, 2, 2), 0xffffff);
  assert_true(count_pixels(picture, left_panel, 0x0072b2) > 1000);
  int tinted = 0;
  for (int y = 160; y < 700; y++) tinted += is_band(pixel(picture, 550, y));
  assert_true(tinted <= 2); // the soft edges of the line
  cairo_surface_destroy(picture);
}

/** The rows of the pixel column `x` that are line or band of the first experiment. */
static int curve_thickness(cairo_surface_t *picture, int x) {
  int count = 0;
  for (double y = left_panel.y; y < left_panel.y + left_panel.h; y++)
    count += (pixel(picture, x, y) >> 16) < 0xda; // less red than paper and grid lines
  return count;
}

static int grid_spacing(cairo_surface_t *picture, int x) {
  int lines[8], count = 0;
  for (double y = left_panel.y; y < left_panel.y + left_panel.h && count < 8; y++)
    if (pixel(picture, x, y) == 0xdfe3e8 && pixel(picture, x, y - 1) != 0xdfe3e8)
      lines[count++] = (int)y;
  assert_in_range(count, 5, 6); // from 50 to 90 %, or to 100
  return lines[1] - lines[0];
}

/** Half way between its two rows, the band over three seeds covers `percent` of error. */
static void assert_band(const char *const runs[3], double percent) {
  assert_int_equal(plot("band.png", runs, 3), FOV_OK);
  cairo_surface_t *picture = read_png("band.png", 2000, 840);
  double expected = percent * grid_spacing(picture, 900) / 10;
  assert_in_range(curve_thickness(picture, 550), (int)expected - 2, (int)expected + 3);
  cairo_surface_destroy(picture);
}

static void test_seeds_become_a_mean_and_student_band(void **state) {
  (void)state;
  // Half way between the rows the mean is 70 %, the band ± 4.303 / √3 / 2 = ± 1.242 %.
  write_run("band-s0", 1000, (double[]){0.9, 0.49}, 2);
  write_run("band-s1", 1000, (double[]){0.9, 0.50}, 2);
  write_run("band-s12", 1000, (double[]){0.9, 0.51}, 2);
  assert_band((const char *[]){"band-s0", "band-s1", "band-s12/"}, 2 * 1.242);
}

static void test_a_band_of_errors_goes_beyond_100_percent(void **state) {
  (void)state;
  // The first mean is 95.3 ± 11.7 %; half way the band is 75.2 ± 5.9 %.
  write_run("all-s0", 1000, (double[]){0.90, 0.55}, 2);
  write_run("all-s1", 1000, (double[]){0.97, 0.55}, 2);
  write_run("all-s2", 1000, (double[]){0.99, 0.55}, 2);
  assert_band((const char *[]){"all-s0", "all-s1", "all-s2"}, 11.74);
}

static void test_experiments_have_their_own_colours(void **state) {
  (void)state;
  write_run("colour-a", 1000, (double[]){0.9, 0.02}, 2); // more than a decade: logarithmic
  write_run("colour-b", 2000, (double[]){0.8, 0.3}, 2);
  const char *runs[] = {"colour-a", "colour-b"};
  assert_int_equal(plot("colour.png", runs, 2), FOV_OK);
  cairo_surface_t *picture = read_png("colour.png", 2000, 840);
  assert_true(count_pixels(picture, left_panel, 0x0072b2) > 500);
  assert_true(count_pixels(picture, left_panel, 0xd55e00) > 500);
  cairo_surface_destroy(picture);
}

/** Values that a file may contain, though no training produces them: the plot is drawn without what
 * no axis can show. */
static void test_curves_of_any_numbers_end(void **state) {
  (void)state;
  static const double errors[][3] = {{-0.5, -0.5, -0.5},     {-0.5, 0.5, 1},   {1e-300, 1e300, 0.5},
                                     {-1e300, 1e300, 0.5},   {0, 0, 0},        {1e-310, 1e-309, 1},
                                     {DBL_MAX, -DBL_MAX, 1}, {1e-9, 1e-3, 0.9}};
  char name[32], twin[32];
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    snprintf(name, sizeof name, "any%zu-s0", i);
    snprintf(twin, sizeof twin, "any%zu-s1", i);
    write_run(name, 1000, errors[i], 3);
    write_run(twin, 1000, (double[]){0.9, 0.5, 0.5}, 3);
    assert_int_equal(plot("any.png", (const char *[]){name}, 1), FOV_OK);
    FovCurvesRequest how = {.sources = (const char *[]){name, twin}, .source_count = 2};
    assert_int_equal(plot_as("any.png", &how, true), FOV_OK);
    how.x = "valid_glimpses"; // 0 in all rows
    assert_int_equal(plot_as("any.png", &how, true), FOV_OK);
    how.centre = FOV_CENTRE_IQM;
    assert_int_equal(plot_as("any.png", &how, true), FOV_OK);
  }
  write_run("vast", 1000, (double[]){DBL_MAX, -DBL_MAX}, 2);
  assert_fails(plot("vast.png", (const char *[]){"vast"}, 1), FOV_ERR_FORMAT, "vast");
}

/** The top and the bottom row of the band's tint in the pixel column `x`. */
static void find_band(int *top, int *bottom, cairo_surface_t *picture, int x) {
  *top = *bottom = -1;
  for (int y = (int)left_panel.y; y < left_panel.y + left_panel.h; y++) {
    if (!is_band(pixel(picture, x, y))) continue;
    if (*top < 0) *top = y;
    *bottom = y;
  }
}

/** Two seeds far apart: the band is several times as wide as the curve is high. */
static void test_wide_bands_are_shown_whole(void **state) {
  (void)state;
  write_run("wide-s0", 1000, (double[]){0.50, 0.45}, 2);
  write_run("wide-s1", 1000, (double[]){0.54, 0.45}, 2);
  assert_int_equal(plot("wide.png", (const char *[]){"wide-s0", "wide-s1"}, 2), FOV_OK);
  cairo_surface_t *picture = read_png("wide.png", 2000, 840);
  int top, bottom;
  find_band(&top, &bottom, picture, (int)left_panel.x + 4);
  // 52 ± 25.4 % at the left edge: neither end reaches the panel's edge.
  enum { BOTTOM = 716 }; // the horizontal axis
  assert_true(top > left_panel.y + 10 && bottom < BOTTOM - 10);
  assert_true(bottom - top > 0.8 * (BOTTOM - left_panel.y));
  cairo_surface_destroy(picture);
}

/** Errors over decades with a band that reaches below 0: no logarithmic axis may cut it off. */
static void test_a_band_below_zero_is_shown_whole(void **state) {
  (void)state;
  write_run("zero-s0", 1000, (double[]){0.02, 0.8}, 2);
  write_run("zero-s1", 1000, (double[]){0.12, 0.8}, 2); // 7 ± 63.5 %
  assert_int_equal(plot("zero.png", (const char *[]){"zero-s0", "zero-s1"}, 2), FOV_OK);
  cairo_surface_t *picture = read_png("zero.png", 2000, 840);
  int top, bottom;
  find_band(&top, &bottom, picture, (int)left_panel.x + 2);
  // The axis goes from −56.53 to 80 % and 6 % of that further at both ends.
  double height = 548 / (80 + 56.53) / 1.12;
  assert_in_range(bottom - top, (int)(127.06 * height) - 6, (int)(127.06 * height) + 3);
  assert_true(bottom < 716 - 20);
  cairo_surface_destroy(picture);
}

/** Three seeds: with their lines, the panel has their extremes and more of the colour. */
static void test_seeds_are_thin_lines(void **state) {
  (void)state;
  write_run("thin-s0", 1000, (double[]){0.2, 0.20}, 2);
  write_run("thin-s1", 1000, (double[]){0.4, 0.40}, 2);
  write_run("thin-s2", 1000, (double[]){0.9, 0.90}, 2);
  const char *runs[] = {"thin-s0", "thin-s1", "thin-s2"};
  FovCurvesRequest how = {.sources = runs, .source_count = 3, .y = "valid_error"};
  enum { WITHOUT = 1, WITH = 4 }; // lines in a pixel column
  for (int seeds = 0; seeds <= 1; seeds++) {
    assert_int_equal(plot_as("thin.png", &how, seeds), FOV_OK);
    cairo_surface_t *picture = read_png("thin.png", 2000, 840);
    int lines = 0;
    bool before = false;
    for (int y = 170; y < 715; y++) {
      bool line = (pixel(picture, 1000, y) >> 16) < 0x90; // less red than band and grid lines
      lines += line && !before;
      before = line;
    }
    assert_int_equal(lines, seeds ? WITH : WITHOUT);
    cairo_surface_destroy(picture);
  }
}

/** A seed that starts before the other, far above the band: the axis contains it. */
static void test_seeds_outside_the_band_are_shown_whole(void **state) {
  (void)state;
  write_run("early-s0", 10, (double[]){0.9, 0.5, 0.5}, 3); // seconds: 0, 1, 2
  write_run("early-s1", 10, (double[]){NAN, 0.5, 0.5}, 3);
  const char *runs[] = {"early-s0", "early-s1"};
  FovCurvesRequest how = {.sources = runs, .source_count = 2, .x = "seconds", .y = "valid_error"};
  assert_int_equal(plot_as("early.png", &how, true), FOV_OK);
  cairo_surface_t *picture = read_png("early.png", 2000, 840);
  int top = 0;
  while (top < 840 && (top < 160 || (pixel(picture, 140, top) >> 16) > 0x90)) top++;
  assert_in_range(top, 195, 207); // 90 % of an axis that ends at 92.4: 32 of 548 pixels below 168
  cairo_surface_destroy(picture);
}

/** Two panels to a row, and a single one as wide as both. */
static void test_a_plot_has_a_panel_for_each_column(void **state) {
  (void)state;
  write_run("panels", 1000, (double[]){0.9, 0.5}, 2);
  FovCurvesRequest how = {.sources = (const char *[]){"panels"}, .source_count = 1};
  static const struct {
    const char *y;
    int height;
  } plots[] = {{"rate", 840}, {"rate,update", 840}, {"rate,update,episodes,epoch,seconds", 2344}};
  for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
    how.y = plots[i].y;
    assert_int_equal(plot_as("panels.png", &how, false), FOV_OK);
    cairo_surface_destroy(read_png("panels.png", 2000, plots[i].height));
  }
}

static void assert_begins(const char *path, const char *start) {
  char *data = NULL;
  size_t size = 0;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 24), FOV_OK);
  assert_true(size > 2000);
  assert_memory_equal(data, start, strlen(start));
  free(data);
}

static void test_curves_as_svg_and_pdf(void **state) {
  (void)state;
  write_run("vector", 1000, (double[]){0.9, 0.5}, 2);
  const char *runs[] = {"vector"};
  assert_int_equal(plot("vector.svg", runs, 1), FOV_OK);
  assert_int_equal(plot("vector.PDF", runs, 1), FOV_OK);
  assert_begins("vector.svg", "<?xml");
  char *svg;
  size_t size;
  assert_int_equal(fov_file_read(&svg, &size, "vector.svg", 1 << 24), FOV_OK);
  assert_non_null(strstr(svg, "px\" viewBox=")); // as --size, not points
  free(svg);
  assert_begins("vector.PDF", "%PDF");
}

static void test_curves_leave_out_empty_cells(void **state) {
  (void)state;
  write_run("nan", 1000, (double[]){0.9, NAN, 0.5}, 3);
  write_run("all-nan", 1000, (double[]){NAN, NAN}, 2);
  assert_int_equal(plot("nan.png", (const char *[]){"nan"}, 1), FOV_OK);
  assert_fails(plot("nan.png", (const char *[]){"all-nan"}, 1), FOV_ERR_FORMAT,
               "all-nan/progress.csv: no row has a value of valid_error");
}

static void test_curves_refuse_what_they_cannot_draw(void **state) {
  (void)state;
  write_run("good", 1000, (double[]){0.9, 0.5}, 2);
  write_run("apart-s0", 1000, (double[]){0.9, 0.5}, 2);
  assert_int_equal(mkdir("apart-s1", 0700), 0);
  FovProgress row = {.episodes = 7, .valid_error = 0.5};
  assert_int_equal(fov_progress_append("apart-s1/progress.csv", &row), FOV_OK);
  assert_int_equal(mkdir("bare", 0700), 0);
  const char *good[] = {"good", "good/"}, *apart[] = {"apart-s0", "apart-s1"};
  assert_fails(plot("x.jpg", good, 1), FOV_ERR_USAGE, ".png, .svg or .pdf");
  assert_fails(plot("x.png", good, 0), FOV_ERR_USAGE, "no runs");
  assert_fails(plot("x.png", good, 2), FOV_ERR_USAGE, "twice");
  assert_fails(plot("x.png", apart, 2), FOV_ERR_FORMAT, "apart-s0");
  assert_fails(plot("x.png", (const char *[]){"bare"}, 1), FOV_ERR_USAGE, "progress.csv");
  assert_fails(plot("x.png", (const char *[]){"none"}, 1), FOV_ERR_IO, "none");
  assert_int_not_equal(plot("none/x.png", good, 1), FOV_OK);
  assert_false(fov_file_exists("x.png"));
}

static void test_a_run_without_rows_is_an_error(void **state) {
  (void)state;
  write_run("rowless", 1000, (double[]){0.9}, 1);
  assert_int_equal(fov_progress_truncate("rowless/progress.csv", -1), FOV_OK);
  assert_fails(plot("x.png", (const char *[]){"rowless"}, 1), FOV_ERR_FORMAT, "no rows");
}

/* ---- maps and matrices ---- */

/** Two episodes of two pictures of 4 × 4; the second picture of the first has the larger numbers.
 */
static void test_maps_show_signed_numbers_over_the_picture(void **state) {
  (void)state;
  enum { COUNT = 2, NUMBERS = 2 * 16 };
  static float numbers[COUNT][NUMBERS], pixels[NUMBERS];
  const float places[] = {-0.8f, -0.8f, 0.2f, -0.8f, NAN, NAN};
  FovDrawMap maps[COUNT] = {{.map = numbers[0], .places = places, .place_count = 3},
                            {.map = numbers[1]}};
  FovDrawMaps drawing = {.maps = maps,
                         .count = COUNT,
                         .frames = 2,
                         .height = 4,
                         .width = 4,
                         .channels = 1,
                         .title = "a title"};
  numbers[0][3] = 1;
  numbers[0][16 + 2 * 4 + 1] = 2, numbers[0][16 + 3 * 4 + 2] = -2;
  for (int i = 0; i < COUNT; i++) maps[i].pixels = pixels;
  assert_int_equal(fov_draw_maps("maps.png", &drawing), FOV_OK);
  cairo_surface_t *picture = read_png("maps.png", 760, 536);
  const double left = 2 * 24, top = 2 * 60, cell = 2 * 150 / 4.0;
  assert_int_equal(pixel(picture, left + 1.5 * cell, top + 2.5 * cell), 0xff7300);
  assert_int_equal(pixel(picture, left + 2.5 * cell, top + 3.5 * cell), 0x1a8cff);
  assert_int_equal(pixel(picture, left + 3.5 * cell, top + 0.9 * cell), 0x000000);
  assert_int_equal(pixel(picture, left + 2.5 * cell, top + 2.5 * cell), 0x000000);
  cairo_surface_destroy(picture);
  drawing.count = 1;
  assert_int_equal(fov_draw_maps("maps.svg", &drawing), FOV_OK);
  assert_begins("maps.svg", "<?xml");
  assert_fails(fov_draw_maps("maps.jpg", &drawing), FOV_ERR_USAGE, ".png, .svg or .pdf");
}

static void test_a_matrix_is_darker_where_it_is_larger(void **state) {
  (void)state;
  const double values[] = {2, 0, NAN, 4};
  FovDrawMatrix matrix = {.values = values,
                          .rows = 2,
                          .columns = 2,
                          .title = "a title",
                          .row_label = "t",
                          .column_label = "s"};
  assert_int_equal(fov_draw_matrix("matrix.png", &matrix), FOV_OK);
  cairo_surface_t *picture = read_png("matrix.png", 720, 420);
  const double left = 2 * 70, top = 2 * 66, cell = 2 * 52;
  uint32_t half = pixel(picture, left + 8, top + 8),
           none = pixel(picture, left + cell + 8, top + 8);
  uint32_t most = pixel(picture, left + cell + 8, top + cell + 8);
  assert_int_equal(none, 0xffffff);
  assert_in_range(most >> 16, 0x0b, 0x0e);
  assert_in_range(half >> 16, 0x80, 0x8c);
  cairo_surface_destroy(picture);
  const char *const rows[] = {"a", "b"}, *const columns[] = {"c", "a very long name"};
  matrix.row_names = rows, matrix.column_names = columns;
  assert_int_equal(fov_draw_matrix("matrix.png", &matrix), FOV_OK);
  picture = read_png("matrix.png", 720, 420);
  assert_int_equal(pixel(picture, left + 2 * cell + 20, top - 16), 0xffffff); // it was shortened
  assert_int_equal(pixel(picture, left + cell + 8, top + cell + 8), most);
  cairo_surface_destroy(picture);
  assert_fails(fov_draw_matrix("matrix", &matrix), FOV_ERR_USAGE, ".png, .svg or .pdf");
}

/* ---- episodes ---- */

enum { GLIMPSES = 3, CLASSES = 4, SIZE = 32, SIDE = 8, SCALES = 2, RETINA_GREY = 123 };

static FovTrace make_trace(int channels) {
  FovTrace trace = {.episodes = 2,
                    .glimpses = GLIMPSES,
                    .frames = 1,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = channels,
                    .actions = CLASSES,
                    .side = SIDE,
                    .scales = SCALES};
  fov_trace_add_column(&trace, "policy.mean", 2);
  fov_trace_add_column(&trace, "policy.sigma", 2);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  memset(trace.retina, RETINA_GREY, (size_t)2 * GLIMPSES * SCALES * SIDE * SIDE * channels);
  for (int i = 0; i < 2 * GLIMPSES; i++) {
    trace.locations[2 * i] = 0.2f * (i % GLIMPSES);
    trace.probabilities[CLASSES * i + 1] = 1;
    trace.labels[i] = i < GLIMPSES;
    if (i % GLIMPSES == GLIMPSES - 1) trace.answers[i] = 1;
  }
  trace.lengths[0] = trace.lengths[1] = GLIMPSES;
  trace.wrong[1] = 1;
  return trace;
}

static FovScene make_scene(const FovTrace *trace) {
  return fov_scene(trace, 1280, 720, &fov_theme_dark);
}

static void test_patch_lies_where_the_sensor_looked(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  trace.locations[0] = 0.5;    // the centre: column 24
  trace.locations[1] = -0.51f; // 7.84, so row 8
  FovBox image = fov_scene_image(&scene);
  double unit = image.w / SIZE;
  FovBox fovea = fov_scene_patch(&scene, 0), outer = fov_scene_patch(&scene, 1);
  assert_close(fovea.x, image.x + 20 * unit, 1e-6);
  assert_close(fovea.y, image.y + 4 * unit, 1e-6);
  assert_close(fovea.w, SIDE * unit, 1e-6);
  assert_close(outer.x, image.x + 16 * unit, 1e-6);
  assert_close(outer.y, image.y, 1e-6);
  assert_close(outer.h, 2 * SIDE * unit, 1e-6);
  fov_trace_finish(&trace);
}

/** A patch is around the pixels that the sensor saw, of a ramp, which tells them apart. */
static void test_patches_lie_where_any_sensor_looks(void **state) {
  (void)state;
  enum { LONG = 20, G = 5 };
  uint8_t pixels[LONG * LONG];
  float places[] = {-1, -0.77f, -0.34f, 0.02f, 0.49f, 0.93f, 1};
  for (int i = 0; i < LONG * LONG; i++) pixels[i] = (uint8_t)(10 * (i % LONG) + i / LONG);
  const FovImage image = {.bytes = pixels, .height = LONG, .width = LONG, .channels = 1};
  for (int kind = 0; kind < 4; kind++)
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
      const FovSensor sensor = {
          .side = G, .scales = 1, .gain = 1, .bilinear = kind & 1, .inside = kind & 2};
      real seen[G * G], x = (real)places[p] * (real)0.75;
      float location[] = {(float)x, 0.1f};
      FovTrace trace = {.glimpses = 1,
                        .height = LONG,
                        .width = LONG,
                        .side = G,
                        .scales = 1,
                        .bilinear = sensor.bilinear,
                        .inside = sensor.inside,
                        .locations = location};
      fov_sensor_look(seen, &sensor, &image, x, (real)location[1]);
      FovPatchArea patch = fov_patch_area(&trace, 0, 0, 0);
      assert_close(255 * (double)seen[0], 10 * patch.x + patch.y, 1e-3);
    }
}

static void test_a_whole_image_does_not_move(void **state) {
  (void)state;
  FovTrace trace = {
      .glimpses = 1, .height = 29, .width = 20, .side = 29, .scales = 1, .whole = true};
  FovPatchArea patch;
  float anywhere[] = {0.7f, -0.3f};
  trace.locations = anywhere;
  patch = fov_patch_area(&trace, 0, 0, 0);
  assert_close(patch.x, -4, 0); // (29 − 20) / 2, rounded down
  assert_close(patch.y, 0, 0);
  assert_close(patch.w, 29, 0);
}

static void test_squares_have_their_scales_colours(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  cairo_surface_t *picture = draw(&scene);
  for (int s = 0; s < SCALES; s++) {
    FovBox square = fov_scene_patch(&scene, s);
    uint32_t colour = rgb_of(fov_theme_dark.patches[s]);
    assert_int_equal(pixel(picture, round(square.x + square.w), round(square.y)), colour);
    assert_int_equal(pixel(picture, round(square.x), round(square.y + square.h)), colour);
  }
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

static double distance(FovColour a, FovColour b) {
  return sqrt(pow(a.r - b.r, 2) + pow(a.g - b.g, 2) + pow(a.b - b.b, 2));
}

static void test_patches_have_colours_of_their_own(void **state) {
  (void)state;
  const FovTheme *themes[] = {&fov_theme_dark, &fov_theme_light};
  for (int i = 0; i < 2; i++) {
    const FovTheme *t = themes[i];
    const FovColour others[] = {t->right, t->wrong, t->path, t->policy};
    for (int p = 0; p < FOV_PATCHES; p++) {
      for (int j = 0; j < 4; j++) assert_true(distance(t->patches[p], others[j]) > 0.35);
      for (int q = 0; q < p; q++) assert_true(distance(t->patches[p], t->patches[q]) > 0.3);
    }
  }
}

static void test_image_pixels_are_sharp_and_true(void **state) {
  (void)state;
  FovTrace trace = make_trace(3);
  FovScene scene = make_scene(&trace);
  static const uint8_t colour[] = {200, 100, 50};
  memcpy(trace.images + (3 * SIZE + 5) * 3, colour, 3); // row 3, column 5
  cairo_surface_t *picture = draw(&scene);
  FovBox image = fov_scene_image(&scene);
  double unit = image.w / SIZE;
  FovBox box = {ceil(image.x + 5 * unit) + 1, ceil(image.y + 3 * unit) + 1, floor(unit) - 3,
                floor(unit) - 3};
  assert_int_equal(count_pixels(picture, box, 0xc86432), (int)(box.w * box.h));
  assert_int_equal(pixel(picture, box.x + unit, box.y), 0);
  assert_int_equal(pixel(picture, box.x, box.y + unit), 0);
  FovBox right = {640, 60, 640, 300};
  assert_true(count_pixels(picture, right, RETINA_GREY * 0x010101) > SCALES * 30000);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

static void test_policy_and_baseline_appear_only_if_there_are_any(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  scene.glimpse = 1;
  uint32_t policy = rgb_of(fov_theme_dark.policy), rule = rgb_of(fov_theme_dark.rule);
  FovBox view = {20, 60, 600, 600}, gap = {952, 545, 12, 140}; // between baseline and entropy
  cairo_surface_t *without = draw(&scene);
  for (int i = 0; i < 4; i++) trace.column[i / 2].values[2 + i % 2] = 0.2f;
  trace.baselines[2] = 0.5;
  cairo_surface_t *with = draw(&scene);
  assert_int_equal(count_pixels(without, view, policy), 0);
  assert_true(count_pixels(with, view, policy) > 50);
  assert_true(count_pixels(without, gap, rule) > 0); // in the entropy's plot only
  assert_int_equal(count_pixels(with, gap, rule), 0);
  cairo_surface_destroy(without);
  cairo_surface_destroy(with);
  fov_trace_finish(&trace);
}

/** The first hint along a vertical line that starts with these words. */
static const char *find_hint(const FovScene *scene, double x, const char *words) {
  static char text[128];
  for (double y = 0; y < scene->height; y += 4)
    if (fov_scene_describe(text, sizeof text, scene, x, y) &&
        strncmp(text, words, strlen(words)) == 0)
      return text;
  return "";
}

/** The step to glimpse t costs 0.00t. */
static FovTrace make_costs(void) {
  FovTrace trace = {.episodes = 1,
                    .glimpses = GLIMPSES,
                    .frames = 1,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = 1,
                    .actions = CLASSES,
                    .side = SIDE,
                    .scales = SCALES};
  fov_trace_add_column(&trace, "policy.cost", 1);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  for (int t = 0; t < GLIMPSES; t++) {
    trace.column[0].values[t] = t > 0 ? 0.001f * (float)t : NAN;
    trace.baselines[t] = 0.5f;
  }
  trace.lengths[0] = GLIMPSES;
  return trace;
}

static void test_the_cost_of_a_step_is_shown_with_the_return(void **state) {
  (void)state;
  FovTrace costly = make_costs(), free = make_costs();
  free.column[0].values[1] = free.column[0].values[2] = NAN;
  costly.lengths[0] = 2;
  assert_true(fov_step_cost(&costly, 0, 1) == (double)0.002f); // of the step that left
  costly.lengths[0] = GLIMPSES;
  FovScene with = make_scene(&costly), without = make_scene(&free);
  assert_string_equal(find_hint(&with, 850, "glimpse 2"),
                      "glimpse 2: baseline 0.500, return 0.000, next step costs 0.002");
  assert_string_equal(find_hint(&without, 850, "glimpse 2"),
                      "glimpse 2: baseline 0.500, return 0.000");
  assert_string_equal(find_hint(&with, 940, "glimpse 3"), // the last one
                      "glimpse 3: baseline 0.500, return 0.000");
  free.baselines[1] = NAN;
  assert_string_equal(find_hint(&without, 850, "glimpse 2"),
                      "glimpse 2: no baseline, return 0.000");
  free.baselines[1] = 0.5f;
  costly.control = true;
  assert_string_equal(find_hint(&with, 1120, "glimpse 2"),
                      "glimpse 2: reward 0, next step costs 0.002");
  costly.control = false;
  for (with.glimpse = 0; with.glimpse < GLIMPSES; with.glimpse++) {
    without.glimpse = with.glimpse;
    cairo_surface_t *a = draw(&with), *b = draw(&without);
    bool same = memcmp(cairo_image_surface_get_data(a), cairo_image_surface_get_data(b),
                       (size_t)cairo_image_surface_get_stride(a) * (size_t)with.height) == 0;
    assert_int_equal(same, with.glimpse == GLIMPSES - 1);
    cairo_surface_destroy(a), cairo_surface_destroy(b);
  }
  fov_trace_finish(&costly), fov_trace_finish(&free);
}

/** The legend of the map after a glimpse. */
static cairo_surface_t *draw_legend(int glimpse, double end) {
  static const float map[SIZE * SIZE] = {1};
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  scene.glimpse = glimpse;
  scene.explanation = (FovExplanation){.method = "integrated_gradients", .map = map, .scale = 1};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 500, 20);
  cairo_t *cr = cairo_create(surface);
  fov_set_font(cr, 10, false);
  fov_draw_map_legend(cr, &scene, 0, 15, end, 10);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  fov_trace_finish(&trace);
  return surface;
}

/** Also in a narrow picture, where the other words are left out. */
static void test_the_legend_of_a_map_has_the_glimpse(void **state) {
  (void)state;
  for (double end = 500; end > 320; end -= 20) {
    cairo_surface_t *a = draw_legend(0, end), *b = draw_legend(1, end);
    assert_true(memcmp(cairo_image_surface_get_data(a), cairo_image_surface_get_data(b),
                       (size_t)cairo_image_surface_get_stride(a) * 20) != 0);
    cairo_surface_destroy(a), cairo_surface_destroy(b);
  }
}

/** A trace of one 3 × 3 distribution, or of 8 numbers, which are no square. */
static FovTrace make_tiles(int width) {
  FovTrace trace = make_trace(1);
  free(trace.column[0].values);
  free(trace.column[1].values);
  trace.columns = 1;
  trace.column[0] = (FovTraceColumn){.name = "policy.tiles", .width = width};
  trace.column[0].values = calloc((size_t)2 * GLIMPSES * width, sizeof(float));
  assert_non_null(trace.column[0].values);
  trace.locations[3] = 0.9f; // the second glimpse is in the middle of the lowest row
  trace.column[0].values[width + 2] = 0.25f;
  trace.column[0].values[width + 4] = 0.75f;
  return trace;
}

static void test_tiles_are_tinted_by_probability(void **state) {
  (void)state;
  uint32_t expected[] = {0, 0x331908, 0x994c19}; // 60 % of the policy's colour at the likeliest
  for (int width = 8; width <= 9; width++) {
    FovTrace trace = make_tiles(width);
    FovScene scene = make_scene(&trace);
    scene.glimpse = 1;
    scene.overlays = FOV_OVERLAY_POLICY;
    cairo_surface_t *picture = draw(&scene);
    FovBox image = fov_scene_image(&scene);
    char text[128];
    for (int i = 0; i < 3; i++) { // the top left, top right and middle tile, off their middles
      double x = image.x + image.w * (i == 0 ? 0.1 : i == 1 ? 0.9 : 0.4);
      double y = image.y + image.h * (i < 2 ? 0.1 : 0.4);
      assert_int_equal(pixel(picture, x, y), width == 9 ? expected[i] : 0);
      assert_true(fov_scene_describe(text, sizeof text, &scene, x, y));
      static const char *const hints[] = {"tile 0, 0: 0; ", "tile 2, 0: 0.25; ",
                                          "tile 1, 1: 0.75; "};
      assert_int_equal(strncmp(text, hints[i], strlen(hints[i])) == 0, width == 9);
    }
    double edge = round(image.x + image.w / 3), low = image.y + 0.9 * image.h;
    if (width == 9) assert_int_equal(pixel(picture, edge, low), rgb_of(fov_theme_dark.policy));
    cairo_surface_destroy(picture);
    fov_trace_finish(&trace);
  }
}

/** A uniform distribution has the faintest tint: a quarter of the full one. */
static void test_uniform_tiles_are_faint(void **state) {
  (void)state;
  FovTrace trace = make_tiles(9);
  for (int i = 0; i < 9; i++) trace.column[0].values[9 + i] = 1 / 9.0f;
  FovScene scene = make_scene(&trace);
  scene.glimpse = 1;
  scene.overlays = FOV_OVERLAY_POLICY;
  cairo_surface_t *picture = draw(&scene);
  FovBox image = fov_scene_image(&scene);
  assert_int_equal(pixel(picture, image.x + 0.1 * image.w, image.y + 0.1 * image.h), 0x261306);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

static void test_a_wrong_answer_looks_different(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  FovBox title = {0, 0, 1280, 55};
  for (scene.episode = 0; scene.episode < 2; scene.episode++) { // answered 1; labels 1 and 0
    cairo_surface_t *picture = draw(&scene);
    int right = count_pixels(picture, title, rgb_of(fov_theme_dark.right));
    int wrong = count_pixels(picture, title, rgb_of(fov_theme_dark.wrong));
    assert_true(scene.episode == 0 ? right > 50 && wrong == 0 : wrong > 50 && right == 0);
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

static void test_bars_show_the_probability_after_each_glimpse(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  for (int t = 0; t < GLIMPSES; t++) {
    trace.probabilities[t * CLASSES + 1] = 0.2f * (float)(t + 1); // the label's
    trace.probabilities[t * CLASSES + 3] = 1 - 0.2f * (float)(t + 1);
  }
  FovScene scene = make_scene(&trace);
  FovBox column = {800, 320, 150, 170}; // where class 1 is
  int before = 0, columns[GLIMPSES];
  for (scene.glimpse = 0; scene.glimpse < GLIMPSES; scene.glimpse++) {
    cairo_surface_t *picture = draw(&scene);
    columns[scene.glimpse] = count_pixels(picture, column, rgb_of(fov_theme_dark.right));
    assert_true(columns[scene.glimpse] >
                before); // this glimpse's in full colour, higher and higher
    before = columns[scene.glimpse];
    cairo_surface_destroy(picture);
  }
  assert_in_range(10 * columns[2] / columns[0], 27, 33); // 0.6 against 0.2, of one width
  fov_trace_finish(&trace);
}

/** Small probabilities fill the plot: the axis ends just above them. */
static void test_bars_of_small_probabilities_are_high(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  FovScene scene = make_scene(&trace);
  FovBox column = {800, 320, 150, 170}; // where class 1 is
  int heights[3];
  static const float p[3] = {1, 0.019f, 0.02f}; // axes to 1, 0.02, 0.02
  for (int i = 0; i < 3; i++) {
    for (int t = 0; t < GLIMPSES; t++) trace.probabilities[t * CLASSES + 1] = p[i];
    cairo_surface_t *picture = draw(&scene);
    heights[i] = count_pixels(picture, column, rgb_of(fov_theme_dark.right));
    cairo_surface_destroy(picture);
  }
  assert_int_equal(heights[2], heights[0]);
  assert_in_range(100 * heights[1] / heights[0], 93, 97);
  fov_trace_finish(&trace);
}

static void test_labels_have_nine_pixels_or_more(void **state) {
  (void)state;
  assert_true(0.85 * fov_em(320, 180) >= 9 - 1e-9);
  assert_true(0.85 * fov_em(4000, 180) >= 9 - 1e-9);
  assert_close(fov_em(1280, 720), 16, 0);
}

enum { TITLE = 700 }; // pixels across the widest title

/** The title line of an overview, on white. */
static cairo_surface_t *draw_title(int width, const char *title, const char *what,
                                   const char *aside) {
  cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, TITLE, 20);
  cairo_t *cr = cairo_create(picture);
  const FovBox box = {0, 0, width, 15};
  fov_fill_box(cr, (FovBox){0, 0, TITLE, 20}, fov_theme_light.paper);
  fov_draw_title(cr, &fov_theme_light, box, 10, title, what, aside);
  cairo_destroy(cr);
  cairo_surface_flush(picture);
  return picture;
}

/** The columns in which two pictures of titles differ, `first` to `last`; none: TITLE to −1. Frees
 * them. */
static void find_difference(int *first, int *last, cairo_surface_t *a, cairo_surface_t *b) {
  *first = TITLE;
  *last = -1;
  for (int x = 0; x < TITLE; x++)
    for (int y = 0; y < 20; y++) {
      if (pixel(a, x, y) == pixel(b, x, y)) continue;
      if (*last < 0) *first = x;
      *last = x;
    }
  cairo_surface_destroy(a);
  cairo_surface_destroy(b);
}

/** In a narrow picture, the parts of the note go first, from its end. */
static void test_texts_of_a_title_do_not_overlap(void **state) {
  (void)state;
  const char *title = "Where it looks, from the target", *what = "wrong, class 3";
  const char *aside = "42 episodes, 294 chosen glimpses";
  int shown[3] = {0}, before = 0; // pictures without a note, with its first part, with all of it
  for (int width = 40; width < TITLE; width += 5) {
    int start, end, note, note_end, rest, rest_end;
    find_difference(&start, &end, draw_title(width, title, what, ""),
                    draw_title(width, "", "", ""));
    find_difference(&note, &note_end, draw_title(width, title, what, aside),
                    draw_title(width, title, what, ""));
    find_difference(&rest, &rest_end, draw_title(width, title, what, aside),
                    draw_title(width, title, what, "42 episodes"));
    assert_true(end < width && note_end < width);
    if (note <= end + 8) fail_msg("%d: texts end at %d and begin at %d", width, end, note);
    int now = (note_end >= 0) + (rest_end >= 0);
    assert_true(now >= before);
    shown[now]++;
    before = now;
  }
  for (int i = 0; i < 3; i++) assert_true(shown[i] > 10);
}

static void test_heat_maps_of_all_glimpses_are_reachable(void **state) {
  (void)state;
  enum { MANY = 23 };
  FovTrace trace = {.episodes = 1,
                    .glimpses = MANY,
                    .frames = 1,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = 1,
                    .actions = CLASSES,
                    .side = SIDE,
                    .scales = SCALES};
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  trace.lengths[0] = MANY;
  trace.locations[2 * 12] = 0.99f; // the 13th looks to the right, the others to the middle
  FovHeat heat;
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
  assert_int_equal(heat.maps, 1 + MANY);
  char text[64];
  int pages[2] = {0, 0};
  for (int page = 0; page < 2; page++, fov_heat_turn(&heat, 1))
    for (int i = 0; i < 640 * 200; i++)
      pages[page] += fov_heat_describe(text, sizeof text, &heat, &trace, 1280, 720, 640 + i % 640,
                                       80 + i / 640) &&
                     strstr(text, "at 0.9") && strstr(text, ": 100.000 %");
  assert_int_equal(pages[0], 0);
  assert_true(pages[1] > 0);
  fov_heat_turn(&heat, 1);
  assert_int_equal(heat.first, 13);
  fov_heat_turn(&heat, -1);
  fov_heat_turn(&heat, -1);
  assert_int_equal(heat.first, 1);
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

/** If not all classes fit, the likeliest are shown, with labels and answers first. */
static void test_many_classes_show_the_likeliest(void **state) {
  (void)state;
  enum { MANY = 500, LABEL = 321, ANSWER = 7 };
  FovTrace trace = make_trace(1);
  free(trace.probabilities);
  trace.actions = MANY;
  trace.probabilities = calloc((size_t)2 * GLIMPSES * MANY, sizeof *trace.probabilities);
  assert_non_null(trace.probabilities);
  for (int t = 0; t < GLIMPSES; t++) trace.labels[t] = LABEL;
  trace.answers[GLIMPSES - 1] = ANSWER;
  for (int a = 100; a < 120; a++) trace.probabilities[a] = 0.04f;
  FovScene scene = make_scene(&trace);
  char text[64], hints[8000] = "";
  for (double x = 700; x < 1250; x++)
    if (fov_scene_describe(text, sizeof text, &scene, x, 400) && !strstr(hints, text))
      snprintf(hints + strlen(hints), sizeof hints - strlen(hints), "%s, ", text);
  assert_memory_equal(hints, "class 7: 0.0000, class 100: 0.0400, class 101", 45);
  assert_non_null(strstr(hints, "class 321: 0.0000, "));
  assert_null(strstr(hints, "class 8:"));
  cairo_surface_destroy(draw(&scene));
  fov_trace_finish(&trace);
}

/** 22 bytes of UTF-8. */
#define WIDE                                                                                       \
  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"

static void test_names_of_any_kind_draw(void **state) {
  (void)state;
  static char longest[3000];
  memset(longest, 'm', sizeof longest - 1);
  const char *const names[] = {"", longest, "\xc3\xa9t\xc3\xa9 %s", WIDE "\xc3\xa9"};
  FovTrace trace = make_trace(1);
  char text[FOV_ACTION_NAME];
  assert_int_equal(fov_trace_set_names(&trace, names, NULL), FOV_OK);
  fov_action_name(text, &trace, 2);
  assert_string_equal(text, names[2]);
  fov_action_name(text, &trace, 3); // 24 bytes: the last character is cut off whole
  assert_string_equal(text, WIDE);
  for (int control = 0; control < 2; control++)
    for (int answer = -1; answer < CLASSES; answer++) {
      FovScene scene = make_scene(&trace);
      trace.control = control;
      for (int t = 0; t < GLIMPSES; t++) trace.answers[t] = answer;
      cairo_surface_destroy(draw(&scene));
      scene.width = 320;
      scene.height = 180;
      cairo_surface_destroy(draw(&scene));
    }
  fov_trace_finish(&trace);
}

/** Answers that are places: (−0.5, 0.5) moves to the right, (0.5, −0.5) is true; none at the last
 * glimpse. */
static FovTrace make_places(void) {
  FovTrace trace = {.episodes = 1,
                    .glimpses = GLIMPSES,
                    .frames = 1,
                    .height = SIZE,
                    .width = SIZE,
                    .channels = 1,
                    .actions = 2,
                    .side = SIDE,
                    .scales = 1,
                    .control = true};
  fov_trace_add_column(&trace, "answer.place", 2);
  fov_trace_add_column(&trace, "answer.target", 2);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  for (int t = 0; t < GLIMPSES - 1; t++) {
    trace.column[0].values[2 * t] = -0.5f + 0.25f * (float)t;
    trace.column[0].values[2 * t + 1] = 0.5f;
    trace.column[1].values[2 * t] = 0.5f;
    trace.column[1].values[2 * t + 1] = -0.5f;
  }
  trace.lengths[0] = GLIMPSES;
  return trace;
}

/** Each glimpse is 0.5 to the right of the target and 0.25 above it, of the last one no answer
 * tells the target; the image is bright around the target: at four of the pixels that the middle is
 * made of, and one of those up and to the left of it. */
static void test_heat_maps_may_be_relative_to_the_target(void **state) {
  (void)state;
  FovTrace trace = make_places();
  FovHeat heat;
  for (int t = 0; t < GLIMPSES; t++) {
    trace.locations[2 * t] = 1;
    trace.locations[2 * t + 1] = -0.75f;
  }
  for (int i = 0; i < 9; i++) trace.images[(7 + i / 3) * SIZE + 23 + i % 3] = 255;
  assert_true(fov_has_targets(&trace));
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, true, 0), FOV_OK);
  int cell = 28 * FOV_HEAT_SIDE + 40;         // of (0.25, −0.125) × 2
  assert_int_equal(heat.counts[0], GLIMPSES); // an answered place is not a choice of the policy
  for (int map = 0; map < heat.maps; map++)
    assert_true(heat.cells[map * FOV_HEAT_SIDE * FOV_HEAT_SIDE + cell] == 1);
  assert_int_equal(heat.mean[16 * SIZE + 16], 255);
  assert_int_equal(heat.mean[15 * SIZE + 15], 255 / 4);
  assert_int_equal(heat.mean[8 * SIZE + 24], 0);
  char text[64];
  bool found = false;
  for (int i = 0; i < 600 * 600 && !found; i++)
    found = fov_heat_describe(text, sizeof text, &heat, &trace, 1280, 720, 20 + i % 600,
                              60 + i / 600) &&
            strstr(text, ": 100.000 %");
  assert_true(found);
  assert_string_equal(text, "at 0.50, -0.25 from the target: 100.000 % of the glimpses");
  fov_heat_finish(&heat);
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
  assert_true(heat.cells[8 * FOV_HEAT_SIDE + FOV_HEAT_SIDE - 1] == 1); // the place itself
  fov_heat_finish(&heat);
  // With two answers, a glimpse belongs to the answer that follows it.
  float *targets = trace.column[1].values;
  for (int i = 0; i < 2; i++) targets[i] = targets[4 + i] = NAN;
  assert_ptr_equal(fov_target_place(&trace, 0, 0), targets + 2);
  assert_ptr_equal(fov_target_place(&trace, 0, 1), targets + 2);
  assert_ptr_equal(fov_target_place(&trace, 0, 3), targets + 2);
  targets[4] = targets[5] = 0;
  assert_ptr_equal(fov_target_place(&trace, 0, 2), targets + 4);
  // What is outside the map counts at its edge.
  for (int i = 0; i < 2; i++) targets[i] = targets[2 + i] = targets[4 + i] = i ? -2 : 1e38f;
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, true, 0), FOV_OK);
  assert_true(heat.cells[FOV_HEAT_SIDE * 13 / 16 * FOV_HEAT_SIDE] > 0);
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

/** H shows it after the other one. */
static void test_a_key_shows_the_heat_map_from_the_target(void **state) {
  (void)state;
  FovTrace trace = make_places(), other = make_trace(1);
  FovPlayer player;
  assert_int_equal(fov_player_init(&player, &trace), FOV_OK);
  for (int i = 0; i < 6; i++) {
    fov_player_do(&player, FOV_ACTION_HEAT);
    assert_int_equal(player.mode, i % 3 == 2 ? FOV_MODE_SCENE : FOV_MODE_HEAT);
    assert_int_equal(player.around, i % 3 == 1);
  }
  fov_player_do(&player, FOV_ACTION_HEAT);
  fov_player_do(&player, FOV_ACTION_HEAT);
  assert_int_equal(fov_player_set_trace(&player, &other), FOV_OK);
  assert_false(player.around); // the place of the target is not known
  fov_player_do(&player, FOV_ACTION_HEAT);
  assert_int_equal(player.mode, FOV_MODE_SCENE);
  fov_player_finish(&player);
  fov_trace_finish(&trace);
  fov_trace_finish(&other);
}

/** The colour in the middle of a cross at a location. */
static uint32_t mark_at(const FovScene *scene, double x, double y) {
  cairo_surface_t *picture = draw(scene);
  FovBox image = fov_scene_image(scene);
  uint32_t rgb = pixel(picture, image.x + (x + 1) / 2 * image.w, image.y + (y + 1) / 2 * image.h);
  cairo_surface_destroy(picture);
  return rgb;
}

static void test_answered_places_are_marked_and_measured(void **state) {
  (void)state;
  FovTrace trace = make_places();
  FovScene scene = make_scene(&trace);
  uint32_t right = rgb_of(scene.theme->right), wrong = rgb_of(scene.theme->wrong);
  char text[64], told[GLIMPSES][64] = {""};
  for (scene.glimpse = 0; scene.glimpse < GLIMPSES; scene.glimpse++) {
    bool answered = scene.glimpse < GLIMPSES - 1;
    assert_int_equal(mark_at(&scene, 0.5, -0.5) == right, answered);
    assert_int_equal(mark_at(&scene, -0.5 + 0.25 * scene.glimpse, 0.5) == wrong, answered);
    assert_true(mark_at(&scene, 0.25, -0.5) != right);
  }
  scene.glimpse = 0;
  FovBox bars = fov_layout(&scene).bars;
  for (int i = 0; i < GLIMPSES; i++) {
    double x = bars.x + 60 + (bars.w - 60) * (i + 0.5) / GLIMPSES;
    assert_true(fov_scene_describe(text, sizeof text, &scene, x, bars.y + bars.h / 2));
    snprintf(told[i], sizeof told[i], "%s", text);
  }
  assert_string_equal(told[0], "glimpse 1: distance 1.414");
  assert_string_equal(told[1], "glimpse 2: distance 1.250");
  assert_string_equal(told[2], "glimpse 3: no answer");
  fov_trace_finish(&trace);
}

static void test_images_of_any_shape_draw_or_are_refused(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    FovTrace trace = make_trace(1);
    int width = trace.width = i ? 1 : SIZE * SIZE, height = trace.height = i ? SIZE * SIZE : 1;
    assert_int_equal(fov_scene_check(&trace, "a.trace"), FOV_OK);
    FovScene scene = make_scene(&trace);
    scene.overlays = ~0u;
    cairo_surface_destroy(draw(&scene));
    trace.width = 1000 * width;
    trace.height = 1000 * height;
    assert_fails(fov_scene_check(&trace, "a.trace"), FOV_ERR_FORMAT, "of pixels: at most");
    fov_trace_finish(&trace);
  }
}

static void test_every_size_draws(void **state) {
  (void)state;
  static const double sizes[][2] = {{320, 180}, {320, 1000}, {1500, 180}, {640, 360}, {2560, 1440}};
  FovTrace trace = make_trace(1);
  trace.baselines[0] = 0.5;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    FovScene scene = make_scene(&trace);
    scene.width = sizes[i][0];
    scene.height = sizes[i][1];
    FovBox image = fov_scene_image(&scene);
    assert_true(image.w >= 100 && image.x + image.w < scene.width);
    assert_true(image.h >= 100 && image.y + image.h < scene.height);
    cairo_surface_destroy(draw(&scene));
  }
  fov_trace_finish(&trace);
}

static void test_png_shows_the_last_glimpse(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  assert_int_equal(fov_trace_write(&trace, "last.trace"), FOV_OK);
  const FovDrawEpisode what = {.episode = 1, .width = 800, .height = 450};
  assert_int_equal(fov_draw_episode("last.png", "last.trace", &what), FOV_OK);
  cairo_surface_t *picture = read_png("last.png", 800, 450);
  FovScene scene = make_scene(&trace);
  scene.episode = 1;
  scene.glimpse = GLIMPSES - 1;
  scene.width = 800;
  scene.height = 450;
  cairo_surface_t *expected = draw(&scene);
  for (int y = 0; y < 450; y++)
    for (int x = 0; x < 800; x++) assert_int_equal(pixel(picture, x, y), pixel(expected, x, y));
  cairo_surface_destroy(expected);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

/** Draws a frame, which contains only changes, over the picture before. */
static void lay_frame(uint32_t *picture, const GifFileType *gif, int frame) {
  const SavedImage *image = &gif->SavedImages[frame];
  const GifImageDesc *box = &image->ImageDesc;
  for (int i = 0; i < box->Width * box->Height; i++) {
    GifColorType colour = box->ColorMap->Colors[image->RasterBits[i]];
    int x = box->Left + i % box->Width, y = box->Top + i / box->Width;
    picture[y * gif->SWidth + x] =
        (uint32_t)colour.Red << 16 | (uint32_t)colour.Green << 8 | colour.Blue;
  }
}

static void assert_near_colour(uint32_t a, uint32_t b, int most) {
  for (int shift = 0; shift < 24; shift += 8)
    assert_true(abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) <= most);
}

static void assert_shows_glimpse(const uint32_t *picture, const FovTrace *trace, int t) {
  FovScene scene = fov_scene(trace, 640, 360, &fov_theme_dark);
  scene.glimpse = t;
  FovBox square = fov_scene_patch(&scene, 0);
  assert_near_colour(picture[(int)round(square.y) * 640 + (int)round(square.x + square.w)],
                     rgb_of(fov_theme_dark.patches[0]), 12);
  assert_near_colour(picture[640 + 1], rgb_of(fov_theme_dark.paper), 1);
}

/** length: of the episode, possibly less than the trace's glimpses. */
static void assert_gif_shows_every_glimpse(int length) {
  static uint32_t picture[640 * 360];
  FovTrace trace = make_trace(1);
  trace.lengths[0] = length;
  assert_int_equal(fov_trace_write(&trace, "all.trace"), FOV_OK);
  const FovDrawEpisode what = {.width = 640, .height = 360};
  assert_int_equal(fov_draw_episode("all.gif", "all.trace", &what), FOV_OK);
  GifFileType *gif = DGifOpenFileName("all.gif", NULL);
  assert_non_null(gif);
  assert_int_equal(DGifSlurp(gif), GIF_OK);
  assert_int_equal(gif->SWidth, 640);
  assert_int_equal(gif->SHeight, 360);
  const ExtensionBlock *loop = gif->SavedImages[0].ExtensionBlocks;
  assert_memory_equal(loop[0].Bytes, "NETSCAPE2.0", 11);
  assert_memory_equal(loop[1].Bytes, "\1\0\0", 3); // repeats without end
  int rests = 0, hundredths = 0;
  for (int i = 0; i < gif->ImageCount; i++) {
    GraphicsControlBlock control;
    assert_int_equal(DGifSavedExtensionToGCB(gif, i, &control), GIF_OK);
    lay_frame(picture, gif, i);
    hundredths += control.DelayTime;
    if (control.DelayTime < 40) continue; // between two glimpses
    assert_shows_glimpse(picture, &trace, rests++);
  }
  assert_int_equal(rests, length);
  assert_int_equal(hundredths, (length - 1) * 70 + 150);
  assert_int_equal(DGifCloseFile(gif, NULL), GIF_OK);
  fov_trace_finish(&trace);
}

/** A GIF starts from nothing, so its first frame has every pixel, also those of white paper. */
static void test_the_first_frame_of_a_gif_is_whole(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  assert_int_equal(fov_trace_write(&trace, "all.trace"), FOV_OK);
  for (int light = 0; light < 2; light++) {
    const FovDrawEpisode what = {.width = 640, .height = 360, .light = light};
    assert_int_equal(fov_draw_episode("all.gif", "all.trace", &what), FOV_OK);
    GifFileType *gif = DGifOpenFileName("all.gif", NULL);
    assert_non_null(gif);
    assert_int_equal(DGifSlurp(gif), GIF_OK);
    const GifImageDesc *box = &gif->SavedImages[0].ImageDesc;
    assert_int_equal(box->Width, 640);
    assert_int_equal(box->Height, 360);
    assert_int_equal(DGifCloseFile(gif, NULL), GIF_OK);
  }
  fov_trace_finish(&trace);
}

static void test_gif_shows_every_glimpse(void **state) {
  (void)state;
  assert_gif_shows_every_glimpse(GLIMPSES);
  assert_gif_shows_every_glimpse(GLIMPSES - 1);
  assert_gif_shows_every_glimpse(1);
}

static void test_episodes_refuse_what_they_cannot_draw(void **state) {
  (void)state;
  FovTrace trace = make_trace(1);
  assert_int_equal(fov_trace_write(&trace, "a.trace"), FOV_OK);
  fov_trace_finish(&trace);
  const FovDrawEpisode first = {0}, beyond = {.episode = 2}, tiny = {.width = 100, .height = 720},
                       vast = {.width = 1280, .height = 100000};
  assert_fails(fov_draw_episode("y.mov", "a.trace", &first), FOV_ERR_USAGE,
               ".png, .svg, .gif, .mp4 or .html");
  assert_fails(fov_draw_episode("y.png", "a.trace", &beyond), FOV_ERR_USAGE, "episodes 0 to 1");
  assert_fails(fov_draw_episode("y.png", "a.trace", &tiny), FOV_ERR_USAGE, "100 × 720");
  assert_fails(fov_draw_episode("y.gif", "a.trace", &vast), FOV_ERR_USAGE, "100000");
  assert_int_not_equal(fov_draw_episode("y.gif", "none.trace", &first), FOV_OK);
  assert_int_not_equal(fov_draw_episode("none/y.gif", "a.trace", &first), FOV_OK);
  const FovDrawEpisode wrong = {.wrong = true, .episode = 1};
  assert_fails(fov_draw_episode("y.png", "a.trace", &wrong), FOV_ERR_USAGE,
               "wrong episodes 0 to 0");
  assert_false(fov_file_exists("y.png"));
  assert_false(fov_file_exists("y.gif"));
}

/** The legend of a figure is measured before there is a figure. */
static void test_a_legend_is_as_high_as_measured(void **state) {
  (void)state;
  static FovCurvesRun runs[] = {{.path = "a-s0.csv", .stem = 1}, {.path = "alone.csv", .stem = 5}};
  FovCurves *curves = calloc(1, sizeof *curves);
  assert_non_null(curves);
  curves->runs = runs;
  curves->experiment_count = 6;
  for (int e = 0; e < curves->experiment_count; e++) {
    curves->experiments[e] = (FovCurvesExperiment){.first = e % 2, .seeds = 1};
    snprintf(curves->experiments[e].name, FOV_CURVES_NAME, "experiment, %d passes", e * e);
  }
  cairo_surface_t *small = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_surface_t *large = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 2000, 500);
  cairo_surface_set_device_scale(large, 2, 2);
  cairo_t *measured = cairo_create(small), *drawn = cairo_create(large);
  for (int right = 300; right < 1000; right++)
    assert_int_equal(fov_plot_legend(measured, curves, 0, right, 0),
                     fov_plot_legend(drawn, curves, 0, right, 0));
  cairo_destroy(measured), cairo_destroy(drawn);
  cairo_surface_destroy(small), cairo_surface_destroy(large);
  free(curves);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ticks_are_round),
      cmocka_unit_test(test_texts_are_cut_between_characters),
      cmocka_unit_test(test_axis_maps_its_ends_and_middle),
      cmocka_unit_test(test_one_seed_is_a_line_without_a_band),
      cmocka_unit_test(test_seeds_become_a_mean_and_student_band),
      cmocka_unit_test(test_a_band_of_errors_goes_beyond_100_percent),
      cmocka_unit_test(test_experiments_have_their_own_colours),
      cmocka_unit_test(test_curves_of_any_numbers_end),
      cmocka_unit_test(test_wide_bands_are_shown_whole),
      cmocka_unit_test(test_a_band_below_zero_is_shown_whole),
      cmocka_unit_test(test_seeds_are_thin_lines),
      cmocka_unit_test(test_seeds_outside_the_band_are_shown_whole),
      cmocka_unit_test(test_a_plot_has_a_panel_for_each_column),
      cmocka_unit_test(test_curves_as_svg_and_pdf),
      cmocka_unit_test(test_curves_leave_out_empty_cells),
      cmocka_unit_test(test_curves_refuse_what_they_cannot_draw),
      cmocka_unit_test(test_a_run_without_rows_is_an_error),
      cmocka_unit_test(test_patch_lies_where_the_sensor_looked),
      cmocka_unit_test(test_patches_lie_where_any_sensor_looks),
      cmocka_unit_test(test_a_whole_image_does_not_move),
      cmocka_unit_test(test_squares_have_their_scales_colours),
      cmocka_unit_test(test_patches_have_colours_of_their_own),
      cmocka_unit_test(test_image_pixels_are_sharp_and_true),
      cmocka_unit_test(test_policy_and_baseline_appear_only_if_there_are_any),
      cmocka_unit_test(test_the_cost_of_a_step_is_shown_with_the_return),
      cmocka_unit_test(test_tiles_are_tinted_by_probability),
      cmocka_unit_test(test_uniform_tiles_are_faint),
      cmocka_unit_test(test_a_wrong_answer_looks_different),
      cmocka_unit_test(test_bars_show_the_probability_after_each_glimpse),
      cmocka_unit_test(test_bars_of_small_probabilities_are_high),
      cmocka_unit_test(test_labels_have_nine_pixels_or_more),
      cmocka_unit_test(test_texts_of_a_title_do_not_overlap),
      cmocka_unit_test(test_the_legend_of_a_map_has_the_glimpse),
      cmocka_unit_test(test_heat_maps_of_all_glimpses_are_reachable),
      cmocka_unit_test(test_many_classes_show_the_likeliest),
      cmocka_unit_test(test_names_of_any_kind_draw),
      cmocka_unit_test(test_heat_maps_may_be_relative_to_the_target),
      cmocka_unit_test(test_a_key_shows_the_heat_map_from_the_target),
      cmocka_unit_test(test_answered_places_are_marked_and_measured),
      cmocka_unit_test(test_maps_show_signed_numbers_over_the_picture),
      cmocka_unit_test(test_a_matrix_is_darker_where_it_is_larger),
      cmocka_unit_test(test_images_of_any_shape_draw_or_are_refused),
      cmocka_unit_test(test_every_size_draws),
      cmocka_unit_test(test_png_shows_the_last_glimpse),
      cmocka_unit_test(test_a_legend_is_as_high_as_measured),
      cmocka_unit_test(test_the_first_frame_of_a_gif_is_whole),
      cmocka_unit_test(test_gif_shows_every_glimpse),
      cmocka_unit_test(test_episodes_refuse_what_they_cannot_draw),
  };
  return cmocka_run_group_tests_name("viz", tests, enter_folder, leave_folder);
}
