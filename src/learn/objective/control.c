#include "learn/objective/control.h"

#include "tensor/ops.h"

/** Sums over lanes of a time step, of c = c(ζ̃) and of the gain R − b. */
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

/** What c is and what it is to explain, of the n lanes of a time step. */
typedef struct Control {
  FovVar *vars[2]; // c(ζ) and c(ζ̃), times the sign
  double sign;
  const real *gains; // [n]
} Control;

static Control control_of(FovTape *tape, const real *choices, const FovTimeStep *step) {
  real *gains = FOV_NEW(tape->arena, real, step->count);
  Control control = {.sign = step->fitted ? 1 : -1, .gains = gains};
  for (int k = 0; k < 2; k++)
    control.vars[k] = step->fitted ? step->relaxed[k]
                                   : fov_cross_entropy(tape, NULL, step->relaxed[k], step->labels);
  for (int i = 0; i < step->count; i++) gains[i] = -choices[step->lanes[i]];
  return control;
}

static double c_of(const Control *control, int i) {
  return control->sign * (double)control->vars[1]->value[i];
}

/** Takes away the lanes of the case of lane i. lanes: [n], ascending. */
static void take_case(Moments *m, const Control *control, const int *lanes, int n, int copies,
                      int i) {
  int of_case = lanes[i] / copies;
  while (i > 0 && lanes[i - 1] / copies == of_case) i--;
  for (; i < n && lanes[i] / copies == of_case; i++)
    add(m, c_of(control, i), (double)control->gains[i], -1);
}

/** The squared error of a c that is learned to the gains. */
static void fit(FovTape *tape, const FovTimeStep *step, const real *gains, double weight) {
  real *grad = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++) grad[i] = (real)weight;
  fov_tape_add_grad(tape, fov_squared_error(tape, step->fitted, gains), grad);
}

/** The control variate of a glimpse, whose place was chosen one time step before. choices: [B], of
 * that time step. */
static void add_step(FovTape *tape, real *choices, const FovTimeStep *step,
                     const FovObjectiveInput *input, const FovPolicyGradientOptions *options) {
  int n = step->count;
  double weight = options->policy / input->batch;
  const Control control = control_of(tape, choices, step);
  real *grads[2];
  Moments all = {0};
  for (int k = 0; k < 2; k++) grads[k] = FOV_NEW(tape->arena, real, n);
  for (int i = 0; i < n; i++) add(&all, c_of(&control, i), (double)control.gains[i], 1);
  for (int i = 0; i < n; i++) {
    Moments others = all;
    double mean;
    take_case(&others, &control, step->lanes, n, input->copies, i);
    double eta = regress(&mean, &others);
    choices[step->lanes[i]] += (real)(eta * (c_of(&control, i) - mean));
    // dL/dc is −η for ζ and η for ζ̃.
    grads[0][i] = (real)(-eta * control.sign * weight);
    grads[1][i] = (real)(eta * control.sign * weight);
  }
  for (int k = 0; k < 2; k++) fov_tape_add_grad(tape, control.vars[k], grads[k]);
  if (step->fitted) fit(tape, step, control.gains, options->baseline / input->batch);
}

void fov_control_add(FovTape *tape, real *choices, const FovObjectiveInput *input,
                     const FovPolicyGradientOptions *options) {
  const FovRollout *rollout = input->rollout;
  for (int t = 1; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    if (step->relaxed[0] && rollout->at[t - 1].log_look)
      add_step(tape, choices + (t - 1) * rollout->lanes, step, input, options);
  }
}
