/** What a viewer's window looks like: the scene, the bars below it, and what lies over them. */
#ifndef FOV_VIZ_FRAME_H
#define FOV_VIZ_FRAME_H

#include "viz/viewer.h"

/** Where things are. A training of one stage and no curve has no slider: then it is of no height.
 */
typedef struct FovFrame {
  double em;
  FovBox scene;    /**< scene, heat map or contact sheet; its corner is (0, 0) */
  FovBox bar;      /**< button, timeline and status */
  FovBox button;   /**< plays and pauses */
  FovBox timeline; /**< where the mouse grips it */
  FovBox training; /**< likewise, the slider over training time */
  FovAxis time;    /**< glimpses of the episode that is shown */
  FovAxis updates;
} FovFrame;

FovFrame fov_frame(const FovViewer *viewer);

/** The player's moment at the size of the frame; only if there is an episode. */
FovScene fov_frame_scene(const FovViewer *viewer);

/** The stage of the training nearest to x. */
size_t fov_frame_stage(const FovViewer *viewer, const FovFrame *frame, double x);

/** Draws scene, heat map or contact sheet alone. */
void fov_frame_draw_mode(cairo_t *cr, FovViewer *viewer);

/** Tells the value under the pointer; "" if there is none. text: [size] */
void fov_frame_tell(char *text, size_t size, const FovViewer *viewer);

/** Where the hint at the pointer is drawn. */
FovBox fov_frame_hint(const FovViewer *viewer);

#endif
