/**
 * Exact hard attention: the choices are summed out of the likelihood of the answer y (Deng et al.
 * 2018; Wu et al. 2018). With l_j, sequence j of the N^T sequences of T choices of one of N tiles,
 *
 *     L = −log Σ_j π(l_j) p(y | l_j)      dL/d log π(l_j) = dL/d log p(y | l_j) = −r_j
 *     r_j = π(l_j) p(y | l_j) / Σ_k π(l_k) p(y | l_k), the posterior of l_j
 *
 * Nothing is sampled but the cases and random first places. The K = N^T lanes of a case play one
 * sequence each: a case costs as much as N^T episodes of another objective, except that attention
 * over tiles looks at the tiles of a case once.
 */
#include "learn/objective/copies.h"

enum { ANSWER, MARGINAL };

static const char *const losses_of[] = {[ANSWER] = "answer", [MARGINAL] = "marginal", NULL};

/** log π(l_j) p(y | l_j), [B]. */
static real *log_joint(FovTape *tape, const FovRollout *rollout, const real *prior) {
  FovTimeStep *last = &rollout->at[rollout->time_steps - 1];
  const real *log_p = fov_step_log_p(last, tape->arena);
  real *joint = FOV_NEW(tape->arena, real, rollout->lanes);
  for (int i = 0; i < rollout->lanes; i++)
    joint[i] = prior[i] + log_p[i * last->logits->cols + last->labels[i]];
  return joint;
}

/** Weights K·p: the mean over lanes is then the mean over cases of the expectation under p. */
static real *weigh(FovTape *tape, const real *log_p, const FovObjectiveInput *input) {
  int B = input->rollout->lanes;
  real *weights = FOV_NEW(tape->arena, real, B);
  fov_copies_weigh(weights, log_p, B, input->copies);
  return fov_every_step(tape, weights, input->rollout);
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *options) {
  static const FovPolicyGradientOptions whole = {.policy = 1};
  (void)options;
  const FovRollout *rollout = input->rollout;
  int B = rollout->lanes, K = input->copies, size = rollout->time_steps * B;
  const real *prior = fov_log_prior(tape, rollout), *joint = log_joint(tape, rollout, prior);
  const real *posteriors = weigh(tape, joint, input);
  real *choices = FOV_NEW(tape->arena, real, size);
  double parts[FOV_LOSSES] = {0};
  for (int i = 0; i < size; i++) choices[i] = -posteriors[i];
  const FovLossWeights weights = {
      .answers = posteriors, .prior = weigh(tape, prior, input), .looks = choices};
  fov_weighted_losses_add(tape, parts, input, &weights, &whole);
  losses[ANSWER] += parts[FOV_LOSS_ANSWER];
  for (int b = 0; b < B; b += K) losses[MARGINAL] -= K * (double)fov_log_sum(joint + b, K);
}

const FovObjective fov_objective_marginal = {
    .plugin = {.name = "marginal",
               .help = "likelihood of the answer, exactly, over all choices (Deng et al. 2018)"},
    .enumerates = true,
    .losses = losses_of,
    .backward = backward,
};
