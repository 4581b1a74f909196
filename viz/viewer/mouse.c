#include "viz/viewer/mouse.h"

#include <math.h>
#include <string.h>

#include "viz/scene/confusion.h"
#include "viz/scene/layout.h"
#include "viz/viewer/drawing.h"
#include "viz/viewer/sheet.h"
#include "viz/viewer/viewer.h"
#include "viz/viewer/window_layout.h"

static void drag(FovViewer *viewer) {
  FovWindowLayout layout = fov_window_layout(viewer);
  FovPlayer *player = &viewer->player;
  if (viewer->grip == FOV_GRIP_TIME) {
    fov_player_seek(player, fov_axis_value(&layout.time, viewer->x));
  } else if (viewer->grip == FOV_GRIP_TRAINING) {
    fov_viewer_show_snapshot(viewer, fov_window_snapshot(viewer, &layout, viewer->x));
  } else if (player->count > 0) {
    FovBox box;
    FovScene scene = fov_window_side(&box, viewer, viewer->grip_x);
    FovBox image = fov_scene_image(&scene);
    double x = viewer->grip_zoom.x - (viewer->x - viewer->grip_x) / image.w;
    double y = viewer->grip_zoom.y - (viewer->y - viewer->grip_y) / image.h;
    player->zoom.x = fmin(1, fmax(0, x));
    player->zoom.y = fmin(1, fmax(0, y));
  }
  fov_viewer_damage_all(viewer);
}

static void press_sheet(FovViewer *viewer, const FovWindowLayout *layout) {
  FovPlayer *player = &viewer->player;
  int place = fov_sheet_at(player, layout->scene.w, layout->scene.h, viewer->x, viewer->y);
  if (place < 0) return;
  player->mode = FOV_MODE_SCENE;
  fov_player_go(player, player->selection[place]);
}

/** Shows the episodes of a cell or a class as a contact sheet. */
static void press_confusion(FovViewer *viewer, const FovWindowLayout *layout) {
  FovPlayer *player = &viewer->player;
  FovConfusion confusion;
  int label, answer;
  if (!fov_viewer_check(
          viewer, fov_confusion_count(&confusion, player->trace, fov_player_episodes(player))))
    return;
  bool found = fov_confusion_at(&label, &answer, &confusion, player->trace, layout->scene.w,
                                layout->scene.h, viewer->x, viewer->y);
  fov_confusion_finish(&confusion);
  if (!found) return;
  if (fov_player_select(player, label, answer))
    player->mode = FOV_MODE_SHEET;
  else
    fov_viewer_show_message(viewer, false, "no such episodes");
  fov_viewer_forget_heat(viewer);
}

static FovGrip grip_at(const FovViewer *viewer, const FovWindowLayout *layout) {
  double x = viewer->x, y = viewer->y;
  const FovPlayer *player = &viewer->player;
  if (player->mode == FOV_MODE_SCENE && player->count > 0) {
    if (fov_inside(layout->timeline, x, y)) return FOV_GRIP_TIME;
    FovBox box;
    FovScene scene = fov_window_side(&box, viewer, x);
    if (player->zoom.factor > 1 && fov_inside(fov_scene_view(&scene), x - box.x, y - box.y))
      return FOV_GRIP_IMAGE;
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
  fov_viewer_damage_all(viewer);
  if (player->help) {
    player->help = false;
    viewer->grip = FOV_GRIP_NONE;
  } else if (player->mode == FOV_MODE_SHEET && fov_inside(layout.scene, x, y)) {
    press_sheet(viewer, &layout);
  } else if (player->mode == FOV_MODE_CONFUSION && fov_inside(layout.scene, x, y)) {
    press_confusion(viewer, &layout);
  } else if (fov_inside(layout.button, x, y)) {
    fov_viewer_do(viewer, FOV_ACTION_PLAY);
  } else if (fov_window_overlay_at(&layout, x, y) >= 0) {
    fov_viewer_do(viewer, FOV_ACTION_OVERLAY_1 + (unsigned)fov_window_overlay_at(&layout, x, y));
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
  fov_viewer_damage(viewer, fov_window_hint(viewer)); // where it was
  memcpy(viewer->hint, text, sizeof text);
  fov_viewer_damage(viewer, fov_window_hint(viewer)); // and is
}

void fov_viewer_move(FovViewer *viewer, double x, double y) {
  if (viewer->grip != FOV_GRIP_NONE) {
    viewer->x = x;
    viewer->y = y;
    drag(viewer);
    return;
  }
  if (viewer->hint[0]) fov_viewer_damage(viewer, fov_window_hint(viewer));
  viewer->hint[0] = '\0';
  viewer->x = x;
  viewer->y = y;
  update_hint(viewer);
}

void fov_viewer_release(FovViewer *viewer) {
  viewer->grip = FOV_GRIP_NONE;
}

void fov_viewer_leave(FovViewer *viewer) {
  if (viewer->hint[0]) fov_viewer_damage(viewer, fov_window_hint(viewer));
  viewer->hint[0] = '\0';
}

void fov_viewer_wheel(FovViewer *viewer, double steps) {
  FovPlayer *player = &viewer->player;
  if (player->count == 0 || player->help) return;
  if (player->mode == FOV_MODE_SHEET) {
    // A touchpad sends parts of a step.
    viewer->scrolled -= steps;
    int rows = (int)viewer->scrolled;
    viewer->scrolled -= rows;
    fov_player_scroll(player, rows);
  } else if (player->mode == FOV_MODE_SCENE) {
    FovBox box;
    FovScene scene = fov_window_side(&box, viewer, viewer->x);
    double x = viewer->x - box.x, y = viewer->y - box.y;
    if (!fov_inside(fov_scene_view(&scene), x, y)) return;
    player->zoom = fov_scene_zoom(&scene, pow(1.25, steps), x, y);
  }
  viewer->hint[0] = '\0';
  fov_viewer_damage_all(viewer);
}
