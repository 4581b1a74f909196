/** Adam (Kingma and Ba 2015). */
#include "learn/optimiser/adam.h"

static const FovOption options[] = {
    FOV_ADAM_OPTIONS,
    FOV_OPTIONS_END,
};

FOV_KERNEL static void step_block(const FovOptimiserStep *step, const FovAdamOptions *o) {
  real *restrict value = step->value, *restrict m = step->first, *restrict v = step->second;
  const real *restrict g = step->gradient;
  real beta1 = (real)o->beta1, beta2 = (real)o->beta2, epsilon = (real)o->epsilon;
  real rate = (real)(step->rate / (1 - pow(o->beta1, (double)step->number)));
  real correct = (real)(1 / (1 - pow(o->beta2, (double)step->number)));
  // 1 − β is taken before it is rounded: a float's 1 − 0.999999 is 1 % off.
  real gain1 = (real)(1 - o->beta1), gain2 = (real)(1 - o->beta2);
  real keep = (real)(1 - step->rate * o->decay), scale = step->scale;
  for (size_t i = 0; i < step->count; i++) {
    real g_i = g[i] * scale;
    m[i] = beta1 * m[i] + gain1 * g_i;
    v[i] = beta2 * v[i] + gain2 * g_i * g_i;
    value[i] = keep * value[i] - rate * m[i] / ((real)sqrt(v[i] * correct) + epsilon);
  }
}

void fov_adam_step(const FovOptimiserStep *step, const void *values) {
  step_block(step, values);
}

const FovOptimiser fov_optimiser_adam = {
    .plugin = {.name = "adam",
               .help = "Kingma and Ba 2015",
               .options = options,
               .options_size = sizeof(FovAdamOptions)},
    .step = fov_adam_step,
};
