/** What the files of a comparison share. */
#ifndef FOV_EXPERIMENT_COMPARE_PARTS_H
#define FOV_EXPERIMENT_COMPARE_PARTS_H

#include "base/bootstrap.h"
#include "experiment/compare/compare.h"

/** A comparison in progress. */
typedef struct FovComparing {
  const FovCompareRequest *request;
  FovCompared *result;
  FovScores *scores; /**< [recipe_count] in the order of the result */
  double *draws;     /**< [request->draws] */
} FovComparing;

/** Where the draws of the request go; values: [request->draws]. */
FovDraws fov_comparing_draws(const FovComparing *comparing, double *values);

/** Whether a task has one run of the recipe, so that nothing can be resampled. */
bool fov_comparing_lacks_runs(const FovScores *scores);

/** The variance of a mean of tasks' means, and what its freedom follows from. */
typedef struct FovMeanVariance {
  double variance; /**< Σ v_t, v_t that of a task's mean, over the square of the tasks */
  double norm;     /**< √(Σ v_t² / (n_t − 1)) */
} FovMeanVariance;

/** Adds the variance of a matrix that has two runs or more of each task. */
void fov_comparing_add_variance(FovMeanVariance *mean, const FovScores *scores);

/** Degrees of freedom of a variance above 0 (Satterthwaite 1946; Welch 1947): those of one sample
 * are n − 1. */
double fov_comparing_freedom(const FovMeanVariance *mean);

/** Fills in the costs of a recipe. */
FovStatus fov_compare_costs(FovComparedRecipe *recipe);

/** Fills in the statistics of each recipe. */
FovStatus fov_compare_recipes(const FovComparing *comparing);

/** Fills in the probability of improvement of x over y; no interval if either lacks runs. */
FovStatus fov_compare_improvement(FovEstimate *improvement, const FovComparing *comparing, int x,
                                  int y);

/** Chooses the pairs and fills them in; needs the tests. */
FovStatus fov_compare_pairs(const FovComparing *comparing);

/** Why no case of the two recipes can be paired: NULL if all their runs were tested on the same
 * cases. */
const char *fov_compare_cases(const FovComparedRecipe *x, const FovComparedRecipe *y);

/** Adds McNemar's tests of a pair. p: of all its tests together if both recipes have one run per
 * task, else 0; 1 if they speak for the recipe with the worse mean. */
FovStatus fov_compare_runs(double *p, FovCompared *result, int pair);

/** Corrects all tests for their number. */
FovStatus fov_compare_adjust_runs(FovCompared *result);

#endif
