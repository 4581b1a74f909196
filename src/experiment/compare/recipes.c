/** Statistics of one recipe. */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "experiment/compare/parts.h"

FovDraws fov_comparing_draws(const FovComparing *comparing, double *values) {
  const FovCompareRequest *request = comparing->request;
  return (FovDraws){.values = values,
                    .count = request->draws,
                    .seed = request->seed,
                    .threads = request->threads};
}

bool fov_comparing_lacks_runs(const FovScores *scores) {
  for (int t = 0; t < scores->tasks; t++)
    if (scores->runs[t] == 1) return true;
  return false;
}

/** From a score with its interval to the measure. */
static FovEstimate measured(const FovCompared *result, double score, double low, double high) {
  return result->errors ? (FovEstimate){1 - score, 1 - high, 1 - low}
                        : (FovEstimate){score, low, high};
}

void fov_comparing_add_variance(FovMeanVariance *of_mean, const FovScores *scores) {
  const double *values = scores->values;
  for (int t = 0; t < scores->tasks; t++) {
    int n = scores->runs[t];
    double mean = fov_stats_mean(values, n), squares = 0;
    for (int i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    // The variance of the task's share of the mean.
    double v = squares / (n - 1) / n / scores->tasks / scores->tasks;
    of_mean->variance += v;
    of_mean->norm = hypot(of_mean->norm, v / sqrt(n - 1)); // whose square may overflow
    values += n;
  }
}

double fov_comparing_freedom(const FovMeanVariance *mean) {
  double ratio = mean->variance / mean->norm;
  return ratio * ratio;
}

/** Half of Student's 95 % interval of the mean of the tasks' means; NaN if a task has one run. */
static double half_width(const FovScores *scores) {
  FovMeanVariance mean = {0};
  if (fov_comparing_lacks_runs(scores)) return NAN;
  fov_comparing_add_variance(&mean, scores);
  if (mean.variance == 0) return 0;
  return fov_stats_student_quantile(0.05, fov_comparing_freedom(&mean)) * sqrt(mean.variance);
}

static double median(const FovScores *scores) {
  return scores->tasks == 1 ? fov_stats_median(scores->pooled, scores->count)
                            : fov_scores_median(scores);
}

static FovStatus estimate_iqm(FovEstimate *iqm, const FovComparing *comparing,
                              const FovScores *scores) {
  FovDraws draws = fov_comparing_draws(comparing, comparing->draws);
  double low = NAN, high = NAN;
  if (!fov_comparing_lacks_runs(scores)) {
    FOV_TRY(fov_bootstrap(&draws, scores, fov_scores_iqm));
    fov_bootstrap_interval(&low, &high, &draws, 0.95);
  }
  *iqm = measured(comparing->result, fov_scores_iqm(scores), low, high);
  return FOV_OK;
}

FovStatus fov_compare_improvement(FovEstimate *improvement, const FovComparing *comparing, int x,
                                  int y) {
  const FovScores *u = &comparing->scores[x], *v = &comparing->scores[y];
  *improvement = (FovEstimate){fov_scores_improvement(u, v), NAN, NAN};
  if (fov_comparing_lacks_runs(u) || fov_comparing_lacks_runs(v)) return FOV_OK;
  FovDraws draws = fov_comparing_draws(comparing, comparing->draws);
  FOV_TRY(fov_bootstrap_comparison(&draws, u, v, fov_scores_improvement));
  fov_bootstrap_interval(&improvement->low, &improvement->high, &draws, 0.95);
  return FOV_OK;
}

/* ---- profiles ---- */

/** Spreads the thresholds over all scores, with a margin. */
static void choose_thresholds(FovCompared *result) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < result->runs.count; i++) {
    low = fmin(low, result->results[i]);
    high = fmax(high, result->results[i]);
  }
  double margin = high > low ? 0.05 * (high - low) : 0.01;
  low -= margin;
  high += margin;
  if (result->errors) low = fmax(low, 0), high = fmin(high, 1);
  double first = result->errors ? high : low, last = result->errors ? low : high;
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS; i++)
    result->thresholds[i] = first + (last - first) * i / (FOV_COMPARE_THRESHOLDS - 1);
}

/** The performance profile at τ: the share of runs whose score is above it, averaged over tasks,
 * and its band are the mean of the matrix of [score > τ] and its bootstrap. One run of a task has
 * no interval. */
static FovStatus estimate_share(FovEstimate *share, const FovComparing *comparing,
                                const FovScores *scores, double tau, double *above) {
  enum { BAND_DRAWS = 2000 }; // for each of many thresholds
  FovScores matrix;
  FovDraws draws = fov_comparing_draws(comparing, comparing->draws);
  if (draws.count > BAND_DRAWS) draws.count = BAND_DRAWS;
  for (int i = 0; i < scores->count; i++) above[i] = scores->values[i] > tau;
  FOV_TRY(fov_scores_init(&matrix, above, scores->runs, scores->tasks));
  FovStatus status = FOV_OK;
  *share = (FovEstimate){fov_scores_mean(&matrix), NAN, NAN};
  if (!fov_comparing_lacks_runs(scores)) {
    status = fov_bootstrap(&draws, &matrix, fov_scores_mean);
    if (status == FOV_OK) fov_bootstrap_interval(&share->low, &share->high, &draws, 0.95);
  }
  fov_scores_finish(&matrix);
  return status;
}

static FovStatus estimate_profile(FovEstimate **profile, const FovComparing *comparing,
                                  const FovScores *scores) {
  const FovCompared *result = comparing->result;
  FovStatus status = FOV_OK;
  double *above = malloc((size_t)scores->count * sizeof *above);
  *profile = calloc(FOV_COMPARE_THRESHOLDS, sizeof **profile);
  if (!above || !*profile) status = fov_fail(FOV_ERR_MEMORY, "no memory for a profile");
  for (int i = 0; i < FOV_COMPARE_THRESHOLDS && status == FOV_OK; i++) {
    double tau = result->errors ? 1 - result->thresholds[i] : result->thresholds[i];
    status = estimate_share(&(*profile)[i], comparing, scores, tau, above);
  }
  free(above);
  return status;
}

/* ---- all of it ---- */

/** The recipe that a recipe's improvement is over: the one asked for, or the best other one. */
static int opponent(const FovCompared *result, int recipe) {
  if (result->against >= 0) return recipe == result->against ? -1 : result->against;
  if (result->recipe_count == 1) return -1;
  return recipe == 0 ? 1 : 0;
}

static FovStatus describe(FovComparedRecipe *recipe, const FovComparing *comparing, int index) {
  const FovScores *scores = &comparing->scores[index];
  const FovCompared *result = comparing->result;
  double mean = fov_scores_mean(scores), half = half_width(scores);
  recipe->half_width = half;
  recipe->mean = measured(result, mean, mean - half, mean + half);
  recipe->median = measured(result, median(scores), 0, 0).value;
  recipe->gap = fov_scores_gap(scores);
  recipe->against = opponent(result, index);
  recipe->improvement = (FovEstimate){NAN, NAN, NAN};
  FOV_TRY(fov_compare_costs(recipe));
  FOV_TRY(estimate_iqm(&recipe->iqm, comparing, scores));
  if (recipe->against >= 0)
    FOV_TRY(fov_compare_improvement(&recipe->improvement, comparing, index, recipe->against));
  return comparing->request->profiles ? estimate_profile(&recipe->profile, comparing, scores)
                                      : FOV_OK;
}

FovStatus fov_compare_recipes(const FovComparing *comparing) {
  FovCompared *result = comparing->result;
  choose_thresholds(result);
  for (int r = 0; r < result->recipe_count; r++)
    FOV_TRY(describe(&result->recipes[r], comparing, r));
  return FOV_OK;
}
