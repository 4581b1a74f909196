/** Draws a viewer's window: scene, heat map or contact sheet, the bars, messages and help.
 */
#ifndef FOV_VIZ_VIEWER_DRAWING_H
#define FOV_VIZ_VIEWER_DRAWING_H

#include "viz/viewer/state.h"

/** Draws the window; parts that are clipped away take no time. */
void fov_viewer_draw(cairo_t *cr, FovViewer *viewer);

/** Draws scene, heat map or contact sheet alone: a scene in the window's size, the others in the
 * given one. */
void fov_viewer_draw_mode(cairo_t *cr, FovViewer *viewer, double width, double height);

/** Counts the heat map of the player's selection, which is not empty, unless that is done. */
FovStatus fov_viewer_count_heat(FovViewer *viewer);

/** Describes the value under the pointer; "" if there is none. text: [size] */
void fov_viewer_describe(char *text, size_t size, const FovViewer *viewer);

#endif
