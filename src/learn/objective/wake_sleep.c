/**
 * Wake–sleep for attention (Bornschein and Bengio 2015; Ba et al. 2015, "Learning wake-sleep
 * recurrent attention models"), with π itself as the proposal: the posterior of the choices given
 * the answer y is estimated from K sequences l^k ~ π, weighted by their likelihood, and π moves
 * towards it. Sequence k earns
 *
 *     w_k − 1/K,  w = softmax_k log p(y | x, l^k)
 *
 * Subtracting 1/K does not change the mean, since E[∇ log π] = 0. The gradient is biased for small
 * K; for large K it approaches that of objective = marginal.
 */
#include "learn/objective/copies.h"

static const FovOption options[] = {FOV_POLICY_WEIGHT, FOV_OPTIONS_END};

static void signal(real *signals, const real *log_p, int copies) {
  real all = fov_log_sum(log_p, copies);
  for (int k = 0; k < copies; k++) signals[k] = fov_exp(log_p[k] - all) - 1 / (real)copies;
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  fov_copies_add(tape, losses, input, signal, values);
}

const FovObjective fov_objective_wake_sleep = {
    .plugin = {.name = "wake_sleep",
               .help = "K sequences, weighted by the likelihood of the answer (Ba, Salakhutdinov "
                       "et al. 2015)",
               .options = options,
               .options_size = sizeof(FovPolicyGradientOptions)},
    .likelihood = true,
    .losses = fov_copies_losses,
    .backward = backward,
};
