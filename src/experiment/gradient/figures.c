#include "experiment/gradient/figures.h"

#include <math.h>

#include "base/stats.h"

/** Sums over parameters, m and g being the mean gradients of estimator and reference. */
typedef struct Products {
  double mean_squares, reference_squares, product; /**< |m|², |g|², m·g */
  double spread, reference_spread;                 /**< what sampling adds to |m|² and |g|² */
  double variance;                                 /**< of an episode */
} Products;

/** 0 instead of less. What is not a number stays so, unlike with fmax. */
static double at_least_0(double x) {
  return x < 0 ? 0 : x;
}

/** The trace of the covariance of one sample, from the mean of |ĝ|² and |mean|². */
static double variance_of(double squares, double mean_squares, int64_t samples) {
  if (samples < 2) return 0;
  double n = (double)samples;
  return at_least_0((squares / n - mean_squares) * n / (n - 1));
}

/** Of numbers first … first+count−1. */
static void add_param(Products *products, size_t first, size_t count, const FovGradientSums *sums,
                      const FovGradientSums *reference) {
  for (size_t i = first; i < first + count; i++) {
    double m = sums->sum[i] / (double)sums->samples;
    double g = reference ? reference->sum[i] / (double)reference->samples : 0;
    products->mean_squares += m * m;
    products->reference_squares += g * g;
    products->product += m * g;
  }
}

/** Takes into account how much the mean of so many samples varies. */
static void add_spread(Products *products, double squares, double reference_squares,
                       const FovGradientSums *sums, const FovGradientSums *reference) {
  double variance = variance_of(squares, products->mean_squares, sums->samples);
  products->variance = variance * sums->lanes;
  products->spread = variance / (double)sums->samples;
  if (reference)
    products->reference_spread =
        variance_of(reference_squares, products->reference_squares, reference->samples) /
        (double)reference->samples;
}

/** Without a reference there is only the variance. */
static FovGradientFigures figures_of(const Products *p, bool reference) {
  FovGradientFigures figures = {.norm = NAN, .bias = NAN, .cosine = NAN, .snr = NAN};
  figures.variance = p->variance;
  if (!reference) return figures;
  double g = p->reference_squares - p->reference_spread, m = p->mean_squares - p->spread;
  double distance =
      p->mean_squares + p->reference_squares - 2 * p->product - p->spread - p->reference_spread;
  if (!(g > 0)) return figures; // nothing but noise, or not a number
  figures.norm = sqrt(g);
  figures.bias = sqrt(at_least_0(distance) / g);
  figures.cosine = m > 0 ? fmax(-1, fmin(1, p->product / sqrt(g * m))) : NAN;
  figures.snr = p->variance == 0 ? INFINITY : sqrt(g / p->variance);
  return figures;
}

/** Of all parameters (group −1) or of one group. */
static FovGradientFigures measure(const FovGradientSums *sums, const FovGradientSums *reference,
                                  const FovGradientParams *compared, int group) {
  Products products = {0};
  double squares = 0, reference_squares = 0;
  for (int i = 0; i < compared->count; i++)
    if (group < 0 || compared->params[i].group == group)
      add_param(&products, compared->params[i].offset, compared->params[i].count, sums, reference);
  for (int g = 0; g < compared->group_count; g++) {
    if (group >= 0 && g != group) continue;
    squares += sums->squares[g];
    if (reference) reference_squares += reference->squares[g];
  }
  add_spread(&products, squares, reference_squares, sums, reference);
  return figures_of(&products, reference);
}

/** Variance of the mean of a projection. */
static double projection_error(const FovGradientSums *sums, int group, int p) {
  double n = (double)sums->samples, mean = sums->projected[group][p] / n;
  return n > 1 ? at_least_0(sums->projected_squares[group][p] / n - mean * mean) / (n - 1) : 0;
}

/** What means of the same numbers differ by at most, as a share of them. */
static const double ROUNDING = 1e-5;

/** The p-value of the largest difference of the means; 0 if some differ that have no variance.
 * group: FOV_GRADIENT_GROUPS for all. */
static double p_of(const FovGradientSums *sums, const FovGradientSums *reference, int group) {
  double worst = 0;
  if (!reference || sums->samples < 2) return NAN;
  for (int p = 0; p < FOV_PROJECTIONS; p++) {
    double mean = sums->projected[group][p] / (double)sums->samples;
    double expected = reference->projected[group][p] / (double)reference->samples;
    double distance = fabs(mean - expected);
    double error = projection_error(sums, group, p) + projection_error(reference, group, p);
    if (isnan(error)) return NAN;
    if (error > 0)
      worst = fmax(worst, distance / sqrt(error));
    else if (distance > ROUNDING * (fabs(mean) + fabs(expected)))
      worst = INFINITY;
  }
  return fmin(1, FOV_PROJECTIONS * fov_stats_student_p(worst, (double)sums->samples - 1));
}

void fov_gradient_figures(FovEstimator *estimator, const FovGradientSums *sums,
                          const FovGradientSums *reference, const FovGradientParams *compared) {
  estimator->lanes = sums->lanes;
  estimator->samples = sums->samples;
  estimator->seconds = sums->seconds / (double)sums->samples / sums->lanes;
  estimator->all = measure(sums, reference, compared, -1);
  estimator->all.p = p_of(sums, reference, FOV_GRADIENT_GROUPS);
  for (int g = 0; g < compared->group_count; g++) {
    estimator->groups[g] = measure(sums, reference, compared, g);
    estimator->groups[g].p = p_of(sums, reference, g);
  }
}
