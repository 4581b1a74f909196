/** What viz/ offers to the command line, which joins it at link time. */
#ifndef FOV_DRAW_H
#define FOV_DRAW_H

#include <stddef.h>

#include "base/error.h"

/**
 * Draws learning curves of runs: error and reward against episodes.
 *
 * runs: [count] folders with a progress.csv. Runs whose folder names differ only in a final
 * `-s<seed>` (cluttered-60-s0, -s1, …) are one experiment: its mean and 95 % band.
 * path: ends in .png, .svg or .pdf; replaced whole.
 */
FovStatus fov_draw_curves(const char *path, const char *const *runs, size_t count);

/** One line of a plot, and the dots on it; all x and y > 0. */
typedef struct FovDrawLine {
  const char *name;
  const double *x, *y; /**< [count] */
  int count;
} FovDrawLine;

/** Draws lines over one another, both axes logarithmic. path: as above. */
FovStatus fov_draw_lines(const char *path, const FovDrawLine *lines, int count, const char *x_label,
                         const char *y_label);

/** Which moment of a trace to draw, and how large. */
typedef struct FovDrawEpisode {
  int episode;       /**< 0 … E−1 */
  int width, height; /**< pixels; 0: the default, 1280 × 720 */
} FovDrawEpisode;

/** Draws an episode of a trace: a .png of its last moment, or a .gif of all of them. */
FovStatus fov_draw_episode(const char *path, const char *trace, const FovDrawEpisode *what);

#endif
