/** b_t = Linear(h_t), trained by half the squared error to the return: Mnih et al. 2014, eq. 2. */
#include "learn/baseline/learned.h"

#include "tensor/ops.h"

void fov_baseline_head_build(void *layout, FovParams *params, const void *options, int inputs) {
  (void)options;
  FovBaselineHead *l = layout;
  l->w = fov_params_add(params, "baseline.w", 1, inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "baseline.bias", 1, 1, FOV_INIT_ZERO, 0);
}

FovVar *fov_baseline_head_predict(FovTape *tape, FovVar *h, const void *layout) {
  const FovBaselineHead *l = layout;
  return fov_linear(tape, h, &tape->params[l->w], &tape->params[l->bias], FOV_LINEAR);
}

void fov_baseline_predicted(real *b, const FovBaselineInput *input) {
  memcpy(b, input->predicted, (size_t)input->time_steps * input->lanes * sizeof *b);
}

const FovBaseline fov_baseline_learned = {
    .plugin = {.name = "learned", .help = "predicted from h_t (Mnih et al. 2014, eq. 2)"},
    .head = {.layout_size = sizeof(FovBaselineHead), .build = fov_baseline_head_build},
    .predict = fov_baseline_head_predict,
    .least_copies = 1,
    .values = fov_baseline_predicted,
};
