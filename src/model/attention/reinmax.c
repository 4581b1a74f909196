/**
 * Hard attention with the ReinMax gradient (Liu et al. 2023, "Bridging discrete and
 * backpropagation", algorithm 2): one site D is read, drawn by policy = sites from π = softmax(e).
 * The backward pass is that of
 *
 *     2 softmax(e + c) − π/2,  c = log((D + π)/2) − e, a constant
 *
 * whose mean is the exact gradient if the loss is a quadratic function of the read-out; that of
 * straight_through is exact only if it is linear.
 */
#include "model/sites.h"

/** c, [n, N]. */
static FovVar *shift(FovTape *tape, const FovVar *e, const FovVar *weights, const int *index) {
  FovVar *c = fov_constant(tape, e->rows, e->cols);
  for (int b = 0; b < e->rows; b++)
    for (int i = 0; i < e->cols; i++) {
      real middle = ((real)(i == index[b]) + fov_value_row(weights, b)[i]) / 2;
      // A weight that has vanished stays finite.
      fov_value_row(c, b)[i] = (real)log(fmax((double)middle, 1e-30)) - fov_value_row(e, b)[i];
    }
  return c;
}

static void read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                 const FovView *view) {
  FovVar *e = fov_sites_take_scores(state, layout, tape, view),
         *weights = fov_sites_softmax(state, tape, e, 1);
  const int *index = fov_sites_at(tape, layout, view);
  FovVar *middle =
      fov_sites_softmax(state, tape, fov_add(tape, e, shift(tape, e, weights, index)), 1);
  FovVar *soft = fov_add(tape, fov_scale(tape, middle, 2), fov_scale(tape, weights, (real)-0.5));
  fov_sites_pick_through(readout, state, layout, tape, weights, soft, view);
}

const FovAttention fov_attention_reinmax = {
    .plugin = {.name = "reinmax",
               .help = "one tile, with a second-order estimate of the gradient (Liu et al. 2023)"},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(FovSites),
    .through = true,
    .build = fov_sites_build_hard,
    .scores = fov_sites_scores,
    .read = read,
};
