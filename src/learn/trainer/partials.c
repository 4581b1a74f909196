/** The gradients of a rank's shards, those that arrive from other ranks, and the messages of an
 * update. All of it keeps its place from update to update. */
#include <stdlib.h>

#include "learn/trainer/update.h"

/** Numbers of the blocks and partials of this rank's shards, and of those that arrive. */
static bool allocate_gradients(FovTrainer *trainer) {
  const FovParams *params = &trainer->training.task.agent->params;
  size_t room = fov_train_received(&trainer->division, &trainer->training), at = 0;
  trainer->received = room > 0 ? malloc(room * sizeof(real)) : NULL;
  if (room > 0 && !trainer->received) return false;
  for (int s = 0; s < trainer->shards; s++) {
    bool own = s >= trainer->first_shard && s < trainer->first_shard + trainer->own_shards;
    trainer->is_partial[s] =
        fov_train_is_partial(&trainer->division, (size_t)s, (size_t)trainer->shards);
    if (own && !(trainer->shard_gradients[s] = fov_params_block(params))) return false;
    if (!trainer->is_partial[s]) continue;
    trainer->partials[s] =
        own ? trainer->shard_gradients[s] + trainer->start : trainer->received + at;
    if (!own) at += trainer->end - trainer->start;
  }
  return true;
}

static void add_message(FovMessage *list, int *count, void *at, size_t bytes, int rank) {
  if (bytes > 0) list[(*count)++] = (FovMessage){at, bytes, rank};
}

/** What this rank sends to another one: its partials, in the range of that one, and its sums. */
static void add_sent(FovTrainer *trainer, int to) {
  size_t start, end, own = (size_t)trainer->own_shards;
  int first = trainer->first_shard;
  fov_train_range(&start, &end, &trainer->division, to, trainer->training.task.agent->params.size);
  for (int s = first; s < first + trainer->own_shards; s++)
    if (trainer->is_partial[s])
      add_message(trainer->sent, &trainer->sent_count, trainer->shard_gradients[s] + start,
                  (end - start) * sizeof(real), to);
  add_message(trainer->sent, &trainer->sent_count, trainer->shard_sums + first,
              own * sizeof(FovSums), to);
}

/** What another rank sends to this one, in the same order. */
static void add_arriving(FovTrainer *trainer, int from) {
  size_t first = trainer->division.shards[from], end = trainer->division.shards[from + 1];
  for (size_t s = first; s < end; s++)
    if (trainer->is_partial[s])
      add_message(trainer->arriving, &trainer->arriving_count, trainer->partials[s],
                  (trainer->end - trainer->start) * sizeof(real), from);
  add_message(trainer->arriving, &trainer->arriving_count, trainer->shard_sums + first,
              (end - first) * sizeof(FovSums), from);
}

/** The messages of every update: the same places each time. */
static bool allocate_messages(FovTrainer *trainer) {
  size_t ranks = (size_t)fov_ranks_count(trainer->training.ranks), partials = 0;
  for (int s = 0; s < trainer->shards; s++) partials += trainer->is_partial[s];
  trainer->sent = calloc(ranks * ((size_t)trainer->own_shards + 1), sizeof *trainer->sent);
  trainer->arriving = calloc(ranks + partials, sizeof *trainer->arriving);
  if (!trainer->sent || !trainer->arriving) return false;
  for (int i = 1; i < (int)ranks; i++) {
    // Each rank starts with its successor, so that not all send to rank 0 first.
    add_sent(trainer, (trainer->rank + i) % (int)ranks);
    add_arriving(trainer, (trainer->rank + (int)ranks - i) % (int)ranks);
  }
  return true;
}

bool fov_train_allocate_sums(FovTrainer *trainer) {
  size_t shards = (size_t)trainer->shards;
  fov_train_range(&trainer->start, &trainer->end, &trainer->division, trainer->rank,
                  trainer->training.task.agent->params.size);
  trainer->shard_gradients = calloc(shards, sizeof *trainer->shard_gradients);
  trainer->is_partial = calloc(shards, sizeof *trainer->is_partial);
  trainer->partials = calloc(shards, sizeof *trainer->partials);
  trainer->shard_sums = calloc(shards, sizeof *trainer->shard_sums);
  trainer->chunk_squares = calloc((size_t)trainer->chunks, sizeof *trainer->chunk_squares);
  return trainer->shard_gradients && trainer->is_partial && trainer->partials &&
         trainer->shard_sums && trainer->chunk_squares && allocate_gradients(trainer) &&
         allocate_messages(trainer);
}

void fov_train_free_sums(FovTrainer *trainer) {
  for (int s = 0; trainer->shard_gradients && s < trainer->shards; s++)
    free(trainer->shard_gradients[s]);
  void *owned[] = {trainer->shard_gradients, trainer->is_partial,   trainer->partials,
                   trainer->received,        trainer->sent,         trainer->arriving,
                   trainer->shard_sums,      trainer->chunk_squares};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
