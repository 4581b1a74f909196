#include "learn/objective/copies.h"

#include "tensor/ops.h"

/* ---- the lanes of a case ---- */

real fov_log_sum(const real *x, int n) {
  real most = x[0], sum = 0;
  for (int i = 1; i < n; i++) most = x[i] > most ? x[i] : most;
  for (int i = 0; i < n; i++) sum += fov_exp(x[i] - most);
  return most + (real)log((double)sum);
}

void fov_copies_weigh(real *weights, const real *log_p, int lanes, int copies) {
  FOV_CHECK(lanes % copies == 0, "%d lanes, %d copies", lanes, copies);
  for (int first = 0; first < lanes; first += copies) {
    real all = fov_log_sum(log_p + first, copies);
    for (int i = first; i < first + copies; i++)
      weights[i] = (real)copies * fov_exp(log_p[i] - all);
  }
}

real *fov_log_prior(FovTape *tape, const FovRollout *rollout) {
  real *prior = FOV_NEW_ZEROS(tape->arena, real, rollout->lanes);
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovVar *log_look = rollout->at[t].log_look;
    FOV_CHECK(!log_look || log_look->rows == rollout->lanes, "%d of %d lanes choose",
              log_look->rows, rollout->lanes);
    for (int i = 0; log_look && i < rollout->lanes; i++) prior[i] += fov_value_row(log_look, i)[0];
  }
  return prior;
}

real *fov_every_step(FovTape *tape, const real *weights, const FovRollout *rollout) {
  int B = rollout->lanes, M = rollout->time_steps;
  real *all = FOV_NEW(tape->arena, real, (size_t)M * B);
  for (int t = 0; t < M; t++) memcpy(all + t * B, weights, (size_t)B * sizeof *all);
  return all;
}

/* ---- objectives of the likelihood ---- */

enum { ANSWER, POLICY, BOUND };
const char *const fov_copies_losses[] = {
    [ANSWER] = "answer", [POLICY] = "policy", [BOUND] = "bound", NULL};

/** Whether the lanes that still play answer at this time step; all do if one does. */
static bool answers(const FovTimeStep *step) {
  return step->logits && step->events[0] & FOV_EVENT_ACT;
}

/** log p(y | x, l) of each answer: [n] of the lanes that still play. */
static real *answer_log_p(FovTape *tape, FovTimeStep *step) {
  const real *log_p = fov_step_log_p(step, tape->arena);
  real *right = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++) right[i] = log_p[i * step->logits->cols + step->labels[i]];
  return right;
}

/** Writes the weights of the answers of a time step, and adds K·signal to what the choices before
 * it earn; both [B]. */
static void weigh_step(real *weights, real *earned, double *bound, FovTape *tape, FovTimeStep *step,
                       int copies, FovCopiesSignal *signal) {
  const real *log_p = answer_log_p(tape, step);
  real *row_weights = FOV_NEW(tape->arena, real, step->count);
  real *signals = FOV_NEW(tape->arena, real, copies);
  fov_copies_weigh(row_weights, log_p, step->count, copies);
  for (int first = 0; first < step->count; first += copies) {
    const int *lanes = step->lanes + first;
    FOV_CHECK(lanes[0] % copies == 0 && lanes[copies - 1] == lanes[0] + copies - 1,
              "copies of the case of lane %d have ended", lanes[0]);
    signal(signals, log_p + first, copies);
    *bound -= copies * ((double)fov_log_sum(log_p + first, copies) - log(copies));
    for (int k = 0; k < copies; k++) {
      weights[lanes[k]] = row_weights[first + k];
      earned[lanes[k]] += (real)copies * signals[k];
    }
  }
}

void fov_copies_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                    FovCopiesSignal *signal, const void *options) {
  const FovRollout *rollout = input->rollout;
  int B = rollout->lanes, M = rollout->time_steps;
  real *weights = FOV_NEW(tape->arena, real, (size_t)M * B);
  real *choices = FOV_NEW(tape->arena, real, (size_t)M * B);
  real *earned = FOV_NEW_ZEROS(tape->arena, real, B);
  for (int i = 0; i < M * B; i++) weights[i] = 1;
  for (int t = M - 1; t >= 0; t--) {
    FovTimeStep *step = &rollout->at[t];
    for (int b = 0; b < B; b++) choices[t * B + b] = -earned[b];
    if (!answers(step)) continue;
    weigh_step(weights + t * B, earned, &losses[BOUND], tape, step, input->copies, signal);
  }
  double parts[FOV_LOSSES] = {0};
  const FovLossWeights all = {.answers = weights, .looks = choices};
  fov_weighted_losses_add(tape, parts, input, &all, options);
  losses[ANSWER] += parts[FOV_LOSS_ANSWER];
  losses[POLICY] += parts[FOV_LOSS_POLICY];
}
