#include "viz/viewer/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "viz/scene/alignment.h"
#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/confusion.h"
#include "viz/scene/episode.h"
#include "viz/scene/layout.h"
#include "viz/scene/sides.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/keys.h"
#include "viz/viewer/layers.h"
#include "viz/viewer/rerun.h"
#include "viz/viewer/saving.h"
#include "viz/viewer/window_layout.h"

static const double poll_seconds = 1, look_seconds = 0.02; // for new files; at a computation

enum { RERUN_EPISODES = 200 }; // that are played again, or up to the one that is shown

static void close_other(FovViewer *viewer) {
  fov_player_set_other(&viewer->player, NULL);
  fov_opened_run_finish(&viewer->other);
}

/** Shows the other agent if there is one; on failure closes it. */
static FovStatus pair_up(FovViewer *viewer) {
  const FovOpenedRun *a = &viewer->opened, *b = &viewer->other;
  if (!b->path) return FOV_OK;
  const char *name = b->path[0] ? b->path : b->name; // what was played again has no path
  FovStatus status =
      b->snapshots > 0
          ? fov_trace_check_pair(&a->trace, a->path, &b->trace, name)
          : fov_fail(FOV_ERR_USAGE, "%s: no trace yet; wait for an evaluation", b->path);
  if (status == FOV_OK)
    fov_player_set_other(&viewer->player, &b->trace);
  else
    close_other(viewer);
  return status;
}

/** Resets what depended on the trace before. */
static FovStatus take_trace(FovViewer *viewer) {
  fov_scene_cache_clear(viewer->cache);
  fov_viewer_forget_explanation(viewer);
  fov_viewer_forget_heat(viewer);
  viewer->hint[0] = '\0';
  fov_viewer_damage_all(viewer);
  FovPlayer *player = &viewer->player;
  double time = player->time, target = player->target;
  player->other = NULL; // until it is compared with the new trace
  FOV_TRY(fov_player_set_trace(player, &viewer->opened.trace));
  FOV_TRY(pair_up(viewer));
  // The other agent may look longer than this one.
  double last = fov_player_last(player);
  player->time = fmin(time, last);
  player->target = fmin(target, last);
  return FOV_OK;
}

/* ---- opening ---- */

/** Looks for new traces and rows; for all of them in a run that was just opened. */
static void poll(FovViewer *viewer) {
  bool trace, rows;
  viewer->since_poll = 0;
  bool waited = viewer->opened.snapshots == 0;
  fov_viewer_check(viewer, fov_opened_run_poll(&trace, &rows, &viewer->opened));
  if (trace) viewer->picture[0] = '\0';
  if (trace) fov_gazes_finish(&viewer->gazes);
  if (trace) fov_viewer_check(viewer, take_trace(viewer));
  if (trace && waited) fov_player_do(&viewer->player, FOV_ACTION_FIRST);
  if (rows) fov_viewer_damage_all(viewer);
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
  fov_viewer_damage_all(viewer);
  poll(viewer);
  return FOV_OK;
}

void fov_viewer_finish(FovViewer *viewer) {
  fov_viewer_end_gif(viewer);
  fov_explaining_destroy(viewer->explaining);
  fov_opened_run_finish(&viewer->other);
  fov_player_finish(&viewer->player);
  fov_scene_cache_destroy(viewer->cache);
  fov_heat_finish(&viewer->heat);
  fov_gazes_finish(&viewer->gazes);
  fov_opened_run_finish(&viewer->opened);
}

/** Begins with the `index`-th episode of the filter. */
static FovStatus start(FovViewer *viewer, int index) {
  FovPlayer *player = &viewer->player;
  if (viewer->opened.snapshots == 0 && index == 0) return FOV_OK; // it has no episodes yet
  if (index < player->count && fov_player_go(player, player->selection[index])) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: no episode %d of its %d %sepisodes", viewer->opened.path,
                  index, player->count, player->filter == FOV_FILTER_WRONG ? "wrong " : "");
}

/** Shows the agent of the run that is open looking at a picture. */
static FovStatus look_at(FovViewer *viewer, const char *path) {
  FovOpenedRun made;
  if (strlen(path) >= sizeof viewer->picture)
    return fov_fail(FOV_ERR_USAGE, "%.64s...: a path of more than %zu bytes", path,
                    sizeof viewer->picture - 1);
  fov_viewer_end_gif(viewer);
  fov_explaining_forget(viewer->explaining); // one thread at a time plays
  FOV_TRY(fov_rerun(&made, &viewer->opened, 1, "", path));
  close_other(viewer);
  FovTrace before = viewer->opened.trace;
  viewer->opened.trace = made.trace;
  made.trace = before;
  fov_opened_run_finish(&made);
  strcpy(viewer->picture, path);
  viewer->following = false;
  viewer->player.mode = FOV_MODE_SCENE;
  FOV_TRY(take_trace(viewer));
  fov_player_go(&viewer->player, 0);
  return FOV_OK;
}

/** Opens another agent beside the first one. */
static FovStatus open_other(FovViewer *viewer, const char *path) {
  if (!path) return FOV_OK;
  if (viewer->opened.snapshots == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: no trace yet; wait for an evaluation", viewer->opened.path);
  FOV_TRY(fov_opened_run_open(&viewer->other, path));
  return pair_up(viewer);
}

static FovStatus sample_gazes(FovViewer *viewer, const FovDrawEpisode *what) {
  const FovTrace *trace = &viewer->opened.trace;
  if (what->gazes == 0 || trace->episodes == 0) return FOV_OK;
  int episode = fov_player_episode(&viewer->player);
  int most = episode < RERUN_EPISODES ? RERUN_EPISODES : episode + 1;
  if (fov_reads_several(trace))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: --gazes: the agent reads several tiles at once; expected one glimpse",
                    viewer->opened.path);
  if (fov_has_window(trace))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: --gazes: expected glimpses that are sampled, found windows, which are not",
                    viewer->opened.path);
  if (fov_shows_alignment(trace))
    return fov_fail(FOV_ERR_USAGE, "%s: --gazes: expected glimpses of an image, found a sequence",
                    viewer->opened.path);
  return fov_rerun_gazes(&viewer->gazes, &viewer->opened, most, what->gazes);
}

/** Why there is no heat map; NULL: there is one. */
static const char *no_heat(const FovTrace *trace) {
  if (trace->vocabulary > 0) return "a sequence has no places to map";
  bool places = !fov_reads_several(trace) || fov_heads(trace) > 0;
  return places ? NULL : "the agent has neither places nor weights to map";
}

/** Fails if there is no confusion matrix. */
static FovStatus check_confusion(const FovTrace *trace) {
  FovConfusion confusion;
  FOV_TRY(fov_confusion_count(&confusion, trace, 0));
  fov_confusion_finish(&confusion);
  return FOV_OK;
}

static FovStatus show(FovViewer *viewer, const FovDrawEpisode *what) {
  static const FovMode modes[] = {[FOV_DRAW_EPISODE] = FOV_MODE_SCENE,
                                  [FOV_DRAW_HEAT] = FOV_MODE_HEAT,
                                  [FOV_DRAW_TARGET] = FOV_MODE_HEAT,
                                  [FOV_DRAW_SHEET] = FOV_MODE_SHEET,
                                  [FOV_DRAW_CONFUSION] = FOV_MODE_CONFUSION};
  FovPlayer *player = &viewer->player;
  viewer->explaining = fov_explaining_create(what->explain);
  if (what->picture) FOV_TRY(look_at(viewer, what->picture));
  FOV_TRY(open_other(viewer, what->beside));
  player->light = what->light;
  if (what->wrong) fov_player_do(player, FOV_ACTION_FILTER);
  FOV_TRY(start(viewer, what->episode));
  FOV_TRY(sample_gazes(viewer, what));
  FOV_TRY(fov_check_head(&viewer->opened.trace, viewer->opened.path, what->head));
  if (modes[what->show] == FOV_MODE_HEAT && no_heat(player->trace))
    return fov_fail(FOV_ERR_USAGE, "%s: %s", viewer->opened.path, no_heat(player->trace));
  if (what->show == FOV_DRAW_TARGET && !fov_has_targets(player->trace))
    return fov_fail(
        FOV_ERR_USAGE,
        "%s: --show target: expected a trace with the place of the target, such as one of "
        "env = cluttered; record an older trace again: fovea trace",
        viewer->opened.path);
  if (what->show == FOV_DRAW_CONFUSION) FOV_TRY(check_confusion(player->trace));
  if (what->method) FOV_TRY(fov_viewer_explain_by(viewer, what->explain, what->method));
  player->around = what->show == FOV_DRAW_TARGET;
  player->head = what->head;
  player->mode = modes[what->show];
  return FOV_OK;
}

FovStatus fov_viewer_open_at(FovViewer *viewer, const char *path, const FovDrawEpisode *what) {
  FOV_TRY(fov_viewer_open(viewer, path));
  FovStatus status = show(viewer, what);
  if (status != FOV_OK) fov_viewer_finish(viewer);
  return status;
}

/** Shows the recorded episodes again, without what other settings made of the picture. */
static void close_picture(FovViewer *viewer) {
  fov_viewer_end_gif(viewer);
  close_other(viewer);
  viewer->picture[0] = '\0';
  if (viewer->opened.snapshots == 0)
    fov_trace_finish(&viewer->opened.trace); // it has no episodes yet
  else if (!fov_viewer_check(viewer, fov_opened_run_show(&viewer->opened, viewer->opened.snapshot)))
    return;
  fov_viewer_check(viewer, take_trace(viewer));
}

void fov_viewer_drop(FovViewer *viewer, const char *path) {
  if (fov_has_ending(path, ".png")) {
    fov_viewer_check(viewer, look_at(viewer, path));
    return;
  }
  FovOpenedRun opened;
  if (!fov_viewer_check(viewer, fov_opened_run_open(&opened, path))) return;
  viewer->message_left = 0;
  fov_viewer_end_gif(viewer);
  close_other(viewer);
  fov_opened_run_finish(&viewer->opened);
  fov_gazes_finish(&viewer->gazes);
  viewer->opened = opened;
  viewer->picture[0] = '\0';
  viewer->following = opened.snapshots == 0;
  viewer->player.mode = FOV_MODE_SCENE;
  if (fov_viewer_check(viewer, take_trace(viewer)) && opened.trace.episodes > 0)
    fov_player_go(&viewer->player, 0);
  poll(viewer);
}

void fov_viewer_resize(FovViewer *viewer, double width, double height) {
  viewer->width = fmax(width, FOV_SCENE_MIN_WIDTH);
  viewer->height = fmax(height, 2 * FOV_SCENE_MIN_HEIGHT);
  viewer->hint[0] = '\0';
  fov_viewer_damage_all(viewer);
}

/* ---- actions ---- */

void fov_viewer_show_snapshot(FovViewer *viewer, size_t snapshot) {
  if (snapshot >= viewer->opened.snapshots) return;
  if (snapshot == viewer->opened.snapshot && !viewer->picture[0]) return;
  fov_viewer_end_gif(viewer);
  if (!fov_viewer_check(viewer, fov_opened_run_show(&viewer->opened, snapshot))) return;
  fov_gazes_finish(&viewer->gazes);
  viewer->picture[0] = '\0';
  fov_viewer_check(viewer, take_trace(viewer));
}

static void swap(FovViewer *viewer) {
  FovOpenedRun before = viewer->opened;
  if (viewer->picture[0]) {
    fov_viewer_show_message(viewer, false,
                            "a picture: R shows it with other settings on the right");
    return;
  }
  if (!viewer->other.path) {
    fov_viewer_show_message(viewer, false, "there is one agent: fovea view A B shows two");
    return;
  }
  fov_viewer_end_gif(viewer);
  fov_gazes_finish(&viewer->gazes);
  viewer->opened = viewer->other;
  viewer->other = before;
  viewer->following = false;
  if (fov_viewer_check(viewer, take_trace(viewer))) poll(viewer);
}

/** Plays episodes again and shows them on the right; without settings closes what is there. A line
 * of settings that a run refuses can be corrected. */
static void rerun(FovViewer *viewer, const char *settings) {
  FovOpenedRun made;
  const FovPlayer *player = &viewer->player;
  int episodes = fov_player_episode(player) + 1, most = viewer->opened.trace.episodes;
  if (episodes < RERUN_EPISODES) episodes = most < RERUN_EPISODES ? most : RERUN_EPISODES;
  fov_viewer_end_gif(viewer);
  fov_explaining_forget(viewer->explaining);
  if (!settings[0]) {
    close_other(viewer);
    fov_viewer_check(viewer, take_trace(viewer));
    return;
  }
  if (most == 0) {
    fov_viewer_show_message(viewer, true, "no episodes to play again yet");
    return;
  }
  if (!fov_viewer_check(viewer, fov_rerun(&made, &viewer->opened, episodes, settings,
                                          viewer->picture[0] ? viewer->picture : NULL))) {
    if (viewer->opened.is_run) viewer->player.asking = FOV_QUESTION_SETTINGS;
    return;
  }
  close_other(viewer);
  viewer->other = made;
  if (!fov_viewer_check(viewer, take_trace(viewer))) return;
  if (strcmp(viewer->other.trace.weights, viewer->opened.trace.weights) != 0)
    fov_viewer_show_message(viewer, false,
                            "on the right: the best weights, which are not those on the left");
}

static void follow(FovViewer *viewer) {
  viewer->following = !viewer->following;
  viewer->since_poll = poll_seconds; // poll at once
  fov_viewer_show_message(viewer, false,
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

static void show_order(FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  char text[96];
  snprintf(text, sizeof text, "sorted by %s%s", fov_order_names[player->order],
           player->reversed ? ", reversed" : "");
  fov_viewer_show_message(viewer, false, text);
}

/** Shows why an overview would be empty; false if it is not. */
static bool refuses(FovViewer *viewer, FovAction action) {
  const FovTrace *trace = viewer->player.trace;
  if (action == FOV_ACTION_HEAT && no_heat(trace)) {
    fov_viewer_show_message(viewer, false, no_heat(trace));
    return true;
  }
  if (action != FOV_ACTION_CONFUSION || trace->control) return false;
  return !fov_viewer_check(viewer, check_confusion(trace));
}

/** A new filter or class changes the selection, so the heat map has to be counted again. */
static void do_in_player(FovViewer *viewer, FovAction action) {
  FovPlayer *player = &viewer->player;
  if (action >= FOV_ACTION_OVERLAY_1 && action <= FOV_ACTION_OVERLAY_7) {
    fov_viewer_toggle_overlay(viewer, action);
    return;
  }
  bool by_class = action == FOV_ACTION_CLASS || action == FOV_ACTION_CLASS_BACK ||
                  action == FOV_ACTION_CONFUSION;
  if (by_class && player->trace->control)
    fov_viewer_show_message(viewer, false, "moves and vectors have no classes");
  if (refuses(viewer, action)) return;
  if (player->mode == FOV_MODE_HEAT && turn_heat(viewer, action)) return;
  FovFilter filter = player->filter;
  int label = player->label, answer = player->answer;
  bool around = player->around;
  fov_player_do(player, action);
  if (player->filter != filter || player->label != label || player->answer != answer ||
      player->around != around)
    fov_viewer_forget_heat(viewer);
  if (action == FOV_ACTION_ORDER || action == FOV_ACTION_REVERSE) show_order(viewer);
}

/** Closes what is over the scene, else the picture. */
static void cancel(FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  bool over = player->asking || player->help || player->mode != FOV_MODE_SCENE;
  if (viewer->picture[0] && !over)
    close_picture(viewer);
  else
    fov_player_do(&viewer->player, FOV_ACTION_CANCEL);
}

void fov_viewer_do(FovViewer *viewer, FovAction action) {
  if (action == FOV_ACTION_NONE) return;
  viewer->message_left = 0;
  viewer->hint[0] = '\0';
  fov_viewer_damage_all(viewer);
  switch (action) {
  case FOV_ACTION_CANCEL:
    cancel(viewer);
    break;
  case FOV_ACTION_RERUN:
    fov_player_ask(&viewer->player, FOV_QUESTION_SETTINGS);
    break;
  case FOV_ACTION_SWAP:
    swap(viewer);
    break;
  case FOV_ACTION_FOLLOW:
    follow(viewer);
    break;
  case FOV_ACTION_EARLIER:
  case FOV_ACTION_LATER: // a snapshot that does not exist is ignored
    fov_viewer_show_snapshot(viewer, action == FOV_ACTION_LATER ? viewer->opened.snapshot + 1
                                                                : viewer->opened.snapshot - 1);
    break;
  case FOV_ACTION_HEAD:
    fov_viewer_next_head(viewer);
    fov_viewer_forget_heat(viewer);
    break;
  case FOV_ACTION_METHOD:
    fov_viewer_next_method(viewer);
    break;
  case FOV_ACTION_SAVE:
    fov_viewer_save(viewer);
    break;
  case FOV_ACTION_EXPORT:
    fov_viewer_begin_gif(viewer);
    break;
  default:
    do_in_player(viewer, action);
  }
}

FovAction fov_viewer_type(FovViewer *viewer, char letter) {
  FovPlayer *player = &viewer->player;
  if (!player->asking) return fov_key_action(letter);
  FovFilter filter = player->filter;
  int label = player->label;
  char text[96];
  bool run = player->asking == FOV_QUESTION_SETTINGS && letter == '\r';
  if (!fov_player_type(player, letter)) {
    snprintf(text, sizeof text, "no episode %.9s: there are 0 to %d", player->entry,
             fov_player_episodes(player) - 1);
    fov_viewer_show_message(viewer, true, text);
  }
  if (player->filter != filter || player->label != label) fov_viewer_forget_heat(viewer);
  if (run) rerun(viewer, player->entry);
  fov_viewer_damage_all(viewer);
  return FOV_ACTION_NONE;
}

bool fov_viewer_can_cancel(const FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  bool alarm = viewer->alarm && viewer->message_left > 0;
  return player->asking || player->help || player->mode != FOV_MODE_SCENE || viewer->picture[0] ||
         alarm;
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
    fov_viewer_damage_all(viewer);
    return;
  }
  FovScene scene = fov_window_scene(viewer);
  for (int i = 0; i < fov_scene_sides(&scene); i++) {
    FovBox box;
    FovScene side = fov_scene_side(&box, &scene, i);
    FovBox view = fov_scene_view(&side);
    fov_viewer_damage(viewer, (FovBox){box.x + view.x, box.y + view.y, view.w, view.h});
  }
  fov_viewer_damage(viewer, fov_window_layout(viewer).bar);
  if (viewer->hint[0]) fov_viewer_damage(viewer, fov_window_hint(viewer));
}

void fov_viewer_tick(FovViewer *viewer, double seconds) {
  play(viewer, seconds);
  fov_viewer_step_gif(viewer);
  fov_viewer_step_explanation(viewer, seconds);
  if (viewer->message_left > 0 && !viewer->gif) {
    viewer->message_left -= seconds;
    if (viewer->message_left <= 0) fov_viewer_damage_all(viewer);
  }
  if (!viewer->following || viewer->gif) return;
  viewer->since_poll += seconds;
  if (viewer->since_poll >= poll_seconds) poll(viewer);
}

double fov_viewer_wait(const FovViewer *viewer) {
  if (viewer->damages > 0 || viewer->gif) return 0;
  if (viewer->grip != FOV_GRIP_TIME && fov_player_moves(&viewer->player)) return 0;
  double wait = -1;
  if (viewer->message_left > 0) wait = viewer->message_left;
  double next_poll = fmax(0.01, poll_seconds - viewer->since_poll);
  if (viewer->following && (wait < 0 || next_poll < wait)) wait = next_poll;
  if (!fov_viewer_is_explained(viewer) && (wait < 0 || look_seconds < wait)) wait = look_seconds;
  return wait;
}

/* ---- words ---- */

void fov_viewer_title(const FovViewer *viewer, char *text, size_t size) {
  const FovPlayer *player = &viewer->player;
  const FovOpenedRun *opened = &viewer->opened;
  char filter[112], head[80] = "", snapshot[48] = "", name[2 * FOV_OPENED_RUN_NAME + 24];
  const char *other = viewer->other.name;
  snprintf(name, sizeof name, "%s%s%s%s", opened->name, viewer->picture[0] ? " at a picture" : "",
           other[0] ? " and " : "", other);
  fov_player_filter_text(player, filter, sizeof filter);
  if (opened->snapshots > 1)
    snprintf(snapshot, sizeof snapshot, ", update %lld", (long long)opened->trace.update);
  if (player->order != FOV_ORDER_NUMBER || player->reversed)
    snprintf(filter + strlen(filter), sizeof filter - strlen(filter), ", by %s%s",
             fov_order_names[player->order], player->reversed ? " reversed" : "");
  if (player->head > 0) snprintf(head, sizeof head, ", head %d", player->head);
  FovExplanation explanation = fov_viewer_explanation(viewer);
  if (explanation.method)
    snprintf(head + strlen(head), sizeof head - strlen(head), ", %s%s", explanation.method,
             explanation.pending && player->mode == FOV_MODE_SCENE ? " ..." : "");
  const char *follow = viewer->following ? ", following" : "";
  if (opened->snapshots == 0)
    snprintf(text, size, "%s: waiting for the first evaluation%s", name, follow);
  else if (player->count == 0)
    snprintf(text, size, "%s: no episode, %s%s%s", name, filter, snapshot, follow);
  else if (player->mode == FOV_MODE_HEAT)
    snprintf(text, size, "%s: heat map%s, %s%s%s%s", name, player->around ? " from the target" : "",
             filter, head, snapshot, follow);
  else if (player->mode == FOV_MODE_CONFUSION)
    snprintf(text, size, "%s: confusion matrix%s%s", name, snapshot, follow);
  else if (player->mode == FOV_MODE_SHEET)
    snprintf(text, size, "%s: contact sheet, %s%s%s%s", name, filter, head, snapshot, follow);
  else
    snprintf(text, size, "%s: episode %d, glimpse %d of %d, %s%s, %gx, %s%s%s", name,
             fov_player_episode(player), fov_player_glimpse(player) + 1,
             fov_player_last(player) + 1, filter, head, player->speed,
             player->playing ? "playing" : "paused", snapshot, follow);
  fov_text_clean(text); // of a name
}
