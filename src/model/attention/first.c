/** No choice: one vector of the whole sequence or image is read at the first step, and zeros at all
 * others (Sutskever et al. 2014). The vector is that of attention = repeat. */
#include "model/sites.h"

typedef struct State {
  FovSitesState sites; // first: see fov_sites_keep
  bool read;
} State;

static void begin(void *values, const void *layout, FovTape *tape, int lanes, int glimpses) {
  State *state = values;
  state->read = false;
  fov_sites_begin(&state->sites, layout, tape, lanes, glimpses);
}

static void read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                 const FovView *view) {
  State *state = values;
  FovView seen = *view;
  seen.changed = false; // later images are not read
  fov_sites_read_last(readout, &state->sites, layout, tape, &seen);
  if (state->read) readout->g = fov_zeros(tape, view->lanes, readout->g->cols);
  state->read = true;
}

const FovAttention fov_attention_first = {
    .plugin = {.name = "first",
               .help = "one vector of everything, before the first step (Sutskever et al. 2014)"},
    .layout_size = sizeof(FovSites),
    .state_size = sizeof(State),
    .without_policy = true,
    .reach = FOV_REACH_ALL,
    .symbols = true,
    .build = fov_sites_build_values,
    .finish = fov_sites_finish,
    .begin = begin,
    .read = read,
    .keep = fov_sites_keep,
};
