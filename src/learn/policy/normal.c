#include "learn/policy/normal.h"

#include "tensor/ops.h"

void fov_normal_add(FovNormalLayout *layout, FovParams *params, const char *w, const char *bias,
                    int inputs) {
  layout->w = fov_params_add(params, w, 2, inputs, FOV_INIT_UNIFORM, 0.1f);
  layout->bias = fov_params_add(params, bias, 1, 2, FOV_INIT_ZERO, 0);
}

int fov_normal_columns(FovColumn columns[FOV_COLUMNS], const void *options) {
  (void)options;
  columns[FOV_NORMAL_MEAN] = (FovColumn){"mean", 2};
  columns[FOV_NORMAL_SIGMA] = (FovColumn){"sigma", 2};
  return 2;
}

static FovChoice draw_lane(const FovPolicyInput *input, const real *mean, const real sigma[2],
                           int b) {
  if (input->forced) return input->forced[b];
  FovChoice choice = {.sample = {mean[0], mean[1]}, .index = -1};
  for (int j = 0; j < 2 && !input->deterministic; j++)
    choice.sample[j] += sigma[j] * fov_rng_normal(&input->rng[b]);
  return choice;
}

void fov_normal_draw(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                     FovVar *mean, const real sigma[2]) {
  int n = input->lanes;
  FOV_CHECK(mean->rows == n && mean->cols == 2, "mean [%d, %d]", mean->rows, mean->cols);
  real *samples = FOV_NEW(tape->arena, real, 2 * n);
  for (int b = 0; b < n; b++) {
    output->choices[b] = draw_lane(input, mean->value + (size_t)b * mean->stride, sigma, b);
    memcpy(samples + 2 * b, output->choices[b].sample, 2 * sizeof *samples);
  }
  if (!input->deterministic) output->log_prob = fov_gaussian_log_prob(tape, mean, samples, sigma);
}
