#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/stats.h"
#include "check.h"

static void test_wilson_s_interval(void **state) {
  (void)state;
  const struct {
    int64_t hits, trials;
    double low, high;
  } known[] = {{10, 100, 0.05523, 0.17437},
               {0, 50, 0, 0.07135},
               {50, 50, 0.92865, 1},
               {1, 1, 0.20654, 1},
               {5, 10, 0.23659, 0.76341}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    double low, high;
    fov_stats_wilson(&low, &high, known[i].hits, known[i].trials);
    assert_close(low, known[i].low, 1e-5);
    assert_close(high, known[i].high, 1e-5);
  }
}

/** Published tables, on both sides of the switch to the expansion. */
static void test_student_s_quantile(void **state) {
  (void)state;
  const struct {
    int64_t freedom;
    double quantile, tolerance;
  } known[] = {{1, 12.7062047362, 1e-9},  {2, 4.3026527297, 1e-9},   {3, 3.1824463053, 1e-9},
               {10, 2.2281388520, 1e-9},  {18, 2.1009220402, 1e-9},  {30, 2.0422724563, 1e-9},
               {100, 1.9839715185, 1e-9}, {1000000, 1.9599664, 1e-6}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_close(fov_stats_student_quantile(0.05, (double)known[i].freedom), known[i].quantile,
                 known[i].tolerance);
}

/** With 1, 2 and 4 degrees of freedom the distribution has a closed form. */
static void student_s_p_value(void **state) {
  (void)state;
  const double ts[] = {0, 1e-6, 0.3, 1, 2.5, 12.706, 1e3, 1e8};
  for (size_t i = 0; i < sizeof ts / sizeof *ts; i++) {
    double t = ts[i], one = 2 / M_PI * atan2(1, t);
    double two = 2 / (2 + t * t + t * sqrt(2 + t * t));
    assert_near(fov_stats_student_p(t, 1) / one, 1, 1e-10, "t = %g, 1 degree", t);
    assert_near(fov_stats_student_p(t, 2) / two, 1, 1e-10, "t = %g, 2 degrees", t);
    double u = t / sqrt(4 + t * t), four = 1 - u * (3 - u * u) / 2;
    assert_near(fov_stats_student_p(-t, 4), four, 1e-10, "t = %g, 4 degrees", t);
  }
  // Beyond a hundred thousand degrees it is normal: 0.05 at 1.96.
  assert_close(fov_stats_student_p(1.959963984540054, 1e8), 0.05, 1e-8);
  assert_true(fov_stats_student_p(INFINITY, 3) == 0);
  // Between whole degrees it is between their values.
  assert_true(fov_stats_student_p(2, 2.5) < fov_stats_student_p(2, 2));
  assert_true(fov_stats_student_p(2, 2.5) > fov_stats_student_p(2, 3));
}

static void student_s_quantile_inverts_the_p_value(void **state) {
  (void)state;
  assert_close(fov_stats_student_quantile(1, 3), 0, 1e-12);
  for (double p = 1e-12; p < 1; p *= 7) {
    double t = fov_stats_student_quantile(p, 2.9);
    assert_near(fov_stats_student_p(t, 2.9) / p, 1, 1e-9, "p = %g", p);
  }
}

/* ---- samples ---- */

static void a_sample_has_mean_interval_and_quantiles(void **state) {
  (void)state;
  double x[] = {3.2, 1.5, 4.8, 2.2, 9.1, 0.7, 5.5};
  assert_close(fov_stats_mean(x, 7), 27.0 / 7, 1e-14);
  assert_close(fov_stats_half_width(x, 7), 2.6638432248, 1e-9);
  fov_stats_sort(x, 7);
  const double known[][2] = {{0, 0.7},   {0.1, 1.18}, {0.25, 1.85},
                             {0.5, 3.2}, {0.9, 6.94}, {1, 9.1}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(fov_stats_quantile(x, 7, known[i][0]), known[i][1], 1e-14, "%g", known[i][0]);
  assert_close(fov_stats_median(x, 7), 3.2, 0);
  assert_close(fov_stats_median(x, 6), 2.7, 1e-14);
}

static void one_run_has_no_interval(void **state) {
  (void)state;
  double x[] = {0.3};
  assert_true(fov_stats_half_width(x, 1) == INFINITY);
  assert_true(fov_stats_mean(x, 1) == 0.3 && fov_stats_median(x, 1) == 0.3);
  assert_true(fov_stats_iqm(x, 1) == 0.3 && fov_stats_quantile(x, 1, 0.975) == 0.3);
}

/** A sum of equal numbers, divided, may be another number: then two recipes of equal results, but
 * of different numbers of runs, would differ. */
static void the_mean_of_equal_numbers_is_exactly_these(void **state) {
  (void)state;
  double x[50];
  for (int n = 1; n <= 50; n++) {
    x[n - 1] = 0.001;
    assert_true(fov_stats_mean(x, n) == 0.001);
    if (n > 1) assert_true(fov_stats_half_width(x, n) == 0);
  }
}

/** scipy.stats.trim_mean(x[:n], 0.25) */
static void the_interquartile_mean_trims_a_quarter_at_each_end(void **state) {
  (void)state;
  const double x[] = {0.1, 0.3, 0.35, 0.6, 0.9, 1.4, 2.0, 5.0, 9.0};
  const double known[] = {0.1, 0.2, 0.25, 0.325, 1.25 / 3, 0.5375, 0.71, 0.8125, 1.05};
  for (int n = 1; n <= 9; n++) {
    assert_near(fov_stats_iqm(x, n), known[n - 1], 1e-14, "n = %d", n);
    if (n <= 3) assert_near(fov_stats_iqm(x, n), fov_stats_mean(x, n), 0, "n = %d", n);
  }
}

static void statistics_of_a_sample_are_within_its_range(void **state) {
  (void)state;
  FovRng rng = fov_rng_stream(1, FOV_STREAM_POLICY, 0);
  for (int n = 1; n <= 40; n++) {
    double x[40];
    for (int i = 0; i < n; i++) x[i] = (double)fov_rng_normal(&rng);
    fov_stats_sort(x, n);
    for (int i = 0; i < n; i++)
      assert_near(fov_stats_quantile(x, n, n > 1 ? i / (n - 1.0) : 0), x[i], 1e-14, "place %d", i);
    for (int q = 1; q <= 100; q++)
      assert_true(fov_stats_quantile(x, n, q / 100.0) >= fov_stats_quantile(x, n, (q - 1) / 100.0));
    double iqm = fov_stats_iqm(x, n);
    assert_true(iqm >= x[n / 4] - 1e-15 && iqm <= x[n - 1 - n / 4] + 1e-15);
  }
}

/* ---- tests ---- */

/** Against sums of integers and, from a million on, of 40 digits. */
static void mcnemar_s_exact_test(void **state) {
  (void)state;
  const struct {
    int64_t first, second;
    double p;
  } known[] = {{0, 0, 1},
               {1, 0, 1},
               {5, 0, 0.0625},
               {10, 2, 0.03857421875},
               {7, 7, 1},
               {30, 50, 0.03299261842647618},
               {123, 60, 3.7142246405723422e-06},
               {1500, 1700, 0.00043334035939975035},
               {0, 1000, 1.8665272370064378e-301},
               {1000000, 999000, 0.47982980530927716738},
               {1000000, 990000, 1.3594824638542373415e-12},
               {1000000, 960000, 1.5100529555911686748e-179}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    double p = known[i].p, tolerance = 1e-12 * p;
    assert_near(fov_stats_mcnemar(known[i].first, known[i].second), p, tolerance, "case %zu", i);
    assert_near(fov_stats_mcnemar(known[i].second, known[i].first), p, tolerance, "case %zu", i);
  }
  assert_true(fov_stats_mcnemar(500000, 1000000) == 0);
}

static void holm_adjusts_in_steps_and_keeps_the_order(void **state) {
  (void)state;
  const struct {
    int n;
    double p[5], adjusted[5];
  } known[] = {{1, {0.03}, {0.03}},
               {4, {0.01, 0.04, 0.03, 0.005}, {0.03, 0.06, 0.06, 0.02}},
               {5, {0.02, 0.02, 0.5, 0.001, 0.9}, {0.08, 0.08, 1, 0.005, 1}},
               {4, {0.3, 0.01, 0.01, 0.01}, {0.3, 0.04, 0.04, 0.04}},
               {3, {0, 0.7, 0.6}, {0, 1, 1}}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    double adjusted[5];
    fov_stats_holm(adjusted, known[i].p, known[i].n);
    for (int j = 0; j < known[i].n; j++)
      assert_near(adjusted[j], known[i].adjusted[j], 1e-15, "case %zu, test %d", i, j);
  }
}

/** At α = 0.05, 0.005 and 0.011 are rejected, at steps 4 and 3; 0.03 is not at step 2. */
static void a_level_agrees_with_holm_s_decision(void **state) {
  (void)state;
  const double p[] = {0.011, 0.04, 0.03, 0.005}, steps[] = {3, 2, 2, 4};
  double adjusted[4], levels[4];
  fov_stats_holm(adjusted, p, 4);
  fov_stats_holm_levels(levels, p, adjusted, 4, 0.05);
  for (int i = 0; i < 4; i++) {
    assert_near(levels[i], 1 - 0.05 / steps[i], 1e-15, "level %d", i);
    assert_int_equal(p[i] <= 1 - levels[i], adjusted[i] <= 0.05);
  }
}

/* ---- what is refused ---- */

enum { MISTAKES = 13 };

static int mistake;

/** Makes the mistake of that number and returns if that does not abort; MISTAKES: none. */
static void make_mistake(void) {
  const double sorted[] = {0.5, 2};
  double out[2] = {0};
  if (mistake == 0) fov_stats_mean(out, 0);
  if (mistake == 1) fov_stats_mean((double[]){1, NAN}, 2);
  if (mistake == 2) fov_stats_half_width((double[]){1, INFINITY}, 2);
  if (mistake == 3) fov_stats_quantile(out, 0, 0.5);
  if (mistake == 4) fov_stats_quantile(sorted, 2, 1.1);
  if (mistake == 5) fov_stats_quantile(sorted, 2, NAN);
  if (mistake == 6) fov_stats_median((double[]){1, 3, 2}, 3);
  if (mistake == 7) fov_stats_iqm((double[]){2, 1}, 2);
  if (mistake == 8) fov_stats_iqm((double[]){1, NAN, 2}, 3);
  if (mistake == 9) fov_stats_mcnemar(3, -1);
  if (mistake == 10) fov_stats_holm(out, sorted, 2);
  if (mistake == 11) fov_stats_holm(out, (double[]){NAN}, 1);
  if (mistake == 12) fov_stats_holm_levels(out, sorted, sorted, 1, 0);
  if (mistake < MISTAKES) return;
  fov_stats_quantile(sorted, 2, 1);
  fov_stats_holm(out, sorted, 1);
  fov_stats_holm_levels(out, sorted, sorted, 1, 0.05);
}

static void a_caller_s_mistake_aborts(void **state) {
  (void)state;
  for (mistake = 0; mistake < MISTAKES; mistake++)
    if (!aborts(make_mistake)) fail_msg("mistake %d does not abort", mistake);
  assert_false(aborts(make_mistake));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wilson_s_interval),
      cmocka_unit_test(test_student_s_quantile),
      cmocka_unit_test(student_s_p_value),
      cmocka_unit_test(student_s_quantile_inverts_the_p_value),
      cmocka_unit_test(a_sample_has_mean_interval_and_quantiles),
      cmocka_unit_test(one_run_has_no_interval),
      cmocka_unit_test(the_mean_of_equal_numbers_is_exactly_these),
      cmocka_unit_test(the_interquartile_mean_trims_a_quarter_at_each_end),
      cmocka_unit_test(statistics_of_a_sample_are_within_its_range),
      cmocka_unit_test(mcnemar_s_exact_test),
      cmocka_unit_test(holm_adjusts_in_steps_and_keeps_the_order),
      cmocka_unit_test(a_level_agrees_with_holm_s_decision),
      cmocka_unit_test(a_caller_s_mistake_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
