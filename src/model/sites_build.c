/** What sites are built from: options, their checks, and parameters. */
#include <stdlib.h>

#include "model/sites.h"

static const char *const kinds_of_keys[] = {"projected", "values", "coarse", NULL};
static const char *const kinds_of_values[] = {"context", "own", NULL};

const FovOption fov_tiles_options[] = {
    FOV_INT(FovTilesOptions, side, "6", 1, FOV_MAX_TILES,
            "K: tiles across, and down; symbols of a sequence take the place of tiles"),
    FOV_INT(FovTilesOptions, down, "0", 0, FOV_MAX_TILES, "tiles down; 0: as many as across"),
    FOV_INT(FovTilesOptions, heads, "1", 1, 64, "heads that attend each with a share of the units"),
    FOV_CHOICE(
        FovTilesOptions, keys, "projected", kinds_of_keys,
        "keys: projected: W v_i, of the value v_i; values: v_i itself; coarse: W u_i, of a coarse "
        "view of the image"),
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
               "what is read of a tile: context: what rnn and blocks make of it; own: its vector "
               "before these, which then make keys only"),
    FOV_OPTIONS_END,
};

static FovStatus check_blocks(const FovSites *sites) {
  const FovTransformer *transformer = &sites->transformer;
  if (transformer->count == 0) return FOV_OK;
  if (sites->count == 1)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.blocks = %d: expected tiles or symbols that attend to each other, found "
                    "one; set tiles.blocks = 0%s",
                    transformer->count, sites->symbols.count ? "" : ", or tiles.side = 2 or more");
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
        "tiles on images of %d x %d; lower %s",
        grid.across, grid.down, parts->width, parts->height,
        parts->tiles.down == 0 || grid.across > parts->width ? "tiles.side" : "tiles.down");
  const FovSensor *sensor = &sites->net.sensor;
  if (sensor->whole)
    return fov_fail(FOV_ERR_USAGE, "sensor.whole: every tile would see the whole image; set "
                                   "sensor.whole = no");
  if (sensor->side > parts->height && sensor->side > parts->width)
    return fov_fail(
        FOV_ERR_USAGE,
        "sensor.side = %d: expected patches no larger than the image of %d x %d pixels; "
        "lower sensor.side",
        sensor->side, parts->width, parts->height);
  return FOV_OK;
}

static FovStatus check(const FovSites *sites, const FovAttentionParts *parts) {
  if (!sites->symbols.count) FOV_TRY(check_tiles(sites, parts));
  if (parts->tiles.rnn != FOV_BIRNN_NONE && sites->width % 2 != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "glimpse.width = %d: expected an even number, half for each direction of "
                    "tiles.rnn = %s",
                    sites->width, fov_birnn_cells[parts->tiles.rnn]);
  return check_blocks(sites);
}

static FovStatus check_weights(const FovSites *sites) {
  if (sites->count == 1 && !sites->symbols.count)
    return fov_fail(FOV_ERR_USAGE,
                    "tiles.side = 1: expected tiles to choose from, found one; set tiles.side = 2 "
                    "or more");
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
                    "tiles.heads = %d: expected at most %d weights, found %d for %d tiles or "
                    "symbols; lower tiles.heads",
                    sites->heads, FOV_COLUMN_WIDTH, sites->heads * sites->count, sites->count);
  return FOV_OK;
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

/** Adds the parameters of values. */
static FovStatus build_values(FovSites *sites, int *width, FovParams *params,
                              const FovAttentionParts *parts) {
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
  FOV_TRY(check(sites, parts));
  FOV_TRY(fov_birnn_build(&sites->birnn, params, "tiles", (FovBirnnCell)o->rnn, sites->width));
  fov_transformer_add(&sites->transformer, params, "tiles", sites->width, o->block_hidden);
  return FOV_OK;
}

/** With tiles.values = own only keys use the context, so there must be keys that are made of it. */
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

FovStatus fov_sites_build_values(void *layout, int *width, FovParams *params, const void *options,
                                 const FovAttentionParts *parts) {
  (void)options;
  if (parts->tiles.values == FOV_VALUES_OWN)
    return fov_fail(FOV_ERR_USAGE, "tiles.values = own: expected an attention with keys, found one "
                                   "without; set tiles.values = context or attention = soft");
  return build_values(layout, width, params, parts);
}

FovStatus fov_sites_build(void *layout, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts) {
  (void)options;
  FovSites *sites = layout;
  FOV_TRY(build_values(sites, width, params, parts));
  FOV_TRY(check_weights(sites));
  sites->own = parts->tiles.values == FOV_VALUES_OWN;
  FOV_TRY(check_own(sites));
  return sites->score->keyless ? FOV_OK : add_keys(sites, params, parts);
}

FovStatus fov_sites_build_hard(void *layout, int *width, FovParams *params, const void *options,
                               const FovAttentionParts *parts) {
  FOV_TRY(fov_sites_build(layout, width, params, options, parts));
  if (parts->tiles.heads == 1) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "attention = %s reads one tile: expected tiles.heads = 1, found %d",
                  parts->attention, parts->tiles.heads);
}

FovStatus fov_sites_connect(void *layout, FovParams *params, int inputs) {
  FovSites *sites = layout;
  sites->query_w =
      fov_params_add(params, "tiles.query.w", sites->depth, inputs, FOV_INIT_UNIFORM, 1);
  sites->query_bias = fov_params_add(params, "tiles.query.bias", 1, sites->depth, FOV_INIT_ZERO, 0);
  if (!sites->score->build) return FOV_OK;
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
