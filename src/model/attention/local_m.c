/**
 * Local attention with a monotonic place (Luong et al. 2015, section 3.2): p_t is the middle of
 * tile ⌊t N / T⌋, by rows from the top left, for the reads t = 0 … T−1 of an episode that has at
 * most T. In a sequence it is that of symbol t, or of the last one. f_i = 1.
 */
#include "model/local.h"

typedef struct State {
  FovSitesState sites; // first: see fov_sites_keep
  int t, glimpses;     // T
} State;

/** A window that has all tiles wherever it is would be soft attention. */
static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  FOV_TRY(fov_local_build(layout, width, params, options, parts));
  const FovLocal *local = layout;
  FovGrid grid = local->sites.grid;
  int most = (grid.across > grid.down ? grid.across : grid.down) - 2;
  if (local->sites.symbols.count || local->distance <= most) return FOV_OK;
  if (most < 1)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = local_m: expected 3 tiles or more across or down, found %d x %d; "
                    "raise tiles.side or set attention = soft",
                    grid.across, grid.down);
  return fov_fail(FOV_ERR_USAGE,
                  "attention.distance = %d: expected at most %d with %d x %d tiles, or the window "
                  "always has all of them; raise tiles.side or set attention = soft",
                  local->distance, most, grid.across, grid.down);
}

static void begin(void *values, const void *layout, FovTape *tape, int lanes, int glimpses) {
  State *state = values;
  *state = (State){.glimpses = glimpses};
  fov_sites_begin(&state->sites, layout, tape, lanes, glimpses);
}

/** p_t. */
static FovVar *place_of(State *state, const FovLocal *local, FovTape *tape, const FovView *view) {
  const FovSites *sites = &local->sites;
  const FovVar *extent = fov_local_extent(&state->sites, local, tape, view);
  FovVar *place = fov_constant(tape, view->lanes, 2);
  for (int b = 0; b < view->lanes; b++) {
    real *p = fov_value_row(place, b);
    int tile = (int)((int64_t)state->t * sites->count / state->glimpses);
    if (sites->symbols.count) {
      int last = (int)fov_value_row(extent, b)[0] - 1;
      tile = state->t < last ? state->t : last;
    }
    p[0] = (real)(tile % sites->grid.across) + (real)0.5;
    p[1] = (real)(tile / sites->grid.across) + (real)0.5;
  }
  return place;
}

static void read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                 const FovView *view) {
  State *state = values;
  const FovLocal *local = layout;
  FovVar *place = place_of(state, local, tape, view);
  FovVar *weights = fov_local_weights(&state->sites, local, tape, place, view);
  fov_local_read(readout, &state->sites, local, tape, weights, place, view);
  state->t++;
}

const FovAttention fov_attention_local_m = {
    .plugin = {.name = "local_m",
               .help = "soft, near a place that moves over the image (Luong et al. 2015)",
               .options = fov_local_options,
               .options_size = sizeof(FovLocalOptions)},
    .layout_size = sizeof(FovLocal),
    .state_size = sizeof(State),
    .without_policy = true,
    .reach = FOV_REACH_NEAR,
    .symbols = true,
    .least_glimpses = 2,
    .build = build,
    .connect = fov_sites_connect,
    .columns = fov_sites_columns,
    .finish = fov_sites_finish,
    .sites = fov_sites_grid,
    .begin = begin,
    .read = read,
    .keep = fov_sites_keep,
};
