/** The mouse in a viewer's window; x and y in its pixels. */
#ifndef FOV_VIZ_VIEWER_MOUSE_H
#define FOV_VIZ_VIEWER_MOUSE_H

#include "viz/viewer/state.h"

void fov_viewer_press(FovViewer *viewer, double x, double y);
void fov_viewer_move(FovViewer *viewer, double x, double y);
void fov_viewer_release(FovViewer *viewer);

/** The pointer has left the window. */
void fov_viewer_leave(FovViewer *viewer);

/** steps > 0: away from the user. */
void fov_viewer_wheel(FovViewer *viewer, double steps);

#endif
