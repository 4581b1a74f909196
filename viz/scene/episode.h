/** One episode of a trace: its length, images, labels, answers and returns. */
#ifndef FOV_VIZ_SCENE_EPISODE_H
#define FOV_VIZ_SCENE_EPISODE_H

#include "record/gaze.h"
#include "viz/scene/pixels.h"

enum { FOV_ACTION_NAME = 24 }; // bytes of a name that is drawn, with its final zero

/** The last glimpse of an episode, 0 … T−1. */
int fov_last_glimpse(const FovTrace *trace, int episode);

/** The image as it was at a glimpse. */
FovPixels fov_picture(const FovTrace *trace, int episode, int glimpse);

/** The first label of an episode; −1 if it has none. */
int fov_first_label(const FovTrace *trace, int episode);

/** The first answer or action at a glimpse or after it; −1: none. */
int fov_next_answer(const FovTrace *trace, int episode, int glimpse);

/** Whether two agents answered an episode differently; in a game, whether one met the goal alone.
 */
bool fov_disagree(const FovTrace *a, const FovTrace *b, int episode);

/** The return from a glimpse on, undiscounted: what the baseline predicts. */
double fov_return(const FovTrace *trace, int episode, int glimpse);

/** What the step after a glimpse cost, which its reward contains: to the next glimpse, or out of
 * the episode. NaN: not recorded, or no step was made. */
double fov_step_cost(const FovTrace *trace, int episode, int glimpse);

/** The name of an action, as UTF-8 without control characters; −1 is "none". */
void fov_action_name(char text[FOV_ACTION_NAME], const FovTrace *trace, int action);

/** The name of a symbol, likewise; −1 is "". */
void fov_symbol_name(char text[FOV_ACTION_NAME], const FovTrace *trace, int symbol);

/** Whether the trace has the places of targets. */
bool fov_has_targets(const FovTrace *trace);

/** The place of what is looked for at a glimpse, [2], a location: that of the next answer, or after
 * the last one of that; NULL: not known. */
const float *fov_target_place(const FovTrace *trace, int episode, int glimpse);

/** The entropy of the answer after a glimpse, in bits: 0 … log2 A. */
double fov_entropy(const FovTrace *trace, int episode, int glimpse);

#endif
