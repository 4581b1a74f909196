#include "viz/viewer/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "viz/export/export.h"
#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/layout.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/keys.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/window_layout.h"

static const double message_seconds = 4, poll_seconds = 1;

/* ---- what has changed ---- */

static void damage(FovViewer *viewer, FovBox box) {
  if (viewer->damages == FOV_DAMAGES) { // too many: redraw everything
    viewer->damages = 1;
    box = (FovBox){0, 0, viewer->width, viewer->height};
    viewer->damage[0] = box;
    return;
  }
  viewer->damage[viewer->damages++] = box;
}

static void damage_all(FovViewer *viewer) {
  viewer->damages = FOV_DAMAGES;
  damage(viewer, (FovBox){0});
}

static void show_message(FovViewer *viewer, bool alarm, const char *text) {
  snprintf(viewer->message, sizeof viewer->message, "%s", text);
  viewer->message_left = message_seconds * (alarm ? 2 : 1);
  viewer->alarm = alarm;
  damage_all(viewer);
}

/** Shows the message of a failure; whether there was none. */
static bool check(FovViewer *viewer, FovStatus status) {
  if (status != FOV_OK) show_message(viewer, true, fov_error_message());
  return status == FOV_OK;
}

static void forget_heat(FovViewer *viewer) {
  fov_heat_finish(&viewer->heat);
}

/** Resets what depended on the trace before. */
static FovStatus take_trace(FovViewer *viewer) {
  fov_scene_cache_clear(viewer->cache);
  forget_heat(viewer);
  viewer->hint[0] = '\0';
  damage_all(viewer);
  return fov_player_set_trace(&viewer->player, &viewer->opened.trace);
}

/* ---- opening ---- */

/** Looks for new traces and rows; for all of them in a run that was just opened. */
static void poll(FovViewer *viewer) {
  bool trace, rows;
  viewer->since_poll = 0;
  bool waited = viewer->opened.snapshots == 0;
  check(viewer, fov_opened_run_poll(&trace, &rows, &viewer->opened));
  if (trace) check(viewer, take_trace(viewer));
  if (trace && waited) fov_player_do(&viewer->player, FOV_ACTION_FIRST);
  if (rows) damage_all(viewer);
}

FovStatus fov_viewer_open(FovViewer *viewer, const char *path) {
  *viewer = (FovViewer){.width = FOV_SCENE_WIDTH, .height = FOV_SCENE_HEIGHT};
  FOV_TRY(fov_opened_run_open(&viewer->opened, path));
  FovStatus status = fov_player_init(&viewer->player, &viewer->opened.trace);
  if (status != FOV_OK) {
    fov_opened_run_finish(&viewer->opened);
    return status;
  }
  viewer->cache = fov_scene_cache_create();
  viewer->following = viewer->opened.snapshots == 0; // nothing to show yet
  damage_all(viewer);
  poll(viewer);
  return FOV_OK;
}

void fov_viewer_finish(FovViewer *viewer) {
  fov_player_finish(&viewer->player);
  fov_scene_cache_destroy(viewer->cache);
  fov_heat_finish(&viewer->heat);
  fov_opened_run_finish(&viewer->opened);
}

FovStatus fov_viewer_start(FovViewer *viewer, int index) {
  FovPlayer *player = &viewer->player;
  if (viewer->opened.snapshots == 0 && index == 0) return FOV_OK; // it has no episodes yet
  if (index < player->count && fov_player_go(player, player->selection[index])) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: no episode %d of its %d %sepisodes", viewer->opened.path,
                  index, player->count, player->filter == FOV_FILTER_WRONG ? "wrong " : "");
}

void fov_viewer_drop(FovViewer *viewer, const char *path) {
  FovOpenedRun opened;
  if (!check(viewer, fov_opened_run_open(&opened, path))) return;
  fov_opened_run_finish(&viewer->opened);
  viewer->opened = opened;
  viewer->following = opened.snapshots == 0;
  viewer->player.mode = FOV_MODE_SCENE;
  viewer->message_left = 0;
  if (check(viewer, take_trace(viewer)) && opened.trace.episodes > 0)
    fov_player_go(&viewer->player, 0);
  poll(viewer);
}

void fov_viewer_resize(FovViewer *viewer, double width, double height) {
  viewer->width = fmax(width, FOV_SCENE_MIN_WIDTH);
  viewer->height = fmax(height, 2 * FOV_SCENE_MIN_HEIGHT);
  viewer->hint[0] = '\0';
  damage_all(viewer);
}

/* ---- actions ---- */

static void show_snapshot(FovViewer *viewer, size_t snapshot) {
  if (snapshot >= viewer->opened.snapshots || snapshot == viewer->opened.snapshot) return;
  if (check(viewer, fov_opened_run_show(&viewer->opened, snapshot)))
    check(viewer, take_trace(viewer));
}

/** Composes the name of a file from what it shows. */
static void name_file(char *path, size_t size, const FovViewer *viewer, const char *ending) {
  const FovPlayer *player = &viewer->player;
  const char *name = viewer->opened.name;
  char what[64];
  if (player->mode == FOV_MODE_SCENE)
    snprintf(what, sizeof what, "episode-%d", fov_player_episode(player));
  else
    snprintf(what, sizeof what, "%s", player->mode == FOV_MODE_HEAT ? "heat" : "sheet");
  size_t stem = strcspn(name, ".");
  if (player->mode == FOV_MODE_SCENE && strcmp(ending, ".png") == 0)
    snprintf(path, size, "%.*s-%s-glimpse-%d%s", (int)stem, name, what,
             fov_player_glimpse(player) + 1, ending);
  else
    snprintf(path, size, "%.*s-%s%s", (int)stem, name, what, ending);
}

static FovStatus save_picture(const char *path, FovViewer *viewer) {
  FovCanvas canvas = {0};
  FovBox scene = fov_window_layout(viewer).scene;
  FOV_TRY(fov_canvas_begin(&canvas, path, scene.w, scene.h, 1));
  fov_viewer_draw_mode(canvas.cr, viewer);
  return fov_canvas_commit(&canvas);
}

static FovStatus export_episode(const char *path, const FovViewer *viewer) {
  FovScene scene = fov_player_scene(&viewer->player, FOV_SCENE_WIDTH, FOV_SCENE_HEIGHT);
  scene.cache = NULL;
  return fov_export(path, &scene);
}

static void write_file(FovViewer *viewer, bool film) {
  char path[2 * FOV_OPENED_RUN_NAME + 64], text[sizeof path + 16];
  name_file(path, sizeof path, viewer, film ? ".gif" : ".png");
  if (!check(viewer, film ? export_episode(path, viewer) : save_picture(path, viewer))) return;
  snprintf(text, sizeof text, "saved %s", path);
  show_message(viewer, false, text);
}

/** A GIF takes a second: the message is drawn before it is written. */
static void begin_export(FovViewer *viewer) {
  viewer->exporting = true;
  show_message(viewer, false, "exporting a GIF ...");
}

static void follow(FovViewer *viewer) {
  viewer->following = !viewer->following;
  viewer->since_poll = poll_seconds; // poll at once
  show_message(viewer, false,
               viewer->following ? "following: new traces are shown as they are written"
                                 : "no longer following");
}

/** Turns the pages of the heat map; false if the action is another. */
static bool turn_heat(FovViewer *viewer, FovAction action) {
  const int pages = FOV_HEAT_MAPS / FOV_HEAT_PAGE;
  bool back = action == FOV_ACTION_PREVIOUS || action == FOV_ACTION_FIRST;
  if (!back && action != FOV_ACTION_NEXT && action != FOV_ACTION_LAST) return false;
  bool end = action == FOV_ACTION_FIRST || action == FOV_ACTION_LAST;
  for (int i = 0; i < (end ? pages : 1); i++) fov_heat_turn(&viewer->heat, back ? -1 : 1);
  return true;
}

/** A new filter or class changes the selection, so the heat map has to be counted again. */
static void do_in_player(FovViewer *viewer, FovAction action) {
  FovPlayer *player = &viewer->player;
  bool by_class = action == FOV_ACTION_CLASS || action == FOV_ACTION_CLASS_BACK;
  if (by_class && player->trace->control) show_message(viewer, false, "a game has no classes");
  if (action == FOV_ACTION_HEAT && player->trace->vocabulary > 0) {
    show_message(viewer, false, "a sequence has no places to map");
    return;
  }
  if (player->mode == FOV_MODE_HEAT && turn_heat(viewer, action)) return;
  FovFilter filter = player->filter;
  int label = player->label;
  fov_player_do(player, action);
  if (player->filter != filter || player->label != label) forget_heat(viewer);
}

/** Toggles an overlay and shows its name: some change nothing visible at this glimpse. */
static void toggle_overlay(FovViewer *viewer, FovAction action) {
  static const char *const names[FOV_OVERLAYS] = {"squares", "path", "policy",
                                                  "numbers", "veil", "reconstruction"};
  int overlay = (int)action - FOV_ACTION_OVERLAY_1;
  char text[32];
  fov_player_do(&viewer->player, action);
  bool shown = viewer->player.overlays >> overlay & 1;
  snprintf(text, sizeof text, "%s: %s", names[overlay], shown ? "shown" : "hidden");
  show_message(viewer, false, text);
}

static void show_next_head(FovViewer *viewer) {
  FovPlayer *player = &viewer->player;
  char head[40], text[64];
  fov_player_do(player, FOV_ACTION_HEAD);
  fov_describe_head(head, sizeof head, player->trace, player->head);
  snprintf(text, sizeof text, "weights: %s", head[0] ? head : "this trace has no heads to choose");
  show_message(viewer, false, text);
}

void fov_viewer_do(FovViewer *viewer, FovAction action) {
  if (action == FOV_ACTION_NONE) return;
  viewer->message_left = 0;
  viewer->hint[0] = '\0';
  damage_all(viewer);
  switch (action) {
  case FOV_ACTION_FOLLOW:
    follow(viewer);
    break;
  case FOV_ACTION_EARLIER:
    show_snapshot(viewer, viewer->opened.snapshot - 1); // before the first: out of range, ignored
    break;
  case FOV_ACTION_LATER:
    show_snapshot(viewer, viewer->opened.snapshot + 1);
    break;
  case FOV_ACTION_HEAD:
    show_next_head(viewer);
    break;
  case FOV_ACTION_SAVE:
    if (viewer->player.count > 0) write_file(viewer, false);
    break;
  case FOV_ACTION_EXPORT:
    if (viewer->player.count > 0) begin_export(viewer);
    break;
  default:
    if (action >= FOV_ACTION_OVERLAY_1 && action <= FOV_ACTION_OVERLAY_6)
      toggle_overlay(viewer, action);
    else
      do_in_player(viewer, action);
  }
}

FovAction fov_viewer_type(FovViewer *viewer, char letter) {
  FovPlayer *player = &viewer->player;
  if (!player->asking) return fov_key_action(letter);
  FovFilter filter = player->filter;
  int label = player->label;
  char text[96];
  if (!fov_player_type(player, letter)) {
    snprintf(text, sizeof text, "no episode %s: there are 0 to %d", player->entry,
             player->trace->episodes - 1);
    show_message(viewer, true, text);
  }
  if (player->filter != filter || player->label != label) forget_heat(viewer);
  damage_all(viewer);
  return FOV_ACTION_NONE;
}

bool fov_viewer_can_cancel(const FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  return player->asking || player->help || player->mode != FOV_MODE_SCENE;
}

/* ---- the mouse ---- */

static void drag(FovViewer *viewer) {
  FovWindowLayout layout = fov_window_layout(viewer);
  FovPlayer *player = &viewer->player;
  if (viewer->grip == FOV_GRIP_TIME) {
    fov_player_seek(player, fov_axis_value(&layout.time, viewer->x));
  } else if (viewer->grip == FOV_GRIP_TRAINING) {
    show_snapshot(viewer, fov_window_snapshot(viewer, &layout, viewer->x));
  } else {
    FovScene scene = fov_window_scene(viewer);
    FovBox image = fov_scene_image(&scene);
    double x = viewer->grip_zoom.x - (viewer->x - viewer->grip_x) / image.w;
    double y = viewer->grip_zoom.y - (viewer->y - viewer->grip_y) / image.h;
    player->zoom.x = fmin(1, fmax(0, x));
    player->zoom.y = fmin(1, fmax(0, y));
  }
  damage_all(viewer);
}

static void press_sheet(FovViewer *viewer, const FovWindowLayout *layout) {
  FovPlayer *player = &viewer->player;
  int place = fov_sheet_at(player, layout->scene.w, layout->scene.h, viewer->x, viewer->y);
  if (place < 0) return;
  player->mode = FOV_MODE_SCENE;
  fov_player_go(player, player->selection[place]);
}

static FovGrip grip_at(const FovViewer *viewer, const FovWindowLayout *layout) {
  double x = viewer->x, y = viewer->y;
  const FovPlayer *player = &viewer->player;
  if (player->mode == FOV_MODE_SCENE && player->count > 0) {
    if (fov_inside(layout->timeline, x, y)) return FOV_GRIP_TIME;
    FovScene scene = fov_window_scene(viewer);
    if (player->zoom.factor > 1 && fov_inside(fov_scene_view(&scene), x, y)) return FOV_GRIP_IMAGE;
  }
  return fov_inside(layout->training, x, y) ? FOV_GRIP_TRAINING : FOV_GRIP_NONE;
}

void fov_viewer_press(FovViewer *viewer, double x, double y) {
  FovWindowLayout layout = fov_window_layout(viewer);
  FovPlayer *player = &viewer->player;
  viewer->x = viewer->grip_x = x;
  viewer->y = viewer->grip_y = y;
  viewer->hint[0] = '\0';
  viewer->grip_zoom = player->zoom;
  viewer->grip = grip_at(viewer, &layout);
  damage_all(viewer);
  if (player->help) {
    player->help = false;
    viewer->grip = FOV_GRIP_NONE;
  } else if (player->mode == FOV_MODE_SHEET && fov_inside(layout.scene, x, y)) {
    press_sheet(viewer, &layout);
  } else if (fov_inside(layout.button, x, y)) {
    fov_viewer_do(viewer, FOV_ACTION_PLAY);
  } else if (fov_inside(layout.filter, x, y)) {
    fov_viewer_do(viewer, FOV_ACTION_FILTER);
  } else if (fov_inside(layout.speed, x, y)) {
    fov_viewer_do(viewer, FOV_ACTION_NEXT_SPEED);
  } else if (viewer->grip == FOV_GRIP_TIME) {
    player->playing = false;
  }
  if (viewer->grip == FOV_GRIP_TIME || viewer->grip == FOV_GRIP_TRAINING) drag(viewer);
}

static void update_hint(FovViewer *viewer) {
  char text[sizeof viewer->hint] = "";
  fov_viewer_describe(text, sizeof text, viewer);
  if (!text[0] && !viewer->hint[0]) return;
  damage(viewer, fov_window_hint(viewer)); // where it was
  memcpy(viewer->hint, text, sizeof text);
  damage(viewer, fov_window_hint(viewer)); // and is
}

void fov_viewer_move(FovViewer *viewer, double x, double y) {
  if (viewer->grip != FOV_GRIP_NONE) {
    viewer->x = x;
    viewer->y = y;
    drag(viewer);
    return;
  }
  if (viewer->hint[0]) damage(viewer, fov_window_hint(viewer));
  viewer->hint[0] = '\0';
  viewer->x = x;
  viewer->y = y;
  update_hint(viewer);
}

void fov_viewer_release(FovViewer *viewer) {
  viewer->grip = FOV_GRIP_NONE;
}

void fov_viewer_leave(FovViewer *viewer) {
  if (viewer->hint[0]) damage(viewer, fov_window_hint(viewer));
  viewer->hint[0] = '\0';
}

void fov_viewer_wheel(FovViewer *viewer, double steps) {
  FovPlayer *player = &viewer->player;
  if (player->count == 0 || player->help) return;
  if (player->mode == FOV_MODE_SHEET) {
    fov_player_scroll(player, steps > 0 ? -1 : 1);
  } else if (player->mode == FOV_MODE_SCENE) {
    FovScene scene = fov_window_scene(viewer);
    if (!fov_inside(fov_scene_view(&scene), viewer->x, viewer->y)) return;
    player->zoom = fov_scene_zoom(&scene, pow(1.25, steps), viewer->x, viewer->y);
  }
  viewer->hint[0] = '\0';
  damage_all(viewer);
}

/* ---- time ---- */

/** Between two glimpses only the image and the timeline change. */
static void play(FovViewer *viewer, double seconds) {
  FovPlayer *player = &viewer->player;
  int episode = fov_player_episode(player), glimpse = (int)player->time;
  bool playing = player->playing;
  if (viewer->grip == FOV_GRIP_TIME || !fov_player_advance(player, seconds)) return;
  bool same = episode == fov_player_episode(player) && glimpse == (int)player->time &&
              playing == player->playing;
  if (!same || viewer->message_left > 0 || player->help || player->asking) {
    damage_all(viewer);
    return;
  }
  FovScene scene = fov_window_scene(viewer);
  damage(viewer, fov_scene_view(&scene));
  damage(viewer, fov_window_layout(viewer).bar);
  if (viewer->hint[0]) damage(viewer, fov_window_hint(viewer));
}

void fov_viewer_tick(FovViewer *viewer, double seconds) {
  play(viewer, seconds);
  if (viewer->exporting && viewer->player.count > 0) write_file(viewer, true);
  viewer->exporting = false;
  if (viewer->message_left > 0) {
    viewer->message_left -= seconds;
    if (viewer->message_left <= 0) damage_all(viewer);
  }
  if (!viewer->following) return;
  viewer->since_poll += seconds;
  if (viewer->since_poll >= poll_seconds) poll(viewer);
}

double fov_viewer_wait(const FovViewer *viewer) {
  if (viewer->damages > 0 || viewer->exporting) return 0;
  if (viewer->grip != FOV_GRIP_TIME && fov_player_moves(&viewer->player)) return 0;
  double wait = -1;
  if (viewer->message_left > 0) wait = viewer->message_left;
  double next_poll = fmax(0.01, poll_seconds - viewer->since_poll);
  if (viewer->following && (wait < 0 || next_poll < wait)) wait = next_poll;
  return wait;
}

/* ---- words ---- */

void fov_viewer_title(const FovViewer *viewer, char *text, size_t size) {
  const FovPlayer *player = &viewer->player;
  const FovOpenedRun *opened = &viewer->opened;
  char filter[64], head[40] = "", snapshot[48] = "";
  fov_player_filter_text(player, filter, sizeof filter);
  if (opened->snapshots > 1)
    snprintf(snapshot, sizeof snapshot, ", update %lld", (long long)opened->trace.update);
  if (player->head > 0) snprintf(head, sizeof head, ", head %d", player->head);
  const char *follow = viewer->following ? ", following" : "";
  if (opened->snapshots == 0)
    snprintf(text, size, "%s: waiting for the first evaluation%s", opened->name, follow);
  else if (player->count == 0)
    snprintf(text, size, "%s: no episode, %s%s%s", opened->name, filter, snapshot, follow);
  else if (player->mode == FOV_MODE_HEAT)
    snprintf(text, size, "%s: heat map, %s%s%s", opened->name, filter, snapshot, follow);
  else if (player->mode == FOV_MODE_SHEET)
    snprintf(text, size, "%s: contact sheet, %s%s%s%s", opened->name, filter, head, snapshot,
             follow);
  else
    snprintf(text, size, "%s: episode %d, glimpse %d of %d, %s%s, %gx, %s%s%s", opened->name,
             fov_player_episode(player), fov_player_glimpse(player) + 1,
             fov_player_last(player) + 1, filter, head, player->speed,
             player->playing ? "playing" : "paused", snapshot, follow);
  fov_text_clean(text); // of a name
}
