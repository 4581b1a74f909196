/** What is drawn over the image of a scene: switches, heads of an attention, explanations. */
#ifndef FOV_VIZ_VIEWER_LAYERS_H
#define FOV_VIZ_VIEWER_LAYERS_H

#include "viz/viewer/state.h"

/** Toggles an overlay and shows its name: some change nothing visible at this glimpse. */
void fov_viewer_toggle_overlay(FovViewer *viewer, FovAction action);

/** Shows the weights of the next head of an attention. */
void fov_viewer_next_head(FovViewer *viewer);

/** Shows the explanation, or the next method of the one that is shown. */
void fov_viewer_next_method(FovViewer *viewer);

/** Shows the explanation by the method called `name`: one of `how` or, for symbols, "jacobian". */
FovStatus fov_viewer_explain_by(FovViewer *viewer, const FovDrawExplain *how, const char *name);

/** Takes what has been computed of the explanation, and begins with what is missing: of the GIF
 * that is being written, or of what is shown. */
void fov_viewer_step_explanation(FovViewer *viewer, double seconds);

/** Drops the explanation: the trace is another. Hides it if that one cannot be explained. */
void fov_viewer_forget_explanation(FovViewer *viewer);

/** Gives the next frame of the GIF its explanation; false: it is not there yet. */
bool fov_viewer_explain_frame(FovViewer *viewer);

/** Whether nothing of the explanation is missing or being computed. */
bool fov_viewer_is_explained(const FovViewer *viewer);

#endif
