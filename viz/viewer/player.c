#include "viz/viewer/player.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"

static const double slowest = 0.25, fastest = 16;
static const double step_seconds = 0.2; // the duration of a step by key

/** Whether an episode has the chosen label and, if a cell was chosen, gives its answer there. */
static bool has_label(const FovPlayer *player, int episode) {
  const FovTrace *trace = player->trace;
  for (int t = 0; t < trace->lengths[episode]; t++) {
    size_t m = fov_glimpse_index(trace, episode, t);
    bool answered = player->answer < 0 || trace->answers[m] == player->answer;
    if (trace->labels[m] == player->label && answered) return true;
  }
  return false;
}

static bool passes(const FovPlayer *player, int episode) {
  bool right = !player->trace->wrong[episode];
  if (player->label >= 0 && !has_label(player, episode)) return false;
  if (player->filter == FOV_FILTER_DISAGREE) // without another agent, until there is one again
    return !player->other || fov_disagree(player->trace, player->other, episode);
  return player->filter == FOV_FILTER_ALL || right == (player->filter == FOV_FILTER_RIGHT);
}

/** Scrolls the sheet just far enough to show the current episode. */
static void scroll_into_view(FovPlayer *player) {
  if (player->columns == 0) return;
  int row = player->place / player->columns;
  if (row < player->scroll) player->scroll = row;
  if (row >= player->scroll + player->rows) player->scroll = row - player->rows + 1;
}

/** Sorts the selection; shows `episode` or, if it has gone, the first. */
static void sort_episodes(FovPlayer *player, int episode) {
  player->place = 0;
  for (int e = 0; e < player->trace->episodes; e++)
    player->values[e] = fov_order_value(player->trace, e, player->order);
  fov_order_sort(player->selection, player->count, player->values, player->order, player->reversed);
  for (int i = 0; i < player->count; i++)
    if (player->selection[i] == episode) player->place = i;
}

/** Collects the episodes that pass the filter; shows `episode`, or the last one before it. */
static void select_episodes(FovPlayer *player, int episode) {
  player->wanted = episode;
  player->count = player->place = 0;
  for (int e = 0; e < fov_player_episodes(player); e++) {
    if (!passes(player, e)) continue;
    if (e <= episode) player->place = player->count;
    player->selection[player->count++] = e;
  }
  if (player->order != FOV_ORDER_NUMBER || player->reversed) sort_episodes(player, episode);
  scroll_into_view(player);
}

static void rewind_time(FovPlayer *player) {
  player->time = player->target = player->held = 0;
}

FovStatus fov_player_init(FovPlayer *player, const FovTrace *trace) {
  *player = (FovPlayer){.speed = 1,
                        .label = -1,
                        .answer = -1,
                        .overlays = FOV_OVERLAYS_DEFAULT,
                        .zoom = {1, 0.5, 0.5}};
  return fov_player_set_trace(player, trace);
}

void fov_player_finish(FovPlayer *player) {
  free(player->selection);
  free(player->values);
  *player = (FovPlayer){0};
}

FovStatus fov_player_set_trace(FovPlayer *player, const FovTrace *trace) {
  int episode = player->count > 0 ? fov_player_episode(player) : player->wanted;
  size_t room = (size_t)trace->episodes + 1;
  int *selection = realloc(player->selection, room * sizeof *selection);
  if (selection) player->selection = selection;
  double *values = realloc(player->values, room * sizeof *values);
  if (values) player->values = values;
  player->trace = trace;
  if (!selection || !values) {
    player->count = 0;
    return fov_fail(FOV_ERR_MEMORY, "no memory for %d episodes", trace->episodes);
  }
  if (player->label >= trace->actions || trace->control) player->label = -1;
  if (player->answer >= trace->actions || player->label < 0) player->answer = -1;
  if (trace->control && player->mode == FOV_MODE_CONFUSION) player->mode = FOV_MODE_SCENE;
  if (player->head > fov_heads(trace)) player->head = 0;
  player->around = player->around && fov_has_targets(trace);
  select_episodes(player, episode);
  double end = fov_player_last(player);
  player->time = fmin(player->time, end);
  player->target = fmin(player->target, end);
  return FOV_OK;
}

void fov_player_set_other(FovPlayer *player, const FovTrace *other) {
  int episode = player->count > 0 ? fov_player_episode(player) : player->wanted;
  player->other = other;
  if (!other && player->filter == FOV_FILTER_DISAGREE) player->filter = FOV_FILTER_ALL;
  select_episodes(player, episode);
}

int fov_player_episodes(const FovPlayer *player) {
  int episodes = player->trace->episodes;
  return player->other && player->other->episodes < episodes ? player->other->episodes : episodes;
}

int fov_player_episode(const FovPlayer *player) {
  return player->count > 0 ? player->selection[player->place] : -1;
}

int fov_player_last(const FovPlayer *player) {
  if (player->count == 0) return 0;
  int episode = fov_player_episode(player), last = fov_last_glimpse(player->trace, episode);
  int other = player->other ? fov_last_glimpse(player->other, episode) : 0;
  return last > other ? last : other;
}

int fov_player_glimpse(const FovPlayer *player) {
  return (int)floor(player->playing ? player->time : player->target);
}

const FovTheme *fov_player_theme(const FovPlayer *player) {
  return player->light ? &fov_theme_light : &fov_theme_dark;
}

FovScene fov_player_scene(const FovPlayer *player, double width, double height) {
  FovScene scene = fov_scene(player->trace, width, height, fov_player_theme(player));
  scene.beside = player->other;
  scene.names[0] = scene.names[1] = "";
  scene.episode = fov_player_episode(player);
  scene.overlays = player->overlays;
  scene.head = player->head;
  scene.zoom = player->zoom;
  fov_scene_seek(&scene, player->time);
  return scene;
}

void fov_player_filter_text(const FovPlayer *player, char *text, size_t size) {
  static const char *const names[][4] = {{"all", "wrong", "right", "disagree"},
                                         {"all", "goal missed", "goal met", "disagree"}};
  const char *name = names[player->trace->control][player->filter];
  char class[FOV_ACTION_NAME], answer[FOV_ACTION_NAME];
  fov_action_name(class, player->trace, player->label);
  fov_action_name(answer, player->trace, player->answer);
  const char *subset = player->filter == FOV_FILTER_ALL ? player->trace->subset : "";
  if (player->label < 0)
    snprintf(text, size, "%s%s%s", name, subset[0] ? ": " : "", subset);
  else if (player->answer >= 0)
    snprintf(text, size, "%s as %s", class, answer);
  else
    snprintf(text, size, "%s, class %s", name, class);
}

/* ---- actions ---- */

static void show_place(FovPlayer *player, int place) {
  int clamped = place < 0 ? 0 : place >= player->count ? player->count - 1 : place;
  if (clamped == player->place || player->count == 0) return;
  player->place = clamped;
  rewind_time(player);
  scroll_into_view(player);
}

/** Moves to a whole glimpse and stops playing. */
static void step(FovPlayer *player, int glimpses) {
  double from = player->playing ? player->time : player->target;
  player->playing = false;
  // Between two glimpses, back is the earlier one.
  double whole = glimpses > 0 ? floor(from) : ceil(from);
  player->target = fmin(fmax(0, whole + glimpses), fov_player_last(player));
  if (fabs(player->target - player->time) >
      1) // far away: only the last glimpse of the way is shown
    player->time = player->target - copysign(1, player->target - player->time);
}

static void change_place(FovPlayer *player, int by) {
  if (player->mode == FOV_MODE_SHEET)
    fov_player_scroll(player, by * player->rows);
  else
    show_place(player, player->place + by);
}

static void change_end(FovPlayer *player, bool last) {
  if (player->mode == FOV_MODE_SHEET)
    fov_player_scroll(player, last ? player->count : -player->count);
  else
    fov_player_seek(player, last ? fov_player_last(player) : 0);
}

static void change_filter(FovPlayer *player, FovFilter filter, int label, int answer) {
  int before = fov_player_episode(player), episode = before < 0 ? player->wanted : before;
  player->filter = filter;
  player->label = label;
  player->answer = answer;
  select_episodes(player, episode);
  if (fov_player_episode(player) != before) rewind_time(player);
}

/** The next order, or the same one reversed, from its first episode on. */
static void change_order(FovPlayer *player, bool reverse) {
  player->reversed = reverse && !player->reversed;
  if (!reverse) player->order = (player->order + 1) % FOV_ORDERS;
  select_episodes(player, player->wanted);
  player->place = player->scroll = 0;
  rewind_time(player);
}

/** The label after the current one: −1 (all), 0, 1 …, then −1 again. */
static int next_label(const FovPlayer *player, int by) {
  int count = player->trace->actions + 1;
  return (player->label + 1 + by + count) % count - 1;
}

static void play(FovPlayer *player) {
  player->playing = !player->playing;
  if (player->playing && player->time >= fov_player_last(player) &&
      player->place == player->count - 1)
    rewind_time(player);
  player->held = 0;
  if (!player->playing) player->target = floor(player->time);
  player->time = player->playing ? player->time : player->target;
}

static void cancel(FovPlayer *player) {
  if (player->asking)
    player->asking = FOV_QUESTION_NONE;
  else if (player->help)
    player->help = false;
  else
    player->mode = FOV_MODE_SCENE;
}

void fov_player_ask(FovPlayer *player, FovQuestion question) {
  player->asking = question;
  player->entry[0] = '\0';
}

static void toggle_mode(FovPlayer *player, FovMode mode) {
  player->mode = player->mode == mode ? FOV_MODE_SCENE : mode;
  scroll_into_view(player);
}

/** The heat map of places, then of places relative to the target if that is known. */
static void show_heat(FovPlayer *player) {
  player->around =
      player->mode == FOV_MODE_HEAT && !player->around && fov_has_targets(player->trace);
  if (!player->around) toggle_mode(player, FOV_MODE_HEAT);
}

static void show_next_head(FovPlayer *player) {
  int heads = fov_heads(player->trace);
  player->head = heads > 1 ? (player->head + 1) % (heads + 1) : 0;
}

/** Slower and faster end at a limit; the next one after the fastest is the slowest. */
static void change_speed(FovPlayer *player, FovAction action) {
  double speed = action == FOV_ACTION_SLOWER ? player->speed / 2 : player->speed * 2;
  bool around = action == FOV_ACTION_NEXT_SPEED && speed > fastest;
  player->speed = around ? slowest : fmax(slowest, fmin(fastest, speed));
}

static void do_view(FovPlayer *player, FovAction action) {
  switch (action) {
  case FOV_ACTION_SLOWER:
  case FOV_ACTION_FASTER:
  case FOV_ACTION_NEXT_SPEED:
    change_speed(player, action);
    break;
  case FOV_ACTION_HEAD:
    show_next_head(player);
    break;
  case FOV_ACTION_UNZOOM:
    player->zoom = (FovZoom){1, 0.5, 0.5};
    break;
  case FOV_ACTION_HEAT:
    show_heat(player);
    break;
  case FOV_ACTION_SHEET:
    toggle_mode(player, FOV_MODE_SHEET);
    break;
  case FOV_ACTION_CONFUSION:
    if (!player->trace->control) toggle_mode(player, FOV_MODE_CONFUSION);
    break;
  case FOV_ACTION_THEME:
    player->light = !player->light;
    break;
  case FOV_ACTION_HELP:
    player->help = !player->help;
    break;
  case FOV_ACTION_ASK:
    fov_player_ask(player, FOV_QUESTION_EPISODE);
    break;
  case FOV_ACTION_CANCEL:
    cancel(player);
    break;
  default:
    if (action >= FOV_ACTION_OVERLAY_1 && action <= FOV_ACTION_OVERLAY_7)
      player->overlays ^= 1u << (action - FOV_ACTION_OVERLAY_1);
  }
}

void fov_player_do(FovPlayer *player, FovAction action) {
  int filter = (player->filter + 1) % (player->other ? 4 : 3);
  switch (action) {
  case FOV_ACTION_PLAY:
    play(player);
    break;
  case FOV_ACTION_BACK:
  case FOV_ACTION_FORWARD:
    step(player, action == FOV_ACTION_FORWARD ? 1 : -1);
    break;
  case FOV_ACTION_PREVIOUS:
  case FOV_ACTION_NEXT:
    change_place(player, action == FOV_ACTION_NEXT ? 1 : -1);
    break;
  case FOV_ACTION_FIRST:
  case FOV_ACTION_LAST:
    change_end(player, action == FOV_ACTION_LAST);
    break;
  case FOV_ACTION_FIRST_EPISODE:
  case FOV_ACTION_LAST_EPISODE:
    show_place(player, action == FOV_ACTION_LAST_EPISODE ? player->count - 1 : 0);
    break;
  case FOV_ACTION_FILTER:
    if (player->answer >= 0) player->label = -1;
    change_filter(player, (FovFilter)filter, player->label, -1);
    break;
  case FOV_ACTION_CLASS:
  case FOV_ACTION_CLASS_BACK:
    if (!player->trace->control)
      change_filter(player, player->filter, next_label(player, action == FOV_ACTION_CLASS ? 1 : -1),
                    -1);
    break;
  case FOV_ACTION_ORDER:
  case FOV_ACTION_REVERSE:
    change_order(player, action == FOV_ACTION_REVERSE);
    break;
  default:
    do_view(player, action);
  }
}

bool fov_player_go(FovPlayer *player, int episode) {
  if (episode < 0 || episode >= fov_player_episodes(player)) return false;
  if (!passes(player, episode)) {
    player->filter = FOV_FILTER_ALL;
    player->label = player->answer = -1;
  }
  rewind_time(player);
  select_episodes(player, episode);
  return true;
}

bool fov_player_select(FovPlayer *player, int label, int answer) {
  FovFilter filter = player->filter;
  int label_before = player->label, answer_before = player->answer;
  change_filter(player, FOV_FILTER_ALL, label, answer);
  if (player->count > 0) return true;
  change_filter(player, filter, label_before, answer_before);
  return false;
}

bool fov_player_type(FovPlayer *player, char key) {
  size_t length = strlen(player->entry);
  bool settings = player->asking == FOV_QUESTION_SETTINGS;
  if (key == '\r') {
    player->asking = FOV_QUESTION_NONE;
    return settings || length == 0 || fov_player_go(player, atoi(player->entry));
  }
  if (key == '\b' && length > 0) player->entry[length - 1] = '\0';
  bool allowed = settings ? key >= ' ' && key <= '~' : key >= '0' && key <= '9';
  if (allowed && length < (settings ? FOV_ENTRY : FOV_ENTRY_DIGITS)) {
    player->entry[length] = key;
    player->entry[length + 1] = '\0';
  }
  return true;
}

void fov_player_seek(FovPlayer *player, double time) {
  player->time = fmin(fmax(0, time), fov_player_last(player));
  player->target = round(player->time);
  player->held = 0;
}

void fov_player_scroll(FovPlayer *player, int rows) {
  if (player->columns == 0) return;
  int last = (player->count - 1) / player->columns - player->rows + 1;
  player->scroll += rows;
  if (player->scroll > last) player->scroll = last;
  if (player->scroll < 0) player->scroll = 0;
}

/* ---- time ---- */

bool fov_player_moves(const FovPlayer *player) {
  if (player->count == 0 || player->mode != FOV_MODE_SCENE) return false;
  return player->playing || player->time != player->target;
}

/** Advances the time; at the end of an episode it waits, then the next one begins. */
static void play_on(FovPlayer *player, double seconds) {
  double last = fov_player_last(player), time = seconds * player->speed;
  double rest = time - (last - player->time) * FOV_GLIMPSE_SECONDS;
  player->time = rest < 0 ? player->time + time / FOV_GLIMPSE_SECONDS : last;
  player->target = floor(player->time);
  if (rest < 0) return;
  player->held += rest;
  if (player->held < FOV_END_SECONDS) return;
  player->playing = player->place < player->count - 1;
  if (player->playing) show_place(player, player->place + 1);
}

bool fov_player_advance(FovPlayer *player, double seconds) {
  if (!fov_player_moves(player)) return false;
  if (player->playing) {
    play_on(player, seconds);
    return true;
  }
  double left = player->target - player->time, step = seconds / step_seconds;
  player->time = fabs(left) <= step ? player->target : player->time + copysign(step, left);
  return true;
}
