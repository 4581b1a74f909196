/**
 * A step from the last place, of at most `reach`: a ~ Normal(mean, σ² I), projected into the unit
 * circle, l_{t+1} = cut(l_t + reach · a / max(1, ‖a‖)), as in the worlds of active perception
 * (Schneider et al. 2026). log π belongs to a.
 */
#include "learn/policy.h"
#include "tensor/ops.h"

typedef struct Options {
  double reach, sigma;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, reach, "0.5", 1e-3, 4, "longest step; the image is 2 wide and high"),
    FOV_REAL(Options, sigma, "0.3", 1e-3, 10, "standard deviation, in units of the reach"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int w, bias;
} Layout;

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  (void)values;
  Layout *l = layout;
  // Small at the start: no direction is preferred.
  l->w = fov_params_add(params, "location.w", 2, inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "location.bias", 1, 2, FOV_INIT_ZERO, 0);
}

enum { MEAN, SIGMA, COLUMNS };

static int columns(FovPolicyColumn list[FOV_POLICY_COLUMNS], const void *values) {
  (void)values;
  list[MEAN] = (FovPolicyColumn){"mean", 2};
  list[SIGMA] = (FovPolicyColumn){"sigma", 2};
  return COLUMNS;
}

/** to = from + reach · a / max(1, ‖a‖) */
static void take_step(real to[2], const real from[2], const real a[2], const Options *o) {
  real length = (real)sqrt(a[0] * a[0] + a[1] * a[1]);
  for (int j = 0; j < 2; j++) to[j] = from[j] + (real)o->reach * a[j] / (length > 1 ? length : 1);
}

static FovChoice choose_lane(const FovPolicyInput *input, const real *mean, real sigma, int b) {
  if (input->forced) return input->forced[b];
  FovChoice choice = {.sample = {mean[0], mean[1]}, .index = -1};
  for (int j = 0; j < 2 && !input->deterministic; j++)
    choice.sample[j] += sigma * fov_rng_normal(&input->rng[b]);
  return choice;
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Options *o = values;
  const Layout *l = layout;
  int n = input->lanes;
  FovVar *p = tape->params, *mean = fov_linear(tape, input->h, &p[l->w], &p[l->bias], FOV_LINEAR);
  const real sigma[2] = {(real)o->sigma, (real)o->sigma};
  real spread = input->deterministic ? 0 : (real)(o->reach * o->sigma);
  real *samples = FOV_NEW(tape->arena, real, 2 * n);
  for (int b = 0; b < n; b++) {
    const real *mean_b = mean->value + (size_t)b * mean->stride, *from = input->places + 2 * b;
    FovChoice *choice = &output->choices[b];
    *choice = choose_lane(input, mean_b, sigma[0], b);
    memcpy(samples + 2 * b, choice->sample, sizeof choice->sample);
    take_step(output->places + 2 * b, from, choice->sample, o);
    take_step(output->columns[MEAN] + 2 * b, from, mean_b, o);
    for (int j = 0; j < 2; j++) output->columns[SIGMA][2 * b + j] = spread;
  }
  fov_policy_cut(output->places, n);
  if (!input->deterministic) output->log_prob = fov_gaussian_log_prob(tape, mean, samples, sigma);
}

const FovPolicy fov_policy_relative = {
    .plugin = {.name = "relative",
               .help = "a step of limited length from the last place (Schneider et al. 2026)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .columns = columns,
    .choose = choose,
};
