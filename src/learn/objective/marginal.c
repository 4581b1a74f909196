/**
 * Exact hard attention: the choices are summed out of the likelihood of the answer y (Deng et al.
 * 2018; Wu et al. 2018). With l_j, sequence j of the N^T sequences of T choices of one of N tiles,
 *
 *     L = −log Σ_j π(l_j) p(y | l_j)      dL/d log π(l_j) = dL/d log p(y | l_j) = −r_j
 *     r_j = π(l_j) p(y | l_j) / Σ_k π(l_k) p(y | l_k), the posterior of l_j
 *
 * Nothing is sampled, so the gradient has no variance but that of the cases. The K = N^T lanes of a
 * case play one sequence each: a case costs as much as N^T episodes of another objective, except
 * that attention over tiles looks at the tiles of a case once.
 */
#include "learn/objective.h"
#include "tensor/ops.h"

enum { ANSWER, MARGINAL };

static const char *const losses_of[] = {[ANSWER] = "answer", [MARGINAL] = "marginal", NULL};

/** log_p less the logarithm of its sum over the case's lanes, [B]. */
static real *normalise(FovTape *tape, real *log_p, const FovObjectiveInput *input) {
  int B = input->rollout->lanes, K = input->copies;
  real *normalised = FOV_NEW(tape->arena, real, B);
  fov_log_softmax(normalised, (FovMatrix){log_p, B / K, K, K});
  return normalised;
}

/** Adds weight · Σ_i exp(log_share_i) y_i to the loss. */
static void add_mean(FovTape *tape, FovVar *y, const real *log_share, double weight) {
  real *grad = FOV_NEW(tape->arena, real, y->rows);
  for (int i = 0; i < y->rows; i++) grad[i] = (real)weight * fov_exp(log_share[i]);
  fov_tape_add_grad(tape, y, grad);
}

/** Returns log π of each lane's sequence, [B]. Raises the policy's entropy before each choice, in
 * the mean over what was chosen before. */
static real *log_prior(FovTape *tape, const FovObjectiveInput *input, double weight) {
  const FovRollout *rollout = input->rollout;
  const FovTask *task = input->task;
  double entropy = task->policy->entropy ? task->policy->entropy(task->policy_options) : 0;
  size_t bytes = (size_t)rollout->lanes * sizeof(real);
  real *prior = memset(fov_arena_alloc(tape->arena, bytes), 0, bytes);
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    if (!step->log_look) continue;
    if (step->look_entropy && entropy > 0)
      add_mean(tape, step->look_entropy, normalise(tape, prior, input), -weight * entropy);
    for (int i = 0; i < rollout->lanes; i++) prior[i] += step->log_look->value[i];
  }
  return prior;
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *options) {
  (void)options;
  const FovRollout *rollout = input->rollout;
  const FovTimeStep *last = &rollout->at[rollout->time_steps - 1];
  int B = rollout->lanes, K = input->copies;
  FOV_CHECK(B % K == 0 && last->count == B, "%d lanes of %d, %d copies", last->count, B, K);
  double weight = (double)K / input->batch;
  real *prior = log_prior(tape, input, weight), *joint = FOV_NEW(tape->arena, real, B);
  FovVar *answer = fov_cross_entropy(tape, NULL, last->logits, last->labels);
  for (int i = 0; i < B; i++) joint[i] = prior[i] - answer->value[i];
  const real *posterior = normalise(tape, joint, input);
  for (int t = 0; t < rollout->time_steps; t++)
    if (rollout->at[t].log_look) add_mean(tape, rollout->at[t].log_look, posterior, -weight);
  add_mean(tape, answer, posterior, weight);
  for (int i = 0; i < B; i++) {
    losses[ANSWER] += K * (double)(fov_exp(prior[i]) * answer->value[i]);
    losses[MARGINAL] += (double)(posterior[i] - joint[i]);
  }
}

const FovObjective fov_objective_marginal = {
    .plugin = {.name = "marginal",
               .help = "likelihood of the answer, exactly, over all choices (Deng et al. 2018)"},
    .enumerates = true,
    .losses = losses_of,
    .backward = backward,
};
