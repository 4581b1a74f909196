/** h_g = relu(W ∗ rho + b): the layer of filters of the convolutional networks that Mnih et al.
 * 2014, section 4.1, compare with; the same filters on the patches of all scales. */
#include "model/encoder.h"

typedef struct Options {
  int filters, side, stride;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, filters, "8", 1, 1024, "F: filters, each a map of its own"),
    FOV_INT(Options, side, "10", 1, 64, "K: width of a filter, pixels of a patch"),
    FOV_INT(Options, stride, "5", 1, 64, "pixels from one place of a filter to the next"),
    FOV_OPTIONS_END,
};

enum { W, BIAS };

/** Numbers of all maps; far beyond what memory holds of every lane. */
enum { WIDEST = 1 << 30 };

static FovStatus build(FovEncoderLayout *layout, FovParams *params, const void *values,
                       FovGlimpse glimpse) {
  const Options *o = values;
  if (glimpse.side < o->side)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: filters of encoder.side = %d pixels do not fit in patches of "
                    "%d x %d; make encoder.side smaller or the patches larger",
                    o->side, glimpse.side, glimpse.side);
  layout->conv = (FovConv){.pictures = glimpse.scales,
                           .height = glimpse.side,
                           .width = glimpse.side,
                           .channels = glimpse.channels,
                           .side = o->side,
                           .stride = o->stride};
  int64_t width = (int64_t)fov_conv_places(&layout->conv) * o->filters;
  if (width > WIDEST)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: %d filters make maps of %lld numbers, expected at most %d; "
                    "make encoder.filters smaller or encoder.stride larger",
                    o->filters, (long long)width, WIDEST);
  layout->width = (int)width;
  layout->scratch = fov_conv_scratch(&layout->conv, o->filters);
  int window = o->side * o->side * glimpse.channels, *id = layout->params;
  id[W] = fov_params_add(params, "encoder.w", o->filters, window, FOV_INIT_HE, 1);
  id[BIAS] = fov_params_add(params, "encoder.bias", 1, o->filters, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovVar *encode(const FovEncoderLayout *layout, FovTape *tape, FovVar *rho) {
  FovVar *w = &tape->params[layout->params[W]], *bias = &tape->params[layout->params[BIAS]];
  return fov_conv(tape, rho, w, bias, &layout->conv, FOV_RELU);
}

const FovEncoder fov_encoder_conv = {
    .plugin = {.name = "conv",
               .help = "one convolutional layer (Mnih et al. 2014, section 4.1)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .encode = encode,
};
