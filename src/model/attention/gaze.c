/**
 * The gaze of Mnih et al. 2014, section 3.1: a policy chooses a place l, the sensor takes one
 * glimpse there, and the glimpse network makes g of it.
 */
#include "model/attention.h"

static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  (void)options;
  *width = parts->glimpse.options.width;
  return fov_glimpse_build(layout, params, &parts->glimpse);
}

static void finish(void *layout) {
  fov_glimpse_finish(layout);
}

static void begin(void *state, const void *layout, FovTape *tape, int lanes, int glimpses) {
  (void)layout, (void)tape;
  *(FovGlimpses *)state = (FovGlimpses){.room = lanes * glimpses};
}

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  readout->g = fov_glimpse_next(&readout->rho, state, tape, layout, view->images, view->location);
}

const FovAttention fov_attention_gaze = {
    .plugin = {.name = "gaze", .help = "one glimpse where the policy looks (Mnih et al. 2014)"},
    .layout_size = sizeof(FovGlimpseNet),
    .state_size = sizeof(FovGlimpses),
    .build = build,
    .finish = finish,
    .begin = begin,
    .read = read,
};
