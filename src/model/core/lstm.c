/**
 * A long short-term memory: the core of Mnih et al. 2014 for changing images.
 *
 * i, f, g, o = W g_t + U h_{t−1} + b, a quarter of the rows each; g is not the input g_t;
 * c_t = σ(f) ∘ c_{t−1} + σ(i) ∘ tanh(g),  h_t = σ(o) ∘ tanh(c_t).
 */
#include "model/core.h"
#include "tensor/ops.h"

typedef struct Options {
  int width;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "256", 1, 8192, "D: units of h_t and of the cell"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int w, u, bias;
} Layout;

enum { H, C, STATES };

static FovStatus build(void *layout, int *width, FovParams *params, const void *values,
                       const FovCoreParts *parts) {
  Layout *l = layout;
  int D = *width = ((const Options *)values)->width, gates = 4 * D;
  l->w = fov_params_add(params, "core.w", gates, parts->inputs, FOV_INIT_UNIFORM, 1);
  l->u = fov_params_add(params, "core.u", gates, D, FOV_INIT_UNIFORM, 1);
  l->bias = fov_params_add(params, "core.bias", 1, gates, FOV_INIT_FORGET, 1);
  return FOV_OK;
}

static void step(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t) {
  const Layout *l = layout;
  FovVar *p = tape->params, **s = state->vars;
  FovVar *gates = fov_linear2(tape, g_t, &p[l->w], s[H], &p[l->u], &p[l->bias], FOV_LINEAR);
  fov_lstm_cell(&s[H], &s[C], tape, gates, s[C]);
}

const FovCore fov_core_lstm = {
    .plugin = {.name = "lstm",
               .help = "long short-term memory (Hochreiter and Schmidhuber 1997)",
               .options = options,
               .options_size = sizeof(Options)},
    .starts = STATES,
    .layout_size = sizeof(Layout),
    .build = build,
    .step = step,
};
