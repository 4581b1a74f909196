/**
 * Local attention with a predicted place (Luong et al. 2015, section 3.2):
 *
 *     p_t = S sigmoid(V_p tanh(W_p h))           f_i = exp(−|c_i − p_t|² / 2σ²), σ = D/2
 *
 * V_p has a row for x and one for y, S is the number of tiles across and down, and c_i the middle
 * of tile i. In a sequence, V_p has one row, S is the length, and y is ½, the middle of every
 * symbol. The weights α_i f_i are not divided by their sum. The gradient reaches p_t through f.
 */
#include "model/local.h"

typedef struct Layout {
  FovLocal local; // first: see FOV_ATTENTION_OVER_SITES
  int place_w, place_v;
} Layout;

static FovStatus connect(void *values, FovParams *params, int inputs) {
  Layout *layout = values;
  const FovSites *sites = &layout->local.sites;
  int depth = sites->depth, ways = sites->symbols.count ? 1 : 2;
  layout->place_w = fov_params_add(params, "tiles.place.w", depth, inputs, FOV_INIT_UNIFORM, 1);
  layout->place_v = fov_params_add(params, "tiles.place.v", ways, depth, FOV_INIT_UNIFORM, 1);
  return fov_sites_connect(values, params, inputs);
}

/** (x, ½) of x [n, 1]: places along a row of symbols. */
static FovVar *beside_a_half(FovTape *tape, FovVar *x) {
  FovVar *half = fov_constant(tape, x->rows, 1);
  for (int b = 0; b < x->rows; b++) fov_value_row(half, b)[0] = (real)0.5;
  return fov_concat(tape, (FovVar *[]){x, half}, 2);
}

/** p_t [n, 2]. */
static FovVar *place_of(const Layout *layout, FovSitesState *state, FovTape *tape,
                        const FovView *view) {
  FovVar *p = tape->params, *extent = fov_local_extent(state, &layout->local, tape, view);
  FovVar *hidden = fov_linear(tape, view->state, &p[layout->place_w], NULL, FOV_TANH);
  FovVar *share = fov_linear(tape, hidden, &p[layout->place_v], NULL, FOV_SIGMOID);
  if (share->cols == 1) share = beside_a_half(tape, share);
  return fov_multiply(tape, share, extent);
}

/** f, the same for all heads: [n, heads·N]. */
static FovVar *nearness(const FovLocal *local, FovTape *tape, FovVar *place) {
  int heads = local->sites.heads;
  FovGrid grid = local->sites.grid;
  FovVar *f = fov_tile_gaussian(tape, place, grid.across, grid.down, (real)local->distance / 2);
  FovVar **parts = FOV_NEW(tape->arena, FovVar *, heads);
  for (int h = 0; h < heads; h++) parts[h] = f;
  return fov_concat(tape, parts, heads);
}

static void read(FovReadout *readout, void *state, const void *values, FovTape *tape,
                 const FovView *view) {
  const Layout *layout = values;
  const FovLocal *local = &layout->local;
  FovVar *place = place_of(layout, state, tape, view);
  FovVar *alpha = fov_local_weights(state, local, tape, place, view);
  FovVar *weights = fov_multiply(tape, alpha, nearness(local, tape, place));
  fov_local_read(readout, state, local, tape, weights, place, view);
}

const FovAttention fov_attention_local_p = {
    .plugin = {.name = "local_p",
               .help = "soft, near a place that the state predicts (Luong et al. 2015)",
               .options = fov_local_options,
               .options_size = sizeof(FovLocalOptions)},
    .layout_size = sizeof(Layout),
    .state_size = sizeof(FovSitesState),
    .without_policy = true,
    .reach = FOV_REACH_NEAR,
    .symbols = true,
    .build = fov_local_build,
    .connect = connect,
    .columns = fov_sites_columns,
    .finish = fov_sites_finish,
    .sites = fov_sites_grid,
    .begin = fov_sites_begin,
    .read = read,
    .keep = fov_sites_keep,
};
