#include "viz/viewer/saving.h"

#include <stdio.h>
#include <string.h>

#include "viz/viewer/drawing.h"
#include "viz/viewer/layers.h"
#include "viz/viewer/window_layout.h"

/** The beginning of a file's name: that of the run, of the trace without its ending or, of an agent
 * that was played again, its settings. stem: [FOV_OPENED_RUN_NAME] */
static void name_stem(char *stem, const FovOpenedRun *opened) {
  snprintf(stem, FOV_OPENED_RUN_NAME, "%s", opened->name);
  char *ending = strrchr(stem, '.');
  if (!opened->is_run && opened->path[0] && ending) *ending = '\0';
  // A setting may name another folder; files are saved in the current one.
  for (char *c = stem; *c; c++)
    if (*c == '/') *c = '_';
}

/** Composes the name of a file from what it shows, and a number if that file exists.
 * path: [FOV_VIEWER_PATH] */
static void name_file(char *path, const FovViewer *viewer, const char *ending) {
  const FovPlayer *player = &viewer->player;
  bool gif = strcmp(ending, ".gif") == 0; // which plays the episode, whatever is over it
  char stem[FOV_OPENED_RUN_NAME], what[64] = "heat";
  name_stem(stem, &viewer->opened);
  if (player->mode == FOV_MODE_SHEET) snprintf(what, sizeof what, "sheet");
  if (player->mode == FOV_MODE_CONFUSION) snprintf(what, sizeof what, "confusion");
  if (player->mode == FOV_MODE_SCENE || gif)
    snprintf(what, sizeof what, "episode-%d", fov_player_episode(player));
  size_t length = strlen(what);
  if (player->mode == FOV_MODE_SCENE && !gif)
    snprintf(what + length, sizeof what - length, "-glimpse-%d", (int)player->time + 1);
  snprintf(path, FOV_VIEWER_PATH, "%s-%s%s", stem, what, ending);
  for (int number = 2; fov_file_exists(path); number++)
    snprintf(path, FOV_VIEWER_PATH, "%s-%s-%d%s", stem, what, number, ending);
}

static void show_saved(FovViewer *viewer, const char *path) {
  char text[FOV_VIEWER_PATH + 16];
  snprintf(text, sizeof text, "saved %s", path);
  fov_viewer_show_message(viewer, false, text);
}

static FovStatus save_picture(const char *path, FovViewer *viewer) {
  FovDrawing drawing = {0};
  FovBox scene = fov_window_layout(viewer).scene;
  FOV_TRY(fov_drawing_begin(&drawing, path, scene.w, scene.h, 1));
  fov_viewer_draw_mode(drawing.cr, viewer, scene.w, scene.h);
  return fov_drawing_commit(&drawing);
}

void fov_viewer_save(FovViewer *viewer) {
  char path[FOV_VIEWER_PATH];
  if (viewer->player.count == 0) return;
  name_file(path, viewer, ".png");
  if (fov_viewer_check(viewer, save_picture(path, viewer))) show_saved(viewer, path);
}

void fov_viewer_begin_gif(FovViewer *viewer) {
  if (viewer->gif || viewer->player.count == 0) return;
  FovScene scene = fov_player_scene(&viewer->player, FOV_SCENE_WIDTH, FOV_SCENE_HEIGHT);
  scene.names[0] = viewer->opened.name;
  scene.names[1] = viewer->other.name;
  scene.explanation = fov_viewer_explanation(viewer);
  viewer->gif_method = fov_viewer_method(viewer);
  scene.gazes = fov_viewer_gazes(viewer);
  name_file(viewer->gif_path, viewer, ".gif");
  if (fov_viewer_check(viewer, fov_gif_begin(&viewer->gif, viewer->gif_path, &scene)))
    fov_viewer_show_message(viewer, false, "exporting a GIF ...");
  else
    viewer->gif = NULL;
}

static void drop_gif(FovViewer *viewer) {
  fov_gif_destroy(viewer->gif);
  viewer->gif = NULL;
}

bool fov_viewer_step_gif(FovViewer *viewer) {
  bool done;
  if (!viewer->gif || !fov_viewer_explain_frame(viewer)) return false;
  bool written = fov_viewer_check(viewer, fov_gif_step(&done, viewer->gif));
  if (written && !done) return true;
  drop_gif(viewer);
  if (written) show_saved(viewer, viewer->gif_path);
  return true;
}

void fov_viewer_end_gif(FovViewer *viewer) {
  char text[FOV_PATH_SIZE + 64];
  while (fov_viewer_step_gif(viewer)) {
  }
  if (!viewer->gif) return;
  drop_gif(viewer);
  snprintf(text, sizeof text, "%s: not written: its maps were not ready", viewer->gif_path);
  fov_viewer_show_message(viewer, true, text);
}
