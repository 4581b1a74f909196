/** What an episode of a trace was: how far it went, what was there to see, and what was asked. */
#ifndef FOV_VIZ_SCENE_EPISODE_H
#define FOV_VIZ_SCENE_EPISODE_H

#include "record/trace.h"
#include "viz/scene/pixels.h"

enum { FOV_ACTION_NAME = 24 }; // bytes of a name that is drawn, its end included

/** Index of a glimpse in arrays of [E, T, …]. */
size_t fov_glimpse_index(const FovTrace *trace, int episode, int glimpse);

/** The glimpse that an episode ends with, 0 … T−1. */
int fov_last_glimpse(const FovTrace *trace, int episode);

/** The image as it was at a glimpse. */
FovPixels fov_picture(const FovTrace *trace, int episode, int glimpse);

/** The first label of an episode; −1 if it has none. */
int fov_first_label(const FovTrace *trace, int episode);

/** The answer or action that a glimpse led to: that of its own time or the next one; −1: none. */
int fov_next_answer(const FovTrace *trace, int episode, int glimpse);

/** The reward that is still to come at a glimpse: what the baseline should foretell. */
double fov_return(const FovTrace *trace, int episode, int glimpse);

/** What an action is called, as UTF-8 without control characters; −1 is "none". */
void fov_action_name(char text[FOV_ACTION_NAME], const FovTrace *trace, int action);

/** The entropy of the answer after a glimpse, bits: 0 when certain, log2 A when no idea. */
double fov_entropy(const FovTrace *trace, int episode, int glimpse);

#endif
