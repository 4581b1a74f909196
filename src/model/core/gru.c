/**
 * A gated recurrent unit (Cho et al. 2014; the reset gate counts after the product).
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

enum { W, U, BIAS, STATE_BIAS };

static void build(FovCoreLayout *layout, FovParams *params, const void *values, int inputs) {
  const Options *o = values;
  int gates = 3 * o->width, *id = layout->params;
  layout->width = o->width;
  id[W] = fov_params_add(params, "core.w", gates, inputs, FOV_INIT_UNIFORM, 1);
  id[U] = fov_params_add(params, "core.u", gates, o->width, FOV_INIT_UNIFORM, 1);
  id[BIAS] = fov_params_add(params, "core.bias", 1, gates, FOV_INIT_ZERO, 0);
  id[STATE_BIAS] = fov_params_add(params, "core.state_bias", 1, gates, FOV_INIT_ZERO, 0);
}

static void step(FovCoreState *state, const FovCoreLayout *layout, FovTape *tape, FovVar *g_t) {
  FovVar *p = tape->params;
  const int *id = layout->params;
  FovVar *h_prev = state->h;
  // The state's bias stands inside the reset gate's product, so it counts from the first step on.
  if (!h_prev) h_prev = fov_zeros(tape, g_t->rows, layout->width);
  FovVar *x = fov_linear(tape, g_t, &p[id[W]], &p[id[BIAS]], FOV_LINEAR);
  FovVar *h = fov_linear(tape, h_prev, &p[id[U]], &p[id[STATE_BIAS]], FOV_LINEAR);
  state->h = fov_gru_cell(tape, x, h, h_prev);
}

const FovCore fov_core_gru = {
    .plugin = {.name = "gru",
               .help = "gated recurrent unit (Cho et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .step = step,
};
