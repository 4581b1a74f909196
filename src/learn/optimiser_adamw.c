/** Adam with decoupled weight decay (Loshchilov and Hutter 2019). */
#include "learn/adam.h"

static const FovOption options[] = {
    FOV_REAL(FovAdamOptions, beta1, "0.9", 0, 0.9999, "decay of the first moment"),
    FOV_REAL(FovAdamOptions, beta2, "0.999", 0, 0.999999, "decay of the second moment"),
    FOV_REAL(FovAdamOptions, epsilon, "1e-8", 1e-12, 1, "added to the root of the second moment"),
    FOV_REAL(FovAdamOptions, decay, "0.01", 0, 1, "of a weight per update, times the rate"),
    FOV_OPTIONS_END,
};

static void step_adamw(const FovOptimiserStep *step, const void *values) {
  fov_adam_step(step, values);
}

const FovOptimiser fov_optimiser_adamw = {
    .plugin = {.name = "adamw",
               .help = "Adam with decoupled weight decay (Loshchilov and Hutter 2019)",
               .options = options,
               .options_size = sizeof(FovAdamOptions)},
    .step = step_adamw,
};
