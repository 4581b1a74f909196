/** ∇J ≈ Σ_t ∇ log π(l_t) (R_t − b_t): Williams 1992; Mnih et al. 2014, eq. 2. */
#include "learn/plugins.h"

static void weights(real *dlog_prob, const real *returns, const real *b, int time_steps, int lanes,
                    const void *options) {
  (void)options;
  // A loss falls where the return rises, hence the sign.
  for (int i = 0; i < time_steps * lanes; i++) dlog_prob[i] = b[i] - returns[i];
}

const FovEstimator fov_estimator_reinforce = {
    .plugin = {.name = "reinforce", .help = "score function times advantage (Williams 1992)"},
    .weights = weights,
};
