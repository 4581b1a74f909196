/** Scores of runs on tasks, and their aggregates (Agarwal et al. 2021, "Deep Reinforcement Learning
 * at the Edge of the Statistical Precipice", whose library is rliable). */
#ifndef FOV_BASE_SCORES_H
#define FOV_BASE_SCORES_H

#include "base/error.h"
#include "base/rng.h"

/** A matrix of scores, higher is better; a task has runs of its own, as many as it likes. */
typedef struct FovScores {
  int tasks, count; /**< count: scores of all tasks together */
  int *runs;        /**< [tasks] runs of each */
  double *values;   /**< [count] the scores of task 0, of task 1 …; ascending within a task */
  double *pooled;   /**< [count] all scores, ascending */
  int *order;       /**< [count] pooled[i] is values[order[i]]; not kept up in a resample */
  double *means;    /**< [tasks] the tasks' mean scores, ascending */
} FovScores;

/** Copies `values`: runs[0] scores of task 0, runs[1] of task 1 …, in any order within a task.
 * Scores are finite, tasks >= 1 and each runs[t] >= 1, or it aborts. Fails, and needs no
 * fov_scores_finish, if there is no memory. */
FovStatus fov_scores_init(FovScores *scores, const double *values, const int *runs, int tasks);

void fov_scores_finish(FovScores *scores);

/** Draws, for each task t, runs[t] of its scores with replacement. `sample` has the shape of
 * `scores`, made by fov_scores_init; counts [count] is scratch. */
void fov_scores_resample(FovScores *sample, int *counts, const FovScores *scores, FovRng *rng);

/** A number computed from a matrix. The order of the runs does not change a bit of it. */
typedef double FovAggregate(const FovScores *x);

/** The mean of the tasks' means. */
double fov_scores_mean(const FovScores *x);

/** The median of the tasks' means. */
double fov_scores_median(const FovScores *x);

/** The interquartile mean of all scores (fov_stats_iqm): a task counts by its runs. */
double fov_scores_iqm(const FovScores *x);

/** The optimality gap 1 − mean(min(x, 1)), each task's mean counting equally. */
double fov_scores_gap(const FovScores *x);

/** A number computed from two matrices of the same tasks, with any number of runs each. */
typedef double FovComparison(const FovScores *x, const FovScores *y);

/** The probability of improvement P(X > Y) + P(X = Y)/2 of a run of x and one of y, averaged over
 * tasks. */
double fov_scores_improvement(const FovScores *x, const FovScores *y);

/** The difference of the means x − y. */
double fov_scores_mean_difference(const FovScores *x, const FovScores *y);

#endif
