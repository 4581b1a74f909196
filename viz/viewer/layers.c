#include "viz/viewer/layers.h"

#include <stdio.h>
#include <string.h>

#include "viz/scene/attention.h"

/* ---- switches ---- */

/** Fails unless there is an agent whose answers can be explained. */
static FovStatus check_explainable(const FovViewer *viewer) {
  const FovOpenedRun *opened = &viewer->opened;
  if (!opened->is_run)
    return fov_fail(FOV_ERR_USAGE, "%s: a trace has no agent to explain: open its run",
                    opened->name);
  return viewer->explaining ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory to explain answers");
}

void fov_viewer_toggle_overlay(FovViewer *viewer, FovAction action) {
  int overlay = (int)action - FOV_ACTION_OVERLAY_1;
  char text[32];
  bool on = viewer->player.overlays >> overlay & 1;
  if (action == FOV_ACTION_OVERLAY_7 && !on && !fov_viewer_check(viewer, check_explainable(viewer)))
    return;
  fov_player_do(&viewer->player, action);
  bool shown = viewer->player.overlays >> overlay & 1;
  snprintf(text, sizeof text, "%s: %s", fov_overlay_names[overlay], shown ? "shown" : "hidden");
  fov_viewer_show_message(viewer, false, text);
}

void fov_viewer_next_head(FovViewer *viewer) {
  FovPlayer *player = &viewer->player;
  char head[40], text[64];
  fov_player_do(player, FOV_ACTION_HEAD);
  fov_describe_head(head, sizeof head, player->trace, player->head);
  snprintf(text, sizeof text, "weights: %s", head[0] ? head : "this trace has no heads to choose");
  fov_viewer_show_message(viewer, false, text);
}

void fov_viewer_next_method(FovViewer *viewer) {
  FovPlayer *player = &viewer->player;
  if (!fov_viewer_check(viewer, check_explainable(viewer))) return;
  if (viewer->opened.trace.vocabulary > 0) {
    player->overlays |= FOV_OVERLAY_EXPLANATION;
    fov_viewer_show_message(viewer, false, "symbols have the sequential Jacobian only");
    return;
  }
  if (player->overlays & FOV_OVERLAY_EXPLANATION)
    viewer->method = fov_explaining_next(viewer->explaining, viewer->method, viewer->opened.path);
  player->overlays |= FOV_OVERLAY_EXPLANATION;
  fov_viewer_show_message(viewer, false, fov_viewer_explanation(viewer).method);
}

/** Finds the method called `name`. */
static FovStatus find_method(int *method, const FovDrawExplain *how, const char *name) {
  char names[256] = "";
  for (int i = 0; how->method(i); i++) {
    if (strcmp(how->method(i), name) == 0) return *method = i, FOV_OK;
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", how->method(i));
  }
  return fov_fail(FOV_ERR_USAGE, "--method %.80s: expected %s", name, names);
}

FovStatus fov_viewer_explain_by(FovViewer *viewer, const FovDrawExplain *how, const char *name) {
  bool symbols = viewer->opened.trace.vocabulary > 0;
  FOV_TRY(check_explainable(viewer));
  if (!symbols) FOV_TRY(find_method(&viewer->method, how, name));
  if (symbols && strcmp(name, "jacobian") != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "--method %.80s: expected jacobian: %s reads symbols, which have no map", name,
                    viewer->opened.name);
  viewer->player.overlays |= FOV_OVERLAY_EXPLANATION;
  return FOV_OK;
}

/* ---- the explanation ---- */

static const double patience = 0.3; // seconds before a message

/** What the next frame of the GIF needs; false if no GIF is explained. */
static bool find_wanted_of_gif(FovWanted *wanted, const FovViewer *viewer) {
  const FovScene *scene = viewer->gif ? fov_gif_scene(viewer->gif) : NULL;
  if (!scene || !scene->explanation.method) return false;
  *wanted = fov_viewer_wanted(viewer, scene->episode, scene->glimpse, viewer->gif_method);
  return true;
}

/** What a GIF needs, else what is shown and what comes next while the player glides or plays; false
 * if nothing is explained. */
static bool find_wanted(FovWanted *wanted, const FovViewer *viewer) {
  const FovPlayer *player = &viewer->player;
  int episode = fov_player_episode(player), method = fov_viewer_method(viewer);
  if (find_wanted_of_gif(wanted, viewer)) return true;
  int shown = (int)player->time, next = player->playing ? shown + 1 : (int)player->target;
  *wanted = fov_viewer_wanted(viewer, episode, shown, method);
  wanted->next = fov_viewer_wanted(viewer, episode, next, method).glimpse;
  return player->overlays & FOV_OVERLAY_EXPLANATION && player->mode == FOV_MODE_SCENE &&
         player->count > 0;
}

void fov_viewer_step_explanation(FovViewer *viewer, double seconds) {
  FovWanted wanted;
  bool shown = find_wanted(&wanted, viewer), changed, late = viewer->computing >= patience;
  if (!viewer->explaining) return;
  FovStatus status = fov_explaining_step(&changed, viewer->explaining, shown ? &wanted : NULL);
  if (changed) {
    if (late) viewer->message_left = 0;
    fov_viewer_damage_all(viewer);
  }
  fov_viewer_check(viewer, status);
  bool computes = shown && !changed && fov_viewer_explanation(viewer).pending;
  viewer->computing = computes ? viewer->computing + seconds : 0;
  if (computes && !late && viewer->computing >= patience)
    fov_viewer_show_message(viewer, false, "computing the explanation ...");
}

void fov_viewer_forget_explanation(FovViewer *viewer) {
  fov_explaining_forget(viewer->explaining);
  if (check_explainable(viewer) != FOV_OK) viewer->player.overlays &= ~FOV_OVERLAY_EXPLANATION;
}

bool fov_viewer_explain_frame(FovViewer *viewer) {
  FovWanted wanted;
  if (!find_wanted_of_gif(&wanted, viewer)) return true;
  FovExplanation *explanation = &fov_gif_scene(viewer->gif)->explanation;
  *explanation = fov_explaining_get(viewer->explaining, &wanted);
  return !explanation->pending;
}

bool fov_viewer_is_explained(const FovViewer *viewer) {
  FovWanted wanted;
  bool shown = find_wanted(&wanted, viewer);
  return !viewer->explaining || fov_explaining_is_done(viewer->explaining, shown ? &wanted : NULL);
}
