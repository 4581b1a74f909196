#include "learn/objective/policy_gradient.h"

#include "tensor/ops.h"

enum { ANSWER, BASELINE, POLICY };

const char *const fov_policy_gradient_losses[] = {
    [ANSWER] = "answer", [BASELINE] = "baseline", [POLICY] = "policy", NULL};

/** Cross-entropy of the true labels, the supervised part of the hybrid loss of Mnih et al. 2014, or
 * half the squared distances of vectors to the true ones. */
static FovVar *answer_loss(FovTape *tape, const FovTimeStep *step) {
  if (step->targets) return fov_squared_error(tape, step->logits, step->targets);
  return fov_cross_entropy(tape, NULL, step->logits, step->labels);
}

/** Adds the loss of the answers to every parameter's gradient. */
static void add_answer_loss(FovTape *tape, double *sum, const FovObjectiveInput *input) {
  const FovTask *task = input->task;
  const FovEnvSpec *spec = &task->env->spec;
  double weight = 1.0 / input->batch / (input->every ? task->options.glimpses : 1);
  double scale = spec->answer == FOV_ANSWER_VECTOR ? 2.0 * FOV_VECTOR_LOSS / spec->actions : 1;
  if (spec->answer == FOV_ANSWER_MOVE) return;
  for (int t = 1; t < input->rollout->time_steps; t++) {
    const FovTimeStep *step = &input->rollout->at[t];
    if (!step->logits) continue;
    real *grad = FOV_NEW(tape->arena, real, step->count);
    FovVar *loss = answer_loss(tape, step);
    for (int i = 0; i < step->count; i++) {
      bool answered = step->events[i] & FOV_EVENT_ACT;
      grad[i] = (real)(input->every || answered ? weight * scale : 0);
      if (answered) *sum += scale * loss->value[i];
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

/** What the baseline adds to its head's predictions, [M, B]. */
static real *offsets_of(FovArena *arena, const FovObjectiveInput *input) {
  const FovRollout *rollout = input->rollout;
  int M = rollout->time_steps, B = rollout->lanes;
  real *offsets = FOV_NEW(arena, real, (size_t)M * B), average = (real)input->average_return;
  for (int t = 0; t < M; t++) {
    FovTimeStep *step = &rollout->at[t];
    const real *log_p = fov_step_log_p(step, arena);
    for (int i = 0; i < step->count; i++)
      offsets[t * B + step->lanes[i]] = fov_step_offset(step, input->task, log_p, average, i);
  }
  return offsets;
}

/** Squared error of the head's prediction to what is missing from the return R_t, where something
 * was chosen. offsets: [M, B] */
static void add_baseline_loss(FovTape *tape, double *sum, const FovObjectiveInput *input,
                              const real *offsets, double weight) {
  const FovRollout *rollout = input->rollout;
  double total = 0, predicted = 0;
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    int n = step->count;
    if (!step->baseline) continue;
    real *grad = FOV_NEW(tape->arena, real, n), *target = FOV_NEW(tape->arena, real, n);
    for (int i = 0; i < n; i++) {
      grad[i] = has_chosen(step, i) ? (real)(weight / input->batch) : 0;
      int at = t * rollout->lanes + step->lanes[i];
      target[i] = rollout->returns[at] - offsets[at];
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

static real *baselines_of(FovArena *arena, const FovObjectiveInput *input, const real *offsets) {
  const FovRollout *rollout = input->rollout;
  real *b = FOV_NEW(arena, real, (size_t)rollout->time_steps * rollout->lanes);
  const FovBaselineInput known = {.returns = rollout->returns,
                                  .predicted = gather_predictions(arena, rollout, offsets),
                                  .average = (real)input->average_return,
                                  .time_steps = rollout->time_steps,
                                  .lanes = rollout->lanes,
                                  .copies = input->copies};
  input->task->baseline->values(b, &known);
  return b;
}

/**
 * Adds dL/d log π where the lanes made such a choice; weights: [B]; log_prob may be NULL.
 *
 * The entropy H = −E[log π] has the gradient −E[∇log π · log π], estimated from the one sample that
 * was drawn (Williams and Peng 1991).
 */
static void add_choice_loss(FovTape *tape, double *sum, FovVar *log_prob, const FovTimeStep *step,
                            FovEvent event, const real *weights, double entropy) {
  if (!log_prob) return;
  real *grad = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++) {
    real weight = weights[step->lanes[i]];
    bool chosen = step->events[i] & event;
    grad[i] = chosen ? weight + (real)entropy * log_prob->value[i] : 0;
    if (chosen) *sum += (double)weight * log_prob->value[i];
  }
  fov_tape_add_grad(tape, log_prob, grad);
}

/** Raises the entropy that the policy gives exactly, by its own weight. */
static void add_entropy(FovTape *tape, const FovTimeStep *step, double weight) {
  if (!step->look_entropy || weight == 0) return;
  real *grad = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++)
    grad[i] = step->events[i] & FOV_EVENT_LOOK ? (real)-weight : 0;
  fov_tape_add_grad(tape, step->look_entropy, grad);
}

void fov_policy_gradient_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             FovChoiceWeights *weigh, const void *options) {
  const FovPolicyGradientOptions *o = options;
  const FovRollout *rollout = input->rollout;
  const FovTask *task = input->task;
  int M = rollout->time_steps, B = rollout->lanes;
  double entropy = o->entropy / input->batch, policy = 0;
  double look_entropy =
      task->policy->entropy ? task->policy->entropy(task->policy_options) / input->batch : 0;
  add_answer_loss(tape, &losses[ANSWER], input);
  const real *offsets = offsets_of(tape->arena, input);
  add_baseline_loss(tape, &losses[BASELINE], input, offsets, o->baseline);
  real *b = baselines_of(tape->arena, input, offsets), *weights = FOV_NEW(tape->arena, real, M * B);
  weigh(weights, rollout->returns, b, M, B, options);
  for (int i = 0; i < M * B; i++) weights[i] *= (real)(o->policy / input->batch);
  for (int t = 0; t < M; t++) {
    const FovTimeStep *step = &rollout->at[t];
    const real *w = weights + t * B;
    add_choice_loss(tape, &policy, step->log_look, step, FOV_EVENT_LOOK, w, 0);
    add_choice_loss(tape, &policy, step->log_act, step, FOV_EVENT_ACT, w, entropy);
    add_choice_loss(tape, &policy, step->log_stop, step, FOV_EVENT_DECIDE, w, entropy);
    add_entropy(tape, step, look_entropy);
  }
  losses[POLICY] += policy * input->batch;
}
