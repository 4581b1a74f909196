/** What a scene, the contact sheet and an export show of attentions: weights, heads, windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "draw.h"
#include "drawn.h"
#include "pixel.h"
#include "traces.h"
#include "viz/scene/attention.h"
#include "viz/scene/drawing.h"
#include "viz/scene/heat.h"
#include "viz/scene/layout.h"
#include "viz/scene/reconstruction.h"
#include "viz/viewer/sheet.h"
#include "working_folder.h"

enum { K = 4, HEADS = 3, WIDTH = 1280, HEIGHT = 720 };

static FovScene scene_of(const FovTrace *trace, int glimpse, int head) {
  FovScene scene = fov_scene(trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.glimpse = glimpse;
  scene.head = head;
  return scene;
}

static cairo_surface_t *canvas(void) {
  return cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
}

static uint32_t rgb_of(FovColour colour) {
  return (uint32_t)lround(255 * colour.r) << 16 | (uint32_t)lround(255 * colour.g) << 8 |
         (uint32_t)lround(255 * colour.b);
}

/** Pixels of a box that have a colour. */
static int count_pixels(cairo_surface_t *picture, FovBox box, FovColour colour) {
  int count = 0;
  for (double y = fmax(0, box.y); y < fmin(HEIGHT, box.y + box.h); y++)
    for (double x = fmax(0, box.x); x < fmin(WIDTH, box.x + box.w); x++)
      count += pixel(picture, x, y) == rgb_of(colour);
  return count;
}

/** The red of the middle of a tile, which is that of its tint where the image is black. */
static int tint(cairo_surface_t *picture, FovBox image, int column, int row) {
  return (int)(pixel(picture, image.x + (column + 0.5) * image.w / K,
                     image.y + (row + 0.5) * image.h / K) >>
               16);
}

/** A trace of three heads over a black image. */
static FovTrace black_heads(void) {
  FovTrace trace = make_up_heads(2, K, HEADS);
  memset(trace.images, 0, (size_t)2 * SIZE * SIZE);
  return trace;
}

static void test_a_head_has_weights_of_its_own(void **state) {
  (void)state;
  FovTrace trace = black_heads();
  assert_int_equal(fov_heads(&trace), HEADS);
  for (int head = 0; head <= HEADS; head++) {
    FovScene scene = scene_of(&trace, 0, head);
    cairo_surface_t *picture = draw(&scene);
    FovBox image = fov_scene_image(&scene);
    char text[128], expected[64];
    for (int h = 1; h <= HEADS; h++) { // head h looks at tile h − 1, h − 1
      int red = tint(picture, image, h - 1, h - 1);
      if (h == head)
        assert_int_equal(red, 0x99); // 60 % of the policy's colour
      else
        assert_true(red < (head == 0 ? 0x60 : 0x28));
    }
    assert_true(fov_scene_describe(text, sizeof text, &scene, image.x + 0.3 * image.w,
                                   image.y + 0.3 * image.h));
    snprintf(expected, sizeof expected, head ? "head %d of 3, tile 1, 1: %.3g; pixel" : "mean of 3",
             head, 0.36 * pow(0.25, 2 * abs(head - 2)));
    assert_memory_equal(text, expected, strlen(expected));
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

/** Weights of all tiles have no path, no patch and no reconstruction; a tile that is chosen has. */
static void test_only_a_chosen_tile_has_a_place(void **state) {
  (void)state;
  FovTrace trace = make_up_tiles(1, K, "attention.tiles");
  for (int chosen = 0; chosen <= 1; chosen++) {
    if (chosen) trace.reach = FOV_REACH_GLIMPSE;
    FovScene scene = scene_of(&trace, 2, 0);
    scene.overlays |= FOV_OVERLAY_NUMBERS | FOV_OVERLAY_VEIL;
    cairo_surface_t *picture = draw(&scene);
    FovBox view = fov_scene_view(&scene), legend = {view.x, view.y + view.h, view.w, 40};
    assert_int_equal(count_pixels(picture, view, fov_theme_dark.path) > 50, chosen);
    assert_int_equal(count_pixels(picture, legend, fov_theme_dark.path) > 20, chosen);
    assert_int_equal(count_pixels(picture, view, fov_theme_dark.patches[0]) > 100, chosen);
    assert_int_equal(fov_retina_tiles(&trace), SCALES + chosen);
    char text[128];
    bool known = false;
    for (double x = 640; x < WIDTH; x += 10)
      known = known || (fov_scene_describe(text, sizeof text, &scene, x, 200) &&
                        (strstr(text, "known") || strstr(text, "not seen")));
    assert_int_equal(known, chosen);
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

static void set_window(FovTrace *trace, int t, float x, float y, float w, float h) {
  float *window = trace->column[0].values + 4 * t;
  window[0] = x, window[1] = y, window[2] = w, window[3] = h;
}

static void test_a_window_is_drawn_where_it_is(void **state) {
  (void)state;
  FovTrace trace = make_up_windows(1, 2);
  set_window(&trace, 1, 0.25f, -0.5f, 0.5f, 0.25f);
  FovScene scene = scene_of(&trace, 1, 0);
  FovBox image = fov_scene_image(&scene);
  cairo_surface_t *picture = draw(&scene);
  for (int s = 0; s < 2; s++) { // twice as wide around the same middle
    FovBox patch = fov_scene_patch(&scene, s);
    assert_near(patch.x, image.x + image.w * (0.625 - 0.125 * (1 << s)), 1e-6, "left");
    assert_near(patch.y, image.y + image.h * (0.25 - 0.0625 * (1 << s)), 1e-6, "top");
    assert_near(patch.w, image.w * 0.25 * (1 << s), 1e-6, "width");
    assert_near(patch.h, image.h * 0.125 * (1 << s), 1e-6, "height");
    for (int end = 0; end < 2; end++)
      assert_int_equal(pixel(picture, round(patch.x + end * patch.w), patch.y + 0.7 * patch.h),
                       rgb_of(fov_theme_dark.patches[s]));
  }
  FovBox ring = {image.x + 0.625 * image.w - 12, image.y + 0.25 * image.h - 12, 24, 24};
  trace.locations[2] = -0.9f; // the path goes through the windows, wherever the locations are
  cairo_surface_destroy(picture);
  picture = draw(&scene);
  assert_true(count_pixels(picture, ring, fov_theme_dark.path) > 20);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

static void test_a_window_grows_between_two_glimpses(void **state) {
  (void)state;
  FovTrace trace = make_up_windows(1, 1);
  set_window(&trace, 0, 0, 0, 0.4f, 0.4f);
  set_window(&trace, 1, 0, 0, 0.8f, 1.2f);
  FovScene scene = scene_of(&trace, 0, 0);
  FovBox image = fov_scene_image(&scene);
  scene.glide = 0.25;
  assert_near(fov_scene_patch(&scene, 0).w, 0.25 * image.w, 1e-4, "width");
  assert_near(fov_scene_patch(&scene, 0).h, 0.3 * image.h, 1e-4, "height");
  fov_trace_finish(&trace);
}

/** Pixels come from the smallest window that covers their middle, whichever came first. */
static void test_the_reconstruction_places_windows(void **state) {
  (void)state;
  FovTrace trace = make_up_windows(1, 1);
  uint8_t pixels[SIZE * SIZE] = {0};
  float areas[SIZE * SIZE];
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < SIDE * SIDE; i++)
      trace.retina[t * SIDE * SIDE + i] = (uint8_t)(100 * t + i / SIDE);
  set_window(&trace, 0, -0.5f, -0.5f, 0.25f, 0.5f); // 4 × 8 pixels from (6, 4)
  set_window(&trace, 1, 0, 0, 1, 1);                // 16 × 16 from (8, 8)
  set_window(&trace, 2, 0.95f, -3, 0.5f, 0.5f);     // outside
  fov_reconstruct(pixels, areas, &trace, 0, 2);
  const struct {
    int x, y, value;
    float area;
  } expected[] = {{6, 4, 0, 32},      {9, 11, 7, 32},        {9, 12, 102, 256},  {10, 8, 100, 256},
                  {23, 23, 107, 256}, {24, 23, 0, INFINITY}, {5, 4, 0, INFINITY}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    int at = expected[i].y * SIZE + expected[i].x;
    assert_int_equal(pixels[at], expected[i].value);
    assert_true(areas[at] == expected[i].area);
    assert_int_equal(fov_reconstructed_scale(&trace, 0, 2, expected[i].x, expected[i].y),
                     isinf(expected[i].area) ? -1 : 0);
  }
  fov_trace_finish(&trace);
}

static void draw_sheet(cairo_surface_t *picture, const FovTrace *trace, int head) {
  FovPlayer player;
  assert_int_equal(fov_player_init(&player, trace), FOV_OK);
  player.head = head;
  fov_sheet_fit(&player, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(picture);
  fov_sheet_draw(cr, &player, WIDTH, HEIGHT);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(picture);
  fov_player_finish(&player);
}

/** The mean over the glimpses, of the head that is shown. */
static void test_the_contact_sheet_shows_weights(void **state) {
  (void)state;
  FovTrace trace = black_heads();
  trace.episodes = 1;
  trace.lengths[0] =
      3; // head 2 looks at tile 1, 1 twice, then at tile 2, 1 once; never at the last
  for (int i = 0; i < HEADS * K * K; i++) trace.column[1].values[3 * HEADS * K * K + i] = 1;
  cairo_surface_t *picture = canvas();
  draw_sheet(picture, &trace, 2);
  FovBox all = {0, 0, WIDTH, HEIGHT}, image = {20, 59, 0, 0};
  while (image.w < WIDTH - 40 &&
         pixel(picture, image.x + image.w, 300) != rgb_of(fov_theme_dark.paper))
    image.w++;
  image.h = image.w;
  assert_int_equal(count_pixels(picture, all, fov_theme_dark.path), 0);
  int first = tint(picture, image, 1, 1), second = tint(picture, image, 2, 1);
  // Means of 0.36, 0.36, 0.09 and of 0.09, 0.09, 0.36.
  assert_int_equal(first, 0x99);
  assert_in_range(second, 0x99 * 2 / 3 - 2, 0x99 * 2 / 3 + 2);
  cairo_surface_destroy(picture);
  fov_trace_finish(&trace);
}

/** Tiles are as wide and high as their grid makes them, in the scene and in the heat map. */
static void test_a_grid_need_not_be_square(void **state) {
  (void)state;
  enum { ACROSS = 8, DOWN = 2 };
  FovTrace trace = make_up_tiles(1, K, "attention.tiles");
  trace.tiles_across = ACROSS;
  trace.lengths[0] = 1;
  memset(trace.images, 0, (size_t)SIZE * SIZE);
  for (int i = 0; i < K * K; i++) trace.column[0].values[i] = i == 3 ? 0.7f : i == 13 ? 0.3f : 0;
  FovScene scene = scene_of(&trace, 0, 0);
  FovBox image = fov_scene_image(&scene);
  cairo_surface_t *picture = draw(&scene);
  for (int i = 0; i < K * K; i++) {
    double x = image.x + (i % ACROSS + 0.5) * image.w / ACROSS;
    double y = image.y + (i / ACROSS + 0.5) * image.h / DOWN;
    assert_int_equal(pixel(picture, x, y) >> 16, i == 3 ? 0x99 : i == 13 ? 0x41 : 0);
  }
  cairo_surface_destroy(picture);
  char text[128];
  assert_true(fov_scene_describe(text, sizeof text, &scene, image.x + 0.65 * image.w,
                                 image.y + 0.75 * image.h));
  assert_non_null(strstr(text, "tile 5, 1: 0.3; "));
  FovHeat heat;
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
  double shares[2] = {0};
  for (int i = 0; i < FOV_HEAT_SIDE * FOV_HEAT_SIDE; i++) {
    int x = i % FOV_HEAT_SIDE / 8, y = i / FOV_HEAT_SIDE / 32;
    if (x == 3 && y == 0) shares[0] += heat.cells[i];
    if (x == 5 && y == 1) shares[1] += heat.cells[i];
  }
  assert_near(shares[0], 0.7, 1e-6, "tile 3, 0");
  assert_near(shares[1], 0.3, 1e-6, "tile 5, 1");
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

/** A glimpse without a place counts in all tiles, by its weights. */
static void test_the_heat_map_counts_weights(void **state) {
  (void)state;
  enum { THIRDS = 3 }; // of 21 1/3 cells
  FovTrace trace = make_up_tiles(1, THIRDS, "attention.tiles");
  FovHeat heat;
  trace.lengths[0] = 2;
  for (int i = 0; i < 2 * THIRDS * THIRDS; i++)
    trace.column[0].values[i] = (float)(i % 9 == 2) * (i < 9 ? 0.75f : 0.25f) +
                                (float)(i % 9 == 6) * (i < 9 ? 0.25f : 0.75f);
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
  const double expected[3][2] = {{0.5, 0.5}, {0.75, 0.25}, {0.25, 0.75}};
  for (int map = 0; map < 3; map++) {
    double top_right = 0, bottom_left = 0, all = 0;
    for (int i = 0; i < FOV_HEAT_SIDE * FOV_HEAT_SIDE; i++) {
      double share = heat.cells[map * FOV_HEAT_SIDE * FOV_HEAT_SIDE + i];
      int x = i % FOV_HEAT_SIDE, y = i / FOV_HEAT_SIDE;
      all += share;
      if (x >= 42 && y < 22) top_right += share;
      if (x < 22 && y >= 42) bottom_left += share;
    }
    assert_near(top_right, expected[map][0], 1e-9, "top right");
    assert_near(bottom_left, expected[map][1], 1e-9, "bottom left");
    assert_near(all, 1, 1e-9, "all");
  }
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

/** Neither tiles of other sizes than cells nor weights of other sums change what is even. */
static void test_the_heat_map_of_equal_weights_is_even(void **state) {
  (void)state;
  enum { SIXTHS = 6 }; // of 10 2/3 cells
  FovTrace trace = make_up_tiles(1, SIXTHS, "attention.tiles");
  FovHeat heat;
  trace.lengths[0] = 1;
  for (int i = 0; i < SIXTHS * SIXTHS; i++) trace.column[0].values[i] = 0.01f;
  assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
  for (int i = 0; i < heat.maps * FOV_HEAT_SIDE * FOV_HEAT_SIDE; i++)
    assert_near(heat.density[i] * FOV_HEAT_SIDE * FOV_HEAT_SIDE, 1, 1e-5, "cell %d", i);
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

/** The share of the weights of a trace's first glimpse that has head `head`'s largest. */
static double share_of_largest(const FovTrace *trace, int head) {
  FovGrid grid;
  double sum = 0, most = 0;
  const float *weights = fov_weights(&grid, trace, 0, 0, head);
  for (int i = 0; i < grid.across * grid.down; i++) {
    sum += (double)weights[i];
    most = fmax(most, (double)weights[i]);
  }
  return most / sum;
}

/** Head h looks at tile h − 1, h − 1 first. */
static void test_the_heat_map_counts_the_head(void **state) {
  (void)state;
  enum { CELLS = FOV_HEAT_SIDE / K };
  FovTrace trace = black_heads();
  for (int head = 1; head <= HEADS; head++) {
    FovHeat heat;
    assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, head), FOV_OK);
    const double *first = heat.cells + FOV_HEAT_SIDE * FOV_HEAT_SIDE; // the map of glimpse 1
    for (int i = 0; i < K; i++)
      assert_near(first[i * CELLS * (FOV_HEAT_SIDE + 1)] * CELLS * CELLS,
                  share_of_largest(&trace, head) * pow(0.25, 2 * abs(head - 1 - i)), 1e-6,
                  "head %d, tile %d", head, i);
    assert_false(heat.chosen); // by a policy
    fov_heat_finish(&heat);
  }
  fov_trace_finish(&trace);
}

/** The mean of all tiles in each step: no path, no patches, and no glimpse in the heat map. */
static void test_a_reading_without_weights_has_no_place(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(1, 1);
  FovHeat heat;
  for (int repeat = 0; repeat < 2; repeat++) {
    trace.reach = repeat ? FOV_REACH_ALL : FOV_REACH_GLIMPSE;
    assert_int_equal(fov_has_places(&trace), !repeat);
    assert_int_equal(fov_patch_area(&trace, 0, 1, 0).w, repeat ? 0 : SIDE);
    assert_int_equal(fov_heat_build(&heat, &trace, (int[]){0}, 1, false, 0), FOV_OK);
    assert_int_equal(heat.counts[2], !repeat);
    fov_heat_finish(&heat);
    FovScene scene = scene_of(&trace, 1, 0);
    cairo_surface_t *picture = draw(&scene);
    assert_int_equal(count_pixels(picture, fov_scene_image(&scene), fov_theme_dark.path) > 0,
                     !repeat);
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

/** Numbers that a file may contain, though no agent records them. */
static void test_windows_and_weights_of_any_numbers_draw(void **state) {
  (void)state;
  static const float numbers[] = {NAN, 0,    -1,    1e-30f,  FLT_MIN / 4, 0.5f,
                                  3,   1e6f, 1e20f, FLT_MAX, -FLT_MAX};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  FovTrace traces[] = {make_up_windows(1, 8), make_up_heads(1, K, HEADS)};
  cairo_surface_t *picture = canvas();
  uint32_t random = 7;
  for (int i = 0; i < 300; i++) {
    FovTrace *trace = &traces[i % 2];
    for (int c = 0; c < trace->columns; c++)
      for (int j = 0; j < GLIMPSES * trace->column[c].width; j++) {
        random = random * 1664525 + 1013904223;
        trace->column[c].values[j] = numbers[(random >> 16) % NUMBERS];
      }
    FovScene scene = scene_of(trace, i % GLIMPSES, i % 2 * (i / 2 % HEADS));
    scene.overlays = (unsigned)i % (1 << FOV_OVERLAYS);
    scene.zoom = (FovZoom){i % 3 ? 1 : 64, 0.3, 0.9};
    scene.glide = i % 5 && i % GLIMPSES < GLIMPSES - 1 ? 0.3 : 0;
    cairo_surface_destroy(draw(&scene));
    char text[128];
    for (int j = 0; j < 100; j++)
      fov_scene_describe(text, sizeof text, &scene, 13 * j % WIDTH, 7.3 * j);
    if (i >= 40) continue;
    draw_sheet(picture, trace, 0);
    FovHeat heat;
    cairo_t *cr = cairo_create(picture);
    assert_int_equal(fov_heat_build(&heat, trace, (int[]){0}, 1, false, 0), FOV_OK);
    fov_heat_draw(cr, &heat, trace, &fov_theme_dark, WIDTH, HEIGHT, "all");
    assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
    fov_heat_finish(&heat);
  }
  for (int i = 0; i < 2; i++) fov_trace_finish(&traces[i]);
  cairo_surface_destroy(picture);
}

/** Edges and paths far outside do not come back into the view: cairo's coordinates wrap at 2^24. */
static void test_what_is_far_away_is_not_drawn(void **state) {
  (void)state;
  FovTrace trace = make_up_windows(1, 1);
  FovScene scene = scene_of(&trace, 0, 0);
  FovBox image = fov_scene_image(&scene), view = fov_scene_view(&scene);
  float wrap = (float)(ldexp(1, 24) / (image.w / 2));
  const float windows[][4] = {{0, 0, 2 * wrap, 2 * wrap},
                              {wrap, 0, 1, 1},
                              {0, -wrap, 1, 1},
                              {0, 0, FLT_MAX, FLT_MAX},
                              {-FLT_MAX, FLT_MAX, 1, 1}};
  for (int i = 0; i < 5; i++) {
    set_window(&trace, 0, windows[i][0], windows[i][1], windows[i][2], windows[i][3]);
    cairo_surface_t *picture = draw(&scene);
    bool around = windows[i][2] > 1; // the image is inside the window
    assert_int_equal(count_pixels(picture, view, fov_theme_dark.patches[0]), 0);
    assert_int_equal(count_pixels(picture, view, fov_theme_dark.path) > 0, around);
    assert_int_equal(fov_reconstructed_scale(&trace, 0, 0, 3, 3), around ? 0 : -1);
    cairo_surface_destroy(picture);
  }
  fov_trace_finish(&trace);
}

/** The weights of the first glimpse on a page, in its tile 0, 0: the mean of 0.36, 0.36 / 16 and
 * 0.36 / 256, or one of them. */
static void check_page(int head, const char *weights, const char *words) {
  FovDrawEpisode what = {.head = head};
  char *page;
  size_t size;
  assert_int_equal(fov_draw_episode("head.html", "heads.trace", &what), FOV_OK);
  assert_int_equal(fov_file_read(&page, &size, "head.html", 1 << 24), FOV_OK);
  assert_non_null(strstr(page, weights));
  assert_non_null(strstr(page, words));
  free(page);
}

static void test_an_export_shows_the_head(void **state) {
  (void)state;
  FovTrace trace = black_heads();
  FovScene scene = scene_of(&trace, GLIMPSES - 1, 0); // heads at tiles 1, 0; 2, 1; 3, 2
  FovBox image = fov_scene_image(&scene);
  assert_int_equal(fov_trace_write(&trace, "heads.trace"), FOV_OK);
  for (int head = 1; head <= HEADS; head++) {
    FovDrawEpisode what = {.head = head};
    assert_int_equal(fov_draw_episode("head.png", "heads.trace", &what), FOV_OK);
    cairo_surface_t *picture = cairo_image_surface_create_from_png("head.png");
    for (int h = 1; h <= HEADS; h++)
      assert_int_equal(tint(picture, image, h, h - 1) == 0x99, h == head);
    cairo_surface_destroy(picture);
  }
  check_page(0, "\"weights\":[[0.1279", "\"head\":\"mean of 3 heads\"");
  check_page(1, "\"weights\":[[0.36,", "\"head\":\"head 1 of 3\"");
  check_page(2, "\"weights\":[[0.0225,", "\"head\":\"head 2 of 3\"");
  trace.reach = FOV_REACH_NEAR;
  assert_int_equal(fov_trace_write(&trace, "heads.trace"), FOV_OK);
  check_page(0, "\"places\":[[-0.5,-0.2]", "\"placed\":true,\"patched\":false");
  FovDrawEpisode what = {.head = HEADS + 1};
  assert_int_equal(fov_draw_episode("head.png", "heads.trace", &what), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "heads.trace: --head 4: expected 0 to 3"));
  fov_trace_finish(&trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_head_has_weights_of_its_own),
      cmocka_unit_test(test_only_a_chosen_tile_has_a_place),
      cmocka_unit_test(test_a_window_is_drawn_where_it_is),
      cmocka_unit_test(test_a_window_grows_between_two_glimpses),
      cmocka_unit_test(test_the_reconstruction_places_windows),
      cmocka_unit_test(test_the_contact_sheet_shows_weights),
      cmocka_unit_test(test_a_grid_need_not_be_square),
      cmocka_unit_test(test_the_heat_map_counts_weights),
      cmocka_unit_test(test_windows_and_weights_of_any_numbers_draw),
      cmocka_unit_test(test_what_is_far_away_is_not_drawn),
      cmocka_unit_test(test_the_heat_map_counts_the_head),
      cmocka_unit_test(test_the_heat_map_of_equal_weights_is_even),
      cmocka_unit_test(test_a_reading_without_weights_has_no_place),
      cmocka_unit_test(test_an_export_shows_the_head),
  };
  return cmocka_run_group_tests_name("attention_view", tests, enter_folder, leave_folder);
}
