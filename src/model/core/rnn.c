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

typedef struct Layout {
  int w, u, bias;
} Layout;

enum { H };

static FovStatus build(void *layout, int *width, FovParams *params, const void *values,
                       const FovCoreParts *parts) {
  const Options *o = values;
  Layout *l = layout;
  int D = *width = o->width;
  FovInit init = o->init == IDENTITY ? FOV_INIT_IDENTITY : FOV_INIT_UNIFORM;
  l->w = fov_params_add(params, "core.w", D, parts->inputs, FOV_INIT_UNIFORM, 1);
  l->u = fov_params_add(params, "core.u", D, D, init, 1);
  l->bias = fov_params_add(params, "core.bias", 1, D, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static void step(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t) {
  const Layout *l = layout;
  FovVar *p = tape->params, **h = &state->vars[H];
  *h = fov_linear2(tape, g_t, &p[l->w], *h, &p[l->u], &p[l->bias], FOV_RELU);
}

const FovCore fov_core_rnn = {
    .plugin = {.name = "rnn",
               .help = "ReLU recurrent network (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .starts = 1,
    .layout_size = sizeof(Layout),
    .build = build,
    .step = step,
};
