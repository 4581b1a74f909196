/**
 * Hard attention: one site is read, whose index is drawn from α = softmax(score(q, k_i)) by
 * policy = sites and learned by REINFORCE (Xu et al. 2015, section 4.1). g_t = v_i.
 */
#include "model/sites.h"

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  FovVar *e = fov_sites_take_scores(state, layout, tape, view);
  FovVar *weights = fov_sites_softmax(state, tape, e, 1);
  fov_sites_pick(readout, state, layout, tape, weights, view);
}

const FovAttention fov_attention_sampled = {
    .plugin = {.name = "sampled", .help = "one tile, drawn by policy = sites (Xu et al. 2015)"},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(FovSites),
    .build = fov_sites_build_hard,
    .scores = fov_sites_scores,
    .read = read,
};
