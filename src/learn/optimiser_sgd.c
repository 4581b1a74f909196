/** Stochastic gradient descent with momentum, Nesterov's if asked (Sutskever et al. 2013). */
#include "learn/plugins.h"

typedef struct Options {
  double momentum, decay;
  bool nesterov;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, momentum, "0.9", 0, 0.9999, "share of the last step that is kept"),
    FOV_BOOL(Options, nesterov, "false", "look ahead along the momentum"),
    FOV_REAL(Options, decay, "0", 0, 1, "of a weight per update, times the rate"),
    FOV_OPTIONS_END,
};

FOV_KERNEL
static void step_sgd(const FovOptimiserStep *step, const void *values) {
  const Options *o = values;
  real momentum = (real)o->momentum, decay = (real)o->decay, rate = step->rate;
  for (size_t i = 0; i < step->count; i++) {
    real g_i = step->gradient[i] * step->scale + decay * step->value[i];
    real m_i = step->first[i] = momentum * step->first[i] + g_i;
    step->value[i] -= rate * (o->nesterov ? g_i + momentum * m_i : m_i);
  }
}

const FovOptimiser fov_optimiser_sgd = {
    .plugin = {.name = "sgd",
               .help = "momentum or Nesterov's (Sutskever et al. 2013)",
               .options = options,
               .options_size = sizeof(Options)},
    .step = step_sgd,
};
