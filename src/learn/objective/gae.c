/** Generalised advantage estimation without discount (Schulman et al. 2016): what each step
 * changed about the expected return, so that a reward at the end of a long episode is not laid at
 * the door of every choice before it. Where λ < 1 it is biased by what the baseline gets wrong. */
#include "learn/plugins.h"

typedef struct Options {
  double lambda;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, lambda, "0.9", 0, 1, "1: the whole return, as reinforce; 0: the next step"),
    FOV_OPTIONS_END,
};

static void weights(real *dlog_prob, const real *returns, const real *b, int time_steps, int lanes,
                    const void *values) {
  real lambda = (real)((const Options *)values)->lambda;
  // A_t = δ_t + λ A_{t+1}, δ_t = r_t + b_{t+1} − b_t; the weight is −A_t.
  for (int i = time_steps * lanes - 1; i >= 0; i--) {
    bool last = i >= (time_steps - 1) * lanes;
    real reward = returns[i] - (last ? 0 : returns[i + lanes]);
    real change = reward + (last ? 0 : b[i + lanes]) - b[i];
    dlog_prob[i] = (last ? 0 : lambda * dlog_prob[i + lanes]) - change;
  }
}

const FovEstimator fov_estimator_gae = {
    .plugin = {.name = "gae",
               .help = "generalised advantages of a learned baseline (Schulman et al. 2016)",
               .options = options,
               .options_size = sizeof(Options)},
    .predicts = true,
    .weights = weights,
};
