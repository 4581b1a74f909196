/**
 * The gaze of Mnih et al. 2014, section 3.1: a policy chooses a place l, the sensor takes one
 * glimpse there, and the glimpse network makes g of it.
 */
#include "model/attention.h"

typedef struct State {
  FovVar *glimpses; // rows for all time steps, so that their matrix products can be joined
  int row;          // the first that is free
} State;

static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  (void)options;
  *width = parts->glimpse.options.width;
  return fov_glimpse_build(layout, params, &parts->glimpse);
}

static void finish(void *layout) {
  fov_glimpse_finish(layout);
}

static void begin(void *values, const void *layout, FovTape *tape, int lanes, int glimpses) {
  State *state = values;
  state->glimpses = fov_glimpse_rows(tape, layout, lanes * glimpses);
  state->row = 0;
}

static void read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                 const FovView *view) {
  State *state = values;
  FovVar *rho = readout->rho = fov_rows(tape, state->glimpses, state->row, view->lanes);
  state->row += view->lanes;
  fov_glimpse_take(rho, layout, view->images, view->location, 1);
  readout->g = fov_glimpse_join(tape, layout, rho, view->location);
}

const FovAttention fov_attention_gaze = {
    .plugin = {.name = "gaze", .help = "one glimpse where the policy looks (Mnih et al. 2014)"},
    .layout_size = sizeof(FovGlimpseNet),
    .state_size = sizeof(State),
    .build = build,
    .finish = finish,
    .begin = begin,
    .read = read,
};
