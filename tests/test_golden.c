/**
 * Compares pictures with reviewed ones: tests/golden/NAME.png.
 *
 * They are compared at a quarter of their size, where another font changes greys only slightly:
 * within a tolerance on the mean and, where there is no text, on each pixel. After an intended
 * change, FOVEA_GOLDEN_WRITE=1 writes them again: look at them before you commit them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "check.h"
#include "config/config.h"
#include "model/attention.h"
#include "traces.h"
#include "viz/scene/confusion.h"
#include "viz/scene/drawing.h"
#include "viz/scene/heat.h"
#include "viz/scene/layout.h"
#include "viz/scene/part_alignment.h"
#include "viz/viewer/sheet.h"

enum { WIDTH = 640, HEIGHT = 360, SHRINK = 4, W = WIDTH / SHRINK, H = HEIGHT / SHRINK };

typedef struct Picture {
  uint8_t rgb[H][W][3];
} Picture;

static uint32_t pixel(cairo_surface_t *surface, int x, int y) {
  uint32_t rgb;
  memcpy(&rgb,
         cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) +
             4 * x,
         sizeof rgb);
  return rgb;
}

/** Averages squares of `side` pixels. */
static void shrink(Picture *picture, cairo_surface_t *surface, int side) {
  for (int i = 0; i < H * W * 3; i++) {
    int y = i / 3 / W, x = i / 3 % W, sum = 0;
    for (int j = 0; j < side * side; j++)
      sum += pixel(surface, x * side + j % side, y * side + j / side) >> (16 - 8 * (i % 3)) & 255;
    picture->rgb[y][x][i % 3] = (uint8_t)(sum / (side * side));
  }
}

static void write_golden(const char *path, const Picture *picture) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      const uint8_t *from = picture->rgb[y][x];
      uint32_t rgb = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
      memcpy(cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) +
                 4 * x,
             &rgb, sizeof rgb);
    }
  cairo_surface_mark_dirty(surface);
  assert_int_equal(cairo_surface_write_to_png(surface, path), CAIRO_STATUS_SUCCESS);
  cairo_surface_destroy(surface);
}

static void read_golden(Picture *golden, const char *path) {
  cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
  assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  assert_int_equal(cairo_image_surface_get_width(surface), W);
  assert_int_equal(cairo_image_surface_get_height(surface), H);
  shrink(golden, surface, 1);
  cairo_surface_destroy(surface);
}

/** The mean difference of all channels, and the largest within a box of the full size. */
static double differ(int *largest, const Picture *a, const Picture *b, FovBox box) {
  double sum = 0;
  *largest = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      for (int c = 0; c < 3; c++) {
        int difference = abs(a->rgb[y][x][c] - b->rgb[y][x][c]);
        sum += difference;
        if (fov_inside(box, SHRINK * (x + 0.5), SHRINK * (y + 0.5)) && difference > *largest)
          *largest = difference;
      }
  return sum / (W * H * 3);
}

static cairo_t *begin(void) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(surface);
  cairo_surface_destroy(surface);
  return cr;
}

/** Compares what was drawn; in `textless` every pixel must be close. */
static void assert_golden(cairo_t *cr, const char *name, FovBox textless) {
  char path[512];
  Picture picture, golden;
  snprintf(path, sizeof path, "%s/tests/golden/%s.png", getenv("FOVEA_SOURCE"), name);
  cairo_surface_flush(cairo_get_target(cr));
  shrink(&picture, cairo_get_target(cr), SHRINK);
  cairo_destroy(cr);
  if (getenv("FOVEA_GOLDEN_WRITE")) write_golden(path, &picture);
  read_golden(&golden, path);
  int largest;
  double mean = differ(&largest, &picture, &golden, textless);
  if (mean > 2.5 || largest > 24)
    fail_msg("%s: differs by %.2f in the mean, by %d where no text is", path, mean, largest);
}

static void test_scene_in_the_dark_theme(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(3, 1);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.episode = 1;
  fov_scene_seek(&scene, 1.8); // between two glimpses
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-dark", fov_scene_image(&scene));
  fov_trace_finish(&trace);
}

static void test_scene_in_the_light_theme_in_colour(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(3, 3);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_light);
  scene.episode = 2; // answered wrongly
  scene.glimpse = GLIMPSES - 1;
  scene.overlays |= FOV_OVERLAY_VEIL;
  scene.zoom = (FovZoom){1.3, 0.4, 0.5};
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-light", fov_scene_view(&scene));
  fov_trace_finish(&trace);
}

/** Compares the scene of a glimpse, and finishes its trace. */
static void check_scene(FovTrace trace, int glimpse, int head, const FovTheme *theme,
                        const char *name) {
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, theme);
  scene.glimpse = glimpse;
  scene.head = head;
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, name, fov_scene_view(&scene));
  fov_trace_finish(&trace);
}

static void test_scene_with_tiles_of_a_policy(void **state) {
  (void)state;
  check_scene(make_up_tiles(2, 4, "policy.tiles"), 2, 0, &fov_theme_dark, "scene-tiles");
}

/** What a glimpse of an attention reaches. */
static FovReach reach_of(const char *attention) {
  const void *plugin = fov_plugin_find((const FovPlugin *const *)fov_attentions, attention);
  assert_non_null(plugin);
  return ((const FovAttention *)plugin)->reach;
}

/** Attention that reads a tile: an outline around it, a path, and squares. */
static FovTrace make_up_choice(int episodes, const char *attention) {
  FovTrace trace = make_up_tiles(episodes, 4, "attention.tiles");
  snprintf(trace.policy, sizeof trace.policy, "sites");
  snprintf(trace.attention, sizeof trace.attention, "%s", attention);
  trace.reach = reach_of(attention);
  return trace;
}

static void test_scene_with_a_tile_that_attention_chose(void **state) {
  static const char *const names[] = {"straight_through", "gumbel", "reinmax", "rebar", "relax",
                                      "sampled",          NULL};
  (void)state;
  for (int i = 0; names[i]; i++)
    check_scene(make_up_choice(2, names[i]), 2, 0, &fov_theme_dark, "scene-choice");
}

/** Local attention weighs the tiles near a place, which has a path. */
static FovTrace make_up_local(int episodes, const char *attention) {
  enum { K = 4 };
  FovTrace trace = make_up_tiles(episodes, K, "attention.tiles");
  snprintf(trace.attention, sizeof trace.attention, "%s", attention);
  trace.reach = reach_of(attention);
  for (int i = 0; i < episodes * GLIMPSES * K * K; i++) {
    int t = i / (K * K) % GLIMPSES, column = t % K, row = (t + 1) % K;
    if (abs(i % K - column) > 1 || abs(i / K % K - row) > 1) trace.column[0].values[i] = 0;
  }
  return trace;
}

static void test_scene_with_weights_near_a_place(void **state) {
  (void)state;
  check_scene(make_up_local(2, "local_m"), 2, 0, &fov_theme_dark, "scene-local");
  check_scene(make_up_local(2, "local_p"), 2, 0, &fov_theme_dark, "scene-local");
}

/** Soft attention has no path, and its mean glimpse no place. */
static void test_scene_with_weights_of_attention(void **state) {
  (void)state;
  check_scene(make_up_heads(1, 4, 3), 2, 0, &fov_theme_dark, "scene-weights");
}

static void test_scene_with_weights_of_a_head(void **state) {
  (void)state;
  check_scene(make_up_heads(1, 4, 3), 2, 3, &fov_theme_light, "scene-head");
}

static void test_scene_with_a_window_of_attention(void **state) {
  (void)state;
  check_scene(make_up_windows(1, 1), 2, 0, &fov_theme_light, "scene-window");
}

/** The coarser patches reach beyond the image. */
static void test_scene_with_a_window_of_three_scales(void **state) {
  (void)state;
  FovTrace trace = make_up_windows(1, 3);
  snprintf(trace.attention, sizeof trace.attention, "spatial_transformer");
  check_scene(trace, 3, 0, &fov_theme_dark, "scene-window-scales");
}

/** One frame for each glimpse, actions instead of classes, and rewards. */
static void test_scene_of_a_game(void **state) {
  (void)state;
  FovTrace trace = make_up_game(3);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.episode = 1; // ends a glimpse early
  fov_scene_seek(&scene, 100);
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-game", fov_scene_image(&scene));
  fov_trace_finish(&trace);
}

static void test_scene_of_a_sequence(void **state) {
  (void)state;
  FovTrace trace = make_up_sequence(3);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_light);
  scene.episode = 2;
  scene.glimpse = 2; // of the second turn
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-sequence", fov_scene_image(&scene));
  fov_trace_finish(&trace);
}

static void test_scene_of_an_alignment(void **state) {
  (void)state;
  check_scene(make_up_symbols(1, 1), 2, 0, &fov_theme_dark, "scene-alignment");
}

static void test_scene_of_an_alignment_with_heads(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 3);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_light);
  scene.episode = 1; // has a wrong answer
  scene.head = 2;
  fov_scene_seek(&scene, 2.8); // between two glimpses
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-alignment-heads", fov_scene_image(&scene));
  fov_trace_finish(&trace);
}

static void test_scene_of_a_strip(void **state) {
  (void)state;
  FovTrace trace = make_up_strip(1, 1);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.glimpse = GLIMPSES - 1;
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-strip", fov_scene_image(&scene));
  fov_trace_finish(&trace);
}

static void test_figure_of_an_alignment(void **state) {
  (void)state;
  FovTrace trace = make_up_symbols(2, 1);
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_light);
  scene.episode = 1;
  cairo_t *cr = begin();
  fov_draw_alignment_figure(cr, &scene);
  assert_golden(cr, "alignment", (FovBox){110, 44, 480, 140}); // in the matrix
  fov_trace_finish(&trace);
}

/** The second agent ends a glimpse early and answers differently. */
static void test_scene_of_two_agents(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(1, 1), other = make_up_trace(1, 1);
  other.lengths[0] = GLIMPSES - 1;
  other.answers[GLIMPSES - 2] = 1;
  other.wrong[0] = 1;
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  scene.beside = &other;
  scene.names[0] = "first";
  scene.names[1] = "second";
  fov_scene_seek(&scene, 3);
  cairo_t *cr = begin();
  fov_scene_draw(cr, &scene);
  assert_golden(cr, "scene-pair", (FovBox){330, 60, 160, 120});
  fov_trace_finish(&trace);
  fov_trace_finish(&other);
}

/** A map with numbers of both signs, and a Jacobian of an episode with all glimpses. */
static void test_scene_with_an_explanation(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(1, 1);
  float map[SIZE * SIZE], jacobian[GLIMPSES * GLIMPSES];
  for (int i = 0; i < SIZE * SIZE; i++) map[i] = (float)(sin(i % SIZE * 0.3) * (i / SIZE) / SIZE);
  for (int i = 0; i < GLIMPSES * GLIMPSES; i++)
    jacobian[i] = i % GLIMPSES > i / GLIMPSES ? 0 : (float)(1 + i % GLIMPSES);
  for (int light = 0; light < 2; light++) {
    FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, light ? &fov_theme_light : &fov_theme_dark);
    scene.glimpse = 2;
    scene.explanation = (FovExplanation){
        .method = "occlusion", .map = map, .scale = 0.8, .jacobian = light ? NULL : jacobian};
    cairo_t *cr = begin();
    fov_scene_draw(cr, &scene);
    assert_golden(cr, light ? "scene-map" : "scene-explanation", fov_scene_image(&scene));
  }
  fov_trace_finish(&trace);
}

/** The map of a strip in place of the weights, or the Jacobian of symbols in the cells. */
static void test_alignments_with_an_explanation(void **state) {
  (void)state;
  for (int symbols = 0; symbols < 2; symbols++) {
    FovTrace trace = symbols ? make_up_symbols(1, 1) : make_up_strip(1, 1);
    int width = trace.width, pixels = width * trace.height;
    float numbers[1024]; // a map, or a row of a Jacobian for each glimpse
    for (int i = 0; i < (symbols ? GLIMPSES * width : pixels); i++)
      numbers[i] =
          symbols ? (float)(i % width) : sinf((float)(i % width) * 0.3f) * (float)(i / width);
    FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
    scene.glimpse = 2;
    scene.explanation = symbols
                            ? (FovExplanation){.method = "Jacobian", .jacobian = numbers}
                            : (FovExplanation){.method = "saliency", .map = numbers, .scale = 8};
    cairo_t *cr = begin();
    fov_scene_draw(cr, &scene);
    assert_golden(cr, symbols ? "scene-norms" : "scene-strip-map", fov_scene_image(&scene));
    fov_trace_finish(&trace);
  }
}

static void test_heat_map(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(8, 1);
  FovHeat heat;
  const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
  assert_int_equal(fov_heat_build(&heat, &trace, all, 8, false, 0), FOV_OK);
  cairo_t *cr = begin();
  fov_heat_draw(cr, &heat, &trace, &fov_theme_dark, WIDTH, HEIGHT, "all");
  assert_golden(cr, "heat", (FovBox){14, 40, 238, 238});
  fov_heat_finish(&heat);
  fov_trace_finish(&trace);
}

static void test_confusion_matrix(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(40, 1);
  FovConfusion confusion;
  assert_int_equal(fov_confusion_count(&confusion, &trace, 40), FOV_OK);
  cairo_t *cr = begin();
  fov_confusion_draw(cr, &confusion, &trace, &fov_theme_light, WIDTH, HEIGHT, 2, 3);
  assert_golden(cr, "confusion", (FovBox){0, 0, 0, 0});
  fov_confusion_finish(&confusion);
  fov_trace_finish(&trace);
}

/** The picture of the second episode of a contact sheet. */
static FovBox second_picture(const FovPlayer *player) {
  int left = WIDTH, top = HEIGHT, right = 0, bottom = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    int x = i % WIDTH, y = i / WIDTH;
    if (fov_sheet_at(player, WIDTH, HEIGHT, x, y) != 1) continue;
    left = x < left ? x : left, right = x > right ? x : right;
    top = y < top ? y : top, bottom = y > bottom ? y : bottom;
  }
  return (FovBox){left, top, right - left, bottom - top};
}

/** Compares the contact sheet of a trace, and finishes it. */
static void check_sheet(FovTrace trace, const char *name) {
  FovPlayer player;
  assert_int_equal(fov_player_init(&player, &trace), FOV_OK);
  fov_sheet_fit(&player, WIDTH, HEIGHT);
  cairo_t *cr = begin();
  fov_sheet_draw(cr, &player, WIDTH, HEIGHT);
  FovBox picture = second_picture(&player);
  assert_true(picture.w > 40 && picture.h > 40);
  assert_golden(cr, name, picture);
  fov_player_finish(&player);
  fov_trace_finish(&trace);
}

static void test_contact_sheet(void **state) {
  (void)state;
  check_sheet(make_up_trace(40, 1), "sheet");
}

static void test_contact_sheet_of_weights(void **state) {
  (void)state;
  check_sheet(make_up_heads(7, 4, 3), "sheet-weights");
}

static void test_contact_sheet_of_windows(void **state) {
  (void)state;
  check_sheet(make_up_windows(7, 1), "sheet-windows");
}

static void test_contact_sheet_of_chosen_tiles(void **state) {
  (void)state;
  check_sheet(make_up_choice(7, "sampled"), "sheet-choice");
}

static void test_contact_sheet_of_weights_near_a_place(void **state) {
  (void)state;
  check_sheet(make_up_local(7, "local_p"), "sheet-local");
}

static void test_contact_sheet_of_alignments(void **state) {
  (void)state;
  check_sheet(make_up_symbols(9, 1), "sheet-alignments");
}

/** A small difference exceeds the tolerance. */
static void test_a_small_difference_is_detected(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(3, 1);
  Picture pictures[2];
  int largest;
  FovScene scene = fov_scene(&trace, WIDTH, HEIGHT, &fov_theme_dark);
  for (int i = 0; i < 2; i++) {
    scene.overlays ^= FOV_OVERLAY_POLICY; // a small difference
    scene.glimpse = 2;
    cairo_t *cr = begin();
    fov_scene_draw(cr, &scene);
    cairo_surface_flush(cairo_get_target(cr));
    shrink(&pictures[i], cairo_get_target(cr), SHRINK);
    cairo_destroy(cr);
  }
  differ(&largest, &pictures[0], &pictures[1], fov_scene_image(&scene));
  assert_true(largest > 48);
  fov_trace_finish(&trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scene_in_the_dark_theme),
      cmocka_unit_test(test_scene_in_the_light_theme_in_colour),
      cmocka_unit_test(test_scene_with_tiles_of_a_policy),
      cmocka_unit_test(test_scene_with_a_tile_that_attention_chose),
      cmocka_unit_test(test_scene_with_weights_near_a_place),
      cmocka_unit_test(test_scene_with_weights_of_attention),
      cmocka_unit_test(test_scene_with_weights_of_a_head),
      cmocka_unit_test(test_scene_with_a_window_of_attention),
      cmocka_unit_test(test_scene_with_a_window_of_three_scales),
      cmocka_unit_test(test_scene_of_a_game),
      cmocka_unit_test(test_scene_of_a_sequence),
      cmocka_unit_test(test_scene_of_an_alignment),
      cmocka_unit_test(test_scene_of_an_alignment_with_heads),
      cmocka_unit_test(test_scene_of_a_strip),
      cmocka_unit_test(test_figure_of_an_alignment),
      cmocka_unit_test(test_scene_of_two_agents),
      cmocka_unit_test(test_scene_with_an_explanation),
      cmocka_unit_test(test_alignments_with_an_explanation),
      cmocka_unit_test(test_heat_map),
      cmocka_unit_test(test_confusion_matrix),
      cmocka_unit_test(test_contact_sheet),
      cmocka_unit_test(test_contact_sheet_of_weights),
      cmocka_unit_test(test_contact_sheet_of_windows),
      cmocka_unit_test(test_contact_sheet_of_chosen_tiles),
      cmocka_unit_test(test_contact_sheet_of_weights_near_a_place),
      cmocka_unit_test(test_contact_sheet_of_alignments),
      cmocka_unit_test(test_a_small_difference_is_detected),
  };
  return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
