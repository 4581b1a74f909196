/** From sums of samples to figures. */
#ifndef FOV_EXPERIMENT_GRADIENT_FIGURES_H
#define FOV_EXPERIMENT_GRADIENT_FIGURES_H

#include "experiment/gradient/sample.h"

/** Writes an estimator's figures of all parameters and of each group, and its p-value. reference:
 * NULL where there is none. */
void fov_gradient_figures(FovEstimator *estimator, const FovGradientSums *sums,
                          const FovGradientSums *reference, const FovGradientParams *compared);

#endif
