#include "learn/objective/policy_gradient.h"

#include "learn/objective/control.h"
#include "tensor/ops.h"

const char *const fov_policy_gradient_losses[] = {[FOV_LOSS_ANSWER] = "answer",
                                                  [FOV_LOSS_BASELINE] = "baseline",
                                                  [FOV_LOSS_POLICY] = "policy",
                                                  NULL};

/** weights: [M, B], or NULL for 1. */
static real weight_of(const real *weights, const FovObjectiveInput *input, int t, int lane) {
  return weights ? weights[t * input->rollout->lanes + lane] : 1;
}

/** Cross-entropy of the true labels, the supervised part of the hybrid loss of Mnih et al. 2014, or
 * half the squared distances of vectors to the true ones. */
static FovVar *answer_loss(FovTape *tape, const FovTimeStep *step) {
  if (step->targets) return fov_squared_error(tape, step->logits, step->targets);
  return fov_cross_entropy(tape, NULL, step->logits, step->labels);
}

/** Adds the loss of the answers to every parameter's gradient. */
static void add_answer_loss(FovTape *tape, double *sum, const FovObjectiveInput *input,
                            const FovLossWeights *weights) {
  const FovTask *task = input->task;
  const FovEnvSpec *spec = &task->env->spec;
  double scale = spec->answer == FOV_ANSWER_VECTOR ? 2.0 * FOV_VECTOR_LOSS / spec->actions : 1;
  real given = (real)(scale / input->batch * input->answers.given);
  real early = (real)(scale / input->batch * input->answers.early);
  if (spec->answer == FOV_ANSWER_MOVE) return;
  for (int t = 1; t < input->rollout->time_steps; t++) {
    const FovTimeStep *step = &input->rollout->at[t];
    if (!step->logits) continue;
    real *grad = FOV_NEW(tape->arena, real, step->count);
    FovVar *loss = answer_loss(tape, step);
    for (int i = 0; i < step->count; i++) {
      bool answered = step->events[i] & FOV_EVENT_ACT;
      int lane = step->lanes[i];
      grad[i] = (answered ? given : early) * weight_of(weights->answers, input, t, lane);
      if (answered) *sum += scale * weight_of(weights->prior, input, t, lane) * loss->value[i];
    }
    fov_tape_add_grad(tape, loss, grad);
  }
}

/** Whether lane i of a time step made a choice: looked, if only at random, acted or decided by a
 * policy. Without a choice there is no baseline loss: the head may have run only because another
 * lane of the batch needed it. */
static bool has_chosen(const FovTimeStep *step, int i) {
  int choices = FOV_EVENT_LOOK | (step->log_act ? FOV_EVENT_ACT : 0) |
                (step->log_stop ? FOV_EVENT_DECIDE : 0);
  return step->events[i] & choices;
}

/** What returns and baselines are computed from: what is repeated, or the rollout itself. */
static const FovRollout *source_of(const FovObjectiveInput *input) {
  return input->before ? input->before : input->rollout;
}

const FovTimeStep *fov_step_before(const FovObjectiveInput *input, int t) {
  static const FovTimeStep none = {0};
  return input->before ? &input->before->at[t] : &none;
}

/** What the baseline adds to its head's predictions, [M, B]. */
static real *offsets_of(FovArena *arena, const FovObjectiveInput *input) {
  const FovRollout *rollout = source_of(input);
  int M = rollout->time_steps, B = rollout->lanes;
  real *offsets = FOV_NEW_ZEROS(arena, real, (size_t)M * B), average = (real)input->average_return;
  if (!input->task->baseline->from_answer) return offsets;
  for (int t = 0; t < M; t++) {
    FovTimeStep *step = &rollout->at[t];
    const real *log_p = fov_step_log_p(step, arena);
    for (int i = 0; i < step->count; i++)
      offsets[t * B + step->lanes[i]] = fov_step_offset(step, input->task, log_p, average, i);
  }
  return offsets;
}

/** Half the squared error of the head's prediction to what is missing from the return R_t, summed
 * over the time steps of an episode where something was chosen. Logged: the mean squared error.
 * offsets: [M, B] */
static void add_baseline_loss(FovTape *tape, double *sum, const FovObjectiveInput *input,
                              const real *offsets, double weight) {
  const FovRollout *rollout = input->rollout;
  const real *returns = source_of(input)->returns;
  double total = 0, predicted = 0;
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    int n = step->count;
    if (!step->baseline) continue;
    real *grad = FOV_NEW(tape->arena, real, n), *target = FOV_NEW(tape->arena, real, n);
    for (int i = 0; i < n; i++) {
      grad[i] = has_chosen(step, i) ? (real)(weight / input->batch) : 0;
      int at = t * rollout->lanes + step->lanes[i];
      target[i] = returns[at] - offsets[at];
    }
    FovVar *loss = fov_squared_error(tape, step->baseline, target);
    fov_tape_add_grad(tape, loss, grad);
    for (int i = 0; i < n; i++) {
      total += has_chosen(step, i) ? 2 * loss->value[i] : 0;
      predicted += has_chosen(step, i);
    }
  }
  if (predicted > 0) *sum += total / predicted * rollout->lanes;
}

/** Predictions of the return, [M, B]; where nothing was chosen, the return is known. */
static real *gather_predictions(FovArena *arena, const FovRollout *rollout, const real *offsets) {
  size_t size = (size_t)rollout->time_steps * rollout->lanes;
  real *predicted = FOV_NEW(arena, real, size);
  memcpy(predicted, rollout->returns, size * sizeof *predicted);
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    for (int i = 0; step->baseline && i < step->count; i++)
      if (has_chosen(step, i)) {
        int at = t * rollout->lanes + step->lanes[i];
        predicted[at] = step->baseline->value[i] + offsets[at];
      }
  }
  return predicted;
}

/** The returns of the deterministic episodes, [M, B]; 0 where these are over. NULL: there are none.
 */
static real *deterministic_returns(FovArena *arena, const FovObjectiveInput *input,
                                   int time_steps) {
  const FovRollout *played = input->deterministic;
  if (!played) return NULL;
  int B = played->lanes, count = played->time_steps < time_steps ? played->time_steps : time_steps;
  real *returns = FOV_NEW_ZEROS(arena, real, (size_t)time_steps * B);
  return memcpy(returns, played->returns, (size_t)count * B * sizeof *returns);
}

static real *baselines_of(FovArena *arena, const FovObjectiveInput *input, const real *offsets) {
  const FovRollout *rollout = source_of(input);
  real *b = FOV_NEW_ZEROS(arena, real, (size_t)rollout->time_steps * rollout->lanes);
  const FovBaselineInput known = {.returns = rollout->returns,
                                  .predicted = gather_predictions(arena, rollout, offsets),
                                  .deterministic =
                                      deterministic_returns(arena, input, rollout->time_steps),
                                  .average = (real)input->average_return,
                                  .time_steps = rollout->time_steps,
                                  .lanes = rollout->lanes,
                                  .copies = input->copies};
  if (input->task->baseline->values) input->task->baseline->values(b, &known);
  return b;
}

/** The choices of one kind at one time step. */
typedef struct ChoiceKind {
  FovVar *log_prob;     // [n, 1]; NULL: none has a log π
  const FovVar *before; // log π of what is repeated; NULL: nothing is
  const real *weights;  // [M, B]: see FovLossWeights
  FovEvent event;
  double entropy; // weight
} ChoiceKind;

/** ρ = π / π_before: how much a sample of the policy before the update counts in a mean over π. It
 * may overflow, which must not matter without a bonus. */
static real ratio_of(const ChoiceKind *kind, int i) {
  if (!kind->before || kind->entropy == 0) return 1;
  return fov_exp(kind->log_prob->value[i] - kind->before->value[i]);
}

/**
 * Adds dL/d log π where the lanes made such a choice; weights: [B].
 *
 * The entropy H = −E[log π] has the gradient −E[∇log π · log π], estimated from the one sample that
 * was drawn (Williams and Peng 1991), which counts ρ times if an earlier policy drew it.
 */
static void add_choice_loss(FovTape *tape, double *sum, const ChoiceKind *kind,
                            const FovTimeStep *step, const real *weights) {
  const real *log_prob = kind->log_prob->value;
  real *grad = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++) {
    real weight = weights[step->lanes[i]];
    bool chosen = step->events[i] & kind->event;
    grad[i] = chosen ? weight + (real)kind->entropy * ratio_of(kind, i) * log_prob[i] : 0;
    if (chosen) *sum += (double)weight * log_prob[i];
  }
  fov_tape_add_grad(tape, kind->log_prob, grad);
}

/** Raises the entropy that the policy gives exactly, by its own weight. */
static void add_entropy(FovTape *tape, const FovObjectiveInput *input, int t, const real *weights) {
  const FovTask *task = input->task;
  const FovTimeStep *step = &input->rollout->at[t];
  double weight =
      task->policy->entropy ? task->policy->entropy(task->policy_options) / input->batch : 0;
  if (!step->look_entropy || weight == 0) return;
  real *grad = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++)
    grad[i] = step->events[i] & FOV_EVENT_LOOK
                  ? (real)-weight * weight_of(weights, input, t, step->lanes[i])
                  : 0;
  fov_tape_add_grad(tape, step->look_entropy, grad);
}

/** weights · factor of one time step, [B]. */
static real *scale(FovArena *arena, const real *weights, int lanes, real factor) {
  real *scaled = FOV_NEW(arena, real, lanes);
  for (int b = 0; b < lanes; b++) scaled[b] = weights[b] * factor;
  return scaled;
}

void fov_weighted_losses_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             const FovLossWeights *weights, const void *options) {
  const FovPolicyGradientOptions *o = options;
  const FovRollout *rollout = input->rollout;
  int B = rollout->lanes;
  double entropy = o->entropy / input->batch, policy = 0;
  real factor = (real)(o->policy / input->batch);
  add_answer_loss(tape, &losses[FOV_LOSS_ANSWER], input, weights);
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t], *then = fov_step_before(input, t);
    const ChoiceKind kinds[] = {
        {step->log_look, then->log_look, weights->looks, FOV_EVENT_LOOK, 0},
        {step->log_act, then->log_act, weights->acts, FOV_EVENT_ACT, entropy},
        {step->log_stop, then->log_stop, weights->stops, FOV_EVENT_DECIDE, entropy}};
    for (int c = 0; c < 3; c++)
      if (kinds[c].log_prob && kinds[c].weights)
        add_choice_loss(tape, &policy, &kinds[c], step,
                        scale(tape->arena, kinds[c].weights + t * B, B, factor));
    add_entropy(tape, input, t, weights->prior);
  }
  losses[FOV_LOSS_POLICY] += policy * input->batch;
}

real *fov_baseline_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                       FovChoiceWeights *weigh, const void *options) {
  const FovRollout *source = source_of(input);
  int M = source->time_steps, B = source->lanes;
  const real *offsets = offsets_of(tape->arena, input);
  double weight = ((const FovPolicyGradientOptions *)options)->baseline;
  add_baseline_loss(tape, &losses[FOV_LOSS_BASELINE], input, offsets, weight);
  real *b = baselines_of(tape->arena, input, offsets), *choices = FOV_NEW(tape->arena, real, M * B);
  weigh(choices, source->returns, b, M, B, options);
  return choices;
}

void fov_policy_gradient_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             FovChoiceWeights *weigh, const void *options) {
  const FovRollout *rollout = input->rollout;
  size_t size = (size_t)rollout->time_steps * rollout->lanes;
  const real *choices = fov_baseline_add(tape, losses, input, weigh, options);
  real *looks = memcpy(FOV_NEW(tape->arena, real, size), choices, size * sizeof *looks);
  fov_control_add(tape, looks, input, options);
  const FovLossWeights weights = {.looks = looks, .acts = choices, .stops = choices};
  fov_weighted_losses_add(tape, losses, input, &weights, options);
}

void fov_weigh_advantages(real *weights, const real *returns, const real *b, int time_steps,
                          int lanes, const void *options) {
  real lambda = (real)((const FovAdvantageOptions *)options)->lambda;
  for (int i = time_steps * lanes - 1; i >= 0; i--) {
    bool last = i >= (time_steps - 1) * lanes;
    real reward = returns[i] - (last ? 0 : returns[i + lanes]);
    real change = reward + (last ? 0 : b[i + lanes]) - b[i];
    weights[i] = (last ? 0 : lambda * weights[i + lanes]) - change;
  }
}
