/**
 * Hard attention with the straight-through gradient (Bengio et al. 2013): one site is read, drawn
 * by policy = sites; the backward pass is that of soft attention. Biased, but learned without
 * REINFORCE.
 */
#include "model/sites.h"

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  FovVar *e = fov_sites_take_scores(state, layout, tape, view);
  FovVar *weights = fov_sites_softmax(state, tape, e, 1);
  fov_sites_pick_through(readout, state, layout, tape, weights, weights, view);
}

const FovAttention fov_attention_straight_through = {
    .plugin = {.name = "straight_through",
               .help = "one tile, with the gradient of soft attention (Bengio et al. 2013)"},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(FovSites),
    .through = true,
    .build = fov_sites_build_hard,
    .scores = fov_sites_scores,
    .read = read,
};
