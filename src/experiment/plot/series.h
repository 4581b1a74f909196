/** One run's values of a column against another: a line of a plot. */
#ifndef FOV_EXPERIMENT_PLOT_SERIES_H
#define FOV_EXPERIMENT_PLOT_SERIES_H

#include "record/progress.h"

/** The column that is not in the file: training glimpses so far, `episodes` × the glimpses of an
 * episode. It exists if every validation episode of the run takes the same number of glimpses. */
#define FOV_SERIES_GLIMPSES "glimpses"

typedef struct FovSeries {
  double *x, *y; /**< [count]; x increases */
  size_t count;
} FovSeries;

/** Fails unless rows [count > 0] have a column; the message names the nearest and lists all. path:
 * of the rows' file, for messages. */
FovStatus fov_series_check(const FovProgress *rows, size_t count, const char *column,
                           const char *path);

/** Takes column y against column x; both exist. Rows in which either is empty or beyond ±1e100 are
 * left out; of rows with the same x the last counts. Fails if x decreases. Finished by
 * fov_series_finish, also after a failure. */
FovStatus fov_series_init(FovSeries *series, const FovProgress *rows, size_t count, const char *x,
                          const char *y, const char *path);
void fov_series_finish(FovSeries *series);

/** The value at x: that of the row with this x or, if `interpolate`, on the straight line between
 * the rows on either side; NaN if there is none. */
double fov_series_at(const FovSeries *series, double x, bool interpolate);

#endif
