/** Files that a viewer writes into the current folder, named after what they show. */
#ifndef FOV_VIZ_VIEWER_SAVING_H
#define FOV_VIZ_VIEWER_SAVING_H

#include "viz/viewer/state.h"

/** Saves what is shown, without the bars, as a PNG. */
void fov_viewer_save(FovViewer *viewer);

/** Begins a GIF of the episode, unless one is being written. */
void fov_viewer_begin_gif(FovViewer *viewer);

/** Writes the next frame of the GIF, unless its explanation is still being computed; or all that
 * are left: before its trace is replaced. Does nothing if there is none. */
void fov_viewer_step_gif(FovViewer *viewer);
void fov_viewer_end_gif(FovViewer *viewer);

#endif
