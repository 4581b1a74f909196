/**
 * The comparison of recipes: statistics of each, differences of pairs, and what they decide.
 *
 * Scores are 1 − error, or those of a CSV file; higher is better. Everything here is in the
 * *measure* of the sources, an error (lower is better) or a score (higher is better), as fractions.
 * Definitions: base/scores.h and base/bootstrap.h.
 */
#ifndef FOV_EXPERIMENT_COMPARE_COMPARE_H
#define FOV_EXPERIMENT_COMPARE_COMPARE_H

#include "experiment/compare/runs.h"

enum { FOV_COMPARE_THRESHOLDS = 101, FOV_COMPARE_ALL_PAIRS = 6 };

typedef struct FovCompareRequest {
  const char *const *sources; /**< [source_count] */
  int source_count;
  const char *rows; /**< of sweeps, the rows to compare, with commas between them; NULL: all */
  FovCompareSplit split;
  int rollouts;
  const char *against; /**< a recipe, by its name or a part of it that no other has; NULL: none */
  int draws;
  uint64_t seed; /**< of the draws */
  int threads;
  bool profiles; /**< whether performance profiles are wanted */
  bool costs;    /**< whether tables show the costs */
} FovCompareRequest;

/** A value with the ends of its interval; NaN where there is none. */
typedef struct FovEstimate {
  double value, low, high;
} FovEstimate;

typedef struct FovComparedRecipe {
  const char *name;
  const FovComparedRun *list; /**< [runs] in the order of tasks and seeds */
  int runs;
  const double *results;   /**< [runs] */
  FovEstimate mean;        /**< of the tasks' means, with Student's interval */
  double half_width;       /**< of that interval; NaN: a task has one run */
  double median;           /**< of the runs; of several tasks, of the tasks' means */
  FovEstimate iqm;         /**< with the stratified bootstrap's interval */
  double gap;              /**< optimality gap; with errors, it is the mean */
  int against;             /**< the recipe that `improvement` is over; −1: there is none */
  FovEstimate improvement; /**< probability that a run is better than one of `against` */
  double costs[FOV_COSTS]; /**< medians of the runs; NaN: those of a run are not known */
  FovEstimate *profile;    /**< [FOV_COMPARE_THRESHOLDS] share of runs that are better than the
                                threshold, with pointwise intervals; NULL: not wanted */
} FovComparedRecipe;

/** What the data decide about a pair. */
typedef enum FovVerdict {
  FOV_VERDICT_BETTER,    /**< the first recipe is better */
  FOV_VERDICT_UNDECIDED, /**< the corrected interval of the difference includes 0 */
  FOV_VERDICT_FEW_RUNS,  /**< the interval excludes 0, but runs or cases are too few to decide */
  FOV_VERDICT_FEW_DRAWS, /**< the interval excludes 0, but so many pairs need more draws */
} FovVerdict;

/** McNemar's test of two runs with the same seed on the same cases. */
typedef struct FovRunTest {
  int pair, task;        /**< index */
  int64_t seed;          /**< −1: the only run of either recipe, with different seeds */
  int64_t first, second; /**< cases in which only the first, the second is right */
  double p, adjusted;    /**< exact, two-sided; by Holm for all tests */
} FovRunTest;

/**
 * Two recipes. The first is the one with the better mean.
 *
 * The corrected interval is the bootstrap's, widened to Welch's over the runs, which a bootstrap of
 * few runs is too narrow for; p is the larger of both p-values. With one run each there is no
 * Welch's interval, and McNemar's test, over all tasks, takes its place.
 */
typedef struct FovComparedPair {
  int first, second;
  bool cases;           /**< the draws resample cases and seeds; else seeds only */
  const char *no_cases; /**< why not the cases; NULL if `cases` */
  bool single;          /**< one run each: conclusions are about two trainings */
  FovEstimate
      difference;        /**< by how much the first is better, with the bootstrap's 95 % interval */
  FovEstimate corrected; /**< the same with the corrected interval, at `level` */
  double p, adjusted;    /**< of no difference; `adjusted` by Holm for all pairs */
  double level;          /**< of the corrected interval: it agrees with Holm's decisions */
  FovEstimate improvement; /**< probability that a run of the first is better */
  FovVerdict verdict;
} FovComparedPair;

typedef struct FovCompared {
  FovRuns runs;
  bool errors;       /**< the measure is an error, else a score */
  bool costs;        /**< tables show the costs */
  const char *split; /**< "test", "valid"; NULL: a CSV file does not name one */
  int rollouts, draws;
  uint64_t seed;
  int64_t cases;              /**< of a run; 0: not known, or not the same for all */
  FovComparedRecipe *recipes; /**< [recipe_count] the best mean first */
  int recipe_count;
  FovComparedPair *pairs; /**< [pair_count] in the order of recipes */
  int pair_count;
  int corrected_for; /**< pairs that the correction counts */
  FovRunTest *tests; /**< [test_count] */
  int test_count;
  int against;                               /**< the recipe that was asked for; −1: none */
  double thresholds[FOV_COMPARE_THRESHOLDS]; /**< of the profiles, the worst first */
  double *results;                           /**< [runs.count] of all recipes */
} FovCompared;

/**
 * Compares. The result does not depend on the order of the sources or on threads. With up to
 * FOV_COMPARE_ALL_PAIRS recipes all pairs are compared, else the best with all others; with
 * `against`, that recipe with all others.
 *
 * Fails as its sources do, and if the recipes have no task in common. Finished by
 * fov_compared_finish, also after a failure.
 */
FovStatus fov_compare(FovCompared *compared, const FovCompareRequest *request);
void fov_compared_finish(FovCompared *compared);

#endif
