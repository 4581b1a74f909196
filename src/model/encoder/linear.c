/** h_g = relu(W rho + b): the encoder of Mnih et al. 2014. */
#include "model/encoder.h"

typedef struct Options {
  int width;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "128", 1, 8192, "units that encode the content of a glimpse"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int w, bias;
} Layout;

static FovStatus build(void *layout, int *width, FovParams *params, const void *values,
                       FovGlimpseShape glimpse) {
  Layout *l = layout;
  int features = fov_glimpse_features(glimpse);
  *width = ((const Options *)values)->width;
  l->w = fov_params_add(params, "encoder.w", *width, features, FOV_INIT_HE, 1);
  l->bias = fov_params_add(params, "encoder.bias", 1, *width, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovVar *encode(const void *layout, FovTape *tape, FovVar *rho) {
  const Layout *l = layout;
  return fov_linear(tape, rho, &tape->params[l->w], &tape->params[l->bias], FOV_RELU);
}

const FovEncoder fov_encoder_linear = {
    .plugin = {.name = "linear",
               .help = "one layer on all pixels (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .layout_size = sizeof(Layout),
    .build = build,
    .encode = encode,
};
