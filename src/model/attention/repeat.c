/** No choice: one vector of the whole sequence or image is read at every step (Cho et al. 2014),
 * the last states of tiles.rnn, or the mean of all values. */
#include "model/sites.h"

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  fov_sites_read_last(readout, state, layout, tape, view);
}

const FovAttention fov_attention_repeat = {
    .plugin = {.name = "repeat",
               .help = "one vector of everything, at every step (Cho et al. 2014)"},
    .layout_size = sizeof(FovSites),
    .state_size = sizeof(FovSitesState),
    .without_policy = true,
    .reach = FOV_REACH_ALL,
    .symbols = true,
    .build = fov_sites_build_values,
    .finish = fov_sites_finish,
    .begin = fov_sites_begin,
    .read = read,
    .keep = fov_sites_keep,
};
