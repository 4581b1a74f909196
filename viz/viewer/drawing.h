/** Draws a viewer's window: scene, heat map or contact sheet, the bars below, and what lies over.
 */
#ifndef FOV_VIZ_VIEWER_DRAWING_H
#define FOV_VIZ_VIEWER_DRAWING_H

#include "viz/viewer/state.h"

/** Draws what is not clipped away. */
void fov_viewer_draw(cairo_t *cr, FovViewer *viewer);

/** Draws scene, heat map or contact sheet alone. */
void fov_viewer_draw_mode(cairo_t *cr, FovViewer *viewer);

/** Tells the value under the pointer; "" if there is none. text: [size] */
void fov_viewer_describe(char *text, size_t size, const FovViewer *viewer);

#endif
