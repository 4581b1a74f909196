#include "learn/policy/normal.h"

#include <stdio.h>

#include "tensor/ops.h"

static int add(FovParams *params, const char *prefix, const char *name, int rows, int cols,
               FovInit init, real gain) {
  char full[64];
  snprintf(full, sizeof full, "%s.%s", prefix, name);
  return fov_params_add(params, full, rows, cols, init, gain);
}

void fov_normal_add(FovNormalLayout *layout, FovParams *params, const FovNormalOptions *options,
                    const char *prefix, int inputs) {
  *layout = (FovNormalLayout){
      .w = add(params, prefix, "w", 2, inputs, FOV_INIT_UNIFORM, 0.1f),
      .bias = add(params, prefix, "bias", 1, 2, FOV_INIT_ZERO, 0),
  };
  if (!options->adaptive) return;
  layout->sigma_w = add(params, prefix, "sigma.w", 2, inputs, FOV_INIT_UNIFORM, 0.1f);
  layout->sigma_bias = add(params, prefix, "sigma.bias", 1, 2, FOV_INIT_ZERO, 0);
}

int fov_normal_columns(FovColumn columns[FOV_COLUMNS], const void *options) {
  (void)options;
  columns[FOV_NORMAL_MEAN] = (FovColumn){"mean", 2};
  columns[FOV_NORMAL_SIGMA] = (FovColumn){"sigma", 2};
  return 2;
}

double fov_normal_sigma(const FovNormalOptions *o, double progress) {
  double fallen = progress < o->sigma_fall ? progress / o->sigma_fall : 1;
  double end = fmax(o->sigma_end, 1e-3); // with less, gradients of log π overflow
  return o->sigma_end > 0 ? o->sigma + fallen * (end - o->sigma) : o->sigma;
}

int fov_normal_figures(FovFigure figures[FOV_POLICY_FIGURES], const void *options,
                       double progress) {
  figures[0] = (FovFigure){"sigma", fov_normal_sigma(options, progress)};
  return 1;
}

double fov_normal_entropy(const void *options) {
  const FovNormalOptions *o = options;
  return o->adaptive ? o->entropy : 0;
}

/** log σ, [n, 2]. */
static FovVar *adapt(FovTape *tape, const FovPolicyInput *input, const FovNormalLayout *layout,
                     const real sigma[2]) {
  FovVar *p = tape->params, *start = fov_constant(tape, input->lanes, 2);
  FovVar *factor = fov_constant(tape, input->lanes, 2);
  FovVar *change =
      fov_linear(tape, input->h, &p[layout->sigma_w], &p[layout->sigma_bias], FOV_TANH);
  for (int i = 0; i < 2 * input->lanes; i++) {
    fov_value_row(start, i / 2)[i % 2] = (real)log((double)sigma[i % 2]);
    fov_value_row(factor, i / 2)[i % 2] = 2;
  }
  return fov_add(tape, start, fov_multiply(tape, change, factor));
}

/** H = Σ_j log σ_j + log 2πe, [n, 1]. */
static FovVar *entropy_of(FovTape *tape, FovVar *log_sigma) {
  FovVar *ones = fov_constant(tape, 1, 2), *rest = fov_constant(tape, log_sigma->rows, 1);
  for (int j = 0; j < 2; j++) ones->value[j] = 1;
  for (int b = 0; b < rest->rows; b++) fov_value_row(rest, b)[0] = (real)(log(2 * M_PI) + 1);
  return fov_add(tape, fov_linear(tape, log_sigma, ones, NULL, FOV_LINEAR), rest);
}

static FovChoice draw_lane(const FovPolicyInput *input, const real *mean, const real *sigma,
                           const real offset[2], int b) {
  if (input->forced) return input->forced[b];
  FovChoice choice = {.sample = {mean[0], mean[1]}, .index = -1};
  for (int j = 0; j < 2; j++)
    choice.sample[j] +=
        sigma[j] * (input->deterministic ? offset[j] : fov_rng_normal(&input->rng[b]));
  return choice;
}

/** Draws with σ [n, 2] of each lane. Returns the samples, [n, 2]. */
static const real *draw(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                        const FovVar *mean, const real *sigmas, double spread) {
  real *samples = FOV_NEW(tape->arena, real, 2 * input->lanes);
  double angle = M_PI * (3 - sqrt(5)) * input->glimpse;
  const real offset[2] = {(real)(spread * cos(angle)), (real)(spread * sin(angle))};
  for (int b = 0; b < input->lanes; b++) {
    output->choices[b] =
        draw_lane(input, mean->value + (size_t)b * mean->stride, sigmas + 2 * b, offset, b);
    memcpy(samples + 2 * b, output->choices[b].sample, 2 * sizeof *samples);
  }
  return samples;
}

const real *fov_normal_draw(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            const FovNormalLayout *layout, const FovNormalOptions *options,
                            FovVar *mean, const real sigma[2]) {
  int n = input->lanes;
  FOV_CHECK(mean->rows == n && mean->cols == 2, "mean [%d, %d]", mean->rows, mean->cols);
  real *sigmas = FOV_NEW(tape->arena, real, 2 * n);
  bool at_mean = input->deterministic && options->spread == 0;
  FovVar *log_sigma = options->adaptive && !at_mean ? adapt(tape, input, layout, sigma) : NULL;
  for (int i = 0; i < 2 * n; i++)
    sigmas[i] = log_sigma ? fov_exp(fov_value_row(log_sigma, i / 2)[i % 2]) : sigma[i % 2];
  const real *samples = draw(output, tape, input, mean, sigmas, options->spread);
  output->mean = mean;
  if (input->deterministic) return fov_arena_zeros(tape->arena, 2 * (size_t)n * sizeof(real));
  if (log_sigma)
    output->log_prob = fov_normal_log_prob(tape, mean, log_sigma, samples);
  else
    output->log_prob = fov_gaussian_log_prob(tape, mean, samples, sigma);
  if (log_sigma && options->entropy > 0) output->entropy = entropy_of(tape, log_sigma);
  return sigmas;
}
