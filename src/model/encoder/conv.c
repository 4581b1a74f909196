/** h_g = relu(W ∗ rho + b), or a second such layer on its maps: the filters of the convolutional
 * networks that Mnih et al. 2014, section 4.1, compare with; the same on the patches of all scales.
 */
#include "model/encoder.h"
#include "model/watch.h"

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

enum { LAYERS = 2, SECOND_SIDE = 3 };

/** Numbers of all maps; far beyond what memory holds of every lane. */
enum { WIDEST = 1 << 30 };

typedef struct Layer {
  int w, bias;
  FovConv conv;
} Layer;

typedef struct Layout {
  int count;
  Layer layers[LAYERS];
} Layout;

/** Adds a layer of filters; width: numbers of its maps. */
static FovStatus add_layer(Layout *layout, int *width, FovParams *params, FovConv conv,
                           int filters) {
  static const char *const names[LAYERS][2] = {{"encoder.w", "encoder.bias"},
                                               {"encoder.second.w", "encoder.second.bias"}};
  int64_t numbers = (int64_t)fov_conv_places(&conv) * filters;
  if (numbers > WIDEST)
    return fov_fail(FOV_ERR_USAGE,
                    "encoder = conv: %d filters make maps of %lld numbers, expected at most %d; "
                    "make encoder.filters or encoder.second fewer, or encoder.stride larger",
                    filters, (long long)numbers, WIDEST);
  int window = conv.side * conv.side * conv.channels;
  const char *const *name = names[layout->count];
  Layer *layer = &layout->layers[layout->count++];
  layer->conv = conv;
  layer->w = fov_params_add(params, name[0], filters, window, FOV_INIT_HE, 1);
  layer->bias = fov_params_add(params, name[1], 1, filters, FOV_INIT_ZERO, 0);
  *width = (int)numbers;
  return FOV_OK;
}

static FovStatus build(void *layout, int *width, FovParams *params, const void *values,
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
  *(Layout *)layout = (Layout){.count = 0};
  FOV_TRY(add_layer(layout, width, params, first, o->filters));
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
  return add_layer(layout, width, params, second, o->second);
}

static FovVar *encode(const void *layout, FovTape *tape, FovVar *rho) {
  const Layout *l = layout;
  FovVar *p = tape->params, *maps = rho;
  for (const Layer *at = l->layers; at < l->layers + l->count; at++)
    maps = fov_conv(tape, maps, &p[at->w], &p[at->bias], &at->conv, FOV_RELU);
  return fov_watch(tape, maps, FOV_WATCH_MAPS, rho, &l->layers[l->count - 1].conv);
}

const FovEncoder fov_encoder_conv = {
    .plugin = {.name = "conv",
               .help = "one or two convolutional layers (Mnih et al. 2014, section 4.1)",
               .options = options,
               .options_size = sizeof(Options)},
    .layout_size = sizeof(Layout),
    .maps = true,
    .build = build,
    .encode = encode,
};
