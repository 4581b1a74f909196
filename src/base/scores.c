#include "base/scores.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

enum { SLACK = 3 }; // numbers that `repeat` may write behind an array

static int compare(const void *a, const void *b, void *values) {
  double x = ((double *)values)[*(const int *)a], y = ((double *)values)[*(const int *)b];
  return (x > y) - (x < y);
}

/** Computes `means` from `values`. */
static void take_means(FovScores *scores) {
  const double *values = scores->values;
  for (int t = 0; t < scores->tasks; t++) {
    scores->means[t] = fov_stats_mean(values, scores->runs[t]);
    values += scores->runs[t];
  }
  fov_stats_sort(scores->means, scores->tasks);
}

/** Computes everything else from unsorted `values`. */
static void arrange(FovScores *scores) {
  double *values = scores->values;
  for (int t = 0; t < scores->tasks; t++) {
    fov_stats_sort(values, scores->runs[t]);
    values += scores->runs[t];
  }
  for (int i = 0; i < scores->count; i++) scores->order[i] = i;
  qsort_r(scores->order, (size_t)scores->count, sizeof(int), compare, scores->values);
  for (int i = 0; i < scores->count; i++) scores->pooled[i] = scores->values[scores->order[i]];
  take_means(scores);
}

FovStatus fov_scores_init(FovScores *scores, const double *values, const int *runs, int tasks) {
  FOV_CHECK(tasks > 0, "%d tasks", tasks);
  size_t count = 0, T = (size_t)tasks;
  for (int t = 0; t < tasks; t++) {
    FOV_CHECK(runs[t] > 0, "%d runs of task %d", runs[t], t);
    count += (size_t)runs[t];
  }
  FOV_CHECK(count <= INT_MAX, "%zu scores", count);
  size_t doubles = 2 * (count + SLACK) + T;
  double *memory = malloc(doubles * sizeof(double) + (count + T) * sizeof(int));
  if (!memory) return fov_fail(FOV_ERR_MEMORY, "no memory for %zu scores", count);
  *scores = (FovScores){.tasks = tasks, .count = (int)count, .values = memory};
  scores->pooled = scores->values + count + SLACK;
  scores->means = scores->pooled + count + SLACK;
  scores->order = (int *)(scores->means + T);
  scores->runs = scores->order + count;
  memcpy(scores->values, values, count * sizeof *values);
  memcpy(scores->runs, runs, T * sizeof *runs);
  arrange(scores);
  return FOV_OK;
}

void fov_scores_finish(FovScores *scores) {
  free(scores->values);
  *scores = (FovScores){0};
}

/** Writes x `times` times and returns the place behind. It writes it SLACK times in any case, since
 * a processor cannot predict a branch on a random number of times. */
static double *repeat(double *to, double x, int times) {
  for (int i = 0; i < SLACK; i++) to[i] = x;
  for (int i = SLACK; i < times; i++) to[i] = x;
  return to + times;
}

/** Draws how often each of the values is in a resample. */
static void draw_counts(int *counts, const FovScores *scores, FovRng *rng) {
  memset(counts, 0, (size_t)scores->count * sizeof *counts);
  for (int t = 0; t < scores->tasks; t++) {
    for (int i = 0; i < scores->runs[t]; i++)
      counts[fov_rng_below(rng, (uint32_t)scores->runs[t])]++;
    counts += scores->runs[t];
  }
}

// Runs are drawn by their rank and then written out in ascending order, as often as each was drawn:
//
//     values   .1 .4 .7 | .2 .5        counts   2 0 1 | 0 2
//     sample   .1 .1 .7 | .5 .5        pooled  .1 .1 .5 .5 .7
//
// A resample is thus sorted without being sorted, which would take most of the time.
void fov_scores_resample(FovScores *sample, int *counts, const FovScores *scores, FovRng *rng) {
  int n = scores->count;
  FOV_CHECK(sample->count == n && sample->tasks == scores->tasks, "a resample of another shape");
  draw_counts(counts, scores, rng);
  double *values = sample->values, *pooled = sample->pooled;
  for (int i = 0; i < n; i++) values = repeat(values, scores->values[i], counts[i]);
  for (int i = 0; i < n; i++) pooled = repeat(pooled, scores->pooled[i], counts[scores->order[i]]);
  take_means(sample);
}

double fov_scores_mean(const FovScores *x) {
  return fov_stats_mean(x->means, x->tasks);
}

double fov_scores_median(const FovScores *x) {
  return fov_stats_median(x->means, x->tasks);
}

double fov_scores_iqm(const FovScores *x) {
  return fov_stats_iqm(x->pooled, x->count);
}

double fov_scores_gap(const FovScores *x) {
  double gap = 0;
  const double *values = x->values;
  for (int t = 0; t < x->tasks; t++) {
    double below = 0;
    for (int i = 0; i < x->runs[t]; i++) below += values[i] < 1 ? 1 - values[i] : 0;
    gap += below / x->runs[t];
    values += x->runs[t];
  }
  return gap / x->tasks;
}

/** P(X > Y) + P(X = Y)/2 of two sorted samples: half of how many of y are below, and of how many
 * are not above, each of x. */
static double win_share(const double *x, int n, const double *y, int m) {
  int64_t halves = 0;
  for (int i = 0, below = 0, up_to = 0; i < n; i++) {
    while (below < m && y[below] < x[i]) below++;
    while (up_to < m && y[up_to] <= x[i]) up_to++;
    halves += below + up_to;
  }
  return (double)halves / (2.0 * n * m);
}

static void check_same_tasks(const FovScores *x, const FovScores *y) {
  FOV_CHECK(x->tasks == y->tasks, "%d tasks against %d", x->tasks, y->tasks);
}

double fov_scores_improvement(const FovScores *x, const FovScores *y) {
  check_same_tasks(x, y);
  double sum = 0;
  const double *u = x->values, *v = y->values;
  for (int t = 0; t < x->tasks; t++) {
    sum += win_share(u, x->runs[t], v, y->runs[t]);
    u += x->runs[t];
    v += y->runs[t];
  }
  return sum / x->tasks;
}

double fov_scores_mean_difference(const FovScores *x, const FovScores *y) {
  check_same_tasks(x, y);
  return fov_scores_mean(x) - fov_scores_mean(y);
}
