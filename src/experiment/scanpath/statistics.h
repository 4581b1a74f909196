/** Numbers of one episode's gaze. */
#ifndef FOV_EXPERIMENT_SCANPATH_STATISTICS_H
#define FOV_EXPERIMENT_SCANPATH_STATISTICS_H

#include <stdint.h>

#include "experiment/scanpath/path.h"

typedef enum FovScanpathStatistic {
  FOV_SCANPATH_GLIMPSES, /**< how many */
  FOV_SCANPATH_SACCADE,  /**< mean distance between two places, in image widths */
  FOV_SCANPATH_PATH,     /**< sum of these */
  FOV_SCANPATH_REVISITS, /**< glimpses that return to a place, see fov_scanpath_revisits */
  FOV_SCANPATH_SEEN,     /**< share of the pixels inside a patch of any scale, in per cent */
  FOV_SCANPATH_FINE,     /**< inside a patch of the finest scale */
  FOV_SCANPATH_DECISION, /**< glimpses until the answer stays the likeliest; mean of all turns */
  FOV_SCANPATH_STATISTICS
} FovScanpathStatistic;

/** "glimpses", "saccade" … */
extern const char *const fov_scanpath_statistic_names[FOV_SCANPATH_STATISTICS];

/** Glimpses nearer than `radius` to an earlier place that the gaze has left since. */
int fov_scanpath_revisits(const FovScanpath *path, double radius);

/** Fills the statistics of an episode; NaN where there is none: SACCADE of one glimpse; REVISITS,
 * SEEN and FINE of an attention that reads several tiles; DECISION of moves and vectors. A revisit
 * is within half the width of the finest patch of the first glimpse. path: of the episode; mask:
 * [H, W], scratch */
void fov_scanpath_statistics(double statistics[FOV_SCANPATH_STATISTICS], const FovTrace *trace,
                             int episode, const FovScanpath *path, uint8_t *mask);

#endif
