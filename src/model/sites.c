#include "model/sites.h"

#include <stdlib.h>

static const char *const kinds_of_keys[] = {"projected", "values", "coarse", NULL};

const FovOption fov_tiles_options[] = {
    FOV_INT(FovTilesOptions, side, "6", 1, FOV_MAX_TILES, "K: tiles across and down"),
    FOV_INT(FovTilesOptions, heads, "1", 1, 64, "heads that attend each with a share of the units"),
    FOV_CHOICE(FovTilesOptions, keys, "projected", kinds_of_keys,
               "keys: W v_i or v_i, of the values v_i, or of a coarse view of the image"),
    FOV_INT(FovTilesOptions, width, "64", 1, 8192,
            "units of queries, and of keys that are not v_i"),
    FOV_INT(FovTilesOptions, cells, "4", 1, FOV_MAX_SIDE,
            "m: cells of the coarse view across and down a tile"),
    FOV_INT(FovTilesOptions, blocks, "0", 0, FOV_MAX_BLOCKS,
            "transformer blocks, in which the tiles attend to each other; 0: none"),
    FOV_INT(FovTilesOptions, block_heads, "4", 1, 64, "heads of a block"),
    FOV_INT(FovTilesOptions, block_hidden, "512", 1, 32768, "units between a block's two layers"),
    FOV_OPTIONS_END,
};

/* ---- building ---- */

static FovStatus check_blocks(const FovSites *sites) {
  const FovTransformer *transformer = &sites->transformer;
  if (transformer->count == 0) return FOV_OK;
  if (sites->count == 1)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.blocks = %d: expected tiles that attend to each other, found one; set "
                    "tiles.blocks = 0, or tiles.side = 2 or more",
                    transformer->count);
  if (sites->width % transformer->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.block_heads = %d: expected a number that divides glimpse.width = %d",
                    transformer->heads, sites->width);
  return FOV_OK;
}

static FovStatus check(const FovSites *sites, const FovAttentionParts *parts) {
  if (sites->side > parts->height || sites->side > parts->width)
    return fov_fail(
        FOV_ERR_USAGE,
        "tiles.side = %d: expected at most as many tiles as pixels, found images of %d x "
        "%d",
        sites->side, parts->width, parts->height);
  if (sites->width % sites->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.heads = %d: expected a number that divides glimpse.width = %d",
                    sites->heads, sites->width);
  if (sites->depth % sites->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.heads = %d: expected a number that divides tiles.width = %d",
                    sites->heads, sites->depth);
  if (sites->heads * sites->count > FOV_COLUMN_WIDTH)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.side = %d: %d tiles of %d heads, expected at most %d weights",
                    sites->side, sites->count, sites->heads, FOV_COLUMN_WIDTH);
  if (sites->net.sensor.whole)
    return fov_fail(FOV_ERR_USAGE, "sensor.whole: every tile would see the whole image; set "
                                   "sensor.whole = no");
  return check_blocks(sites);
}

/** The parameters of keys: W_k, and those of a coarse view. */
static FovStatus add_keys(FovSites *sites, FovParams *params, const FovAttentionParts *parts) {
  bool coarse = sites->keys == FOV_KEYS_COARSE;
  int inputs = coarse ? sites->depth : sites->width;
  if (sites->keys == FOV_KEYS_VALUES) return FOV_OK;
  if (coarse) FOV_TRY(fov_coarse_tiles_build(&sites->coarse, params, parts));
  sites->key = fov_params_add(params, "tiles.key.w", sites->depth, inputs, FOV_INIT_UNIFORM, 1);
  return FOV_OK;
}

FovStatus fov_sites_build(void *layout, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts) {
  (void)options;
  FovSites *sites = layout;
  const FovTilesOptions *o = &parts->tiles;
  *sites = (FovSites){.side = o->side,
                      .count = o->side * o->side,
                      .heads = o->heads,
                      .width = parts->glimpse.options.width,
                      .keys = (FovKeys)o->keys,
                      .transformer = {.count = o->blocks, .heads = o->block_heads},
                      .score = parts->score,
                      .score_options = parts->score_options};
  *width = sites->width;
  sites->depth = o->keys == FOV_KEYS_VALUES ? sites->width : o->width;
  FOV_TRY(fov_glimpse_build(&sites->net, params, &parts->glimpse));
  FOV_TRY(check(sites, parts));
  fov_transformer_add(&sites->transformer, params, "tiles", sites->width, o->block_hidden);
  return sites->score->keyless ? FOV_OK : add_keys(sites, params, parts);
}

FovStatus fov_sites_connect(void *layout, FovParams *params, int inputs) {
  FovSites *sites = layout;
  sites->query_w =
      fov_params_add(params, "tiles.query.w", sites->depth, inputs, FOV_INIT_UNIFORM, 1);
  sites->query_bias = fov_params_add(params, "tiles.query.bias", 1, sites->depth, FOV_INIT_ZERO, 0);
  sites->score_layout = calloc(1, sites->score->layout_size);
  if (!sites->score_layout) return fov_fail(FOV_ERR_MEMORY, "no memory for a score");
  return sites->score->build(sites->score_layout, params, sites->score_options, sites->depth,
                             sites->heads, sites->count);
}

void fov_sites_finish(void *layout) {
  FovSites *sites = layout;
  fov_glimpse_finish(&sites->net);
  free(sites->score_layout);
  sites->score_layout = NULL;
}

int fov_sites_count(const void *layout) {
  return ((const FovSites *)layout)->count;
}

enum { TILES, HEADS };

int fov_sites_columns(FovColumn columns[FOV_COLUMNS], const void *layout) {
  const FovSites *sites = layout;
  columns[TILES] = (FovColumn){"tiles", sites->count};
  columns[HEADS] = (FovColumn){"heads", sites->heads * sites->count};
  return sites->heads > 1 ? HEADS + 1 : TILES + 1;
}

/* ---- an episode ---- */

void fov_sites_begin(void *state, const void *layout, FovTape *tape, int lanes, int glimpses) {
  (void)layout, (void)tape;
  *(FovSitesState *)state = (FovSitesState){.glimpses = {.room = lanes * glimpses}};
}

void fov_tile_middle(real place[2], int tile, int side) {
  place[0] = (real)(2 * (tile % side) + 1) / (real)side - 1;
  place[1] = (real)(2 * (tile / side) + 1) / (real)side - 1;
}

/** The middle of every tile, for each of n lanes. */
static FovVar *middles(const FovSites *sites, FovTape *tape, int lanes) {
  FovVar *places = fov_constant(tape, lanes * sites->count, 2);
  for (int i = 0; i < places->rows; i++) {
    fov_tile_middle(fov_value_row(places, i), i % sites->count, sites->side);
  }
  return places;
}

/** Adds to a state what is made of n images. */
typedef void Make(FovSitesState *state, const FovSites *sites, FovTape *tape,
                  const FovImage *images, int n);

static void make_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                        const FovImage *images, int n) {
  state->places = middles(sites, tape, n);
  state->rho = fov_glimpse_rows(tape, &sites->net, state->places->rows);
  fov_glimpse_take(state->rho, tape, &sites->net, images, state->places, sites->count);
  state->values = fov_glimpse_join(tape, &sites->net, state->rho, state->places);
  state->values = fov_transformer_apply(&sites->transformer, tape, state->values, n);
}

/** Keys as the score wants them, and the values if they are made of these. */
static void make_keys(FovSitesState *state, const FovSites *sites, FovTape *tape,
                      const FovImage *images, int n) {
  const FovScore *score = sites->score;
  bool coarse = sites->keys == FOV_KEYS_COARSE;
  if (!coarse) make_values(state, sites, tape, images, n);
  FovVar *keys = coarse
                     ? fov_coarse_tiles_see(tape, &sites->coarse, images, middles(sites, tape, n))
                     : state->values;
  if (sites->keys != FOV_KEYS_VALUES)
    keys = fov_linear(tape, keys, &tape->params[sites->key], NULL, FOV_LINEAR);
  state->keys = score->prepare ? score->prepare(sites->score_layout, tape, keys) : keys;
}

/** Makes it once of an image that K lanes show, and gives it to each of them. */
static void make_once(FovSitesState *state, const FovSites *sites, FovTape *tape,
                      const FovView *view, Make *make) {
  int n = view->lanes, K = view->copies, *from = FOV_NEW(tape->arena, int, n);
  FOV_CHECK(n % K == 0, "%d lanes of %d copies", n, K);
  FovImage *images = FOV_NEW(tape->arena, FovImage, n / K);
  FovSitesState made = {.values = NULL};
  for (int i = 0; i < n; i++) images[from[i] = i / K] = view->images[i];
  make(&made, sites, tape, images, n / K);
  fov_sites_keep(&made, tape, n / K, from, n);
  if (made.keys) state->keys = made.keys;
  if (!made.values) return;
  state->values = made.values;
  state->places = made.places;
  state->rho = made.rho;
}

static void see(FovSitesState *state, const FovSites *sites, FovTape *tape, const FovView *view,
                Make *make) {
  int steps = tape->steps;
  if (!view->changed) tape->steps = 1; // it is used once: no room for more time steps
  if (!view->changed && view->copies > 1)
    make_once(state, sites, tape, view, make);
  else
    make(state, sites, tape, view->images, view->lanes);
  tape->steps = steps;
}

FovVar *fov_sites_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                         const FovView *view) {
  if (!state->values) see(state, sites, tape, view, make_values);
  return state->values;
}

FovVar *fov_sites_scores(void *values, const void *layout, FovTape *tape, const FovView *view) {
  FovSitesState *state = values;
  const FovSites *sites = layout;
  FovVar *p = tape->params;
  if (view->changed) state->values = state->places = state->rho = state->keys = NULL;
  if (!state->keys && !sites->score->keyless) see(state, sites, tape, view, make_keys);
  FovVar *query =
      fov_linear(tape, view->state, &p[sites->query_w], &p[sites->query_bias], FOV_LINEAR);
  return state->scores = sites->score->score(sites->score_layout, tape, query, state->keys);
}

FovVar *fov_sites_take_scores(FovSitesState *state, const FovSites *sites, FovTape *tape,
                              const FovView *view) {
  FovVar *scores = state->scores ? state->scores : fov_sites_scores(state, sites, tape, view);
  state->scores = NULL;
  return scores;
}

/** The mean of the weights over heads, [n, N]. */
static FovVar *mean_weights(FovTape *tape, const FovVar *weights, const FovSites *sites) {
  FovVar *mean = fov_zeros(tape, weights->rows, sites->count);
  for (int b = 0; b < mean->rows; b++) {
    real *sum = fov_value_row(mean, b);
    const real *w = fov_value_row(weights, b);
    for (int i = 0; i < weights->cols; i++) sum[i % sites->count] += w[i] / (real)sites->heads;
  }
  return mean;
}

FOV_KERNEL static void add_weighted(real *restrict sum, const real *restrict row, real w,
                                    int cols) {
  for (int j = 0; j < cols; j++) sum[j] += w * row[j];
}

/** mean[b] = Σ_i w[b, i] x[b·N + i], for the record. */
static void average(FovVar *mean, const FovVar *weights, const FovVar *x) {
  int N = weights->cols;
  for (int b = 0; b < mean->rows; b++) {
    real *sum = fov_value_row(mean, b);
    const real *w = fov_value_row(weights, b);
    memset(sum, 0, (size_t)mean->cols * sizeof *sum);
    for (int i = 0; i < N; i++) add_weighted(sum, fov_value_row(x, b * N + i), w[i], mean->cols);
  }
}

void fov_sites_read(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  FovVar *values = fov_sites_values(state, sites, tape, view);
  if (view->held) weights = view->held[HEADS];
  FovVar *mean = readout->columns[TILES] = mean_weights(tape, weights, sites);
  readout->columns[HEADS] = weights;
  readout->g = fov_weigh_sites(tape, weights, values, sites->heads);
  readout->rho = fov_constant(tape, view->lanes, state->rho->cols);
  average(readout->rho, mean, state->rho);
  average(view->location, mean, state->places);
}

FovVar *fov_sites_scale(FovTape *tape, FovVar *x, real factor) {
  FovVar *factors = fov_constant(tape, x->rows, x->cols);
  for (int b = 0; b < x->rows; b++)
    for (int i = 0; i < x->cols; i++) fov_value_row(factors, b)[i] = factor;
  return fov_multiply(tape, x, factors);
}

FovStatus fov_sites_check_hard(const FovSites *sites, const char *attention) {
  if (sites->heads == 1) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "attention = %s reads one tile: expected tiles.heads = 1, found %d", attention,
                  sites->heads);
}

/** Which of `count` equal parts of [−1, 1] a coordinate is in. */
static int part_of(real coordinate, int count) {
  int part = (int)floor(((double)coordinate + 1) / 2 * count);
  return part < 0 ? 0 : part < count ? part : count - 1;
}

int *fov_sites_at(FovTape *tape, const FovSites *sites, const FovView *view) {
  int *index = FOV_NEW(tape->arena, int, view->lanes);
  for (int i = 0; i < view->lanes; i++) {
    const real *l = fov_value_row(view->location, i);
    index[i] = part_of(l[1], sites->side) * sites->side + part_of(l[0], sites->side);
  }
  return index;
}

/** One of the values that are known. */
static void pick_value(FovReadout *readout, const FovSitesState *state, FovTape *tape,
                       const int *index, int lanes) {
  int *rows = FOV_NEW(tape->arena, int, lanes), count = state->values->rows / lanes;
  for (int i = 0; i < lanes; i++) rows[i] = i * count + index[i];
  readout->g = fov_gather(tape, state->values, rows, lanes);
  readout->rho = fov_gather(tape, state->rho, rows, lanes);
}

void fov_sites_pick(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  const int *index = fov_sites_at(tape, sites, view);
  FovVar *places = view->location;
  for (int i = 0; i < view->lanes; i++)
    fov_tile_middle(fov_value_row(places, i), index[i], sites->side);
  readout->columns[TILES] = weights;
  if (sites->transformer.count > 0) fov_sites_values(state, sites, tape, view);
  if (state->values)
    pick_value(readout, state, tape, index, view->lanes);
  else
    readout->g =
        fov_glimpse_next(&readout->rho, &state->glimpses, tape, &sites->net, view->images, places);
}

static void keep_rows(FovVar **x, FovTape *tape, int lanes, const int *kept, int count) {
  if (*x) *x = fov_gather_lanes(tape, *x, lanes, kept, count);
}

void fov_sites_keep(void *values, FovTape *tape, int lanes, const int *kept, int count) {
  FovSitesState *state = values;
  bool same = state->keys == state->values;
  if (!same) keep_rows(&state->keys, tape, lanes, kept, count);
  keep_rows(&state->values, tape, lanes, kept, count);
  keep_rows(&state->places, tape, lanes, kept, count);
  keep_rows(&state->rho, tape, lanes, kept, count);
  if (same) state->keys = state->values;
  if (state->scores) state->scores = fov_gather(tape, state->scores, kept, count);
}

static FovVar *harden(FovTape *tape, FovVar *soft, const int *index) {
  FovVar *rest = fov_constant(tape, soft->rows, soft->cols);
  for (int b = 0; b < soft->rows; b++)
    for (int i = 0; i < soft->cols; i++)
      fov_value_row(rest, b)[i] = (real)(i == index[b]) - fov_value_row(soft, b)[i];
  return fov_add(tape, soft, rest);
}

void fov_sites_pick_through(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                            FovTape *tape, FovVar *weights, FovVar *soft, const FovView *view) {
  // Without a gradient the result is that of the pick, for which one value is enough.
  bool through = soft->wants_grad && !view->held;
  if (through) fov_sites_values(state, sites, tape, view);
  fov_sites_pick(readout, state, sites, tape, weights, view);
  if (!through) return;
  FovVar *hard = harden(tape, soft, fov_sites_at(tape, sites, view));
  readout->g = fov_weigh_sites(tape, hard, state->values, 1);
}
