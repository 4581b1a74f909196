/**
 * Local attention with a monotonic place (Luong et al. 2015, section 3.2): p_t is the middle of
 * tile ⌊t N / T⌋, by rows from the top left, for the reads t = 0 … T−1 of an episode that has at
 * most T. f_i = 1.
 */
#include "model/local.h"

typedef struct State {
  FovSitesState sites; // first: see fov_sites_keep
  int t, glimpses;     // T
} State;

static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  return fov_local_build(layout, width, params, options, parts, "local_m");
}

static void begin(void *values, const void *layout, FovTape *tape, int lanes, int glimpses) {
  State *state = values;
  *state = (State){.glimpses = glimpses};
  fov_sites_begin(&state->sites, layout, tape, lanes, glimpses);
}

/** p_t, the same in all lanes. */
static FovVar *place_of(const State *state, const FovSites *sites, FovTape *tape, int lanes) {
  int tile = (int)((int64_t)state->t * sites->count / state->glimpses);
  FovVar *place = fov_constant(tape, lanes, 2);
  for (int b = 0; b < lanes; b++) {
    fov_value_row(place, b)[0] = (real)(tile % sites->side) + (real)0.5;
    fov_value_row(place, b)[1] = (real)(tile / sites->side) + (real)0.5;
  }
  return place;
}

static void read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                 const FovView *view) {
  State *state = values;
  const FovLocal *local = layout;
  FovVar *place = place_of(state, &local->sites, tape, view->lanes);
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
    .reads_all = true,
    .least_glimpses = 2,
    .build = build,
    .connect = fov_sites_connect,
    .columns = fov_sites_columns,
    .finish = fov_sites_finish,
    .sites = fov_sites_count,
    .begin = begin,
    .read = read,
    .keep = fov_sites_keep,
};
