/**
 * Hard attention with the straight-through gradient (Bengio et al. 2013): one tile is read, drawn
 * by policy = sites; the backward pass is that of soft attention. Biased, but learned without
 * REINFORCE.
 */
#include "model/sites.h"

static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  (void)options;
  *width = parts->glimpse.options.width;
  FOV_TRY(fov_sites_build(layout, params, parts));
  return fov_sites_check_hard(layout, "straight_through");
}

/** onehot(index), whose gradient is that of the weights: α + (onehot − α), the latter constant. */
static FovVar *harden(FovTape *tape, FovVar *weights, const int *index) {
  FovVar *rest = fov_constant(tape, weights->rows, weights->cols);
  for (int b = 0; b < weights->rows; b++)
    for (int i = 0; i < weights->cols; i++)
      fov_value_row(rest, b)[i] = (real)(i == index[b]) - fov_value_row(weights, b)[i];
  return fov_add(tape, weights, rest);
}

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  int *index = FOV_NEW(tape->arena, int, view->lanes);
  FovVar *weights = fov_softmax(tape, fov_sites_take_scores(state, layout, tape, view), 1);
  fov_sites_at(index, layout, view);
  fov_sites_pick(readout, state, layout, tape, weights, index);
  readout->g =
      fov_weigh_sites(tape, harden(tape, weights, index), ((FovSitesState *)state)->values, 1);
}

const FovAttention fov_attention_straight_through = {
    .plugin = {.name = "straight_through",
               .help = "one tile, with the gradient of soft attention (Bengio et al. 2013)"},
    FOV_ATTENTION_OVER_SITES,
    .through = true,
    .build = build,
    .scores = fov_sites_score_view,
    .read = read,
};
