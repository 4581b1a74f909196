/** The update that Adam and AdamW share. */
#ifndef FOV_LEARN_ADAM_H
#define FOV_LEARN_ADAM_H

#include "learn/plugins.h"

typedef struct FovAdamOptions {
  double beta1, beta2, epsilon;
  double decay; /**< AdamW's; 0 for Adam */
} FovAdamOptions;

/** Kingma and Ba 2015, algorithm 1, with the decoupled decay of Loshchilov and Hutter 2019. */
void fov_adam_step(const FovOptimiserStep *step, const FovAdamOptions *options);

#endif
