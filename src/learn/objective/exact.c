/**
 * The expectation of REINFORCE over all choices: with l_j, sequence j of the N^T sequences of T
 * choices of one of N tiles, and R_j what its lane earned,
 *
 *     ∇J = Σ_j π(l_j) R_j ∇ log π(l_j)
 *
 * and the answer's loss is its mean under π. The sum has no variance of the choices: what remains
 * is that of the cases and of random first places. The K = N^T lanes of a case play one sequence
 * each.
 */
#include "learn/objective/copies.h"

static const FovOption options[] = {FOV_POLICY_WEIGHT, FOV_OPTIONS_END};

enum { ANSWER, POLICY };
static const char *const losses_of[] = {[ANSWER] = "answer", [POLICY] = "policy", NULL};

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  const FovRollout *rollout = input->rollout;
  int B = rollout->lanes, size = rollout->time_steps * B;
  real *prior = FOV_NEW(tape->arena, real, B), *choices = FOV_NEW(tape->arena, real, size);
  double parts[FOV_LOSSES] = {0};
  fov_copies_weigh(prior, fov_log_prior(tape, rollout), B, input->copies);
  const real *priors = fov_every_step(tape, prior, rollout);
  for (int i = 0; i < size; i++) choices[i] = -priors[i] * rollout->returns[i];
  const FovLossWeights weights = {.answers = priors, .prior = priors, .looks = choices};
  fov_weighted_losses_add(tape, parts, input, &weights, values);
  losses[ANSWER] += parts[FOV_LOSS_ANSWER];
  losses[POLICY] += parts[FOV_LOSS_POLICY];
}

const FovObjective fov_objective_exact = {
    .plugin = {.name = "exact",
               .help = "policy gradient of the expected reward, summed over all choices",
               .options = options,
               .options_size = sizeof(FovPolicyGradientOptions)},
    .enumerates = true,
    .losses = losses_of,
    .backward = backward,
};
