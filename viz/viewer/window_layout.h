/** The layout of a viewer's window: the scene, and the bars below it. */
#ifndef FOV_VIZ_VIEWER_WINDOW_LAYOUT_H
#define FOV_VIZ_VIEWER_WINDOW_LAYOUT_H

#include "viz/viewer/state.h"

/** The boxes of the window. The slider over training time has no height if there is one snapshot
 * and no curve. */
typedef struct FovWindowLayout {
  double em;
  FovBox scene;    /**< scene, heat map or contact sheet; its corner is (0, 0) */
  FovBox bar;      /**< button, timeline and status */
  FovBox button;   /**< plays and pauses */
  FovBox overlays; /**< the switches of the overlays, see fov_window_overlay */
  FovBox filter;   /**< a click shows the next kind of answers */
  FovBox speed;    /**< a click plays faster, or after the fastest at the lowest speed */
  FovBox timeline; /**< where the mouse can drag it */
  FovBox training; /**< likewise, the slider over training time */
  FovAxis time;    /**< glimpses of the episode that is shown */
  FovAxis updates;
} FovWindowLayout;

FovWindowLayout fov_window_layout(const FovViewer *viewer);

/** The switch of overlay `i`, 0 … FOV_OVERLAYS − 1; a click toggles it. */
FovBox fov_window_overlay(const FovWindowLayout *layout, int i);

/** The overlay whose switch is at (x, y), or −1. */
int fov_window_overlay_at(const FovWindowLayout *layout, double x, double y);

/** The scene of the player at the size of the layout; only if there is an episode. */
FovScene fov_window_scene(const FovViewer *viewer);

/** The scene of the agent at x, and the box of the window that it is drawn in. */
FovScene fov_window_side(FovBox *box, const FovViewer *viewer, double x);

/** The snapshot of the training nearest to x. */
size_t fov_window_snapshot(const FovViewer *viewer, const FovWindowLayout *layout, double x);

/** The box of the hint at the pointer. */
FovBox fov_window_hint(const FovViewer *viewer);

#endif
