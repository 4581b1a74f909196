/** b_t = Linear(h_t), trained by squared error to the return: Mnih et al. 2014, eq. 2. */
#include "learn/baseline.h"
#include "tensor/ops.h"

typedef struct Layout {
  int w, bias;
} Layout;

static void build(void *layout, FovParams *params, const void *options, int inputs) {
  (void)options;
  Layout *l = layout;
  l->w = fov_params_add(params, "baseline.w", 1, inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "baseline.bias", 1, 1, FOV_INIT_ZERO, 0);
}

static FovVar *predict(FovTape *tape, FovVar *h, const void *layout) {
  const Layout *l = layout;
  return fov_linear(tape, h, &tape->params[l->w], &tape->params[l->bias], FOV_LINEAR);
}

static void values(real *b, const FovBaselineInput *input) {
  memcpy(b, input->predicted, (size_t)input->time_steps * input->lanes * sizeof *b);
}

const FovBaseline fov_baseline_learned = {
    .plugin = {.name = "learned", .help = "predicted from h_t (Mnih et al. 2014, eq. 2)"},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .predict = predict,
    .least_copies = 1,
    .values = values,
};
