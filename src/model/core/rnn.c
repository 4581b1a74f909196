/** h_t = relu(W g_t + U h_{t−1} + b): the core of Mnih et al. 2014 for static images. */
#include "model/core.h"
#include "tensor/ops.h"

typedef struct Options {
  int width, init;
} Options;

enum { IDENTITY, UNIFORM };
static const char *const inits[] = {[IDENTITY] = "identity", [UNIFORM] = "uniform", NULL};

static const FovOption options[] = {
    FOV_INT(Options, width, "256", 1, 8192, "D: units of h_t"),
    FOV_CHOICE(Options, init, "identity", inits, "U at the start; identity: Le et al. 2015"),
    FOV_OPTIONS_END,
};

enum { W, U, BIAS };

static void build(FovCoreLayout *layout, FovParams *params, const void *values, int inputs) {
  const Options *o = values;
  FovInit init = o->init == IDENTITY ? FOV_INIT_IDENTITY : FOV_INIT_UNIFORM;
  layout->width = o->width;
  layout->params[W] = fov_params_add(params, "core.w", o->width, inputs, FOV_INIT_UNIFORM, 1);
  layout->params[U] = fov_params_add(params, "core.u", o->width, o->width, init, 1);
  layout->params[BIAS] = fov_params_add(params, "core.bias", 1, o->width, FOV_INIT_ZERO, 0);
}

static void step(FovCoreState *state, const FovCoreLayout *layout, FovTape *tape, FovVar *g_t) {
  FovVar *p = tape->params;
  const int *id = layout->params;
  state->h = fov_linear2(tape, g_t, &p[id[W]], state->h, &p[id[U]], &p[id[BIAS]], FOV_RELU);
}

const FovCore fov_core_rnn = {
    .plugin = {.name = "rnn",
               .help = "ReLU recurrent network (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .step = step,
};
