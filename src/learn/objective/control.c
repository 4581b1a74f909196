#include "learn/objective/control.h"

#include "tensor/ops.h"

/** Sums over the lanes of a time step, of c = c(ζ̃) and R. */
typedef struct Moments {
  double n, c, r, cc, cr;
} Moments;

static void add(Moments *m, double c, double r, double sign) {
  m->n += sign;
  m->c += sign * c;
  m->r += sign * r;
  m->cc += sign * c * c;
  m->cr += sign * c * r;
}

/** η, and the mean of c; 0 if the lanes are too few or alike. */
static double regress(double *mean, const Moments *m) {
  *mean = m->n > 0 ? m->c / m->n : 0;
  double variance = m->cc - *mean * m->c, covariance = m->cr - *mean * m->r;
  return m->n > 2 && variance > 1e-9 * m->n ? covariance / variance : 0;
}

/** The control variate of the glimpse at time step t, whose place was chosen at t − 1. */
static void add_step(FovTape *tape, real *choices, const FovObjectiveInput *input, int t,
                     double weight) {
  const FovTimeStep *now = &input->rollout->at[t];
  int B = input->rollout->lanes, n = now->count;
  FovVar *loss[2];
  real *grads[2];
  Moments all = {0};
  for (int k = 0; k < 2; k++) {
    loss[k] = fov_cross_entropy(tape, NULL, now->relaxed[k], now->labels);
    grads[k] = FOV_NEW_ZEROS(tape->arena, real, n);
  }
  const real *returns = input->rollout->returns + (t - 1) * B;
  for (int i = 0; i < n; i++)
    add(&all, -(double)loss[1]->value[i], (double)returns[now->lanes[i]], 1);
  for (int i = 0; i < n; i++) {
    Moments others = all;
    double c = -(double)loss[1]->value[i], mean;
    add(&others, c, (double)returns[now->lanes[i]], -1);
    double eta = regress(&mean, &others);
    choices[(t - 1) * B + now->lanes[i]] += (real)(eta * (c - mean));
    // dL/dc is −η for ζ and η for ζ̃; c is minus the loss.
    grads[0][i] = (real)(eta * weight);
    grads[1][i] = (real)(-eta * weight);
  }
  for (int k = 0; k < 2; k++) fov_tape_add_grad(tape, loss[k], grads[k]);
}

void fov_control_add(FovTape *tape, real *choices, const FovObjectiveInput *input, double policy) {
  const FovRollout *rollout = input->rollout;
  for (int t = 1; t < rollout->time_steps; t++)
    if (rollout->at[t].relaxed[0] && rollout->at[t - 1].log_look)
      add_step(tape, choices, input, t, policy / input->batch);
}
