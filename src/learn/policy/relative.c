/**
 * A step from the last place, of at most `reach`: a ~ Normal(mean, σ² I), projected into the unit
 * circle, l_{t+1} = cut(l_t + reach · bounds · a / max(1, ‖a‖)), as in the environments of active
 * perception (Schneider et al. 2026). log π belongs to a, which costs c ‖a‖. With a reach of
 * 2 one step can cross the whole range of places.
 */
#include "learn/policy/normal.h"
#include "tensor/ops.h"

typedef struct Options {
  FovNormalOptions normal; // comes first
  double reach, cost;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, reach, "0.5", 1e-3, 4,
             "longest step; the places to look at are 2 wide and high"),
    FOV_REAL(FovNormalOptions, sigma, "0.3", 1e-3, 10,
             "standard deviation at the start, in units of the reach"),
    FOV_NORMAL_OPTIONS,
    FOV_REAL(Options, cost, "0", 0, 100, "c: a step costs c |a| of the reward"),
    FOV_OPTIONS_END,
};

enum { COST = FOV_NORMAL_SIGMA + 1 };

/** Those of the normal distribution; if steps cost something, "cost" too: c ‖a‖. */
static int columns(FovColumn columns[FOV_COLUMNS], const void *values) {
  int count = fov_normal_columns(columns, values);
  if (((const Options *)values)->cost > 0) columns[count++] = (FovColumn){"cost", 1};
  return count;
}

/** to = from + reach · bounds ∘ a / max(1, ‖a‖) */
static void take_step(real to[2], const real from[2], const real a[2], const real bounds[2],
                      const Options *o) {
  real length = (real)sqrt(a[0] * a[0] + a[1] * a[1]);
  for (int j = 0; j < 2; j++)
    to[j] = from[j] + (real)o->reach * bounds[j] * a[j] / (length > 1 ? length : 1);
}

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  fov_normal_add(layout, params, values, "step", inputs);
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Options *o = values;
  const FovNormalLayout *l = layout;
  FovVar *p = tape->params, *mean = fov_linear(tape, input->h, &p[l->w], &p[l->bias], FOV_LINEAR);
  real sigma_0 = (real)fov_normal_sigma(&o->normal, input->progress);
  const real sigma[2] = {sigma_0, sigma_0};
  const real *sigmas = fov_normal_draw(output, tape, input, l, &o->normal, mean, sigma);
  for (int b = 0; b < input->lanes; b++) {
    const real *mean_b = mean->value + (size_t)b * mean->stride, *from = input->places + 2 * b;
    take_step(output->places + 2 * b, from, output->choices[b].sample, input->bounds, o);
    take_step(output->columns[FOV_NORMAL_MEAN] + 2 * b, from, mean_b, input->bounds, o);
    const real *a = output->choices[b].sample;
    output->costs[b] = (real)(o->cost * hypot((double)a[0], (double)a[1]));
    if (o->cost > 0) output->columns[COST][b] = output->costs[b];
    for (int j = 0; j < 2; j++)
      output->columns[FOV_NORMAL_SIGMA][2 * b + j] =
          (real)(o->reach * (double)sigmas[2 * b + j]) * input->bounds[j];
  }
}

const FovPolicy fov_policy_relative = {
    .plugin = {.name = "relative",
               .help = "a step of limited length from the last place (Schneider et al. 2026)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(FovNormalLayout), .build = build},
    .columns = columns,
    .entropy = fov_normal_entropy,
    .figures = fov_normal_figures,
    .choose = choose,
};
