/** Plays the episodes of a run again with other settings, while it is watched. */
#ifndef FOV_VIZ_VIEWER_RERUN_H
#define FOV_VIZ_VIEWER_RERUN_H

#include "viz/scene/gazes.h"
#include "viz/viewer/opened_run.h"

/**
 * Records the first `episodes` of the cases that the trace of `opened` shows, with the agent of its
 * run; fewer if it has fewer before those that were chosen because they are wrong. `settings`:
 * key=value, with blanks between them; the word "sampled" samples the choices, which are else the
 * likeliest ones.
 *
 * picture: a PNG that the agent looks at instead, in one episode without a label; NULL: none.
 *
 * Fails, naming the cause, if what was opened is no run, its agent cannot be loaded, or a setting
 * is wrong. The caller finishes `made` on success.
 */
FovStatus fov_rerun(FovOpenedRun *made, const FovOpenedRun *opened, int episodes,
                    const char *settings, const char *picture);

/**
 * Samples `count` gazes of the first `episodes` of the cases that the trace of `opened` shows, with
 * the weights of the trace. Fails likewise. The caller finishes them on success.
 */
FovStatus fov_rerun_gazes(FovGazes *gazes, const FovOpenedRun *opened, int episodes, int count);

#endif
