/** Statistics of samples: 95 % intervals, order statistics, tests. A sample has n >= 1 finite
 * numbers; a *sorted* one ascends. Anything else is the caller's bug and aborts. */
#ifndef FOV_BASE_STATS_H
#define FOV_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/** Wilson's 95 % interval for a share of `hits` in `trials` (Wilson 1927), in [0, 1]; trials > 0
 * and 0 <= hits <= trials. */
void fov_stats_wilson(double *low, double *high, int64_t hits, int64_t trials);

/** The two-sided p-value of Student's t: P(|T| >= |t|) with `freedom` > 0 degrees, which need not
 * be whole. Relative error below 1e-10 up to 10,000 degrees, 1e-7 up to 1e8. */
double fov_stats_student_p(double t, double freedom);

/** The t >= 0 of which that p-value is p, 0 < p <= 1. */
double fov_stats_student_quantile(double p, double freedom);

double fov_stats_mean(const double *x, int n);

/** Half the width of the 95 % interval of the mean (Student 1908): t s/√n with t of n−1 degrees of
 * freedom, s² = Σ(x − mean)²/(n−1). INFINITY if n = 1. */
double fov_stats_half_width(const double *x, int n);

/** Sorts a sample. */
void fov_stats_sort(double *x, size_t n);

/** The quantile q, 0 <= q <= 1, of a sorted sample: its value at place q(n−1), interpolated
 * (definition 7 of Hyndman and Fan 1996; numpy's "linear"). */
double fov_stats_quantile(const double *sorted, int n, double q);

double fov_stats_median(const double *sorted, int n);

/** The interquartile mean of a sorted sample: the mean without its ⌊n/4⌋ smallest and ⌊n/4⌋ largest
 * values (Agarwal et al. 2021; scipy's trim_mean of 0.25). For n <= 3 it is the mean. */
double fov_stats_iqm(const double *sorted, int n);

/** McNemar's exact test, two-sided: the p-value of two classifiers of which only the first is right
 * in `first` cases and only the second in `second`. p = min(1, 2 P(X <= min(first, second))), X
 * binomial with first + second trials of ½ (McNemar 1947). Takes O(first + second) steps; relative
 * error below 1e-9 up to a million cases each, 0 where p < 1e-307. */
double fov_stats_mcnemar(int64_t first, int64_t second);

/** Adjusts n p-values for n tests (Holm 1979): with p_(1) <= … <= p_(n), the adjusted value of
 * p_(k) is the largest of min(1, (n − j + 1) p_(j)) over j <= k. The order is kept. If all
 * hypotheses with an adjusted value of at most α are rejected, the probability of a false rejection
 * is at most α. */
void fov_stats_holm(double *adjusted, const double *p, int n);

/** The level of each test's interval that agrees with Holm's decisions at α: with p the p-value at
 * which an interval's end meets 0, the interval excludes 0 if and only if the adjusted p <= α.
 *
 * A rejected test with the k-th smallest p has the level 1 − α/(n − k + 1); those that are not
 * rejected share one level, that of the smallest p among them. That all n intervals cover the truth
 * at once is guaranteed only for levels of 1 − α/n. `adjusted` is fov_stats_holm's; 0 < α < 1. */
void fov_stats_holm_levels(double *levels, const double *p, const double *adjusted, int n,
                           double alpha);

#endif
