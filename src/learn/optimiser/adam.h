/** The update that Adam and AdamW share. */
#ifndef FOV_LEARN_OPTIMISER_ADAM_H
#define FOV_LEARN_OPTIMISER_ADAM_H

#include "learn/optimiser.h"

typedef struct FovAdamOptions {
  double beta1, beta2, epsilon;
  double decay; /**< AdamW's; 0 for Adam */
} FovAdamOptions;

/** All but the decay; of a struct that starts with a FovAdamOptions too. */
#define FOV_ADAM_OPTIONS                                                                           \
  FOV_REAL(FovAdamOptions, beta1, "0.9", 0, 0.9999, "decay of the first moment"),                  \
      FOV_REAL(FovAdamOptions, beta2, "0.999", 0, 0.999999, "decay of the second moment"),         \
      FOV_REAL(FovAdamOptions, epsilon, "1e-8", 1e-12, 1,                                          \
               "added to the root of the second moment")

/**
 * Kingma and Ba 2015, algorithm 1, with the decoupled decay of Loshchilov and Hutter 2019:
 * m ← β1 m + (1 − β1) g,  v ← β2 v + (1 − β2) g²,
 * θ ← θ − rate · (m / (1 − β1^t) / (√(v / (1 − β2^t)) + ε) + decay θ).
 * options: begin with a FovAdamOptions.
 */
void fov_adam_step(const FovOptimiserStep *step, const void *options);

#endif
