/** The bars of a viewer's window: playback with its buttons, and the training. */
#ifndef FOV_VIZ_VIEWER_BARS_H
#define FOV_VIZ_VIEWER_BARS_H

#include "viz/viewer/window_layout.h"

void fov_viewer_draw_bars(cairo_t *cr, const FovViewer *viewer, const FovWindowLayout *layout);

/** Describes the value or the button under the pointer; leaves `text` where there is none. text:
 * [size] */
void fov_viewer_describe_bars(char *text, size_t size, const FovViewer *viewer,
                              const FovWindowLayout *layout);

#endif
