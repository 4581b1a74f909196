#include "base/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"

static const double Z = 1.959963984540054; // the normal distribution's 97.5 % quantile

void fov_stats_wilson(double *low, double *high, int64_t hits, int64_t trials) {
  FOV_CHECK(trials > 0 && hits >= 0 && hits <= trials, "%lld of %lld", (long long)hits,
            (long long)trials);
  double n = (double)trials, p = (double)hits / n;
  double centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n);
  double half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
  // The ends are exactly 0 and 1 when none or all hit, whatever the rounding.
  *low = hits == 0 ? 0 : centre - half;
  *high = hits == trials ? 1 : centre + half;
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), from its front by the
 * method of Lentz (1976): C and D are ratios of neighbouring numerators and denominators. */
static double beta_fraction(double x, double a, double b) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1), product;
  d = 1 / (fabs(d) < tiny ? tiny : d);
  product = d;
  for (int m = 1; m < 10000; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double before = product;
    for (int i = 0; i < 2; i++) {
      double term = i == 0 ? even : odd;
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (fabs(d) < tiny ? tiny : d);
      if (fabs(c) < tiny) c = tiny;
      product *= c * d;
    }
    if (fabs(product - before) <= 1e-15 * fabs(product)) break;
  }
  return product;
}

/** The regularised incomplete beta function I_x(a, b), 0 <= x <= 1; y = 1 − x. */
static double beta_share(double x, double y, double a, double b) {
  if (x <= 0 || y <= 0) return x > 0;
  // The fraction converges fast on this side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_share(y, x, b, a);
  double log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y);
  return exp(log_front) / a * beta_fraction(x, a, b);
}

double fov_stats_student_p(double t, double freedom) {
  FOV_CHECK(freedom > 0 && !isnan(t), "t = %g with %g degrees of freedom", t, freedom);
  if (isinf(t)) return 0;
  double square = t * t, sum = freedom + square;
  return beta_share(freedom / sum, square / sum, freedom / 2, 0.5);
}

double fov_stats_student_quantile(double p, double freedom) {
  FOV_CHECK(p > 0 && p <= 1, "a p-value of %g", p);
  double low = 0, high = 1;
  while (high < 1e300 && fov_stats_student_p(high, freedom) > p) low = high, high *= 2;
  for (int i = 0; i < 100; i++) {
    double middle = low + (high - low) / 2;
    *(fov_stats_student_p(middle, freedom) > p ? &low : &high) = middle;
  }
  return high;
}

double fov_stats_mean(const double *x, int n) {
  FOV_CHECK(n > 0, "a sample of %d", n);
  double sum = 0; // of the differences from the first: the mean of equal numbers is exactly these
  for (int i = 1; i < n; i++) sum += x[i] - x[0];
  FOV_CHECK(isfinite(x[0] + sum), "a sample of %d with the sum %g", n, x[0] + sum);
  return x[0] + sum / n;
}

double fov_stats_half_width(const double *x, int n) {
  double mean = fov_stats_mean(x, n), squares = 0;
  if (n == 1) return INFINITY;
  for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
  return fov_stats_student_quantile(0.05, n - 1) * sqrt(squares / (n - 1) / n);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void fov_stats_sort(double *x, size_t n) {
  qsort(x, n, sizeof *x, compare);
}

static void check_sorted(const double *x, int n) {
  FOV_CHECK(n > 0 && isfinite(x[0]) && isfinite(x[n - 1]), "a sample of %d", n);
  for (int i = 1; i < n; i++)
    FOV_CHECK(x[i - 1] <= x[i], "%g stands before %g in a sorted sample", x[i - 1], x[i]);
}

double fov_stats_quantile(const double *sorted, int n, double q) {
  check_sorted(sorted, n);
  FOV_CHECK(q >= 0 && q <= 1, "the quantile %g", q);
  double place = q * (n - 1);
  int i = (int)place;
  if (i == n - 1) return sorted[i];
  return sorted[i] + (place - i) * (sorted[i + 1] - sorted[i]);
}

double fov_stats_median(const double *sorted, int n) {
  return fov_stats_quantile(sorted, n, 0.5);
}

double fov_stats_iqm(const double *sorted, int n) {
  check_sorted(sorted, n);
  return fov_stats_mean(sorted + n / 4, n - 2 * (n / 4));
}

double fov_stats_mcnemar(int64_t first, int64_t second) {
  FOV_CHECK(first >= 0 && second >= 0, "%lld and %lld cases", (long long)first, (long long)second);
  int64_t n = first + second, fewer = first < second ? first : second;
  // From the middle outwards, in units of the middle's probability: C(n, k−1) = C(n, k) k/(n−k+1).
  double share = 1, half = 0, tail = 0;
  for (int64_t k = n / 2; k >= 0; k--) {
    half += share;
    if (k <= fewer) tail += share;
    share *= (double)k / (double)(n - k + 1);
  }
  return fmin(1, 2 * tail / (2 * half - (n % 2 == 0)));
}

/** Holm's factor for p: how many of the values are not below it. */
static int holm_factor(double p, const double *values, int n) {
  int count = 0;
  for (int i = 0; i < n; i++) count += values[i] >= p;
  return count;
}

void fov_stats_holm(double *adjusted, const double *p, int n) {
  for (int i = 0; i < n; i++) {
    FOV_CHECK(p[i] >= 0 && p[i] <= 1, "a p-value of %g", p[i]);
    adjusted[i] = fmin(1, holm_factor(p[i], p, n) * p[i]);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (p[j] <= p[i]) adjusted[i] = fmax(adjusted[i], adjusted[j]);
}

void fov_stats_holm_levels(double *levels, const double *p, const double *adjusted, int n,
                           double alpha) {
  FOV_CHECK(alpha > 0 && alpha < 1, "a significance level of %g", alpha);
  int kept = 0;
  for (int i = 0; i < n; i++) kept += adjusted[i] > alpha;
  for (int i = 0; i < n; i++)
    levels[i] = 1 - alpha / (adjusted[i] > alpha ? kept : holm_factor(p[i], p, n));
}
