#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "pixel.h"
#include "record/history.h"
#include "record/progress.h"
#include "record/run.h"
#include "traces.h"
#include "viz/scene/layout.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/mouse.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/viewer.h"
#include "viz/viewer/window_layout.h"
#include "working_folder.h"

enum { EPISODES = 120, WIDTH = 1280, HEIGHT = 720 };

static FovViewer viewer;

/** The place of a time, in glimpses, on the timeline. */
static void find_time(const FovViewer *of, double time, double *x, double *y) {
  FovWindowLayout layout = fov_window_layout(of);
  *x = fov_axis_at(&layout.time, time);
  *y = layout.bar.y + layout.bar.h / 2;
}

/** The place of a snapshot on the slider. */
static void find_snapshot(const FovViewer *of, size_t snapshot, double *x, double *y) {
  FovWindowLayout layout = fov_window_layout(of);
  *x = fov_axis_at(&layout.updates, (double)of->opened.updates[snapshot]);
  *y = layout.training.y + layout.training.h / 2;
}

/** A run of three snapshots with a curve of three rows. */
static void make_run(const char *name) {
  char path[300];
  assert_int_equal(mkdir(name, 0700), 0);
  assert_int_equal(fov_history_begin(name, 0), FOV_OK);
  FovTrace trace = make_up_trace(6, 1);
  for (trace.update = 10; trace.update <= 30; trace.update += 10)
    assert_int_equal(fov_history_add(name, &trace), FOV_OK);
  trace.update = 30;
  snprintf(path, sizeof path, "%s/trace.safetensors", name);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  snprintf(path, sizeof path, "%s/progress.csv", name);
  for (int i = 1; i <= 3; i++) {
    FovProgress row = {.update = 10 * i, .episodes = 640 * i, .valid_error = 0.9 / i};
    assert_int_equal(fov_progress_append(path, &row), FOV_OK);
  }
}

static int write_trace(FovTrace trace, const char *path) {
  FovStatus status = fov_trace_write(&trace, path);
  fov_trace_finish(&trace);
  return status == FOV_OK ? 0 : -1;
}

static int begin(void **state) {
  if (enter_folder(state) != 0) return -1;
  if (write_trace(make_up_trace(EPISODES, 1), "a.trace") != 0) return -1;
  if (write_trace(make_up_game(EPISODES), "game.trace") != 0) return -1;
  if (write_trace(make_up_sequence(EPISODES), "sequence.trace") != 0) return -1;
  if (write_trace(make_up_heads(EPISODES, 4, 2), "heads.trace") != 0) return -1;
  if (write_trace(make_up_windows(EPISODES, 2), "windows.trace") != 0) return -1;
  make_run("run");
  if (fov_viewer_open(&viewer, "a.trace") != FOV_OK) return -1;
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
  return 0;
}

static int end(void **state) {
  fov_viewer_finish(&viewer);
  return leave_folder(state);
}

static void reopen(const char *path) {
  fov_viewer_finish(&viewer);
  assert_int_equal(fov_viewer_open(&viewer, path), FOV_OK);
  fov_viewer_resize(&viewer, WIDTH, HEIGHT);
}

/** Draws the damaged area into a picture, or a whole new one if that is NULL. */
static cairo_surface_t *draw(cairo_surface_t *picture) {
  bool all = !picture;
  if (all) picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  for (int i = 0; i < (all ? 1 : viewer.damages); i++) {
    cairo_t *cr = cairo_create(picture);
    FovBox box = all ? (FovBox){0, 0, WIDTH, HEIGHT} : viewer.damage[i];
    cairo_rectangle(cr, floor(box.x), floor(box.y), ceil(box.w + 1), ceil(box.h + 1));
    cairo_clip(cr);
    fov_viewer_draw(cr, &viewer);
    assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
  }
  viewer.damages = 0;
  cairo_surface_flush(picture);
  return picture;
}

static int differences(cairo_surface_t *a, cairo_surface_t *b) {
  const uint32_t *x = (const uint32_t *)(const void *)cairo_image_surface_get_data(a);
  const uint32_t *y = (const uint32_t *)(const void *)cairo_image_surface_get_data(b);
  int count = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++) count += ((x[i] ^ y[i]) & 0xffffff) != 0;
  return count;
}

static void assert_title(const char *expected) {
  char title[256];
  fov_viewer_title(&viewer, title, sizeof title);
  assert_string_equal(title, expected);
}

static void assert_notice(const char *part) {
  if (viewer.message_left <= 0 || !strstr(viewer.message, part))
    fail_msg("'%s' lacks '%s'", viewer.message, part);
  assert_null(strchr(viewer.message, '\n'));
}

/** Every change of the picture must mark all of the changed area as damaged. */
static void assert_damage_covers_every_change(const char *path, int ticks) {
  reopen(path);
  cairo_surface_t *kept = draw(NULL);
  fov_viewer_do(&viewer, FOV_ACTION_PLAY);
  for (int i = 0; i < ticks; i++) {
    if (i == 40) fov_viewer_do(&viewer, FOV_ACTION_OVERLAY_1 + 4);
    if (i == 60) fov_viewer_move(&viewer, 900, 200);
    if (i == 80) fov_viewer_move(&viewer, 900, 400);
    if (i == 100) fov_viewer_leave(&viewer);
    fov_viewer_tick(&viewer, 1 / 30.0);
    draw(kept);
    if (i % 10) continue;
    cairo_surface_t *fresh = draw(NULL);
    assert_int_equal(differences(kept, fresh), 0);
    cairo_surface_destroy(fresh);
  }
  cairo_surface_destroy(kept);
}

static void test_damage_covers_every_change(void **state) {
  (void)state;
  assert_damage_covers_every_change("a.trace", 110);
  assert_damage_covers_every_change("game.trace", 50);
  assert_damage_covers_every_change("windows.trace", 110);
}

static void test_the_viewer_is_idle_when_nothing_moves(void **state) {
  (void)state;
  cairo_surface_destroy(draw(NULL));
  fov_viewer_tick(&viewer, 1);
  assert_int_equal(viewer.damages, 0);
  assert_near(fov_viewer_wait(&viewer), -1, 0, "wait");
  fov_viewer_move(&viewer, 2, 2); // at a point without a value
  assert_near(fov_viewer_wait(&viewer), -1, 0, "wait");
  fov_viewer_do(&viewer, FOV_ACTION_FOLLOW);
  fov_viewer_tick(&viewer, 0.01);
  cairo_surface_destroy(draw(NULL));
  assert_true(fov_viewer_wait(&viewer) > 0.9);
}

static void test_the_timeline_is_clicked_and_dragged(void **state) {
  (void)state;
  double x, y, end_x;
  find_time(&viewer, 2, &x, &y);
  find_time(&viewer, 3, &end_x, &y);
  fov_viewer_press(&viewer, x, y);
  assert_title("a.trace: episode 0, glimpse 3 of 4, all, 1x, paused");
  fov_viewer_move(&viewer, x + 0.3 * (end_x - x), y);
  assert_near(viewer.player.time, 2.3, 0.01, "time");
  fov_viewer_tick(&viewer, 1); // without animation while the key is held
  assert_near(viewer.player.time, 2.3, 0.01, "time");
  fov_viewer_move(&viewer, end_x + 500, y);
  fov_viewer_release(&viewer);
  fov_viewer_tick(&viewer, 1);
  assert_title("a.trace: episode 0, glimpse 4 of 4, all, 1x, paused");
}

static uint32_t rgb_of(FovColour colour) {
  return (uint32_t)lround(255 * colour.r) << 16 | (uint32_t)lround(255 * colour.g) << 8 |
         (uint32_t)lround(255 * colour.b);
}

static void click(FovBox box) {
  fov_viewer_press(&viewer, box.x + box.w / 2, box.y + box.h / 2);
  fov_viewer_release(&viewer);
}

static void test_filter_and_speed_are_buttons(void **state) {
  (void)state;
  FovWindowLayout layout = fov_window_layout(&viewer);
  click(layout.speed);
  assert_title("a.trace: episode 0, glimpse 1 of 4, all, 2x, paused");
  for (int i = 0; i < 4; i++) click(layout.speed);
  assert_title("a.trace: episode 0, glimpse 1 of 4, all, 0.25x, paused");
  click(layout.filter);
  assert_title("a.trace: episode 2, glimpse 1 of 4, wrong, 0.25x, paused");
  fov_viewer_move(&viewer, layout.filter.x + 20, layout.filter.y + 20);
  assert_string_equal(viewer.hint, "click: wrong, right answers");
}

/** The colour of a button's ground is that of its state. */
static void test_switches_of_overlays_show_their_state(void **state) {
  (void)state;
  FovWindowLayout layout = fov_window_layout(&viewer);
  for (int i = 0; i < FOV_OVERLAYS - 1; i++) { // the last one needs a run
    unsigned before = viewer.player.overlays;
    FovBox box = fov_window_overlay(&layout, i);
    cairo_surface_t *first = draw(NULL);
    click(box);
    assert_int_equal(viewer.player.overlays, before ^ 1u << i);
    fov_viewer_tick(&viewer, 10); // until the message has gone
    cairo_surface_t *second = draw(NULL);
    const FovTheme *theme = &fov_theme_dark;
    bool on = before >> i & 1;
    assert_int_equal(pixel(first, box.x + 5, box.y + 5), rgb_of(on ? theme->quiet : theme->panel));
    assert_int_equal(pixel(second, box.x + 5, box.y + 5), rgb_of(on ? theme->panel : theme->quiet));
    cairo_surface_destroy(first);
    cairo_surface_destroy(second);
  }
  FovBox box = fov_window_overlay(&layout, 1);
  fov_viewer_move(&viewer, box.x + 5, box.y + 5);
  assert_string_equal(viewer.hint, "path: hidden");
}

static void test_a_key_of_an_overlay_names_it(void **state) {
  (void)state;
  fov_viewer_do(&viewer, fov_viewer_type(&viewer, '2'));
  assert_notice("path: hidden");
  fov_viewer_do(&viewer, fov_viewer_type(&viewer, '5'));
  assert_notice("veil: shown");
}

static void type(char letter) {
  fov_viewer_do(&viewer, fov_viewer_type(&viewer, letter));
}

/** The mean, each head, and the mean again, also in the contact sheet; other traces have none. */
static void test_a_key_steps_through_the_heads(void **state) {
  (void)state;
  reopen("heads.trace");
  cairo_surface_t *mean = draw(NULL);
  type('a');
  assert_notice("weights: head 1 of 2");
  assert_title("heads.trace: episode 0, glimpse 1 of 4, all, head 1, 1x, paused");
  type('a');
  type('m');
  assert_title("heads.trace: contact sheet, all, head 2");
  cairo_surface_t *second = draw(NULL);
  type('a');
  assert_notice("weights: mean of 2 heads");
  cairo_surface_t *sheet = draw(NULL);
  assert_true(differences(second, sheet) > 1000);
  type('m');
  fov_viewer_tick(&viewer, 10); // until the message has gone
  cairo_surface_t *again = draw(NULL);
  assert_int_equal(differences(mean, again), 0);
  type('a');
  assert_int_equal(viewer.player.head, 1);
  fov_viewer_drop(&viewer, "windows.trace");
  assert_int_equal(viewer.player.head, 0);
  type('a');
  assert_notice("weights: this trace has no heads to choose");
  assert_title("windows.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
  cairo_surface_destroy(mean);
  cairo_surface_destroy(second);
  cairo_surface_destroy(sheet);
  cairo_surface_destroy(again);
}

/** Fewer episodes have larger pictures; the page shows all of them if it can. */
static void test_few_episodes_fill_the_contact_sheet(void **state) {
  (void)state;
  const FovPlayer *player = &viewer.player;
  fov_viewer_do(&viewer, FOV_ACTION_SHEET);
  cairo_surface_destroy(draw(NULL));
  int many = player->columns;
  assert_true(player->columns * player->rows < EPISODES);
  reopen("a.trace");
  viewer.opened.trace.episodes = 3;
  assert_int_equal(fov_player_set_trace(&viewer.player, &viewer.opened.trace), FOV_OK);
  fov_viewer_do(&viewer, FOV_ACTION_SHEET);
  cairo_surface_destroy(draw(NULL));
  assert_true(player->columns * player->rows >= 3 && player->columns * player->rows <= 4);
  assert_true(player->columns < many - 2);
}

/** PgDn in the heat map shows its next page and keeps the episode. */
static void test_the_heat_map_has_pages(void **state) {
  (void)state;
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  cairo_surface_destroy(draw(NULL));
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  assert_int_equal(viewer.heat.first, 1); // four maps are one page
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  assert_title("a.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
  viewer.heat.maps = 24;
  viewer.player.mode = FOV_MODE_HEAT;
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  assert_int_equal(viewer.heat.first, 13);
  fov_viewer_do(&viewer, FOV_ACTION_FIRST);
  assert_int_equal(viewer.heat.first, 1);
}

static void test_the_button_plays(void **state) {
  (void)state;
  FovWindowLayout frame = fov_window_layout(&viewer);
  double x = frame.button.x + 5, y = frame.button.y + frame.button.h / 2;
  fov_viewer_press(&viewer, x, y);
  fov_viewer_release(&viewer);
  assert_true(viewer.player.playing);
  fov_viewer_press(&viewer, x, y);
  assert_false(viewer.player.playing);
}

static FovBox image_box(void) {
  FovScene scene = fov_window_scene(&viewer);
  return fov_scene_image(&scene);
}

static void test_the_wheel_zooms_at_the_pointer_and_a_drag_moves(void **state) {
  (void)state;
  FovBox before = image_box();
  double x = before.x + 0.3 * before.w, y = before.y + 0.6 * before.h;
  fov_viewer_move(&viewer, x, y);
  fov_viewer_wheel(&viewer, 4);
  FovBox after = image_box();
  assert_near(after.w / before.w, pow(1.25, 4), 1e-9, "factor");
  assert_near((x - after.x) / after.w, 0.3, 1e-9, "the point under the pointer");
  assert_near((y - after.y) / after.h, 0.6, 1e-9, "the point under the pointer");
  fov_viewer_press(&viewer, x, y);
  fov_viewer_move(&viewer, x - 20, y - 10);
  fov_viewer_release(&viewer);
  assert_near(image_box().x, after.x - 20, 1e-6, "dragged across");
  assert_near(image_box().y, after.y - 10, 1e-6, "dragged down");
  fov_viewer_do(&viewer, FOV_ACTION_UNZOOM);
  assert_near(image_box().x, before.x, 0, "unzoomed");
  fov_viewer_wheel(&viewer, -3); // never smaller than the window
  assert_near(image_box().w, before.w, 0, "width");
  fov_viewer_wheel(&viewer, 1000);
  assert_near(image_box().w, 64 * before.w, 1e-6, "width");
  cairo_surface_destroy(draw(NULL));
}

static void assert_hint(double x, double y, const char *expected) {
  fov_viewer_move(&viewer, x, y);
  assert_string_equal(viewer.hint, expected);
}

static void test_the_pointer_shows_values(void **state) {
  (void)state;
  char expected[64];
  double x, y;
  FovBox image = image_box();
  int value = viewer.opened.trace.images[16 * SIZE + 4];
  snprintf(expected, sizeof expected, "pixel 4, 16: %d", value);
  assert_hint(image.x + 4.5 / SIZE * image.w, image.y + 16.5 / SIZE * image.h, expected);
  find_time(&viewer, 1, &x, &y);
  assert_hint(x, y, "glimpse 2");
  for (y = 250; y < 500 && strncmp(viewer.hint, "class", 5) != 0; y += 10)
    fov_viewer_move(&viewer, 740, y); // down the right column to the bars
  assert_string_equal(viewer.hint, "class 0: 0.2500");
  assert_hint(3, 3, "");
}

/** Moves the pointer down the plots of the right column until the hint changes. */
static void assert_hint_below(double x, double y, const char *expected) {
  for (; y < 600 && strcmp(viewer.hint, expected) != 0; y += 5) fov_viewer_move(&viewer, x, y);
  assert_string_equal(viewer.hint, expected);
}

static void test_a_game_shows_actions_and_rewards(void **state) {
  (void)state;
  reopen("game.trace");
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  assert_title("game.trace: episode 1, glimpse 1 of 3, all, 1x, paused");
  cairo_surface_destroy(draw(NULL)); // so that its image is cached
  fov_viewer_do(&viewer, FOV_ACTION_LAST);
  assert_title("game.trace: episode 1, glimpse 3 of 3, all, 1x, paused");
  cairo_surface_t *last = draw(NULL);
  FovBox image = image_box(); // of the third frame: the ball is in row 16
  const uint32_t *pixels = (const uint32_t *)(const void *)cairo_image_surface_get_data(last);
  int ball =
      (int)(image.y + 17.5 / SIZE * image.h) * WIDTH + (int)(image.x + 14.5 / SIZE * image.w);
  assert_int_equal(pixels[ball] & 0xffffff, 0xffffff);
  cairo_surface_destroy(last);
  assert_hint(image.x + 14.5 / SIZE * image.w, image.y + 16.5 / SIZE * image.h,
              "pixel 14, 16: 255");
  assert_hint_below(720, 250, "action left: 0.1333");
  assert_hint_below(1250, 450, "glimpse 3: reward 1");
  fov_viewer_do(&viewer, FOV_ACTION_CLASS);
  assert_notice("moves and vectors have no classes");
}

static void test_a_click_on_the_contact_sheet_opens(void **state) {
  (void)state;
  fov_viewer_do(&viewer, FOV_ACTION_FILTER); // 2, 5, 8 …
  fov_viewer_do(&viewer, FOV_ACTION_SHEET);
  assert_title("a.trace: contact sheet, wrong");
  cairo_surface_destroy(draw(NULL));
  FovWindowLayout frame = fov_window_layout(&viewer);
  double x = 60, y = 200;
  int place = fov_sheet_at(&viewer.player, frame.scene.w, frame.scene.h, x, y);
  assert_true(place >= 0);
  fov_viewer_wheel(&viewer, 0);                                 // to the side
  for (int i = 0; i < 4; i++) fov_viewer_wheel(&viewer, -0.25); // a row down
  int columns = viewer.player.columns;
  assert_int_equal(fov_sheet_at(&viewer.player, frame.scene.w, frame.scene.h, x, y),
                   place + columns);
  fov_viewer_press(&viewer, x, y);
  assert_int_equal(viewer.player.mode, FOV_MODE_SCENE);
  assert_int_equal(fov_player_episode(&viewer.player), 3 * (place + columns) + 2);
}

static void test_the_heat_map_counts_what_was_chosen(void **state) {
  (void)state;
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  cairo_surface_destroy(draw(NULL));
  const FovHeat *heat = &viewer.heat;
  assert_int_equal(heat->maps, GLIMPSES + 1);
  assert_int_equal(heat->counts[0], EPISODES * (GLIMPSES - 1)); // the first glimpse has no policy
  double sum = 0;
  for (int i = 0; i < FOV_HEAT_SIDE * FOV_HEAT_SIDE; i++) sum += heat->cells[i];
  assert_near(sum, 1, 1e-9, "shares");
  // Glimpse 2 is at (−0.25, 0.3): column 24, row 41.
  const double *second = heat->cells + 2 * FOV_HEAT_SIDE * FOV_HEAT_SIDE;
  assert_near(second[41 * FOV_HEAT_SIDE + 24], 1, 1e-9, "share of glimpse 2");
  fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  cairo_surface_destroy(draw(NULL));
  assert_int_equal(viewer.heat.episodes, EPISODES / 3);
}

static void test_the_heat_map_leaves_out_glimpses_that_were_not_taken(void **state) {
  (void)state;
  reopen("sequence.trace"); // of 4 glimpses, or of 2 if it went wrong
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  cairo_surface_destroy(draw(NULL));
  assert_int_equal(viewer.heat.maps, GLIMPSES + 1);
  assert_int_equal(viewer.heat.counts[0], EPISODES / 2 * 4);
  assert_int_equal(viewer.heat.counts[2], EPISODES);
  assert_int_equal(viewer.heat.counts[3], EPISODES / 2);
  fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  cairo_surface_destroy(draw(NULL));
  assert_int_equal(viewer.heat.maps, 3);
}

static void test_a_run_shows_its_training(void **state) {
  (void)state;
  double x, y;
  reopen("run");
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 30");
  assert_int_equal(viewer.opened.snapshots, 3);
  fov_viewer_do(&viewer, FOV_ACTION_LATER); // there is nothing later
  fov_viewer_do(&viewer, FOV_ACTION_NEXT);
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER);
  assert_title("run: episode 1, glimpse 1 of 4, all, 1x, paused, update 20");
  find_snapshot(&viewer, 0, &x, &y);
  fov_viewer_press(&viewer, x + 3, y);
  assert_title("run: episode 1, glimpse 1 of 4, all, 1x, paused, update 10");
  find_snapshot(&viewer, 2, &x, &y);
  fov_viewer_move(&viewer, x, y);
  fov_viewer_release(&viewer);
  assert_title("run: episode 1, glimpse 1 of 4, all, 1x, paused, update 30");
  find_snapshot(&viewer, 1, &x, &y);
  assert_hint(x, y, "update 20: validation error 45.00 %");
  cairo_surface_destroy(draw(NULL));
}

static void write_main(const char *run, int64_t update) {
  char path[300];
  FovTrace trace = make_up_trace(6, 1);
  trace.update = update;
  snprintf(path, sizeof path, "%s/trace.safetensors", run);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  assert_int_equal(fov_history_add(run, &trace), FOV_OK);
  fov_trace_finish(&trace);
}

static void test_following_shows_new_traces(void **state) {
  (void)state;
  reopen("run");
  write_main("run", 40);
  fov_viewer_tick(&viewer, 5);
  assert_int_equal(viewer.opened.trace.update, 30);
  fov_viewer_do(&viewer, FOV_ACTION_FOLLOW);
  fov_viewer_tick(&viewer, 0.1); // the folder is read at once, then once a second
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 40, following");
  write_main("run", 50);
  FovProgress row = {.update = 50, .episodes = 3200, .valid_error = 0.1};
  assert_int_equal(fov_progress_append("run/progress.csv", &row), FOV_OK);
  fov_viewer_tick(&viewer, 0.5);
  assert_int_equal(viewer.opened.trace.update, 40);
  fov_viewer_tick(&viewer, 0.6);
  assert_int_equal(viewer.opened.trace.update, 50);
  assert_int_equal(viewer.opened.row_count, 4);
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER); // an earlier snapshot stays selected
  write_main("run", 60);
  fov_viewer_tick(&viewer, 1.1);
  assert_int_equal(viewer.opened.trace.update, 40);
  assert_int_equal(viewer.opened.updates[viewer.opened.snapshots - 1], 60);
}

static void cut(const char *path, long bytes) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(truncate(path, info.st_size - bytes), 0);
}

static void test_following_survives_damage(void **state) {
  (void)state;
  reopen("run");
  fov_viewer_do(&viewer, FOV_ACTION_FOLLOW);
  write_main("run", 40);
  cut("run/trace.safetensors", 8);
  fov_viewer_tick(&viewer, 1.1);
  assert_notice("run/trace.safetensors");
  assert_int_equal(viewer.opened.trace.update, 30);
  cairo_surface_destroy(draw(NULL));
  write_main("run", 40);
  fov_viewer_tick(&viewer, 1.1);
  assert_int_equal(viewer.opened.trace.update, 40);
  cut("run/traces/10.safetensors", 8);
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER); // 30
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER); // 20
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER);
  assert_notice("run/traces/10.safetensors");
  assert_int_equal(viewer.opened.trace.update, 20);
  assert_int_equal(unlink("run/trace.safetensors"), 0);
  fov_viewer_tick(&viewer, 1.1);
  cairo_surface_destroy(draw(NULL));
}

static void test_a_damaged_curve_does_not_hide_the_episodes(void **state) {
  (void)state;
  assert_int_equal(fov_file_write("run/progress.csv", "update,no\n1,2\n", 14), FOV_OK);
  reopen("run");
  assert_notice("run/progress.csv");
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 30");
  cairo_surface_destroy(draw(NULL));
  reopen("a.trace");
  fov_viewer_drop(&viewer, "run");
  assert_notice("run/progress.csv");
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 30");
}

static void test_the_viewer_waits_for_the_first_trace(void **state) {
  (void)state;
  assert_int_equal(mkdir("young", 0700), 0);
  assert_int_equal(fov_file_write("young/config.ini", "seed = 1\n", 9), FOV_OK);
  reopen("young");
  assert_title("young: waiting for the first evaluation, following");
  cairo_surface_destroy(draw(NULL));
  for (int letter = ' '; letter < 127; letter++)
    if (letter != 'l' && letter != 'g')
      fov_viewer_do(&viewer, fov_viewer_type(&viewer, (char)letter));
  fov_viewer_do(&viewer, FOV_ACTION_CANCEL);
  fov_viewer_do(&viewer, FOV_ACTION_CANCEL);
  assert_int_equal(fov_history_begin("young", 0), FOV_OK);
  write_main("young", 10);
  fov_viewer_tick(&viewer, 1.1);
  assert_int_equal(viewer.player.count > 0 || viewer.player.filter != FOV_FILTER_ALL, true);
  assert_int_equal(viewer.opened.trace.update, 10);
}

static void test_a_drop_opens_or_shows_an_error(void **state) {
  (void)state;
  fov_viewer_drop(&viewer, "run");
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 30");
  fov_viewer_drop(&viewer, "absent");
  assert_notice("absent");
  assert_int_equal(mkdir("empty", 0700), 0);
  fov_viewer_drop(&viewer, "empty");
  assert_notice("empty: not a run");
  assert_int_equal(fov_file_write("empty/sweep.ini", "", 0), FOV_OK);
  assert_int_equal(fov_file_write("empty/log.txt", "began\n", 6), FOV_OK);
  fov_viewer_drop(&viewer, "empty");
  assert_notice("empty: a sweep; name one of its runs");
  assert_int_equal(fov_file_write("text", "hello, world", 12), FOV_OK);
  fov_viewer_drop(&viewer, "text");
  assert_notice("text: ");
  cut("a.trace", 100);
  fov_viewer_drop(&viewer, "a.trace");
  assert_notice("a.trace");
  assert_title("run: episode 0, glimpse 1 of 4, all, 1x, paused, update 30");
  cairo_surface_destroy(draw(NULL));
}

static void test_pictures_are_saved_under_descriptive_names(void **state) {
  (void)state;
  reopen("run");
  fov_viewer_do(&viewer, FOV_ACTION_LAST);
  fov_viewer_do(&viewer, FOV_ACTION_SAVE);
  assert_notice("saved run-episode-0-glimpse-4.png");
  fov_viewer_do(&viewer, FOV_ACTION_HEAT);
  fov_viewer_do(&viewer, FOV_ACTION_SAVE);
  assert_true(fov_file_exists("run-episode-0-glimpse-4.png"));
  assert_true(fov_file_exists("run-heat.png"));
  fov_viewer_tick(&viewer, 100);
  assert_near(fmax(0, viewer.message_left), 0, 0, "a message goes by itself");
}

/** Pages and filters of an overview have one name: later files have a number. */
static void test_saved_files_are_not_overwritten(void **state) {
  (void)state;
  assert_int_equal(fov_file_write("a-episode-0.gif", "mine", 4), FOV_OK);
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  while (viewer.gif) fov_viewer_tick(&viewer, 0.01);
  assert_notice("saved a-episode-0-2.gif");
  fov_viewer_do(&viewer, FOV_ACTION_SHEET);
  fov_viewer_do(&viewer, FOV_ACTION_SAVE);
  assert_notice("saved a-sheet.png");
  fov_viewer_do(&viewer, FOV_ACTION_FILTER);
  fov_viewer_do(&viewer, FOV_ACTION_SAVE);
  assert_notice("saved a-sheet-2.png");
  fov_viewer_do(&viewer, FOV_ACTION_SAVE);
  assert_notice("saved a-sheet-3.png");
  assert_int_equal(
      system("test $(cat a-episode-0.gif) = mine && ! cmp -s a-sheet.png a-sheet-2.png "
             "&& cmp -s a-sheet-2.png a-sheet-3.png"),
      0);
}

/** The window moves meanwhile, and other files can be saved. */
static void test_a_gif_is_written_frame_by_frame(void **state) {
  (void)state;
  reopen("run");
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  assert_notice("exporting");
  int ticks = 0;
  for (; viewer.gif; ticks++) {
    assert_near(fov_viewer_wait(&viewer), 0, 0, "wait");
    assert_false(fov_file_exists("run-episode-0.gif"));
    if (ticks == 1) fov_viewer_do(&viewer, FOV_ACTION_NEXT);
    if (ticks == 2) fov_viewer_do(&viewer, FOV_ACTION_SAVE);
    fov_viewer_tick(&viewer, 0.01);
  }
  assert_int_equal(ticks, 3 * 7 + 1); // four glimpses, six frames between two
  assert_notice("saved run-episode-0.gif");
  assert_int_equal(fov_player_episode(&viewer.player), 1);
  assert_true(fov_file_exists("run-episode-0.gif"));
  assert_true(fov_file_exists("run-episode-1-glimpse-1.png"));
}

/** Its trace may go: the rest of the GIF is written first. */
static void test_a_gif_is_finished_before_its_trace_goes(void **state) {
  (void)state;
  static const char *const names[] = {"a-episode-0.gif", "run-episode-0.gif", "game-episode-0.gif"};
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  fov_viewer_drop(&viewer, "run");
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  fov_viewer_do(&viewer, FOV_ACTION_EARLIER);
  reopen("game.trace");
  fov_viewer_do(&viewer, FOV_ACTION_EXPORT);
  reopen("a.trace");
  for (int i = 0; i < 3; i++) assert_true(fov_file_exists(names[i]));
}

static void write_overview(const char *path, FovDrawShow show, int page) {
  const FovDrawEpisode what = {.show = show, .page = page, .width = 640, .height = 360};
  assert_int_equal(fov_draw_overview(path, "a.trace", &what), FOV_OK);
  cairo_surface_t *picture = cairo_image_surface_create_from_png(path);
  assert_int_equal(cairo_image_surface_get_width(picture), 640);
  assert_int_equal(cairo_image_surface_get_height(picture), 360);
  cairo_surface_destroy(picture);
}

static void test_maps_and_sheets_are_drawn_without_a_window(void **state) {
  (void)state;
  write_overview("heat.png", FOV_DRAW_HEAT, 1);
  write_overview("sheet.png", FOV_DRAW_SHEET, 1);
  write_overview("second.png", FOV_DRAW_SHEET, 2);
  write_overview("confusion.png", FOV_DRAW_CONFUSION, 1);
  assert_int_not_equal(system("cmp -s sheet.png second.png"), 0);
  FovDrawEpisode what = {.show = FOV_DRAW_HEAT, .page = 2};
  assert_int_equal(fov_draw_overview("no.png", "a.trace", &what), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "--page 2: it has 1"));
  what.show = FOV_DRAW_SHEET;
  what.page = 99;
  assert_int_equal(fov_draw_overview("no.png", "a.trace", &what), FOV_ERR_USAGE);
  assert_int_equal(fov_draw_overview("no.gif", "a.trace", &what), FOV_ERR_USAGE);
  // A run without a trace yet.
  assert_int_equal(mkdir("begun", 0777), 0);
  assert_int_equal(fov_file_write("begun/config.ini", "seed=1", 6), FOV_OK);
  what = (FovDrawEpisode){.gazes = 3, .page = 1};
  assert_int_equal(fov_draw_overview("no.png", "begun", &what), FOV_ERR_USAGE);
  assert_string_equal(fov_error_message(), "begun: no episodes to draw");
  assert_false(fov_file_exists("no.png"));
}

/** A click on a cell shows its episodes; a cell without any changes nothing. */
static void test_a_click_on_the_confusion_matrix_selects(void **state) {
  (void)state;
  type('k');
  assert_title("a.trace: confusion matrix");
  cairo_surface_destroy(draw(NULL));
  FovBox scene = fov_window_layout(&viewer).scene;
  double x = 0, y = 0;
  const char *wanted = "label 2 answered as 3: 10 of 30";
  for (y = 60; y < scene.h && strcmp(viewer.hint, wanted) != 0; y += 20)
    for (x = 20; x < scene.w && strcmp(viewer.hint, wanted) != 0; x += 20)
      fov_viewer_move(&viewer, x, y);
  assert_string_equal(viewer.hint, wanted);
  fov_viewer_press(&viewer, viewer.x, viewer.y);
  assert_title("a.trace: contact sheet, 2 as 3");
  assert_int_equal(viewer.player.count, 10);
  for (int i = 0; i < 10; i++) assert_int_equal(viewer.player.selection[i] % 12, 2);
  assert_false(fov_player_select(&viewer.player, 2, 0));
  assert_title("a.trace: contact sheet, 2 as 3");
  assert_true(fov_player_select(&viewer.player, 2, -1));
  assert_title("a.trace: contact sheet, all, class 2");
  fov_player_select(&viewer.player, 2, 3);
  type('f'); // the cell goes, another filter comes
  assert_title("a.trace: contact sheet, wrong");
  reopen("game.trace");
  type('k');
  assert_notice("moves and vectors have no classes");
  assert_title("game.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
}

static void type_all(const char *text) {
  for (; *text; text++) type(*text);
}

/** A trace has no agent that could play again; what is typed is no command meanwhile. */
static void test_settings_are_typed_and_need_a_run(void **state) {
  (void)state;
  type_all("rglimpses=3\bq 2\b\b4");
  assert_string_equal(viewer.player.entry, "glimpses=q4");
  cairo_surface_destroy(draw(NULL));
  assert_true(fov_viewer_can_cancel(&viewer));
  fov_viewer_do(&viewer, FOV_ACTION_CANCEL);
  type_all("rglimpses=4\r");
  assert_notice("a.trace: a trace has no agent: open its run");
  assert_true(fov_viewer_can_cancel(&viewer)); // the message
  fov_viewer_do(&viewer, FOV_ACTION_CANCEL);
  assert_false(fov_viewer_can_cancel(&viewer));
  assert_title("a.trace: episode 0, glimpse 1 of 4, all, 1x, paused");
  type_all("r");
  for (int i = 0; i < 300; i++) type('x');
  assert_int_equal(strlen(viewer.player.entry), FOV_ENTRY);
  cairo_surface_destroy(draw(NULL));
  type('\r');
  type_all("g1234567890\r"); // nine digits
  assert_notice("no episode 123456789");
}

static void test_settings_that_fail_can_be_corrected(void **state) {
  (void)state;
  reopen("run");
  type_all("rglimpses=four\r");
  assert_notice("run: ");
  type_all("\b\b\b\b4");
  assert_string_equal(viewer.player.entry, "glimpses=4");
  cairo_surface_destroy(draw(NULL));
  fov_viewer_do(&viewer, FOV_ACTION_CANCEL);
  type_all("r");
  assert_string_equal(viewer.player.entry, "");
}

static void test_a_key_sorts_the_episodes(void **state) {
  (void)state;
  type('o');
  assert_notice("sorted by entropy");
  assert_title("a.trace: episode 0, glimpse 1 of 4, all, by entropy, 1x, paused");
  type('o');
  type('o');
  type('o');
  type('m');
  cairo_surface_destroy(draw(NULL));
  assert_title("a.trace: contact sheet, all, by path");
  type('O');
  assert_title("a.trace: contact sheet, all, by path reversed");
  type('o');
  type('o');
  assert_title("a.trace: contact sheet, all");
  viewer.opened.trace.lengths[7] = 1;
  type('O');
  type('o');
  type('o');
  type('o');
  type('o');
  type('o'); // glimpses
  type('O');
  assert_int_equal(fov_player_episode(&viewer.player), 7);
}

/** Every letter in every mode at every size, for sanitizers and assertions. */
static void try_any_keys(const char *path, int presses) {
  reopen(path);
  static const double sizes[][2] = {{480, 360}, {1280, 720}, {700, 1400}, {2560, 500}};
  uint32_t random = 1;
  for (int i = 0; i < 4; i++) {
    fov_viewer_resize(&viewer, sizes[i][0], sizes[i][1]);
    for (int j = 0; j < presses; j++) {
      random = random * 1664525 + 1013904223;
      char letter = (char)(' ' + (random >> 16) % 95);
      if (letter == 's' || letter == 'e') continue;
      fov_viewer_do(&viewer, fov_viewer_type(&viewer, letter));
      fov_viewer_press(&viewer, (random >> 8) % (int)sizes[i][0], (random >> 4) % 360);
      fov_viewer_wheel(&viewer, (int)(random >> 28) - 8);
      fov_viewer_release(&viewer);
      fov_viewer_tick(&viewer, 0.3);
      if (j % 10 == 0) {
        if (viewer.player.asking) fov_viewer_type(&viewer, '\r');
        cairo_surface_destroy(draw(NULL));
      }
    }
  }
}

static void test_any_keys_at_any_size(void **state) {
  (void)state;
  try_any_keys("a.trace", 240);
  try_any_keys("game.trace", 50);
  try_any_keys("sequence.trace", 50);
  try_any_keys("heads.trace", 100);
  try_any_keys("windows.trace", 100);
}

enum { HEADER = 8192 }; // of a snapshot's file

static void test_the_history_is_bounded(void **state) {
  (void)state;
  static const int counts[] = {1, 2, 31, 32, 33, 40, 100, 1000, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    int kept = 0, count = counts[i];
    for (int index = 1; index <= count; index++) kept += fov_history_keeps(index, count);
    assert_true(kept <= FOV_HISTORY_SNAPSHOTS + 1);
    assert_true(kept >= (count < FOV_HISTORY_SNAPSHOTS ? count : FOV_HISTORY_SNAPSHOTS));
    assert_true(fov_history_keeps(1, count) && fov_history_keeps(count, count));
  }
  struct stat info;
  FovTrace large = make_up_trace(600, 3);
  assert_int_equal(fov_history_add("run", &large), FOV_OK);
  assert_int_equal(stat("run/traces/100.safetensors", &info), 0);
  assert_true(info.st_size > FOV_HISTORY_BYTES / 2 && info.st_size < FOV_HISTORY_BYTES + HEADER);
  fov_trace_finish(&large);
}

/** So are the frames of an environment that changes. */
static void test_frames_shorten_a_snapshot(void **state) {
  (void)state;
  struct stat info;
  FovTrace game = begin_trace(600, GLIMPSES, 3, CLASSES);
  assert_int_equal(fov_history_add("run", &game), FOV_OK);
  assert_int_equal(stat("run/traces/100.safetensors", &info), 0);
  assert_true(info.st_size > FOV_HISTORY_BYTES / 2 && info.st_size < FOV_HISTORY_BYTES + HEADER);
  fov_trace_finish(&game);
}

/** A policy's columns are part of a snapshot's size. */
static void test_wide_columns_shorten_a_snapshot(void **state) {
  (void)state;
  char path[FOV_PATH_SIZE];
  FovTrace trace = make_up_tiles(60, 32, "policy.tiles"),
           kept; // 16 KiB of tiles per episode, and 1 KiB of image
  assert_int_equal(fov_history_begin("run", 1000), FOV_OK);
  assert_int_equal(fov_history_add("run", &trace), FOV_OK);
  fov_history_path(path, "run", trace.update);
  assert_int_equal(fov_trace_read(&kept, path), FOV_OK);
  assert_in_range(kept.episodes, 50, 58);
  fov_trace_finish(&kept);
  fov_trace_finish(&trace);
}

static void test_the_history_drops_repeated_updates(void **state) {
  (void)state;
  int64_t *updates;
  size_t count;
  assert_int_equal(fov_file_write("run/traces/notes.txt", "mine", 4), FOV_OK);
  char host[65] = "", left[128];
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  snprintf(left, sizeof left, "run/traces/.9.safetensors.%s.99999999.tmp", host);
  assert_int_equal(fov_file_write(left, "", 0), FOV_OK);
  assert_int_equal(fov_history_begin("run", 20), FOV_OK);
  assert_int_equal(fov_history_list(&updates, &count, "run"), FOV_OK);
  assert_int_equal(count, 2);
  assert_int_equal(updates[0], 10);
  assert_int_equal(updates[1], 20);
  free(updates);
  assert_true(fov_file_exists("run/traces/notes.txt"));
  assert_false(fov_file_exists(left));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_damage_covers_every_change),
      TEST(test_the_viewer_is_idle_when_nothing_moves),
      TEST(test_the_timeline_is_clicked_and_dragged),
      TEST(test_the_button_plays),
      TEST(test_filter_and_speed_are_buttons),
      TEST(test_switches_of_overlays_show_their_state),
      TEST(test_a_key_of_an_overlay_names_it),
      TEST(test_a_key_steps_through_the_heads),
      TEST(test_few_episodes_fill_the_contact_sheet),
      TEST(test_the_heat_map_has_pages),
      TEST(test_the_wheel_zooms_at_the_pointer_and_a_drag_moves),
      TEST(test_the_pointer_shows_values),
      TEST(test_a_click_on_the_contact_sheet_opens),
      TEST(test_a_game_shows_actions_and_rewards),
      TEST(test_the_heat_map_counts_what_was_chosen),
      TEST(test_the_heat_map_leaves_out_glimpses_that_were_not_taken),
      TEST(test_a_run_shows_its_training),
      TEST(test_following_shows_new_traces),
      TEST(test_following_survives_damage),
      TEST(test_a_damaged_curve_does_not_hide_the_episodes),
      TEST(test_the_viewer_waits_for_the_first_trace),
      TEST(test_a_drop_opens_or_shows_an_error),
      TEST(test_a_gif_is_written_frame_by_frame),
      TEST(test_a_gif_is_finished_before_its_trace_goes),
      TEST(test_maps_and_sheets_are_drawn_without_a_window),
      TEST(test_a_click_on_the_confusion_matrix_selects),
      TEST(test_settings_are_typed_and_need_a_run),
      TEST(test_settings_that_fail_can_be_corrected),
      TEST(test_a_key_sorts_the_episodes),
      TEST(test_pictures_are_saved_under_descriptive_names),
      TEST(test_saved_files_are_not_overwritten),
      TEST(test_any_keys_at_any_size),
      TEST(test_the_history_is_bounded),
      TEST(test_frames_shorten_a_snapshot),
      TEST(test_wide_columns_shorten_a_snapshot),
      TEST(test_the_history_drops_repeated_updates),
  };
  return cmocka_run_group_tests_name("viewer", tests, NULL, NULL);
}
