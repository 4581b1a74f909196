/** Differences of recipes, and what they decide. */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "experiment/compare/parts.h"

static const double ALPHA = 0.05;

/* ---- which pairs ---- */

static void choose_pairs(FovCompared *result) {
  int n = result->recipe_count, all = n * (n - 1) / 2;
  bool every = result->against < 0 && n <= FOV_COMPARE_ALL_PAIRS;
  int hub = result->against < 0 ? 0 : result->against;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (every || i == hub || j == hub)
        result->pairs[result->pair_count++] = (FovComparedPair){.first = i, .second = j};
  // The best recipe was found among all pairs, so that all of them count.
  result->corrected_for = result->against < 0 ? all : result->pair_count;
}

/* ---- draws of a difference ---- */

/** Gathers which cases the runs of a task have right: values [runs of the task, cases]. Sets `runs`
 * to those after it. */
static FovStatus gather(FovCaseScores *scores, double **values, const FovComparedRun **runs,
                        int count) {
  int64_t cases = (*runs)->outcomes.cases;
  *values = malloc((size_t)count * (size_t)cases * sizeof **values);
  if (!*values) return fov_fail(FOV_ERR_MEMORY, "no memory for the outcomes of %d runs", count);
  for (int s = 0; s < count; s++)
    for (int64_t c = 0; c < cases; c++) (*values)[s * cases + c] = 1 - (*runs)[s].outcomes.wrong[c];
  *scores = (FovCaseScores){.values = *values, .seeds = count, .cases = (int)cases};
  *runs += count;
  return FOV_OK;
}

/** Adds a task's draws to those of the tasks before. Draws arrive sorted, and tasks are
 * independent, so they are added in a random order. */
static void add_draws(double *sum, const FovDraws *draws, int task, int tasks) {
  for (int d = 0; d < draws->count; d++) {
    uint64_t at = fov_rng_permute((uint64_t)d, (uint64_t)draws->count, draws->seed);
    sum[task > 0 ? at : (uint64_t)d] += draws->values[d] / tasks;
  }
}

/** Draws differences that resample cases and seeds, of each task for itself. */
static FovStatus draw_cases(double *sum, const FovComparing *comparing,
                            const FovComparedPair *pair) {
  const FovScores *u = &comparing->scores[pair->first], *v = &comparing->scores[pair->second];
  const FovComparedRun *x_runs = comparing->result->recipes[pair->first].list;
  const FovComparedRun *y_runs = comparing->result->recipes[pair->second].list;
  FovDraws draws = fov_comparing_draws(comparing, comparing->draws);
  FovStatus status = FOV_OK;
  for (int d = 0; d < draws.count; d++) sum[d] = 0;
  for (int t = 0; t < u->tasks && status == FOV_OK; t++) {
    double *x_values = NULL, *y_values = NULL;
    FovCaseScores x, y;
    draws.seed = comparing->request->seed + (uint64_t)t;
    status = gather(&x, &x_values, &x_runs, u->runs[t]);
    if (status == FOV_OK) status = gather(&y, &y_values, &y_runs, v->runs[t]);
    if (status == FOV_OK) status = fov_bootstrap_paired(&draws, &x, &y);
    if (status == FOV_OK) add_draws(sum, &draws, t, u->tasks);
    free(x_values);
    free(y_values);
  }
  if (status == FOV_OK) fov_stats_sort(sum, draws.count);
  return status;
}

static FovStatus draw_difference(double *values, const FovComparing *comparing,
                                 const FovComparedPair *pair) {
  if (pair->cases) return draw_cases(values, comparing, pair);
  FovDraws draws = fov_comparing_draws(comparing, values);
  return fov_bootstrap_comparison(&draws, &comparing->scores[pair->first],
                                  &comparing->scores[pair->second], fov_scores_mean_difference);
}

/* ---- Welch's interval ---- */

// The bootstrap of n runs has (n − 1)/n of their variance, and no draw beyond their range: of 3 and
// 3 runs of equal recipes, those of one are all better than those of the other in 1 of 10
// experiments, and every draw then is on one side of 0. Welch's interval (1947) depends on the
// number of runs. A conclusion needs both.

/** Welch's test of the difference of two means; p: 1 if a recipe has too few runs. */
typedef struct Welch {
  double error, freedom; // standard error; 0: all runs of a recipe are equal
  double p;
} Welch;

static Welch test_means(const FovScores *x, const FovScores *y) {
  FovMeanVariance mean = {0};
  double difference = fov_scores_mean_difference(x, y);
  if (fov_comparing_lacks_runs(x) || fov_comparing_lacks_runs(y)) return (Welch){.p = 1};
  fov_comparing_add_variance(&mean, x);
  fov_comparing_add_variance(&mean, y);
  if (mean.variance == 0) return (Welch){.p = difference == 0};
  Welch welch = {.error = sqrt(mean.variance), .freedom = fov_comparing_freedom(&mean)};
  welch.p = fov_stats_student_p(difference / welch.error, welch.freedom);
  return welch;
}

/** Widens an interval to Welch's at the same level. */
static void widen(FovEstimate *difference, const FovScores *x, const FovScores *y, double level) {
  Welch welch = test_means(x, y);
  if (welch.error == 0) return;
  double half = welch.error * fov_stats_student_quantile(1 - level, welch.freedom);
  difference->low = fmin(difference->low, difference->value - half);
  difference->high = fmax(difference->high, difference->value + half);
}

/* ---- a pair ---- */

static FovStatus compare_pair(const FovComparing *comparing, int index, double *values) {
  FovCompared *result = comparing->result;
  FovComparedPair *pair = &result->pairs[index];
  const FovScores *x = &comparing->scores[pair->first], *y = &comparing->scores[pair->second];
  FovDraws draws = fov_comparing_draws(comparing, values);
  double run_p = 0;
  pair->no_cases = fov_compare_cases(&result->recipes[pair->first], &result->recipes[pair->second]);
  pair->cases = !pair->no_cases;
  pair->single = x->count == x->tasks && y->count == y->tasks;
  if (pair->cases) FOV_TRY(fov_compare_runs(&run_p, result, index));
  FOV_TRY(draw_difference(values, comparing, pair));
  pair->difference.value = fov_scores_mean_difference(x, y);
  fov_bootstrap_interval(&pair->difference.low, &pair->difference.high, &draws, 1 - ALPHA);
  // One run each: the conclusion is about these two, by the exact test.
  pair->p = fmax(fov_bootstrap_p(&draws), pair->cases && pair->single ? run_p : test_means(x, y).p);
  return fov_compare_improvement(&pair->improvement, comparing, pair->first, pair->second);
}

/* ---- conclusions ---- */

static FovVerdict judge(const FovComparedPair *pair) {
  if (pair->corrected.low <= 0 && pair->corrected.high >= 0) return FOV_VERDICT_UNDECIDED;
  if (pair->adjusted <= ALPHA) return FOV_VERDICT_BETTER;
  // P(improvement) has no interval where a recipe lacks runs.
  return isnan(pair->improvement.low) ? FOV_VERDICT_FEW_RUNS : FOV_VERDICT_FEW_DRAWS;
}

/** Corrects p-values and intervals. p: [3, corrected_for] scratch; draws: [pair_count, draws]. */
static void correct(const FovComparing *comparing, double *p, double *draws) {
  FovCompared *result = comparing->result;
  int n = result->corrected_for;
  double *adjusted = p + n, *levels = p + 2 * n;
  for (int i = 0; i < n; i++) p[i] = i < result->pair_count ? result->pairs[i].p : 1;
  fov_stats_holm(adjusted, p, n);
  fov_stats_holm_levels(levels, p, adjusted, n, ALPHA);
  for (int i = 0; i < result->pair_count; i++) {
    FovComparedPair *pair = &result->pairs[i];
    FovDraws of_pair = fov_comparing_draws(comparing, draws + (size_t)i * (size_t)result->draws);
    pair->adjusted = adjusted[i];
    pair->level = levels[i];
    pair->corrected.value = pair->difference.value;
    fov_bootstrap_interval(&pair->corrected.low, &pair->corrected.high, &of_pair, levels[i]);
    widen(&pair->corrected, &comparing->scores[pair->first], &comparing->scores[pair->second],
          levels[i]);
    pair->verdict = judge(pair);
  }
}

FovStatus fov_compare_pairs(const FovComparing *comparing) {
  FovCompared *result = comparing->result;
  size_t n = (size_t)result->recipe_count;
  result->pairs = calloc(n * n, sizeof *result->pairs);
  if (!result->pairs) return fov_fail(FOV_ERR_MEMORY, "no memory for %zu recipes", n);
  choose_pairs(result);
  size_t row = (size_t)result->draws;
  double *draws = calloc((size_t)result->pair_count * row + 1, sizeof *draws);
  double *p = calloc(3 * (size_t)result->corrected_for + 1, sizeof *p);
  FovStatus status = draws && p ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %zu draws", row);
  for (int i = 0; i < result->pair_count && status == FOV_OK; i++)
    status = compare_pair(comparing, i, draws + (size_t)i * row);
  if (status == FOV_OK) correct(comparing, p, draws);
  free(draws);
  free(p);
  return status == FOV_OK ? fov_compare_adjust_runs(result) : status;
}
