/**
 * Stochastic gradient descent with momentum, Nesterov's if asked (Sutskever et al. 2013):
 * g ← g + decay θ,  m ← μ m + g,  θ ← θ − rate · m, or θ − rate · (g + μ m).
 */
#include "learn/optimiser.h"

typedef struct Options {
  double momentum, decay;
  bool nesterov;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, momentum, "0.9", 0, 0.9999, "share of the last step that is kept"),
    FOV_BOOL(Options, nesterov, "false", "look ahead along the momentum"),
    FOV_REAL(Options, decay, "0", 0, 1,
             "L2 penalty: this times the weight is added to the gradient"),
    FOV_OPTIONS_END,
};

FOV_KERNEL static void step_sgd(const FovOptimiserStep *step, const void *values) {
  const Options *o = values;
  real *restrict value = step->value, *restrict m = step->first;
  const real *restrict g = step->gradient;
  real momentum = (real)o->momentum, decay = (real)o->decay, rate = step->rate;
  real scale = step->scale, now = o->nesterov ? 1 : 0, last = o->nesterov ? momentum : 1;
  for (size_t i = 0; i < step->count; i++) {
    real g_i = g[i] * scale + decay * value[i];
    m[i] = momentum * m[i] + g_i;
    value[i] -= rate * (now * g_i + last * m[i]);
  }
}

const FovOptimiser fov_optimiser_sgd = {
    .plugin = {.name = "sgd",
               .help =
                   "gradient descent with momentum, plain or Nesterov's (Sutskever et al. 2013)",
               .options = options,
               .options_size = sizeof(Options)},
    .step = step_sgd,
};
