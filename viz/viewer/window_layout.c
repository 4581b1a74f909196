#include "viz/viewer/window_layout.h"

#include <math.h>
#include <string.h>

#include "viz/scene/sides.h"

static bool has_training(const FovOpenedRun *opened) {
  return opened->snapshots > 1 || opened->row_count > 1;
}

static int64_t last_update(const FovOpenedRun *opened) {
  int64_t last = opened->snapshots > 0 ? opened->updates[opened->snapshots - 1] : 0;
  if (opened->row_count > 0 && opened->rows[opened->row_count - 1].update > last)
    last = opened->rows[opened->row_count - 1].update;
  return last > 0 ? last : 1;
}

FovWindowLayout fov_window_layout(const FovViewer *viewer) {
  double width = viewer->width, height = viewer->height;
  FovWindowLayout f = {.em = fov_em(width, height)};
  double em = f.em, pad = round(1.25 * em), left = pad + round(4.6 * em), right = 24.5 * em;
  f.scene = (FovBox){0, 0, width, height};
  if (has_training(&viewer->opened)) f.training = fov_cut_bottom(&f.scene, round(4.2 * em));
  f.bar = fov_cut_bottom(&f.scene, round(3 * em));
  f.button = (FovBox){pad, f.bar.y, round(2.4 * em), f.bar.h};
  f.timeline = (FovBox){left - 0.5 * em, f.bar.y, width - left - right + em, f.bar.h};
  double buttons = f.bar.y + round(0.5 * em), tall = f.bar.h - 2 * round(0.5 * em);
  f.speed = (FovBox){width - pad - round(3.2 * em), buttons, round(3.2 * em), tall};
  f.overlays = (FovBox){round(width - right + 1.1 * em), buttons, round(10.4 * em), tall};
  double after = f.overlays.x + f.overlays.w + round(0.5 * em);
  f.filter = (FovBox){after, buttons, f.speed.x - round(0.5 * em) - after, tall};
  double end = fmax(1, fov_player_last(&viewer->player));
  f.time = (FovAxis){.lo = 0, .hi = end, .from = left, .to = width - right};
  f.updates = (FovAxis){
      .lo = 0, .hi = (double)last_update(&viewer->opened), .from = left, .to = width - right};
  return f;
}

FovBox fov_window_overlay(const FovWindowLayout *layout, int i) {
  FovBox all = layout->overlays;
  double pitch = all.w / FOV_OVERLAYS;
  return fov_snap((FovBox){all.x + i * pitch, all.y, pitch - 0.2 * layout->em, all.h});
}

int fov_window_overlay_at(const FovWindowLayout *layout, double x, double y) {
  for (int i = 0; i < FOV_OVERLAYS; i++)
    if (fov_inside(fov_window_overlay(layout, i), x, y)) return i;
  return -1;
}

FovScene fov_window_scene(const FovViewer *viewer) {
  FovBox box = fov_window_layout(viewer).scene;
  FovScene scene = fov_player_scene(&viewer->player, box.w, box.h);
  scene.cache = viewer->cache;
  scene.names[0] = viewer->opened.name;
  scene.names[1] = viewer->other.name;
  scene.explanation = fov_viewer_explanation(viewer);
  scene.gazes = fov_viewer_gazes(viewer);
  return scene;
}

FovScene fov_window_side(FovBox *box, const FovViewer *viewer, double x) {
  FovScene both = fov_window_scene(viewer), left = fov_scene_side(box, &both, 0);
  return fov_scene_sides(&both) == 1 || x < box->x + box->w ? left : fov_scene_side(box, &both, 1);
}

size_t fov_window_snapshot(const FovViewer *viewer, const FovWindowLayout *layout, double x) {
  const FovOpenedRun *opened = &viewer->opened;
  size_t nearest = 0;
  for (size_t i = 1; i < opened->snapshots; i++) {
    double here = fabs(fov_axis_at(&layout->updates, (double)opened->updates[i]) - x);
    if (here < fabs(fov_axis_at(&layout->updates, (double)opened->updates[nearest]) - x))
      nearest = i;
  }
  return nearest;
}

FovBox fov_window_hint(const FovViewer *viewer) {
  FovWindowLayout f = fov_window_layout(viewer);
  double em = f.em, width = (0.62 * (double)strlen(viewer->hint) + 1.6) * em, height = 1.9 * em;
  double x = fmin(viewer->x + em, viewer->width - width - 0.5 * em);
  double y = viewer->y + 1.4 * em;
  if (y + height > viewer->height) y = viewer->y - height - 0.6 * em;
  return fov_snap((FovBox){fmax(0, x) - 2, y - 2, width + 4, height + 4});
}
