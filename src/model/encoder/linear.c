/** h_g = relu(W rho + b): the encoder of Mnih et al. 2014. */
#include "model/encoder.h"

typedef struct Options {
  int width;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, width, "128", 1, 8192, "units that encode what is seen"),
    FOV_OPTIONS_END,
};

enum { W, BIAS };

static FovStatus build(FovEncoderLayout *layout, FovParams *params, const void *values,
                       FovGlimpseShape glimpse) {
  int width = ((const Options *)values)->width, *id = layout->params;
  layout->width = width;
  id[W] = fov_params_add(params, "encoder.w", width, fov_glimpse_features(glimpse), FOV_INIT_HE, 1);
  id[BIAS] = fov_params_add(params, "encoder.bias", 1, width, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovVar *encode(const FovEncoderLayout *layout, FovTape *tape, FovVar *rho) {
  FovVar *p = tape->params;
  return fov_linear(tape, rho, &p[layout->params[W]], &p[layout->params[BIAS]], FOV_RELU);
}

const FovEncoder fov_encoder_linear = {
    .plugin = {.name = "linear",
               .help = "one layer on all pixels (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .encode = encode,
};
