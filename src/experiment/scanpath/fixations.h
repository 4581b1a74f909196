/** Recorded fixations of people, from a CSV file. */
#ifndef FOV_EXPERIMENT_SCANPATH_FIXATIONS_H
#define FOV_EXPERIMENT_SCANPATH_FIXATIONS_H

#include "base/error.h"
#include "experiment/scanpath/path.h"

/** Scanpaths of people, each on the image of an episode. */
typedef struct FovFixations {
  FovScanpath *paths; /**< [count] by ascending episode */
  int *episodes;      /**< [count] */
  int count;
  double *places; /**< of all paths */
} FovFixations;

/**
 * Reads the columns `episode` (its number in the trace), `x` and `y` (pixels of the image from its
 * top left corner), and `observer`, if there is one; others are ignored. The rows of an observer
 * and an episode are one scanpath, in their order.
 *
 * Fails, naming file and line, on a missing column, and on a cell that is no number of an episode
 * or no place on the image. The caller finishes it on success.
 */
FovStatus fov_fixations_read(FovFixations *fixations, const char *path, const FovTrace *trace);
void fov_fixations_finish(FovFixations *fixations);

#endif
