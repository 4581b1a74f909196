/**
 * Proximal policy optimisation (Schulman et al. 2017, eq. 7): several passes over what was played.
 *
 *     ρ = π(l) / π_before(l)      L = −min(ρ A, clip(ρ, 1 − ε, 1 + ε) A)
 *
 * for each choice by itself, with generalised advantages A of the rollout before the update. dL/d
 * log π is −ρ A, or 0 where the ratio has left the interval in the direction of A. The answer is
 * trained in every pass, too. Logged: the mean of (ρ − 1) − log ρ, an estimate of the KL divergence
 * from the policy before (Schulman 2020, "Approximating KL divergence"), and the share of choices
 * whose ratio is clipped.
 */
#include "learn/objective/policy_gradient.h"

typedef struct Options {
  FovAdvantageOptions advantages; // comes first
  double clip;
  int passes, parts;
} Options;

static const FovOption options[] = {
    FOV_POLICY_GRADIENT_OPTIONS,
    FOV_REAL(FovAdvantageOptions, lambda, "0.9", 0, 1, "of the generalised advantages, as in gae"),
    FOV_REAL(Options, clip, "0.2", 0, 100,
             "limit of the probability ratio, 1 ± clip; beyond it a choice has no gradient"),
    FOV_INT(Options, passes, "4", 1, 64, "passes over each batch: epochs"),
    FOV_INT(Options, parts, "1", 1, 64,
            "parts of a batch, with a step of the optimiser each: minibatches"),
    FOV_OPTIONS_END,
};

enum { KL = FOV_LOSSES, CLIPPED };
static const char *const losses_of[] = {
    [FOV_LOSS_ANSWER] = "answer", [FOV_LOSS_BASELINE] = "baseline",
    [FOV_LOSS_POLICY] = "policy", [KL] = "kl",
    [CLIPPED] = "clipped",        NULL};

/** Sums over choices. */
typedef struct Change {
  double kl, clipped, choices;
} Change;

static int passes(int *parts, const void *values) {
  *parts = ((const Options *)values)->parts;
  return ((const Options *)values)->passes;
}

/** −ρ A of one choice, or 0; weight: −A. */
static real weigh_ratio(Change *change, real weight, double log_ratio, double clip) {
  double ratio = exp(log_ratio);
  bool clipped = weight < 0 ? ratio > 1 + clip : ratio < 1 - clip;
  change->kl += ratio - 1 - log_ratio;
  change->clipped += clipped;
  change->choices++;
  return clipped ? 0 : weight * (real)ratio;
}

/** The weights of the choices of one kind at one time step, [B], from −A [B]. now, before: [n, 1],
 * their log π. */
static void weigh_step(real *weights, Change *change, const real *advantages, const FovVar *now,
                       const FovVar *before, const FovTimeStep *step, FovEvent event, double clip) {
  for (int i = 0; now && i < step->count; i++) {
    if (!(step->events[i] & event)) continue;
    int lane = step->lanes[i];
    double log_ratio =
        before ? (double)(fov_value_row(now, i)[0] - fov_value_row(before, i)[0]) : 0;
    weights[lane] = weigh_ratio(change, advantages[lane], log_ratio, clip);
  }
}

static void backward(FovTape *tape, double *losses, const FovObjectiveInput *input,
                     const void *values) {
  const Options *o = values;
  const FovRollout *rollout = input->rollout;
  int M = rollout->time_steps, B = rollout->lanes;
  const real *advantages = fov_baseline_add(tape, losses, input, fov_weigh_advantages, values);
  real *looks = FOV_NEW_ZEROS(tape->arena, real, M * B);
  real *acts = FOV_NEW_ZEROS(tape->arena, real, M * B);
  real *stops = FOV_NEW_ZEROS(tape->arena, real, M * B);
  Change change = {0};
  for (int t = 0; t < M; t++) {
    const FovTimeStep *now = &rollout->at[t], *then = fov_step_before(input, t);
    const real *a = advantages + t * B;
    weigh_step(looks + t * B, &change, a, now->log_look, then->log_look, now, FOV_EVENT_LOOK,
               o->clip);
    weigh_step(acts + t * B, &change, a, now->log_act, then->log_act, now, FOV_EVENT_ACT, o->clip);
    weigh_step(stops + t * B, &change, a, now->log_stop, then->log_stop, now, FOV_EVENT_DECIDE,
               o->clip);
  }
  const FovLossWeights weights = {.looks = looks, .acts = acts, .stops = stops};
  fov_weighted_losses_add(tape, losses, input, &weights, values);
  if (change.choices == 0) return;
  losses[KL] += change.kl / change.choices * B;
  losses[CLIPPED] += change.clipped / change.choices * B;
}

const FovObjective fov_objective_ppo = {
    .plugin = {.name = "ppo",
               .help = "clipped policy gradient in several passes (Schulman et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    .predicts = true,
    .passes = passes,
    .losses = losses_of,
    .backward = backward,
};
