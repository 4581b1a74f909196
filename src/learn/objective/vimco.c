/**
 * VIMCO (Mnih and Rezende 2016): the bound L̂ = log 1/K Σ_k p(y | x, l^k) on the likelihood of the
 * answer, of K sequences of choices l^k ~ π. Sequence k earns
 *
 *     L̂ − L̂_{−k},  L̂_{−k} = log 1/K (Σ_{j≠k} p_j + exp(1/(K−1) Σ_{j≠k} log p_j))
 *
 * in which its own term is replaced by the geometric mean of the others: a baseline that does not
 * depend on its choices, so that the gradient of the bound is unbiased.
 */
#include "learn/objective/copies.h"
#include "learn/workspace.h"

static const FovOption options[] = {FOV_POLICY_WEIGHT, FOV_OPTIONS_END};

/** The factors 1/K of both bounds cancel. */
static void signal(real *signals, const real *log_p, int copies) {
  FOV_CHECK(copies >= 2 && copies <= FOV_MAX_SHARD, "%d copies", copies);
  real others[FOV_MAX_SHARD], sum = 0, all = fov_log_sum(log_p, copies);
  for (int j = 0; j < copies; j++) sum += log_p[j];
  memcpy(others, log_p, (size_t)copies * sizeof *others);
  for (int k = 0; k < copies; k++) {
    others[k] = (sum - log_p[k]) / (real)(copies - 1);
    signals[k] = all - fov_log_sum(others, copies);
    others[k] = log_p[k];
  }
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  fov_copies_add(tape, losses, input, signal, values);
}

const FovObjective fov_objective_vimco = {
    .plugin = {.name = "vimco",
               .help = "bound on the likelihood from K sequences (Mnih and Rezende 2016)",
               .options = options,
               .options_size = sizeof(FovPolicyGradientOptions)},
    .likelihood = true,
    .losses = fov_copies_losses,
    .backward = backward,
};
