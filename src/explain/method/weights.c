/** The weights of an attention over tiles, summed over all glimpses: each is divided among the
 * pixels that the tile's glimpse covers, times gain^s of its patch. */
#include <string.h>

#include "explain/method.h"
#include "model/sites.h"

static FovStatus check(const FovTask *task, bool through) {
  (void)through;
  if (task->agent->attention->sites) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "weights: attention = %s has no weights; expected one over tiles",
                  task->agent->attention->plugin.name);
}

/** The weights of a time step: the column "tiles" [n, N]. */
static const FovVar *weights_of(const FovHeld *held, int t) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_agent_columns(columns, &held->agent);
  for (int c = 0; c < count; c++)
    if (strcmp(columns[c].name, "tiles") == 0) return held->rollout.at[t].read[c];
  return NULL;
}

static void add_tiles(real *map, const FovHeld *held, FovArena *arena, const real *weights) {
  const FovAgent *agent = &held->agent;
  FovGrid grid = agent->attention->sites(agent->attention_layout);
  int cells = fov_glimpse_features(agent->glimpse);
  real *glimpse = FOV_NEW(arena, real, cells), place[2];
  for (int tile = 0; tile < grid.across * grid.down; tile++) {
    fov_tile_middle(place, tile, grid);
    for (int i = 0; i < cells; i++) glimpse[i] = weights[tile];
    fov_sensor_look_back(map, glimpse, &agent->sensor, place[0], place[1], held->height,
                         held->width, held->channels);
  }
}

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  const FovHeld *held = explained->held;
  size_t numbers = fov_held_pixels(held), picture = numbers / (size_t)held->frames;
  for (int t = 1; t < held->rollout.time_steps; t++) {
    const FovTimeStep *step = &held->rollout.at[t];
    size_t frame = held->frames > 1 ? (size_t)t - 1 : 0;
    const FovVar *weights = weights_of(held, t);
    for (int i = 0; i < step->count; i++)
      add_tiles(map + (size_t)step->lanes[i] * numbers + frame * picture, held, explained->arena,
                fov_value_row(weights, i));
  }
}

const FovMethod fov_method_weights = {
    .plugin = {.name = "weights", .help = "the weights of an attention over tiles"},
    .ignores_target = true,
    .check = check,
    .map = map,
};
