/** Files that a viewer writes into the current folder, named after what they show. None is
 * overwritten. */
#ifndef FOV_VIZ_VIEWER_SAVING_H
#define FOV_VIZ_VIEWER_SAVING_H

#include "viz/viewer/state.h"

/** Saves what is shown, without the bars, as a PNG. */
void fov_viewer_save(FovViewer *viewer);

/** Begins a GIF of the episode, unless one is being written. */
void fov_viewer_begin_gif(FovViewer *viewer);

/** Writes the next frame of the GIF, the last of which ends it. False: there is no GIF, or the
 * explanation of the frame is still being computed. */
bool fov_viewer_step_gif(FovViewer *viewer);

/** Writes all frames that are left, before their trace is replaced; if explanations are missing,
 * drops the GIF with a message. Does nothing if there is none. */
void fov_viewer_end_gif(FovViewer *viewer);

#endif
