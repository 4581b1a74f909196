/** Adam with decoupled weight decay (Loshchilov and Hutter 2019). */
#include "learn/optimiser/adam.h"

static const FovOption options[] = {
    FOV_ADAM_OPTIONS,
    FOV_REAL(FovAdamOptions, decay, "0.01", 0, 1,
             "share of a weight that an update subtracts from it, times the rate"),
    FOV_OPTIONS_END,
};

const FovOptimiser fov_optimiser_adamw = {
    .plugin = {.name = "adamw",
               .help = "Adam with decoupled weight decay (Loshchilov and Hutter 2019)",
               .options = options,
               .options_size = sizeof(FovAdamOptions)},
    .step = fov_adam_step,
};
