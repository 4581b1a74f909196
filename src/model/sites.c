#include "model/sites.h"

#include <stdlib.h>

static const char *const kinds_of_keys[] = {"projected", "values", "coarse", NULL};
static const char *const kinds_of_values[] = {"context", "own", NULL};

const FovOption fov_tiles_options[] = {
    FOV_INT(FovTilesOptions, side, "6", 1, FOV_MAX_TILES,
            "K: tiles across, and down; symbols of a sequence take the place of tiles"),
    FOV_INT(FovTilesOptions, down, "0", 0, FOV_MAX_TILES, "tiles down; 0: as many as across"),
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
    FOV_CHOICE(FovTilesOptions, rnn, "none", fov_birnn_cells,
               "recurrent layer that reads the tiles in both directions, before the blocks"),
    FOV_CHOICE(FovTilesOptions, values, "context", kinds_of_values,
               "what rnn and blocks make of a tile, or its own: then they make keys only"),
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

static FovStatus check_tiles(const FovSites *sites, const FovAttentionParts *parts) {
  FovGrid grid = sites->grid;
  if (grid.down > parts->height || grid.across > parts->width)
    return fov_fail(
        FOV_ERR_USAGE,
        "tiles.side, tiles.down: expected at most as many tiles as pixels, found %d x %d "
        "tiles on images of %d x %d",
        grid.across, grid.down, parts->width, parts->height);
  if (sites->keys == FOV_KEYS_COARSE && grid.down != grid.across)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.keys = coarse: expected as many tiles down as across, found %d and %d; "
                    "set tiles.down = 0",
                    grid.down, grid.across);
  if (sites->net.sensor.whole)
    return fov_fail(FOV_ERR_USAGE, "sensor.whole: every tile would see the whole image; set "
                                   "sensor.whole = no");
  return FOV_OK;
}

static FovStatus check_symbols(const FovSites *sites) {
  if (sites->keys != FOV_KEYS_COARSE) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "tiles.keys = coarse: expected an environment of images, found "
                                 "sequences of symbols; set tiles.keys = projected");
}

static FovStatus check(const FovSites *sites, const FovAttentionParts *parts) {
  FOV_TRY(sites->symbols.count ? check_symbols(sites) : check_tiles(sites, parts));
  if (sites->birnn.core && sites->width % 2 != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "glimpse.width = %d: expected an even number, half for each direction of "
                    "tiles.rnn = %s",
                    sites->width, fov_birnn_cells[parts->tiles.rnn]);
  if (sites->width % sites->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.heads = %d: expected a number that divides glimpse.width = %d",
                    sites->heads, sites->width);
  if (sites->depth % sites->heads != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.heads = %d: expected a number that divides tiles.width = %d",
                    sites->heads, sites->depth);
  if (sites->heads * sites->count > FOV_COLUMN_WIDTH)
    return fov_fail(
        FOV_ERR_USAGE,
        "tiles.heads = %d: %d tiles or symbols, expected at most %d weights of all heads",
        sites->heads, sites->count, FOV_COLUMN_WIDTH);
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

/** Tiles across and down, or a row of symbols. */
static FovGrid grid_of(const FovAttentionParts *parts) {
  const FovTilesOptions *o = &parts->tiles;
  if (parts->vocabulary) return (FovGrid){.across = parts->width, .down = 1};
  return (FovGrid){.across = o->side, .down = o->down ? o->down : o->side};
}

/** The parameters of values, before a recurrent layer and blocks. */
static FovStatus add_values(FovSites *sites, FovParams *params, const FovAttentionParts *parts) {
  if (!parts->vocabulary) return fov_glimpse_build(&sites->net, params, &parts->glimpse);
  fov_symbols_build(&sites->symbols, params, "tiles.symbols", parts->vocabulary, sites->width);
  sites->symbols.positions = sites->transformer.count > 0;
  return FOV_OK;
}

FovStatus fov_sites_build_values(void *layout, int *width, FovParams *params, const void *options,
                                 const FovAttentionParts *parts) {
  (void)options;
  FovSites *sites = layout;
  const FovTilesOptions *o = &parts->tiles;
  FovGrid grid = grid_of(parts);
  *sites = (FovSites){.grid = grid,
                      .count = grid.across * grid.down,
                      .heads = o->heads,
                      .width = parts->glimpse.options.width,
                      .keys = (FovKeys)o->keys,
                      .transformer = {.count = o->blocks, .heads = o->block_heads},
                      .score = parts->score,
                      .score_options = parts->score_options};
  *width = sites->width;
  sites->depth = o->keys == FOV_KEYS_VALUES ? sites->width : o->width;
  FOV_TRY(add_values(sites, params, parts));
  FOV_TRY(fov_birnn_build(&sites->birnn, params, "tiles", (FovBirnnCell)o->rnn, sites->width));
  FOV_TRY(check(sites, parts));
  fov_transformer_add(&sites->transformer, params, "tiles", sites->width, o->block_hidden);
  return FOV_OK;
}

/** Values of their own leave the context to keys that are made of it. */
static FovStatus check_own(const FovSites *sites) {
  if (!sites->own) return FOV_OK;
  if (!sites->birnn.core && sites->transformer.count == 0)
    return fov_fail(FOV_ERR_USAGE, "tiles.values = own: expected an encoder for the keys, "
                                   "found tiles.rnn = none and tiles.blocks = 0; set one of these");
  if (sites->keys == FOV_KEYS_PROJECTED && !sites->score->keyless) return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "tiles.values = own: expected tiles.keys = projected and a score that reads keys, "
      "found tiles.keys = %s, score = %s",
      kinds_of_keys[sites->keys], sites->score->plugin.name);
}

FovStatus fov_sites_build(void *layout, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts) {
  FovSites *sites = layout;
  FOV_TRY(fov_sites_build_values(layout, width, params, options, parts));
  sites->own = parts->tiles.values == FOV_VALUES_OWN;
  FOV_TRY(check_own(sites));
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
  fov_birnn_finish(&sites->birnn);
  free(sites->score_layout);
  sites->score_layout = NULL;
}

FovGrid fov_sites_grid(const void *layout) {
  return ((const FovSites *)layout)->grid;
}

enum { TILES = FOV_SITES_WEIGHTS, HEADS };

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

/** The middle of every tile, for each of n lanes. */
static FovVar *middles(const FovSites *sites, FovTape *tape, int lanes) {
  FovVar *places = fov_constant(tape, lanes * sites->count, 2);
  for (int i = 0; i < places->rows; i++) {
    fov_tile_middle(fov_value_row(places, i), i % sites->count, sites->grid);
  }
  return places;
}

/** Adds to a state what is made of n images. */
typedef void Make(FovSitesState *state, const FovSites *sites, FovTape *tape,
                  const FovImage *images, int n);

/** Values of tiles, as of gazes. */
static FovVar *look_at_tiles(FovSitesState *state, const FovSites *sites, FovTape *tape,
                             const FovImage *images) {
  state->rho = fov_glimpse_rows(tape, &sites->net, state->places->rows);
  fov_glimpse_take(state->rho, tape, &sites->net, images, state->places, sites->count);
  return fov_glimpse_join(tape, &sites->net, state->rho, state->places);
}

/** Values of symbols, and which sites have one. Returns how many in each lane, in the arena. */
static const int *read_symbols(FovSitesState *state, const FovSites *sites, FovTape *tape,
                               const FovImage *images, int n) {
  int N = sites->count, *lengths = FOV_NEW(tape->arena, int, n);
  state->inside = fov_constant(tape, n, N);
  state->rho = fov_constant(tape, n * N, 1);
  for (int b = 0; b < n; b++) {
    lengths[b] = fov_symbols_length(images[b].tokens, N);
    for (int i = 0; i < N; i++) {
      fov_value_row(state->inside, b)[i] = i < lengths[b];
      fov_value_row(state->rho, b * N + i)[0] = (real)images[b].tokens[i];
    }
  }
  state->values = fov_symbols_embed(tape, &sites->symbols, images, n);
  return lengths;
}

/** Makes values. Returns the sites in context, of which keys are made: [n·N, width]. */
static FovVar *make_context(FovSitesState *state, const FovSites *sites, FovTape *tape,
                            const FovImage *images, int n) {
  const int *lengths = NULL;
  state->places = middles(sites, tape, n);
  if (sites->symbols.count)
    lengths = read_symbols(state, sites, tape, images, n);
  else
    state->values = look_at_tiles(state, sites, tape, images);
  FovVar *x = fov_birnn_apply(&sites->birnn, tape, state->values, lengths, n);
  x = fov_transformer_apply(&sites->transformer, tape, x, lengths, n);
  if (!sites->own) state->values = x;
  return x;
}

static void make_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                        const FovImage *images, int n) {
  make_context(state, sites, tape, images, n);
}

/** Keys as the score wants them, and the values if they are made of these. */
static void make_keys(FovSitesState *state, const FovSites *sites, FovTape *tape,
                      const FovImage *images, int n) {
  const FovScore *score = sites->score;
  bool coarse = sites->keys == FOV_KEYS_COARSE;
  FovVar *keys = coarse
                     ? fov_coarse_tiles_see(tape, &sites->coarse, images, middles(sites, tape, n))
                     : make_context(state, sites, tape, images, n);
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
  state->inside = made.inside;
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

/** Forgets what was made of images that may have changed. */
static void forget(FovSitesState *state) {
  state->values = state->places = state->rho = state->inside = state->last = state->keys = NULL;
}

FovVar *fov_sites_values(FovSitesState *state, const FovSites *sites, FovTape *tape,
                         const FovView *view) {
  if (!state->values) see(state, sites, tape, view, make_values);
  return state->values;
}

/** Lowers the scores of sites after the end of a sequence, so that no softmax gives them weight. */
static FovVar *lower_outside(FovTape *tape, FovVar *e, const FovVar *inside, int heads) {
  FovVar *lower = fov_constant(tape, e->rows, e->cols);
  for (int b = 0; b < e->rows; b++)
    for (int i = 0; i < e->cols; i++)
      fov_value_row(lower, b)[i] =
          fov_value_row(inside, b)[i % (e->cols / heads)] != 0 ? 0 : FOV_NEVER;
  return fov_add(tape, e, lower);
}

FovVar *fov_sites_scores(void *values, const void *layout, FovTape *tape, const FovView *view) {
  FovSitesState *state = values;
  const FovSites *sites = layout;
  FovVar *p = tape->params;
  if (view->changed) forget(state);
  if (!state->keys && !sites->score->keyless) see(state, sites, tape, view, make_keys);
  // Without keys, the lengths of sequences are known only with their values.
  if (sites->symbols.count) fov_sites_values(state, sites, tape, view);
  FovVar *query =
      fov_linear(tape, view->state, &p[sites->query_w], &p[sites->query_bias], FOV_LINEAR);
  FovVar *e = sites->score->score(sites->score_layout, tape, query, state->keys);
  return state->scores = state->inside ? lower_outside(tape, e, state->inside, sites->heads) : e;
}

FovVar *fov_sites_take_scores(FovSitesState *state, const FovSites *sites, FovTape *tape,
                              const FovView *view) {
  FovVar *scores = state->scores ? state->scores : fov_sites_scores(state, sites, tape, view);
  state->scores = NULL;
  return scores;
}

FovVar *fov_sites_softmax(const FovSitesState *state, FovTape *tape, FovVar *e, int heads) {
  return state->inside ? fov_softmax_within(tape, e, state->inside, heads)
                       : fov_softmax(tape, e, heads);
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

/** The symbol of each lane that has the largest weight, for the record. */
static void take_likeliest(FovVar *symbol, const FovVar *weights, const FovVar *symbols) {
  int N = weights->cols;
  for (int b = 0; b < symbol->rows; b++) {
    const real *w = fov_value_row(weights, b);
    int best = 0;
    for (int i = 1; i < N; i++) best = w[i] > w[best] ? i : best;
    fov_value_row(symbol, b)[0] = fov_value_row(symbols, b * N + best)[0];
  }
}

/** The mean glimpse and the mean place for weights [n, N], for the record. */
static void record(FovReadout *readout, const FovSitesState *state, const FovSites *sites,
                   FovTape *tape, const FovVar *weights, const FovView *view) {
  readout->rho = fov_constant(tape, view->lanes, state->rho->cols);
  if (sites->symbols.count)
    take_likeliest(readout->rho, weights, state->rho);
  else
    average(readout->rho, weights, state->rho);
  average(view->location, weights, state->places);
}

void fov_sites_read(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  FovVar *values = fov_sites_values(state, sites, tape, view);
  if (view->held) weights = view->held[HEADS];
  FovVar *mean = readout->columns[TILES] = mean_weights(tape, weights, sites);
  readout->columns[HEADS] = weights;
  readout->g = fov_weigh_sites(tape, weights, values, sites->heads);
  record(readout, state, sites, tape, mean, view);
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

int *fov_sites_at(FovTape *tape, const FovSites *sites, const FovView *view) {
  int *index = FOV_NEW(tape->arena, int, view->lanes);
  for (int i = 0; i < view->lanes; i++) {
    const real *l = fov_value_row(view->location, i);
    index[i] = fov_tile_at((double)l[0], (double)l[1], sites->grid);
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

/** Whether a value depends on other sites, or is a symbol's. */
static bool needs_all_values(const FovSites *sites) {
  return sites->transformer.count > 0 || sites->birnn.core || sites->symbols.count > 0;
}

void fov_sites_pick(FovReadout *readout, FovSitesState *state, const FovSites *sites, FovTape *tape,
                    FovVar *weights, const FovView *view) {
  const int *index = fov_sites_at(tape, sites, view);
  FovVar *places = view->location;
  for (int i = 0; i < view->lanes; i++)
    fov_tile_middle(fov_value_row(places, i), index[i], sites->grid);
  readout->columns[TILES] = weights;
  if (needs_all_values(sites)) fov_sites_values(state, sites, tape, view);
  if (state->values)
    pick_value(readout, state, tape, index, view->lanes);
  else
    readout->g =
        fov_glimpse_next(&readout->rho, &state->glimpses, tape, &sites->net, view->images, places);
}

/* ---- all sites as one vector ---- */

int *fov_sites_lengths(FovTape *tape, const FovSitesState *state, const FovSites *sites,
                       int lanes) {
  int *lengths = FOV_NEW(tape->arena, int, lanes);
  for (int b = 0; b < lanes; b++) {
    lengths[b] = state->inside ? 0 : sites->count;
    for (int i = 0; i < sites->count && state->inside; i++)
      lengths[b] += fov_value_row(state->inside, b)[i] != 0;
  }
  return lengths;
}

/** 1 / length for the sites of each lane, [n, N]. */
static FovVar *equal_weights(FovTape *tape, const int *lengths, int lanes, int N) {
  FovVar *weights = fov_zeros(tape, lanes, N);
  for (int b = 0; b < lanes; b++)
    for (int i = 0; i < lengths[b]; i++) fov_value_row(weights, b)[i] = 1 / (real)lengths[b];
  return weights;
}

void fov_sites_read_last(FovReadout *readout, FovSitesState *state, const FovSites *sites,
                         FovTape *tape, const FovView *view) {
  int n = view->lanes;
  if (view->changed) forget(state);
  FovVar *values = fov_sites_values(state, sites, tape, view);
  const int *lengths = fov_sites_lengths(tape, state, sites, n);
  FovVar *weights = equal_weights(tape, lengths, n, sites->count);
  bool recurrent = sites->birnn.core && sites->transformer.count == 0;
  if (!state->last)
    state->last = recurrent ? fov_birnn_last(tape, values, lengths, n)
                            : fov_weigh_sites(tape, weights, values, 1);
  readout->g = state->last;
  record(readout, state, sites, tape, weights, view);
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
  keep_rows(&state->inside, tape, lanes, kept, count);
  keep_rows(&state->last, tape, lanes, kept, count);
  keep_rows(&state->scores, tape, lanes, kept, count);
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
