#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bootstrap.h"
#include "base/stats.h"
#include "check.h"

enum { DRAWS = 40000 };

/** With DRAWS draws an empirical distribution is farther from the true one with probability
 * 2 exp(−2 DRAWS 0.01²), below 0.001 (Massart 1990); the seeds are fixed. */
static const double DISTANCE = 0.01;

static int allocations = -1; // that still succeed; negative: all

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_malloc(size_t size) {
  return allocations < 0 || allocations-- > 0 ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
  return allocations < 0 || allocations-- > 0 ? __real_calloc(count, size) : NULL;
}

/* ---- scores ---- */

static const double ragged_x[] = {0.9, 0.4, 0.7, 0.2, 1.3, 0.8, 0.95, 0.1};
static const double ragged_y[] = {0.7, 0.6, 0.2, 0.2, 0.5, 0.8};
static const int ragged_runs_x[] = {3, 1, 4}, ragged_runs_y[] = {2, 3, 1};

/** The performance profile at τ: the mean of [score > τ]. */
static double share_above(const FovScores *x, double tau) {
  double above[64];
  FovScores matrix;
  assert_in_range(x->count, 1, 64);
  for (int i = 0; i < x->count; i++) above[i] = x->values[i] > tau;
  assert_int_equal(fov_scores_init(&matrix, above, x->runs, x->tasks), FOV_OK);
  double share = fov_scores_mean(&matrix);
  fov_scores_finish(&matrix);
  return share;
}

/** Computed in Python from the definitions, without sorting. */
static void aggregates_of_tasks_with_different_numbers_of_runs(void **state) {
  (void)state;
  FovScores x, y;
  assert_int_equal(fov_scores_init(&x, ragged_x, ragged_runs_x, 3), FOV_OK);
  assert_int_equal(fov_scores_init(&y, ragged_y, ragged_runs_y, 3), FOV_OK);
  assert_close(fov_scores_mean(&x), 0.5513888888888889, 1e-15);
  assert_close(fov_scores_median(&x), 2.0 / 3, 1e-15);
  assert_close(fov_scores_iqm(&x), 0.7, 1e-15);
  assert_close(fov_scores_gap(&x), 0.4736111111111111, 1e-15);
  assert_close(fov_scores_improvement(&x, &y), 0.513888888888889, 1e-15);
  assert_close(fov_scores_improvement(&y, &x), 1 - 0.513888888888889, 1e-15);
  assert_close(fov_scores_mean_difference(&x, &y), 0.5513888888888889 - 1.75 / 3, 1e-15);
  const double taus[] = {0, 0.2, 0.7, 0.75, 1.3}, known[] = {1, 7.0 / 12, 13.0 / 36, 13.0 / 36, 0};
  for (int i = 0; i < 5; i++) assert_near(share_above(&x, taus[i]), known[i], 1e-15, "share %d", i);
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static void improvement_is_certain_for_the_better_and_even_for_the_same(void **state) {
  (void)state;
  FovScores x, y;
  assert_int_equal(fov_scores_init(&x, (double[]){3, 5, 4, 9, 7}, (int[]){3, 2}, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&y, (double[]){2, 6}, (int[]){1, 1}, 2), FOV_OK);
  assert_true(fov_scores_improvement(&x, &y) == 1);
  assert_true(fov_scores_improvement(&y, &x) == 0);
  assert_true(fov_scores_improvement(&x, &x) == 0.5);
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static FovAggregate *const aggregates[] = {fov_scores_mean, fov_scores_median, fov_scores_iqm,
                                           fov_scores_gap};
enum { COMPARISONS = 2 };
static FovComparison *const comparisons[COMPARISONS] = {fov_scores_improvement,
                                                        fov_scores_mean_difference};

/** Every bit of aggregates, comparisons and bootstrap draws. */
static void the_order_of_the_runs_changes_nothing(void **state) {
  (void)state;
  FovScores x, swapped;
  const double values[] = {0.2, 0.9, 0.4, 0.7, 1.3, 0.8, 0.95, 0.1};
  const double other[] = {0.4, 0.2, 0.7, 0.9, 0.95, 0.1, 1.3, 0.8};
  double a[500], b[500];
  assert_int_equal(fov_scores_init(&x, values, (int[]){4, 4}, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&swapped, other, (int[]){4, 4}, 2), FOV_OK);
  for (int i = 0; i < 4; i++) {
    assert_true(aggregates[i](&x) == aggregates[i](&swapped));
    FovDraws draws = {a, 500, 7, 1}, again = {b, 500, 7, 1};
    assert_int_equal(fov_bootstrap(&draws, &x, aggregates[i]), FOV_OK);
    assert_int_equal(fov_bootstrap(&again, &swapped, aggregates[i]), FOV_OK);
    assert_memory_equal(a, b, sizeof a);
  }
  for (int i = 0; i < COMPARISONS; i++)
    assert_true(comparisons[i](&x, &swapped) == (i == 0 ? 0.5 : 0));
  fov_scores_finish(&x);
  fov_scores_finish(&swapped);
}

/** So many runs that some are drawn six times. Sorting a resample again changes no bit of it. */
static void a_resample_is_a_sorted_matrix_of_scores_of_the_same_task(void **state) {
  (void)state;
  double values[24];
  const int runs[] = {14, 10};
  int counts[24];
  FovScores x, sample, again;
  for (int i = 0; i < 24; i++) values[i] = (i * 7 % 24) / 4 + (i < 14 ? 0 : 100); // some are equal
  assert_int_equal(fov_scores_init(&x, values, runs, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&sample, values, runs, 2), FOV_OK);
  for (uint64_t r = 0; r < 2000; r++) {
    FovRng rng = fov_rng_stream(1, FOV_STREAM_BOOTSTRAP, r);
    fov_scores_resample(&sample, counts, &x, &rng);
    assert_int_equal(fov_scores_init(&again, sample.values, runs, 2), FOV_OK);
    assert_memory_equal(sample.values, again.values, 24 * sizeof *again.values);
    assert_memory_equal(sample.pooled, again.pooled, 24 * sizeof *again.pooled);
    assert_memory_equal(sample.means, again.means, 2 * sizeof *again.means);
    assert_true(sample.values[13] < 100 && sample.values[14] >= 100);
    fov_scores_finish(&again);
  }
  fov_scores_finish(&x);
  fov_scores_finish(&sample);
}

/* ---- the bootstrap against all resamples ---- */

/** The n^n resamples of n runs, number by number: run i of resample r. */
static int digit(int r, int i, int n) {
  while (i-- > 0) r /= n;
  return r % n;
}

static int power(int n) {
  int all = 1;
  for (int i = 0; i < n; i++) all *= n;
  return all;
}

/** Resample r, of which there are Π runs[t]^runs[t], as a matrix of its own. */
static FovScores resample(const double *values, const int *runs, int tasks, int r) {
  double drawn[5];
  int count = 0;
  for (int t = 0; t < tasks; t++) {
    const double *task = values + count;
    for (int i = 0; i < runs[t]; i++) drawn[count++] = task[digit(r, i, runs[t])];
    r /= power(runs[t]);
  }
  FovScores scores;
  assert_int_equal(fov_scores_init(&scores, drawn, runs, tasks), FOV_OK);
  return scores;
}

/** The share of a sorted sample that is at most x, up to rounding. */
static double share_up_to(double x, const double *sorted, int n) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] <= x + 1e-12)
      low = middle + 1;
    else
      high = middle;
  }
  return (double)low / n;
}

/** Fails unless the draws have the distribution of `exact`, which is sorted here. */
static void assert_distribution(const FovDraws *draws, double *exact, int n) {
  fov_stats_sort(exact, n);
  for (int i = 0; i < n; i++)
    assert_near(share_up_to(exact[i], draws->values, draws->count), share_up_to(exact[i], exact, n),
                DISTANCE, "P(X <= %g)", exact[i]);
  for (int d = 0; d < draws->count; d++) // no value that no resample has
    assert_true(share_up_to(draws->values[d], exact, n) >
                share_up_to(draws->values[d] - 1e-11, exact, n));
}

static double drawn[DRAWS], exact[108 * 108];

static const double tiny_x[] = {0.9, 0.42, 0.71, 1.2, 0.35}, tiny_y[] = {0.5, 0.71, 1.1, 0.2, 0.35};
static const int tiny_runs_x[] = {3, 2}, tiny_runs_y[] = {2, 3};

static void draws_of_an_aggregate_have_the_exact_distribution(void **state) {
  (void)state;
  FovScores x;
  assert_int_equal(fov_scores_init(&x, tiny_x, tiny_runs_x, 2), FOV_OK);
  for (uint64_t i = 0; i < 4; i++) {
    for (int r = 0; r < 27 * 4; r++) {
      FovScores sample = resample(tiny_x, tiny_runs_x, 2, r);
      exact[r] = aggregates[i](&sample);
      fov_scores_finish(&sample);
    }
    FovDraws draws = {drawn, DRAWS, i, 2};
    assert_int_equal(fov_bootstrap(&draws, &x, aggregates[i]), FOV_OK);
    assert_distribution(&draws, exact, 27 * 4);
  }
  fov_scores_finish(&x);
}

static void draws_of_a_comparison_have_the_exact_distribution(void **state) {
  (void)state;
  FovScores x, y;
  assert_int_equal(fov_scores_init(&x, tiny_x, tiny_runs_x, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&y, tiny_y, tiny_runs_y, 2), FOV_OK);
  for (uint64_t i = 0; i < COMPARISONS; i++) {
    for (int r = 0; r < 108 * 108; r++) {
      FovScores u = resample(tiny_x, tiny_runs_x, 2, r / 108);
      FovScores v = resample(tiny_y, tiny_runs_y, 2, r % 108);
      exact[r] = comparisons[i](&u, &v);
      fov_scores_finish(&u);
      fov_scores_finish(&v);
    }
    FovDraws draws = {drawn, DRAWS, i, 2};
    assert_int_equal(fov_bootstrap_comparison(&draws, &x, &y, comparisons[i]), FOV_OK);
    assert_distribution(&draws, exact, 108 * 108);
  }
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static const double pairs_x[] = {1, 0, 1, 0.5, 1, 0}, pairs_y[] = {0, 0, 1, 1, 0, 0, 0.25, 0, 1};

/** The mean over resample r of a recipe's seeds and resample c of the three cases. */
static double resampled_mean(const double *outcomes, int seeds, int r, int c) {
  double sum = 0;
  for (int s = 0; s < seeds; s++)
    for (int i = 0; i < 3; i++) sum += outcomes[3 * digit(r, s, seeds) + digit(c, i, 3)];
  return sum / (3 * seeds);
}

static void paired_draws_have_the_exact_distribution(void **state) {
  (void)state;
  int n = 0;
  for (int r = 0; r < 4; r++)
    for (int q = 0; q < 27; q++)
      for (int c = 0; c < 27; c++)
        exact[n++] = resampled_mean(pairs_x, 2, r, c) - resampled_mean(pairs_y, 3, q, c);
  FovDraws draws = {drawn, DRAWS, 1, 2};
  FovCaseScores x = {pairs_x, 2, 3}, y = {pairs_y, 3, 3};
  assert_int_equal(fov_bootstrap_paired(&draws, &x, &y), FOV_OK);
  assert_distribution(&draws, exact, n);
}

/** Cases that both recipes find equally hard add nothing to the uncertainty of their difference. */
static void what_recipes_share_in_a_case_cancels(void **state) {
  (void)state;
  double x[100], y[100], low, high;
  for (int c = 0; c < 100; c++) x[c] = (y[c] = c % 4) + 1.5;
  FovDraws draws = {drawn, 1000, 1, 1};
  FovCaseScores u = {x, 1, 100}, v = {y, 1, 100};
  assert_int_equal(fov_bootstrap_paired(&draws, &u, &v), FOV_OK);
  fov_bootstrap_interval(&low, &high, &draws, 0.95);
  assert_close(low, 1.5, 1e-12);
  assert_close(high, 1.5, 1e-12);
}

/** Enough cases that threads overlap. */
static void draw_with(double *values, int which, uint64_t seed, int threads) {
  FovScores x, y;
  FovDraws draws = {values, 1000, seed, threads};
  double many[4000];
  for (int i = 0; i < 4000; i++) many[i] = i * 7919 % 997;
  FovCaseScores u = {many, 1, 2000}, v = {many + 2000, 1, 2000};
  assert_int_equal(fov_scores_init(&x, ragged_x, ragged_runs_x, 3), FOV_OK);
  assert_int_equal(fov_scores_init(&y, ragged_y, ragged_runs_y, 3), FOV_OK);
  if (which == 0) assert_int_equal(fov_bootstrap(&draws, &x, fov_scores_mean), FOV_OK);
  if (which == 1)
    assert_int_equal(fov_bootstrap_comparison(&draws, &x, &y, fov_scores_mean_difference), FOV_OK);
  if (which == 2) assert_int_equal(fov_bootstrap_paired(&draws, &u, &v), FOV_OK);
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static void draws_depend_on_the_seed_and_not_on_the_threads(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    double one[1000], other[1000];
    draw_with(one, which, 3, 1);
    for (int threads = 2; threads <= 9; threads += 7) {
      draw_with(other, which, 3, threads);
      assert_memory_equal(one, other, sizeof one);
    }
    draw_with(other, which, 4, 1);
    assert_memory_not_equal(one, other, sizeof one);
  }
}

/** 1/27 of the resamples of three runs is the best run three times. */
static void the_interval_of_three_runs_is_their_range(void **state) {
  (void)state;
  FovScores x;
  double low, high;
  assert_int_equal(fov_scores_init(&x, (double[]){0.7, 0.4, 0.9}, (int[]){3}, 1), FOV_OK);
  FovDraws draws = {drawn, DRAWS, 0, 1};
  assert_int_equal(fov_bootstrap(&draws, &x, fov_scores_iqm), FOV_OK);
  fov_bootstrap_interval(&low, &high, &draws, 0.95);
  assert_close(low, 0.4, 1e-15);
  assert_close(high, 0.9, 1e-15);
  fov_scores_finish(&x);
}

static void an_interval_and_a_p_value_of_known_draws(void **state) {
  (void)state;
  double values[99], low, high;
  for (int i = 0; i < 99; i++) values[i] = i - 1; // −1, 0, …, 97
  FovDraws draws = {values, 99, 0, 1};
  fov_bootstrap_interval(&low, &high, &draws, 0.9);
  assert_close(low, -1 + 0.05 * 98, 1e-12);
  assert_close(high, -1 + 0.95 * 98, 1e-12);
  assert_close(fov_bootstrap_p(&draws), 2 * 3 / 100.0, 1e-15);
  for (int i = 0; i < 99; i++) values[i] = -97 + i; // the other side
  assert_close(fov_bootstrap_p(&draws), 2 * 3 / 100.0, 1e-15);
  for (int i = 0; i < 99; i++) values[i] = 1;
  assert_close(fov_bootstrap_p(&draws), 2 / 100.0, 1e-15);
  for (int i = 0; i < 99; i++) values[i] = 0;
  assert_true(fov_bootstrap_p(&draws) == 1);
}

/* ---- what is refused ---- */

/** The workers, then three pieces for each of two. */
static void no_memory_for_matrices_is_reported(void **state) {
  (void)state;
  FovScores x, y;
  FovDraws draws = {drawn, 100, 0, 2};
  assert_int_equal(fov_scores_init(&x, tiny_x, tiny_runs_x, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&y, tiny_y, tiny_runs_y, 2), FOV_OK);
  for (int left = 0; left <= 7; left++) {
    allocations = left;
    FovStatus status = fov_bootstrap_comparison(&draws, &x, &y, fov_scores_improvement);
    allocations = -1;
    assert_int_equal(status, left < 7 ? FOV_ERR_MEMORY : FOV_OK);
    if (status != FOV_OK) assert_message("no memory");
  }
  fov_scores_finish(&x);
  fov_scores_finish(&y);
}

static void no_memory_for_cases_is_reported(void **state) {
  (void)state;
  FovDraws draws = {drawn, 100, 0, 2};
  FovCaseScores x = {pairs_x, 2, 3}, y = {pairs_y, 3, 3};
  for (int left = 0; left <= 2; left++) {
    allocations = left;
    FovStatus status = fov_bootstrap_paired(&draws, &x, &y);
    allocations = -1;
    assert_int_equal(status, left < 2 ? FOV_ERR_MEMORY : FOV_OK);
    if (status != FOV_OK) assert_message("no memory");
  }
}

static void make_scores(const double *values, const int *runs, int tasks) {
  FovScores scores;
  assert_int_equal(fov_scores_init(&scores, values, runs, tasks), FOV_OK);
}

static void compare_tasks(FovComparison *comparison, int tasks) {
  FovScores x, y;
  assert_int_equal(fov_scores_init(&x, tiny_x, tiny_runs_x, 2), FOV_OK);
  assert_int_equal(fov_scores_init(&y, tiny_y, tiny_runs_y, tasks), FOV_OK);
  comparison(&x, &y);
}

static void draw_pairs(int count, int threads, int cases, double outcome) {
  double outcomes[] = {1, outcome, 0};
  FovDraws draws = {drawn, count, 0, threads};
  FovCaseScores x = {outcomes, 1, 3}, y = {pairs_y, 3, cases};
  assert_int_equal(fov_bootstrap_paired(&draws, &x, &y), FOV_OK);
}

static void draw_means(int count, int threads) {
  FovScores x;
  FovDraws draws = {drawn, count, 0, threads};
  assert_int_equal(fov_scores_init(&x, tiny_x, tiny_runs_x, 2), FOV_OK);
  assert_int_equal(fov_bootstrap(&draws, &x, fov_scores_mean), FOV_OK);
}

static void take_interval(double level) {
  double low, high;
  fov_bootstrap_interval(&low, &high, &(FovDraws){(double[]){1, 2}, 2, 0, 1}, level);
}

enum { MISTAKES = 13 };

static int mistake;

/** Makes the mistake of that number and returns if that does not abort; MISTAKES: none. */
static void make_mistake(void) {
  if (mistake == 0) make_scores(tiny_x, tiny_runs_x, 0);
  if (mistake == 1) make_scores(tiny_x, (int[]){3, -1}, 2);
  if (mistake == 2) make_scores((double[]){1, NAN}, (int[]){2}, 1);
  if (mistake == 3) compare_tasks(fov_scores_improvement, 1);
  if (mistake == 4) compare_tasks(fov_scores_mean_difference, 1);
  if (mistake == 5) draw_means(0, 1);
  if (mistake == 6) draw_means(10, -1);
  if (mistake == 7) draw_pairs(0, 1, 3, 1);
  if (mistake == 8) draw_pairs(10, -1, 3, 1);
  if (mistake == 9) draw_pairs(10, 1, 2, 1);
  if (mistake == 10) draw_pairs(10, 1, 3, NAN);
  if (mistake == 11) take_interval(0);
  if (mistake == 12) take_interval(1);
  if (mistake < MISTAKES) return;
  make_scores(tiny_x, tiny_runs_x, 2);
  compare_tasks(fov_scores_improvement, 2);
  draw_means(10, 1);
  draw_pairs(10, 1, 3, 1);
  take_interval(0.95);
}

static void a_caller_s_mistake_aborts(void **state) {
  (void)state;
  for (mistake = 0; mistake < MISTAKES; mistake++)
    if (!aborts(make_mistake)) fail_msg("mistake %d does not abort", mistake);
  assert_false(aborts(make_mistake));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aggregates_of_tasks_with_different_numbers_of_runs),
      cmocka_unit_test(improvement_is_certain_for_the_better_and_even_for_the_same),
      cmocka_unit_test(the_order_of_the_runs_changes_nothing),
      cmocka_unit_test(a_resample_is_a_sorted_matrix_of_scores_of_the_same_task),
      cmocka_unit_test(draws_of_an_aggregate_have_the_exact_distribution),
      cmocka_unit_test(draws_of_a_comparison_have_the_exact_distribution),
      cmocka_unit_test(paired_draws_have_the_exact_distribution),
      cmocka_unit_test(what_recipes_share_in_a_case_cancels),
      cmocka_unit_test(draws_depend_on_the_seed_and_not_on_the_threads),
      cmocka_unit_test(the_interval_of_three_runs_is_their_range),
      cmocka_unit_test(an_interval_and_a_p_value_of_known_draws),
      cmocka_unit_test(no_memory_for_matrices_is_reported),
      cmocka_unit_test(no_memory_for_cases_is_reported),
      cmocka_unit_test(a_caller_s_mistake_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
