/** h_g = relu(W ∗ rho + b), or a second such layer on its maps: the filters of the convolutional
 * networks that Mnih et al. 2014, section 4.1, compare with; the same on the patches of all scales.
 */
#include "model/encoder.h"

typedef struct Options {
  int filters, side, stride, second;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, filters, "8", 1, 1024, "F: filters, each a map of its own"),
    FOV_INT(Options, side, "10", 1, 64, "K: width of a filter, pixels of a patch"),
    FOV_INT(Options, stride, "5", 1, 64, "pixels from one place of a filter to the next"),
    FOV_INT(Options, second, "0", 0, 1024,
            "filters of a second layer, on all 3 x 3 places of the maps; 0: one layer"),
    FOV_OPTIONS_END,
};

enum { W, BIAS, LAYER }; // numbers of a layer's parameters

enum { SECOND_SIDE = 3 };

/** Numbers of all maps; far beyond what memory holds of every lane. */
enum { WIDEST = 1 << 30 };

static FovStatus add_layer(FovEncoderLayout *layout, FovParams *params, FovConv conv, int filters) {
  static const char *const names[FOV_ENCODER_LAYERS][LAYER] = {
      {"encoder.w", "encoder.bias"}, {"encoder.second.w", "encoder.second.bias"}};
  int64_t width = (int64_t)fov_conv_places(&conv) * filters;
  if (width > WIDEST)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: %d filters make maps of %lld numbers, expected at most %d; "
                    "make encoder.filters or encoder.second fewer, or encoder.stride larger",
                    filters, (long long)width, WIDEST);
  int window = conv.side * conv.side * conv.channels, layer = layout->layers++;
  layout->conv[layer] = conv;
  layout->width = (int)width;
  layout->lane += 2.0 * fov_gemm_stride(layout->width);
  layout->scratch += fov_conv_scratch(&conv, filters);
  int *id = &layout->params[LAYER * layer];
  id[W] = fov_params_add(params, names[layer][W], filters, window, FOV_INIT_HE, 1);
  id[BIAS] = fov_params_add(params, names[layer][BIAS], 1, filters, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovStatus build(FovEncoderLayout *layout, FovParams *params, const void *values,
                       FovGlimpseShape glimpse) {
  const Options *o = values;
  if (glimpse.side < o->side)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: filters of encoder.side = %d pixels do not fit in patches of "
                    "%d x %d; make encoder.side smaller or the patches larger",
                    o->side, glimpse.side, glimpse.side);
  FovConv first = {.pictures = glimpse.scales,
                   .height = glimpse.side,
                   .width = glimpse.side,
                   .channels = glimpse.channels,
                   .side = o->side,
                   .stride = o->stride};
  FOV_TRY(add_layer(layout, params, first, o->filters));
  if (o->second == 0) return FOV_OK;
  int map = fov_conv_fitting(&first, glimpse.side);
  if (map < SECOND_SIDE)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: encoder.second has filters of 3 x 3, which do not fit in maps "
                    "of %d x %d; make encoder.side or encoder.stride smaller",
                    map, map);
  FovConv second = {.pictures = glimpse.scales,
                    .height = map,
                    .width = map,
                    .channels = o->filters,
                    .side = SECOND_SIDE,
                    .stride = 1};
  return add_layer(layout, params, second, o->second);
}

static FovVar *encode(const FovEncoderLayout *layout, FovTape *tape, FovVar *rho) {
  FovVar *maps = rho;
  for (int i = 0; i < layout->layers; i++) {
    const int *id = &layout->params[LAYER * i];
    FovVar *w = &tape->params[id[W]], *bias = &tape->params[id[BIAS]];
    maps = fov_conv(tape, maps, w, bias, &layout->conv[i], FOV_RELU);
  }
  return maps;
}

const FovEncoder fov_encoder_conv = {
    .plugin = {.name = "conv",
               .help = "one or two convolutional layers (Mnih et al. 2014, section 4.1)",
               .options = options,
               .options_size = sizeof(Options)},
    .build = build,
    .encode = encode,
};
