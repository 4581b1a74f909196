/** Scanpaths: places that were looked at one after the other. */
#ifndef FOV_EXPERIMENT_SCANPATH_PATH_H
#define FOV_EXPERIMENT_SCANPATH_PATH_H

#include "base/rng.h"
#include "record/gaze.h"

enum { FOV_SCANPATH_LONGEST = 4096 }; // places; bounds the memory of an alignment

/** Places in image widths from the top left corner: x in [0, 1], y in [0, height]. */
typedef struct FovScanpath {
  double *places; /**< [count, 2] */
  int count;
} FovScanpath;

/** The places of an episode. places: [T, 2], filled */
FovScanpath fov_scanpath_of(double *places, const FovTrace *trace, int episode);

/** Fills a path: places uniform over the image. */
void fov_scanpath_draw_random(FovScanpath *path, double height, FovRng *rng);

/** The same with normal places around its middle, of standard deviation a quarter of the width and
 * of the height; drawn again where outside the image. */
void fov_scanpath_draw_centre(FovScanpath *path, double height, FovRng *rng);

#endif
