/** Where an agent looked: places, windows and patches of the glimpses of a trace. */
#ifndef FOV_RECORD_GAZE_H
#define FOV_RECORD_GAZE_H

#include "record/trace.h"

/** Index of a glimpse in arrays of [E, T, …]. */
size_t fov_glimpse_index(const FovTrace *trace, int episode, int glimpse);

/** The column with the weights of tiles or symbols; NULL: there is none. */
const FovTraceColumn *fov_attention_tiles(const FovTrace *trace);

/** Whether a glimpse is of several tiles or symbols, so that it has no patch of its own. */
bool fov_reads_several(const FovTrace *trace);

/** Whether glimpses have a place. */
bool fov_has_places(const FovTrace *trace);

/** Whether an attention reads through a window that it places and scales. */
bool fov_has_window(const FovTrace *trace);

/** Where a glimpse was, [2]: the middle of its window or, without one, its location. */
const float *fov_gaze(const FovTrace *trace, int episode, int glimpse);

/** The area of patch `scale` of a glimpse, in pixels of the image; may reach far beyond it. It is
 * that of the retina, with sides of G·2^scale, or of an attention's window, 2^scale times as wide
 * and high as recorded. No width: the glimpse has no place in the image. */
typedef struct FovPatchArea {
  double x, y; /**< its top left corner */
  double w, h;
} FovPatchArea;

FovPatchArea fov_patch_area(const FovTrace *trace, int episode, int glimpse, int scale);

#endif
