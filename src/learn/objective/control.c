#include "learn/objective/control.h"

#include "tensor/ops.h"

/** Of c; with less the lanes are alike. */
static const double LEAST_VARIANCE = 1e-9;

/** Sums over lanes of a time step, of c = c(ζ̃) and of the advantage A. */
typedef struct Moments {
  double n, c, a, cc, ca;
} Moments;

static void add(Moments *m, double c, double a, double sign) {
  m->n += sign;
  m->c += sign * c;
  m->a += sign * a;
  m->cc += sign * c * c;
  m->ca += sign * c * a;
}

/** η, and the mean of c; 0 if the lanes are too few or alike. */
static double regress(double *mean, const Moments *m) {
  *mean = m->n > 0 ? m->c / m->n : 0;
  double squares = m->cc - *mean * m->c, products = m->ca - *mean * m->a;
  return m->n >= FOV_CONTROL_LANES && squares > LEAST_VARIANCE * m->n ? products / squares : 0;
}

/** Takes away the lanes of the case of lane i. lanes: [n], ascending. */
static void take_case(Moments *m, const real *c, const real *advantages, const int *lanes, int n,
                      int copies, int i) {
  int of_case = lanes[i] / copies;
  while (i > 0 && lanes[i - 1] / copies == of_case) i--;
  for (; i < n && lanes[i] / copies == of_case; i++)
    add(m, (double)c[i], (double)advantages[i], -1);
}

/** Half the squared error of a c that is learned to the advantages. */
static void fit(FovTape *tape, FovVar *c, const real *advantages, double weight) {
  real *grad = FOV_NEW(tape->arena, real, c->rows);
  for (int i = 0; i < c->rows; i++) grad[i] = (real)weight;
  fov_tape_add_grad(tape, fov_squared_error(tape, c, advantages), grad);
}

/** The control variate of a glimpse, whose place was chosen one time step before. looks: [B], of
 * that time step. */
static void add_step(FovTape *tape, real *looks, const FovTimeStep *step,
                     const FovObjectiveInput *input, const FovPolicyGradientOptions *options) {
  int n = step->count;
  double weight = options->policy / input->batch;
  const real *c = step->relaxed[1]->value;
  real *advantages = FOV_NEW(tape->arena, real, n), *grads[2];
  Moments all = {0};
  for (int k = 0; k < 2; k++) grads[k] = FOV_NEW(tape->arena, real, n);
  for (int i = 0; i < n; i++) {
    advantages[i] = -looks[step->lanes[i]];
    add(&all, (double)c[i], (double)advantages[i], 1);
  }
  for (int i = 0; i < n; i++) {
    Moments others = all;
    double mean;
    take_case(&others, c, advantages, step->lanes, n, input->copies, i);
    double eta = regress(&mean, &others);
    looks[step->lanes[i]] += (real)(eta * ((double)c[i] - mean));
    grads[0][i] = (real)(-eta * weight);
    grads[1][i] = (real)(eta * weight);
  }
  for (int k = 0; k < 2; k++) fov_tape_add_grad(tape, step->relaxed[k], grads[k]);
  if (step->fitted) fit(tape, step->fitted, advantages, options->baseline / input->batch);
}

void fov_control_add(FovTape *tape, real *looks, const FovObjectiveInput *input,
                     const FovPolicyGradientOptions *options) {
  const FovRollout *rollout = input->rollout;
  for (int t = 1; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    if (step->relaxed[0] && rollout->at[t - 1].log_look)
      add_step(tape, looks + (t - 1) * rollout->lanes, step, input, options);
  }
}
