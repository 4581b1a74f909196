/** Where things are in a viewer's window: the scene, and the bars below it. */
#ifndef FOV_VIZ_VIEWER_WINDOW_LAYOUT_H
#define FOV_VIZ_VIEWER_WINDOW_LAYOUT_H

#include "viz/viewer/state.h"

/** Where things are. A training of one snapshot and no curve has no slider: then it is of no
 * height.
 */
typedef struct FovWindowLayout {
  double em;
  FovBox scene;    /**< scene, heat map or contact sheet; its corner is (0, 0) */
  FovBox bar;      /**< button, timeline and status */
  FovBox button;   /**< plays and pauses */
  FovBox filter;   /**< a click shows the next kind of answers */
  FovBox speed;    /**< a click plays faster, or after the fastest at the lowest speed */
  FovBox timeline; /**< where the mouse grips it */
  FovBox training; /**< likewise, the slider over training time */
  FovAxis time;    /**< glimpses of the episode that is shown */
  FovAxis updates;
} FovWindowLayout;

FovWindowLayout fov_window_layout(const FovViewer *viewer);

/** The player's moment at the size of the layout; only if there is an episode. */
FovScene fov_window_scene(const FovViewer *viewer);

/** The snapshot of the training nearest to x. */
size_t fov_window_snapshot(const FovViewer *viewer, const FovWindowLayout *layout, double x);

/** Where the timeline shows a time in glimpses, and the slider a snapshot of the training. */
void fov_window_time_at(const FovViewer *viewer, double time, double *x, double *y);
void fov_window_snapshot_at(const FovViewer *viewer, size_t snapshot, double *x, double *y);

/** The box of the hint at the pointer. */
FovBox fov_window_hint(const FovViewer *viewer);

#endif
