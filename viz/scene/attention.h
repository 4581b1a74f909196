/** What an attention recorded of the glimpses of a trace: the weights of tiles, or a window. */
#ifndef FOV_VIZ_SCENE_ATTENTION_H
#define FOV_VIZ_SCENE_ATTENTION_H

#include "record/gaze.h"

/** Heads whose weights were recorded: 1 if that is only their mean; 0 if there are no tiles. */
int fov_heads(const FovTrace *trace);

/** Fails unless `head` is 0 or one of the trace's; `path` names it. */
FovStatus fov_check_head(const FovTrace *trace, const char *path, int head);

/** Describes a head of several: "head 2 of 4" or, for head 0, "mean of 4 heads"; else "". text:
 * [size] */
void fov_describe_head(char *text, size_t size, const FovTrace *trace, int head);

/** The weights of a glimpse, one for each tile or symbol of the grid: of head 1, 2 …, or their
 * mean, head 0. NULL: none were recorded. */
const float *fov_weights(FovGrid *grid, const FovTrace *trace, int episode, int glimpse, int head);

#endif
