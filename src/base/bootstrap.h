/**
 * The bootstrap (Efron 1979): the distribution of a statistic over resamples of the data.
 *
 * Draw d takes its random numbers from a stream of its own, so that the same seed gives the same
 * draws with any number of threads. Draws come back in ascending order.
 *
 * With few runs of few tasks the interval is too narrow. For three runs of one task, the 95 %
 * interval of mean or IQM is their range, which contains the true median in 75 % of experiments.
 */
#ifndef FOV_BASE_BOOTSTRAP_H
#define FOV_BASE_BOOTSTRAP_H

#include "base/scores.h"

/** How draws are made. */
typedef struct FovDraws {
  double *values; /**< [count] the result, ascending */
  int count;      /**< 2,000 to 50,000 are usual */
  uint64_t seed;
  int threads; /**< at most FOV_MAX_THREADS */
} FovDraws;

/** The aggregate's distribution under the stratified bootstrap (Agarwal et al. 2021): the runs of
 * each task are drawn with replacement, independently of other tasks. Fails if there is no memory
 * for a copy of x for each thread. */
FovStatus fov_bootstrap(const FovDraws *draws, const FovScores *x, FovAggregate *aggregate);

/** The same for a comparison of two matrices, which are resampled independently. */
FovStatus fov_bootstrap_comparison(const FovDraws *draws, const FovScores *x, const FovScores *y,
                                   FovComparison *comparison);

/** What each seed of a recipe made of each case: 0 or 1, or any finite number. */
typedef struct FovCaseScores {
  const double *values; /**< [seeds, cases] */
  int seeds, cases;
} FovCaseScores;

/** The distribution of mean(x) − mean(y), of recipes that were tested on the same cases: a draw
 * resamples the seeds of each recipe, and the cases once for both, so that what is common to both
 * recipes in a case cancels. If the seeds of a recipe differ by independent noise in each case
 * only, the variance is overestimated up to three times, so the interval is conservative (Owen
 * 2007). Fails if there is no memory for a copy of both. */
FovStatus fov_bootstrap_paired(const FovDraws *draws, const FovCaseScores *x,
                               const FovCaseScores *y);

/** The percentile interval: the quantiles (1 ∓ level)/2 of the draws; 0 < level < 1 (Efron and
 * Tibshirani 1993, chapter 13). */
void fov_bootstrap_interval(double *low, double *high, const FovDraws *draws, double level);

/** The two-sided p-value of "the difference is 0", for draws of a difference: 1 − the level at
 * which an end of the percentile interval meets 0, 2 (1 + the draws on the rarer side of 0)/(1 +
 * count), at most 1; a draw of 0 is on both sides. */
double fov_bootstrap_p(const FovDraws *draws);

#endif
