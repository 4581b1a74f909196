/** Two agents on the same episodes, side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "traces.h"
#include "viz/scene/drawing.h"
#include "viz/scene/episode.h"
#include "viz/scene/layout.h"
#include "viz/scene/sides.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/mouse.h"
#include "viz/viewer/viewer.h"
#include "viz/viewer/window_layout.h"
#include "working_folder.h"

enum { EPISODES = 40, FEWER = 35, WIDTH = 1280, HEIGHT = 720 };

static FovViewer viewer;

/** The same episodes, of an agent that answers each fifth one differently and ends each second one
 * a glimpse early. */
static FovTrace make_up_other(int episodes) {
  FovTrace trace = make_up_trace(episodes, 1);
  for (int e = 0; e < episodes; e++) {
    int32_t *answers = trace.answers + e * GLIMPSES, *answer = &answers[GLIMPSES - 1];
    if (e % 5 == 0) *answer = (*answer + 1) % CLASSES;
    trace.wrong[e] = *answer != trace.labels[e * GLIMPSES];
    if (e % 2 == 0) continue;
    trace.lengths[e] = GLIMPSES - 1;
    answers[GLIMPSES - 2] = *answer;
    *answer = -1;
    trace.labels[e * GLIMPSES + GLIMPSES - 1] = -1;
  }
  return trace;
}

static void write_trace(FovTrace trace, const char *path) {
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
}

static FovStatus open_pair(const char *a, const char *b) {
  const FovDrawEpisode what = {.beside = b};
  FOV_TRY(fov_viewer_open_at(&viewer, a, &what));
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
  return FOV_OK;
}

static int begin(void **state) {
  if (enter_folder(state) != 0) return -1;
  write_trace(make_up_trace(EPISODES, 1), "a.trace");
  write_trace(make_up_other(FEWER), "b.trace");
  write_trace(make_up_game(EPISODES), "game.trace");
  write_trace(make_up_trace(EPISODES, 3), "colour.trace");
  FovTrace shifted = make_up_trace(EPISODES, 1);
  shifted.images[7 * SIZE * SIZE + 5] ^= 1;
  write_trace(shifted, "shifted.trace");
  return open_pair("a.trace", "b.trace") == FOV_OK ? 0 : -1;
}

static int end(void **state) {
  fov_viewer_finish(&viewer);
  return leave_folder(state);
}

static void assert_title(const char *expected) {
  char title[256];
  fov_viewer_title(&viewer, title, sizeof title);
  assert_string_equal(title, expected);
}

static void test_both_step_together(void **state) {
  (void)state;
  assert_title("a.trace and b.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  for (int i = 0; i < 5; i++) fov_viewer_do(&viewer, FOV_ACTION_FORWARD);
  fov_viewer_tick(&viewer, 1);
  fov_viewer_tick(&viewer, 1);
  assert_title("a.trace and b.trace: episode 1, glimpse 4 of 4, all, 1x, paused");
  FovScene both = fov_window_scene(&viewer), sides[2];
  FovBox boxes[2];
  for (int i = 0; i < 2; i++) sides[i] = fov_scene_side(&boxes[i], &both, i);
  assert_ptr_equal(sides[0].trace, &viewer.opened.trace);
  assert_ptr_equal(sides[1].trace, &viewer.other.trace);
  assert_int_equal(sides[0].glimpse, 3);
  assert_int_equal(sides[1].glimpse, 2); // its last one
  assert_true(boxes[1].x == boxes[0].x + boxes[0].w && boxes[1].x + boxes[1].w == WIDTH);
}

static void test_time_glides_in_the_longer_one_only(void **state) {
  (void)state;
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  fov_player_seek(&viewer.player, 2.9);
  FovScene both = fov_window_scene(&viewer);
  FovBox box;
  assert_true(fov_scene_side(&box, &both, 0).glide > 0);
  assert_true(fov_scene_side(&box, &both, 1).glide == 0);
}

static void test_episodes_are_those_of_both(void **state) {
  (void)state;
  assert_int_equal(viewer.player.count, FEWER);
  fov_viewer_do(&viewer, FOV_ACTION_LAST_EPISODE);
  assert_int_equal(fov_player_episode(&viewer.player), FEWER - 1);
  assert_false(fov_player_go(&viewer.player, FEWER));
}

static void test_the_filter_finds_disagreements(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  assert_title("a.trace and b.trace: episode 0, glimpse 1 of 4, disagree, 1x, paused");
  assert_int_equal(viewer.player.count, FEWER / 5);
  for (int i = 0; i < viewer.player.count; i++) assert_int_equal(viewer.player.selection[i] % 5, 0);
  fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  assert_int_equal(viewer.player.count, FEWER);
  FovTrace game = make_up_game(3), other = make_up_game(3);
  other.wrong[1] = !other.wrong[1];
  other.answers[0] = 0; // moves may differ
  assert_false(fov_disagree(&game, &other, 0));
  assert_true(fov_disagree(&game, &other, 1));
  fov_trace_finish(&game);
  fov_trace_finish(&other);
}

static void test_sequences_disagree_in_any_turn(void **state) {
  (void)state;
  FovTrace a = make_up_sequence(2), b = make_up_sequence(2);
  assert_false(fov_disagree(&a, &b, 0));
  b.answers[1] = (b.answers[1] + 1) % 4; // of the first turn
  assert_true(fov_disagree(&a, &b, 0));
  b.answers[1] = -1; // one answer fewer
  assert_true(fov_disagree(&a, &b, 0));
  assert_false(fov_disagree(&a, &b, 1));
  fov_trace_finish(&a);
  fov_trace_finish(&b);
}

static void test_agents_exchange_sides(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  fov_viewer_do(&viewer, FOV_ACTION_SWAP);
  assert_title("b.trace and a.trace: episode 5, glimpse 1 of 4, disagree, 1x, paused");
  assert_ptr_equal(viewer.player.trace, &viewer.opened.trace);
  fov_viewer_do(&viewer, FOV_ACTION_SWAP);
  assert_title("a.trace and b.trace: episode 5, glimpse 1 of 4, disagree, 1x, paused");
}

static void test_the_pointer_describes_either_side(void **state) {
  (void)state;
  FovScene both = fov_window_scene(&viewer);
  for (int i = 0; i < 2; i++) {
    FovBox box;
    FovScene side = fov_scene_side(&box, &both, i);
    FovBox image = fov_scene_image(&side);
    fov_viewer_move(&viewer, box.x + image.x + 4.5 / SIZE * image.w,
                    box.y + image.y + 16.5 / SIZE * image.h);
    assert_memory_equal(viewer.hint, "pixel 4, 16", 11);
    fov_viewer_wheel(&viewer, 2);
    assert_true(viewer.player.zoom.factor > 1.5);
    fov_viewer_do(&viewer, FOV_ACTION_UNZOOM);
  }
}

static void assert_refused(const char *a, const char *b, const char *why) {
  fov_viewer_finish(&viewer);
  assert_int_equal(open_pair(a, b), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), why));
  assert_int_equal(open_pair("a.trace", "b.trace"), FOV_OK);
}

static void test_other_episodes_are_refused(void **state) {
  (void)state;
  assert_refused("a.trace", "game.trace", "not the same task");
  assert_refused("a.trace", "colour.trace", "32 × 32 × 1 and 32 × 32 × 3");
  assert_refused("a.trace", "shifted.trace", "episode 7 begins with another image");
  assert_refused("game.trace", "a.trace", "a.trace");
}

/** A head that only one of the agents has is the mean of the other. */
static void test_agents_may_have_other_heads(void **state) {
  (void)state;
  write_trace(make_up_heads(3, 4, 4), "four.trace");
  write_trace(make_up_heads(3, 4, 2), "two.trace");
  fov_viewer_finish(&viewer);
  assert_int_equal(open_pair("four.trace", "two.trace"), FOV_OK);
  for (int i = 0; i < 3; i++) fov_viewer_do(&viewer, FOV_ACTION_HEAD);
  FovScene both = fov_window_scene(&viewer);
  FovBox box;
  assert_int_equal(fov_scene_side(&box, &both, 0).head, 3);
  assert_int_equal(fov_scene_side(&box, &both, 1).head, 0);
  fov_viewer_do(&viewer, FOV_ACTION_SWAP);
  assert_int_equal(viewer.player.head, 0);
}

static void test_a_dropped_trace_is_shown_alone(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  fov_viewer_drop(&viewer, "shifted.trace");
  assert_title("shifted.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
  fov_viewer_do(&viewer, FOV_ACTION_SWAP);
  assert_non_null(strstr(viewer.message, "there is one agent"));
}

/** Every size and mode draws; the picture of a file has both. */
static void test_two_agents_are_drawn(void **state) {
  (void)state;
  static const double sizes[][2] = {{480, 360}, {640, 360}, {700, 1400}, {2560, 500}};
  static const FovAction modes[] = {FOV_ACTION_HEAT, FOV_ACTION_SHEET, FOV_ACTION_SHEET};
  for (int i = 0; i < 12; i++) {
    fov_viewer_resize(&viewer, sizes[i / 3][0], sizes[i / 3][1]);
    fov_viewer_do(&viewer, modes[i % 3]);
    cairo_surface_t *picture =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)sizes[i / 3][0], (int)sizes[i / 3][1]);
    cairo_t *cr = cairo_create(picture);
    fov_viewer_draw(cr, &viewer);
    assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
    cairo_surface_destroy(picture);
  }
  FovDrawEpisode what = {.beside = "b.trace", .episode = 1, .width = 640, .height = 360};
  assert_int_equal(fov_draw_episode("pair.png", "a.trace", &what), FOV_OK);
  assert_int_equal(fov_draw_episode("pair.gif", "a.trace", &what), FOV_OK);
  what.episode = FEWER;
  assert_int_equal(fov_draw_episode("no.png", "a.trace", &what), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "b.trace: no episode 35"));
  assert_false(fov_file_exists("no.png"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_both_step_together),
      TEST(test_time_glides_in_the_longer_one_only),
      TEST(test_episodes_are_those_of_both),
      TEST(test_the_filter_finds_disagreements),
      TEST(test_sequences_disagree_in_any_turn),
      TEST(test_agents_exchange_sides),
      TEST(test_the_pointer_describes_either_side),
      TEST(test_other_episodes_are_refused),
      TEST(test_agents_may_have_other_heads),
      TEST(test_a_dropped_trace_is_shown_alone),
      TEST(test_two_agents_are_drawn),
  };
  return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
