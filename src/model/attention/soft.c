/** Soft attention: the expectation z_t = Σ_i α_i v_i over all sites (Bahdanau et al. 2015; Xu et
 * al. 2015, section 4.2). */
#include "model/sites.h"

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  FovVar *scores = fov_sites_take_scores(state, layout, tape, view);
  FovVar *weights = fov_sites_softmax(state, tape, scores, ((const FovSites *)layout)->heads);
  fov_sites_read(readout, state, layout, tape, weights, view);
}

const FovAttention fov_attention_soft = {
    .plugin = {.name = "soft", .help = "the expectation over all tiles (Bahdanau et al. 2015)"},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(FovSites),
    .without_policy = true,
    .reach = FOV_REACH_ALL,
    .build = fov_sites_build,
    .read = read,
};
