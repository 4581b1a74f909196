/**
 * How ranks divide an update. Where a number is computed does not change its bits, only the order
 * of an addition does, so everything is divided into contiguous ranges:
 *
 *     shards   0 1 2 | 3 4 5 | 6 7            played by rank 0, 1, 2
 *     numbers  ------|--------|--------       of a block, stepped by rank 0, 1, 2
 *     chunks   |    .  |    .   |    .   |    the squares of a chunk are added by the rank that
 *                                             steps its first number
 */
#include "learn/trainer/update.h"

static size_t chunks_up_to(size_t number) {
  return (number + FOV_CHUNK - 1) / FOV_CHUNK;
}

/** Bounds at the ends of chunks, for an optimiser that steps any range alike. */
static void divide_chunks(FovDivision *division, size_t size, int ranks) {
  for (int r = 0; r <= ranks; r++) {
    size_t chunk = fov_ranks_share(chunks_up_to(size), r, ranks), number = chunk * FOV_CHUNK;
    division->chunks[r] = chunk;
    division->numbers[r] = number < size ? number : size;
  }
}

/** Where a parameter begins in a block; for the one after the last, the block's size. */
static size_t begin_of(const FovParams *params, size_t param) {
  return param < (size_t)params->count ? params->list[param].offset : params->size;
}

/** Bounds where parameters begin: as near to equal shares as possible. */
static void divide_params(FovDivision *division, const FovParams *params, int ranks) {
  size_t param = 0, count = (size_t)params->count;
  for (int r = 0; r <= ranks; r++) {
    size_t even = fov_ranks_share(params->size, r, ranks);
    while (param < count && begin_of(params, param) < even) param++;
    bool earlier = param > 0 && begin_of(params, param) - even > even - begin_of(params, param - 1);
    division->params[r] = param - earlier;
    division->numbers[r] = begin_of(params, division->params[r]);
    division->chunks[r] = chunks_up_to(division->numbers[r]);
  }
}

void fov_train_divide(FovDivision *division, const FovTraining *training) {
  const FovParams *params = &training->task.agent->params;
  int ranks = fov_ranks_count(training->ranks);
  size_t shards = (size_t)fov_train_shards(&training->options);
  for (int r = 0; r <= ranks; r++) division->shards[r] = fov_ranks_share(shards, r, ranks);
  if (training->optimiser->scratch)
    divide_params(division, params, ranks);
  else
    divide_chunks(division, params->size, ranks);
}

/** The rank that plays a shard. */
static int player_of(const FovDivision *division, size_t shard) {
  int rank = 0;
  while (division->shards[rank + 1] <= shard) rank++;
  return rank;
}

bool fov_train_is_partial(const FovDivision *division, size_t shard, size_t shards) {
  // The sum of its subtree is added to that of its parent, `span` before it.
  size_t span = shard & -shard, parent = shard - span;
  int rank = player_of(division, shard);
  size_t first = division->shards[rank], end = division->shards[rank + 1];
  bool whole = parent + 2 * span <= end || end == shards;
  return shard == 0 || parent < first || !whole;
}

void fov_train_range(size_t *start, size_t *end, const FovDivision *division, int rank,
                     size_t size) {
  *start = *end = division->numbers[rank];
  if (division->numbers[rank + 1] == *start) return;
  *end = division->chunks[rank + 1] * FOV_CHUNK;
  if (*end > size) *end = size;
}

size_t fov_train_received(const FovDivision *division, const FovTraining *training) {
  size_t shards = (size_t)fov_train_shards(&training->options), start, end, partials = 0;
  int rank = training->ranks ? training->ranks->rank : 0;
  fov_train_range(&start, &end, division, rank, training->task.agent->params.size);
  for (size_t s = 0; s < shards; s++)
    partials += player_of(division, s) != rank && fov_train_is_partial(division, s, shards);
  return partials * (end - start);
}
