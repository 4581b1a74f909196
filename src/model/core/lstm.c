/**
 * A long short-term memory: the core of Mnih et al. 2014 for changing images.
 *
 * i, f, n, o = W g_t + U h_{t−1} + b, a quarter of the rows each,
 * c_t = σ(f) ∘ c_{t−1} + σ(i) ∘ tanh(n),  h_t = σ(o) ∘ tanh(c_t).
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

enum { W, U, BIAS };

static void build(FovCoreLayout *layout, FovParams *params, const void *values, int inputs) {
  const Options *o = values;
  int gates = 4 * o->width;
  layout->width = o->width;
  layout->params[W] = fov_params_add(params, "core.w", gates, inputs, FOV_INIT_UNIFORM, 1);
  layout->params[U] = fov_params_add(params, "core.u", gates, o->width, FOV_INIT_UNIFORM, 1);
  layout->params[BIAS] = fov_params_add(params, "core.bias", 1, gates, FOV_INIT_FORGET, 1);
}

static void step(FovCoreState *state, const FovCoreLayout *layout, FovTape *tape, FovVar *g_t) {
  FovVar *p = tape->params;
  const int *id = layout->params;
  FovVar *gates = fov_linear2(tape, g_t, &p[id[W]], state->h, &p[id[U]], &p[id[BIAS]], FOV_LINEAR);
  fov_lstm_cell(&state->h, &state->c, tape, gates, state->c);
}

const FovCore fov_core_lstm = {
    .plugin = {.name = "lstm",
               .help = "long short-term memory (Hochreiter and Schmidhuber 1997)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .step = step,
};
