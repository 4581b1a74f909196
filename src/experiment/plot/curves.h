/** Learning curves: columns of runs and of CSV files, grouped by experiment, seed by seed and
 * summarised. What `fovea plot` draws. */
#ifndef FOV_EXPERIMENT_PLOT_CURVES_H
#define FOV_EXPERIMENT_PLOT_CURVES_H

#include "experiment/plot/band.h"

enum { FOV_CURVES_COLUMNS = 8, FOV_CURVES_EXPERIMENTS = 14, FOV_CURVES_NAME = 64 };

typedef struct FovCurvesRequest {
  /** [source_count] A run directory; a CSV file: a progress.csv, or any table of numbers; the
   * folder of a sweep, which stands for those of its runs that have a row. */
  const char *const *sources;
  int source_count;
  const char *x; /**< a column; NULL: episodes */
  const char *y; /**< 1 to FOV_CURVES_COLUMNS columns, commas between them; NULL: valid_error and
                      valid_reward */
  FovCentre centre;
} FovCurvesRequest;

/** One run: a seed of its experiment. */
typedef struct FovCurvesRun {
  char *path;     /**< resolved, of the file */
  size_t stem;    /**< bytes of the path without seed and ending */
  int experiment; /**< its index */
  FovSeries series[FOV_CURVES_COLUMNS];
} FovCurvesRun;

/** Runs whose paths differ only in a final `-s<seed>`. */
typedef struct FovCurvesExperiment {
  char name[FOV_CURVES_NAME];   /**< of the folder or file, or what varies in a sweep; ASCII */
  char folder[FOV_CURVES_NAME]; /**< in which these are; put before names that are not unique */
  int first, seeds;             /**< its first run; runs */
  FovBand bands[FOV_CURVES_COLUMNS];
} FovCurvesExperiment;

/** Everything that a plot shows; src/draw.h names the type, too. */
typedef struct FovCurves {
  char x[FOV_FIGURE_NAME], y[FOV_CURVES_COLUMNS][FOV_FIGURE_NAME];
  int columns; /**< of y */
  FovCentre centre;
  FovCurvesRun *runs;
  int run_count;
  FovCurvesExperiment experiments[FOV_CURVES_EXPERIMENTS];
  int experiment_count;
} FovCurves;

/**
 * Reads all sources and summarises each experiment.
 *
 * Counts (update, episodes, epoch) are matched: only those that every seed of an experiment has are
 * summarised. Along any other x, such as seconds, each seed is interpolated linearly between its
 * rows, over the range that all seeds cover.
 *
 * Fails on a source that is missing or has no rows, a run named twice, more than
 * FOV_CURVES_EXPERIMENTS experiments, an unknown column (the message lists all), an x that
 * decreases, and an experiment or a column without any point. Finished by fov_curves_finish, also
 * after a failure.
 */
FovStatus fov_curves_read(FovCurves *curves, const FovCurvesRequest *request);
void fov_curves_finish(FovCurves *curves);

#endif
