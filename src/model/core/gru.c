/**
 * A gated recurrent unit (Cho et al. 2014; the reset gate is applied after the matrix product).
 *
 * x = W g_t + b,  y = U h_{t−1} + c, a third of the rows for each of r, z and n:
 * r_t = σ(x_r + y_r),  z_t = σ(x_z + y_z),
 * h_t = (1 − z_t) ∘ tanh(x_n + r_t ∘ y_n) + z_t ∘ h_{t−1}.
 */
#include "model/core.h"
#include "tensor/ops.h"

typedef struct Options {
  int width;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "256", 1, 8192, "D: units of h_t"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int width, w, u, bias, state_bias;
} Layout;

enum { H };

static FovStatus build(void *layout, int *width, FovParams *params, const void *values,
                       const FovCoreParts *parts) {
  Layout *l = layout;
  int D = l->width = *width = ((const Options *)values)->width, gates = 3 * D;
  l->w = fov_params_add(params, "core.w", gates, parts->inputs, FOV_INIT_UNIFORM, 1);
  l->u = fov_params_add(params, "core.u", gates, D, FOV_INIT_UNIFORM, 1);
  l->bias = fov_params_add(params, "core.bias", 1, gates, FOV_INIT_ZERO, 0);
  l->state_bias = fov_params_add(params, "core.state_bias", 1, gates, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static void step(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t) {
  const Layout *l = layout;
  FovVar *p = tape->params, *h_prev = state->vars[H];
  // The state's bias is inside the reset gate's product, so it counts from the first step on.
  if (!h_prev) h_prev = fov_zeros(tape, g_t->rows, l->width);
  FovVar *x = fov_linear(tape, g_t, &p[l->w], &p[l->bias], FOV_LINEAR);
  FovVar *y = fov_linear(tape, h_prev, &p[l->u], &p[l->state_bias], FOV_LINEAR);
  state->vars[H] = fov_gru_cell(tape, x, y, h_prev);
}

const FovCore fov_core_gru = {
    .plugin = {.name = "gru",
               .help = "gated recurrent unit (Cho et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .starts = 1,
    .layout_size = sizeof(Layout),
    .build = build,
    .step = step,
};
