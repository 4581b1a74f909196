/** The mean or interquartile mean of several seeds' lines, with a 95 % band. */
#ifndef FOV_EXPERIMENT_PLOT_BAND_H
#define FOV_EXPERIMENT_PLOT_BAND_H

#include "experiment/plot/series.h"

typedef enum FovCentre {
  FOV_CENTRE_MEAN, /**< Student's interval (fov_stats_half_width) */
  FOV_CENTRE_IQM,  /**< percentile interval of 2,000 bootstrap draws of the seeds */
} FovCentre;

/** All seeds at one x. */
typedef struct FovBandPoint {
  double x, centre, lo, hi; /**< lo to hi: the band, without width for one seed */
} FovBandPoint;

typedef struct FovBand {
  FovBandPoint *points; /**< [count]; x increases */
  size_t count;
} FovBand;

/**
 * Summarises the seeds at every x of any of them at which each has a value (fov_series_at). With
 * `interpolate`, that is the range that all cover. Finished by fov_band_finish, also after a
 * failure.
 */
FovStatus fov_band_init(FovBand *band, const FovSeries *const *seeds, int count, FovCentre centre,
                        bool interpolate);
void fov_band_finish(FovBand *band);

#endif
