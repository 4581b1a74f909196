#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "check.h"
#include "traces.h"
#include "viz/scene/episode.h"
#include "viz/scene/reconstruction.h"
#include "viz/viewer/keys.h"
#include "viz/viewer/player.h"

enum { EPISODES = 30 };

typedef struct Fixture {
  FovTrace trace;
  FovPlayer player;
} Fixture;

static Fixture fixture;

static int begin(void **state) {
  *state = &fixture;
  fixture.trace = make_up_trace(EPISODES, 1);
  return fov_player_init(&fixture.player, &fixture.trace) == FOV_OK ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  fov_player_finish(&fixture.player);
  fov_trace_finish(&fixture.trace);
  return 0;
}

static FovPlayer *player_of(void **state) {
  return &((Fixture *)*state)->player;
}

static void settle(FovPlayer *player) {
  for (int i = 0; i < 1000 && fov_player_moves(player); i++) fov_player_advance(player, 0.02);
}

static void assert_at(const FovPlayer *player, int episode, int glimpse) {
  assert_int_equal(fov_player_episode(player), episode);
  assert_int_equal(fov_player_glimpse(player), glimpse);
}

static void test_playback_begins_at_the_first_glimpse(void **state) {
  FovPlayer *player = player_of(state);
  assert_at(player, 0, 0);
  assert_int_equal(player->count, EPISODES);
  assert_false(fov_player_moves(player));
}

static void test_a_step_glides_to_a_whole_glimpse(void **state) {
  FovPlayer *player = player_of(state);
  fov_player_do(player, FOV_ACTION_FORWARD);
  assert_at(player, 0, 1);
  assert_true(fov_player_advance(player, 0.1));
  assert_near(player->time, 0.5, 1e-9, "time");
  settle(player);
  assert_near(player->time, 1, 0, "time");
  fov_player_do(player, FOV_ACTION_BACK);
  fov_player_do(player, FOV_ACTION_BACK);
  settle(player);
  assert_at(player, 0, 0);
  fov_player_do(player, FOV_ACTION_LAST);
  assert_at(player, 0, GLIMPSES - 1);
  fov_player_do(player, FOV_ACTION_FORWARD);
  assert_at(player, 0, GLIMPSES - 1);
  fov_player_do(player, FOV_ACTION_FIRST);
  assert_at(player, 0, 0);
}

static void test_episodes_stop_at_both_ends(void **state) {
  FovPlayer *player = player_of(state);
  fov_player_do(player, FOV_ACTION_PREVIOUS);
  assert_at(player, 0, 0);
  fov_player_do(player, FOV_ACTION_LAST);
  fov_player_do(player, FOV_ACTION_NEXT);
  assert_at(player, 1, 0);
  fov_player_do(player, FOV_ACTION_LAST_EPISODE);
  assert_at(player, EPISODES - 1, 0);
  fov_player_do(player, FOV_ACTION_NEXT);
  assert_at(player, EPISODES - 1, 0);
  fov_player_do(player, FOV_ACTION_FIRST_EPISODE);
  assert_at(player, 0, 0);
}

static void test_playing_takes_the_documented_time(void **state) {
  FovPlayer *player = player_of(state);
  fov_player_do(player, FOV_ACTION_PLAY);
  fov_player_advance(player, FOV_GLIMPSE_SECONDS);
  assert_near(player->time, 1, 1e-9, "time");
  fov_player_do(player, FOV_ACTION_FASTER);
  fov_player_advance(player, FOV_GLIMPSE_SECONDS / 2);
  assert_near(player->time, 2, 1e-9, "time at twice the speed");
  fov_player_do(player, FOV_ACTION_PLAY);
  assert_false(fov_player_moves(player));
}

static void test_playing_goes_on_to_the_next_episode_and_ends_after_the_last(void **state) {
  FovPlayer *player = player_of(state);
  fov_player_go(player, EPISODES - 2);
  fov_player_do(player, FOV_ACTION_PLAY);
  fov_player_advance(player, GLIMPSES * FOV_GLIMPSE_SECONDS);
  assert_at(player, EPISODES - 2, GLIMPSES - 1); // playback stops at the end
  fov_player_advance(player, FOV_END_SECONDS);
  assert_at(player, EPISODES - 1, 0);
  settle(player);
  assert_at(player, EPISODES - 1, GLIMPSES - 1);
  assert_false(player->playing);
  fov_player_do(player, FOV_ACTION_PLAY); // from the end it starts again
  assert_at(player, EPISODES - 1, 0);
}

static void test_speed_has_bounds(void **state) {
  FovPlayer *player = player_of(state);
  for (int i = 0; i < 10; i++) fov_player_do(player, FOV_ACTION_FASTER);
  assert_near(player->speed, 16, 0, "speed");
  for (int i = 0; i < 10; i++) fov_player_do(player, FOV_ACTION_SLOWER);
  assert_near(player->speed, 0.25, 0, "speed");
}

static void test_filters_select_wrong_right_and_class(void **state) {
  FovPlayer *player = player_of(state);
  char text[32];
  fov_player_go(player, 4);
  fov_player_do(player, FOV_ACTION_FILTER);
  assert_int_equal(player->count, EPISODES / 3);
  assert_at(player, 2, 0); // the last before it that is wrong
  for (int i = 0; i < player->count; i++) assert_int_equal(player->selection[i] % 3, 2);
  fov_player_do(player, FOV_ACTION_CLASS); // class 0: the multiples of four among 2, 5, 8 …
  assert_int_equal(player->count, 2);
  assert_int_equal(player->selection[0], 8);
  fov_player_filter_text(player, text, sizeof text);
  assert_string_equal(text, "wrong, class 0");
  fov_player_do(player, FOV_ACTION_FILTER);
  for (int i = 0; i < player->count; i++) {
    assert_int_equal(player->selection[i] % 4, 0);
    assert_int_not_equal(player->selection[i] % 3, 2);
  }
  fov_player_do(player, FOV_ACTION_CLASS_BACK);
  assert_int_equal(player->count, EPISODES - EPISODES / 3);
  fov_player_do(player, FOV_ACTION_CLASS_BACK);
  assert_int_equal(player->label, CLASSES - 1);
}

static void test_leaving_an_empty_selection_returns_to_the_same_episode(void **state) {
  FovPlayer *player = player_of(state);
  memset(fixture.trace.wrong, 0, EPISODES * sizeof *fixture.trace.wrong);
  fov_player_go(player, 7);
  fov_player_do(player, FOV_ACTION_FILTER);
  assert_int_equal(fov_player_episode(player), -1);
  static const FovAction all[] = {FOV_ACTION_NEXT,  FOV_ACTION_PREVIOUS, FOV_ACTION_PLAY,
                                  FOV_ACTION_SHEET, FOV_ACTION_LAST,     FOV_ACTION_SHEET,
                                  FOV_ACTION_HEAT,  FOV_ACTION_CANCEL,   FOV_ACTION_FORWARD};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) fov_player_do(player, all[i]);
  assert_false(fov_player_moves(player));
  fov_player_do(player, FOV_ACTION_FILTER);
  assert_int_equal(fov_player_episode(player), 7);
}

static void type(FovPlayer *player, const char *keys) {
  fov_player_do(player, FOV_ACTION_ASK);
  for (; *keys; keys++) fov_player_type(player, *keys);
}

static void test_a_typed_number_opens_its_episode(void **state) {
  FovPlayer *player = player_of(state);
  type(player, "1x9\b2");
  assert_string_equal(player->entry, "12");
  assert_true(fov_player_type(player, '\r'));
  assert_at(player, 12, 0);
  assert_false(player->asking);
  type(player, "30");
  assert_false(fov_player_type(player, '\r'));
  assert_at(player, 12, 0);
  type(player, "99999999999999");
  assert_false(fov_player_type(player, '\r'));
  type(player, "5");
  fov_player_do(player, FOV_ACTION_CANCEL);
  assert_at(player, 12, 0);
  fov_player_do(player, FOV_ACTION_FILTER); // wrong: 2, 5, 8 …, not 6
  type(player, "6");
  assert_true(fov_player_type(player, '\r'));
  assert_at(player, 6, 0);
  assert_int_equal(player->filter, FOV_FILTER_ALL);
}

static void test_overlays_and_modes_toggle(void **state) {
  FovPlayer *player = player_of(state);
  for (int i = 0; i < FOV_OVERLAYS; i++) {
    unsigned before = player->overlays;
    fov_player_do(player, fov_key_action((char)('1' + i)));
    assert_int_equal(player->overlays ^ before, 1 << i);
  }
  fov_player_do(player, fov_key_action('h'));
  assert_int_equal(player->mode, FOV_MODE_HEAT);
  fov_player_do(player, fov_key_action('m'));
  assert_int_equal(player->mode, FOV_MODE_SHEET);
  fov_player_do(player, fov_key_action('?'));
  assert_true(player->help);
  fov_player_do(player, FOV_ACTION_CANCEL);
  assert_false(player->help);
  assert_int_equal(player->mode, FOV_MODE_SHEET);
  fov_player_do(player, FOV_ACTION_CANCEL);
  assert_int_equal(player->mode, FOV_MODE_SCENE);
}

static void test_another_trace_keeps_episode_and_glimpse(void **state) {
  FovPlayer *player = player_of(state);
  FovTrace shorter = make_up_trace(5, 1);
  fov_player_go(player, 3);
  fov_player_do(player, FOV_ACTION_LAST);
  assert_int_equal(fov_player_set_trace(player, &shorter), FOV_OK);
  assert_at(player, 3, GLIMPSES - 1);
  assert_int_equal(fov_player_set_trace(player, &fixture.trace), FOV_OK);
  fov_player_go(player, 20);
  assert_int_equal(fov_player_set_trace(player, &shorter), FOV_OK);
  assert_at(player, 4, 0);
  fov_player_set_trace(player, &fixture.trace);
  fov_trace_finish(&shorter);
}

static void test_the_gaze_rests_then_moves(void **state) {
  (void)state;
  FovScene scene = fov_scene(&fixture.trace, 640, 360, &fov_theme_dark);
  double before = 0;
  fov_scene_seek(&scene, 1.3);
  assert_int_equal(scene.glimpse, 1);
  assert_near(scene.glide, 0, 0, "glide at rest");
  for (double time = 1.55; time < 1.999; time += 0.01) {
    fov_scene_seek(&scene, time);
    assert_int_equal(scene.glimpse, 1); // the retina is still that of the last place
    assert_true(scene.glide >= before && scene.glide < 1);
    before = scene.glide;
  }
  assert_true(before > 0.98);
  fov_scene_seek(&scene, 100);
  assert_int_equal(scene.glimpse, GLIMPSES - 1);
  assert_near(scene.glide, 0, 0, "glide at the end");
}

static void test_episodes_end_where_they_stopped(void **state) {
  FovPlayer *player = player_of(state);
  FovTrace stopped = make_up_sequence(4); // of 4, 2, 4 and 2 glimpses
  fov_player_do(player, FOV_ACTION_LAST);
  fov_player_set_trace(player, &stopped);
  assert_at(player, 0, 3);
  fov_player_do(player, FOV_ACTION_NEXT);
  fov_player_do(player, FOV_ACTION_LAST);
  assert_at(player, 1, 1);
  fov_player_do(player, FOV_ACTION_FORWARD);
  assert_at(player, 1, 1);
  fov_player_seek(player, 0);
  fov_player_do(player, FOV_ACTION_PLAY);
  fov_player_advance(player, FOV_GLIMPSE_SECONDS);
  assert_at(player, 1, 1);
  fov_player_advance(player, FOV_END_SECONDS);
  assert_at(player, 2, 0);
  FovScene scene = fov_scene(&stopped, 640, 360, &fov_theme_dark);
  scene.episode = 3;
  fov_scene_seek(&scene, 1.8); // there is no next glimpse
  assert_int_equal(scene.glimpse, 1);
  assert_near(scene.glide, 0, 0, "glide at the end");
  fov_player_set_trace(player, &fixture.trace);
  fov_trace_finish(&stopped);
}

static void assert_filter(const FovPlayer *player, const char *expected, int count) {
  char text[64];
  fov_player_filter_text(player, text, sizeof text);
  assert_string_equal(text, expected);
  assert_int_equal(player->count, count);
}

static void test_filters_of_sequences_and_games(void **state) {
  FovPlayer *player = player_of(state);
  FovTrace sequence = make_up_sequence(9), game = make_up_game(9);
  fov_player_set_trace(player, &sequence);
  for (int i = 0; i < 3; i++) fov_player_do(player, FOV_ACTION_CLASS);
  assert_filter(player, "all, class 2", 3);
  fov_player_do(player, FOV_ACTION_CLASS);
  assert_filter(player, "all, class end", 5); // the label after the first ones
  fov_player_set_trace(player, &game);        // which has no classes
  assert_filter(player, "all", 9);
  fov_player_do(player, FOV_ACTION_CLASS);
  assert_filter(player, "all", 9);
  fov_player_do(player, FOV_ACTION_FILTER);
  assert_filter(player, "goal missed", 5);
  fov_player_do(player, FOV_ACTION_FILTER);
  assert_filter(player, "goal met", 4);
  fov_player_set_trace(player, &fixture.trace);
  fov_trace_finish(&sequence);
  fov_trace_finish(&game);
}

static void test_an_answer_is_that_of_its_turn(void **state) {
  (void)state;
  FovTrace trace = make_up_sequence(2);
  char name[FOV_ACTION_NAME];
  assert_int_equal(fov_next_answer(&trace, 0, 0), 0);
  assert_int_equal(fov_next_answer(&trace, 0, 1), 0);
  assert_int_equal(fov_next_answer(&trace, 0, 2), 3);
  trace.answers[GLIMPSES - 1] = -1;
  assert_int_equal(fov_next_answer(&trace, 0, 2), -1);
  fov_action_name(name, &trace, 3);
  assert_string_equal(name, "end");
  fov_action_name(name, &trace, -1);
  assert_string_equal(name, "none");
  fov_trace_finish(&trace);
}

static void test_entropy_is_of_the_probabilities(void **state) {
  (void)state;
  FovTrace *trace = &fixture.trace;
  assert_near(fov_entropy(trace, 0, 0), 2, 1e-12, "entropy of four equal chances");
  memcpy(trace->probabilities, (float[]){0, 1, 0, 0, 0.5f, 0, 0.25f, 0.25f}, 8 * sizeof(float));
  assert_near(fov_entropy(trace, 0, 0), 0, 0, "entropy of certainty");
  assert_near(fov_entropy(trace, 0, 1), 1.5, 1e-12, "entropy of a half and two quarters");
}

static void test_the_reconstruction_has_the_finest_and_newest_glimpse(void **state) {
  (void)state;
  FovTrace *trace = &fixture.trace;
  uint8_t pixels[SIZE * SIZE];
  float areas[SIZE * SIZE];
  size_t patch = SIDE * SIDE;
  // First at (8, 8), then at (16, 8): 8 pixels apart, so the fine patches touch.
  memcpy(trace->locations, (float[]){-0.5, -0.5, 0, -0.5}, 4 * sizeof(float));
  for (int i = 0; i < 2 * SCALES; i++) memset(trace->retina + i * patch, 10 * (i + 1), patch);
  memset(pixels, 0, sizeof pixels);
  fov_reconstruct(pixels, areas, trace, 0, 0);
  assert_near(areas[4 * SIZE + 4], SIDE * SIDE, 0, "fine"); // in the first fine patch, 4 … 11
  assert_int_equal(pixels[4 * SIZE + 4], 10);
  assert_near(areas[0], 4 * SIDE * SIDE, 0, "coarse"); // only in the coarse one, 0 … 15
  assert_int_equal(pixels[0], 20);
  assert_true(isinf(areas[16]));
  assert_int_equal(pixels[16], 0);
  fov_reconstruct(pixels, areas, trace, 0, 1);
  assert_int_equal(pixels[4 * SIZE + 4], 10);  // fine pixels stay
  assert_int_equal(pixels[4 * SIZE + 12], 30); // the second fine patch, 12 … 19
  assert_int_equal(pixels[9], 40);             // the newer of two coarse patches
  assert_int_equal(pixels[0], 20);
}

static void test_a_changing_image_shows_the_newest_glimpse(void **state) {
  (void)state;
  FovTrace trace = make_up_game(1);
  uint8_t pixels[SIZE * SIZE];
  float areas[SIZE * SIZE];
  size_t patch = SIDE * SIDE;
  memcpy(trace.locations, (float[]){-0.5, -0.5, 0, -0.5}, 4 * sizeof(float));
  for (int i = 0; i < 2 * SCALES; i++) memset(trace.retina + i * patch, 10 * (i + 1), patch);
  fov_reconstruct(pixels, areas, &trace, 0, 1);
  assert_int_equal(pixels[4 * SIZE + 4], 10);  // seen by the first glimpse only
  assert_int_equal(pixels[4 * SIZE + 9], 40);  // finely by the first, coarsely by the second
  assert_int_equal(pixels[4 * SIZE + 12], 30); // finely by the second
  for (int i = 0; i < SIZE * SIZE; i++)
    assert_int_equal(fov_reconstructed_scale(&trace, 0, 1, i % SIZE, i / SIZE),
                     isinf(areas[i]) ? -1 : areas[i] > SIDE * SIDE);
  fov_trace_finish(&trace);
}

static void test_patches_that_reach_beyond_the_image_stay_inside(void **state) {
  (void)state;
  FovTrace *trace = &fixture.trace;
  uint8_t *pixels = calloc(1, SIZE * SIZE);
  float *areas = malloc(SIZE * SIZE * sizeof *areas);
  memcpy(trace->locations, (float[]){1, 1, -1, -1}, 4 * sizeof(float));
  fov_reconstruct(pixels, areas, trace, 0, 1); // sanitizers check the borders
  assert_near(areas[0], SIDE * SIDE, 0, "top left");
  assert_near(areas[SIZE * SIZE - 1], SIDE * SIDE, 0, "bottom right");
  assert_true(isinf(areas[SIZE - 1]));
  free(pixels);
  free(areas);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_playback_begins_at_the_first_glimpse),
      TEST(test_a_step_glides_to_a_whole_glimpse),
      TEST(test_episodes_stop_at_both_ends),
      TEST(test_playing_takes_the_documented_time),
      TEST(test_playing_goes_on_to_the_next_episode_and_ends_after_the_last),
      TEST(test_speed_has_bounds),
      TEST(test_filters_select_wrong_right_and_class),
      TEST(test_leaving_an_empty_selection_returns_to_the_same_episode),
      TEST(test_a_typed_number_opens_its_episode),
      TEST(test_overlays_and_modes_toggle),
      TEST(test_another_trace_keeps_episode_and_glimpse),
      TEST(test_the_gaze_rests_then_moves),
      TEST(test_episodes_end_where_they_stopped),
      TEST(test_filters_of_sequences_and_games),
      TEST(test_an_answer_is_that_of_its_turn),
      TEST(test_entropy_is_of_the_probabilities),
      TEST(test_the_reconstruction_has_the_finest_and_newest_glimpse),
      TEST(test_a_changing_image_shows_the_newest_glimpse),
      TEST(test_patches_that_reach_beyond_the_image_stay_inside),
  };
  return cmocka_run_group_tests_name("player", tests, NULL, NULL);
}
