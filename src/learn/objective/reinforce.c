/** ∇J ≈ Σ_t ∇ log π(l_t) (R_t − b_t): Williams 1992; Mnih et al. 2014, eq. 2. */
#include "learn/objective/policy_gradient.h"

static const FovOption options[] = {
    FOV_POLICY_GRADIENT_OPTIONS,
    FOV_OPTIONS_END,
};

static void weigh(real *weights, const real *returns, const real *b, int time_steps, int lanes,
                  const void *values) {
  (void)values;
  // A loss falls where the return rises, hence the sign.
  for (int i = 0; i < time_steps * lanes; i++) weights[i] = b[i] - returns[i];
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  fov_policy_gradient_add(tape, losses, input, weigh, values);
}

const FovObjective fov_objective_reinforce = {
    .plugin = {.name = "reinforce",
               .help = "gradient of log p(choice) times the advantage (Williams 1992)",
               .options = options,
               .options_size = sizeof(FovPolicyGradientOptions)},
    .losses = fov_policy_gradient_losses,
    .backward = backward,
};
