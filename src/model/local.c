#include "model/local.h"

const FovOption fov_local_options[] = {
    FOV_INT(FovLocalOptions, distance, "1", 1, FOV_MAX_TILES,
            "D: tiles from the place to those that are read, across and down"),
    FOV_OPTIONS_END,
};

FovStatus fov_local_build(void *layout, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts) {
  FovLocal *local = layout;
  local->distance = ((const FovLocalOptions *)options)->distance;
  return fov_sites_build(&local->sites, width, params, options, parts);
}

FovVar *fov_local_extent(FovSitesState *state, const FovLocal *local, FovTape *tape,
                         const FovView *view) {
  FovGrid grid = local->sites.grid;
  FovVar *extent = fov_constant(tape, view->lanes, 2);
  if (local->sites.symbols.count) fov_sites_look(state, &local->sites, tape, view);
  const int *lengths = fov_sites_lengths(tape, state, &local->sites, view->lanes);
  for (int b = 0; b < view->lanes; b++) {
    fov_value_row(extent, b)[0] = (real)(state->inside ? lengths[b] : grid.across);
    fov_value_row(extent, b)[1] = (real)grid.down;
  }
  return extent;
}

/** Whether each tile is in the window of each lane, 1 or 0: [n, N]. sequence: likewise, whether it
 * is inside of the lane's sequence; NULL: all are. */
static FovVar *windows(const FovLocal *local, FovTape *tape, const FovVar *place,
                       const FovVar *sequence) {
  int across = local->sites.grid.across;
  FovVar *inside = fov_constant(tape, place->rows, local->sites.count);
  for (int b = 0; b < inside->rows; b++) {
    const real *p = fov_value_row(place, b);
    for (int i = 0; i < inside->cols; i++) {
      double x = fabs(i % across + 0.5 - (double)p[0]), y = fabs(i / across + 0.5 - (double)p[1]);
      bool exists = !sequence || fov_value_row(sequence, b)[i] != 0;
      fov_value_row(inside, b)[i] = exists && x <= local->distance && y <= local->distance;
    }
  }
  return inside;
}

FovVar *fov_local_weights(FovSitesState *state, const FovLocal *local, FovTape *tape,
                          const FovVar *place, const FovView *view) {
  FovVar *scores = fov_sites_take_scores(state, &local->sites, tape, view);
  return fov_softmax_within(tape, scores, windows(local, tape, place, state->inside),
                            local->sites.heads);
}

void fov_local_read(FovReadout *readout, FovSitesState *state, const FovLocal *local, FovTape *tape,
                    FovVar *weights, const FovVar *place, const FovView *view) {
  fov_sites_read(readout, state, &local->sites, tape, weights, view);
  FovGrid grid = local->sites.grid;
  for (int b = 0; b < view->lanes; b++) {
    real *location = fov_value_row(view->location, b);
    const real *p = fov_value_row(place, b);
    location[0] = 2 * p[0] / (real)grid.across - 1;
    location[1] = 2 * p[1] / (real)grid.down - 1;
  }
}
