/**
 * Sums over shards, in the order of a fixed binary tree, whichever thread or rank played which
 * shard:
 *
 *     shard   0   1   2   3   4        span
 *             0 + 1   2 + 3   4         1
 *               0   +   2     4         2
 *                   0    +    4         4
 *
 * A subtree needs nothing of the others, so it can be summed wherever its shards are. With several
 * ranks, each adds up the subtrees that lie in its range of shards. Their sums are the *partials*:
 * with shards 0 1 2 on rank 0 and 3 4 on rank 1 the sums of 0 + 1, of 2, of 3 and of 4. Every rank
 * gets its range of all partials, and finishes the tree for these numbers.
 */
#include "base/profile.h"
#include "base/team.h"
#include "learn/trainer/update.h"

void fov_sums_add(FovSums *sums, const FovSums *more) {
  sums->episodes += more->episodes;
  sums->updates += more->updates;
  sums->wrong += more->wrong;
  sums->glimpses += more->glimpses;
  sums->reward += more->reward;
  sums->gradient_norm += more->gradient_norm;
  for (int i = 0; i < FOV_OBJECTIVE_LOSSES; i++) sums->losses[i] += more->losses[i];
}

FOV_KERNEL static void add_block(real *restrict sum, const real *restrict x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] += x[i];
}

/** Σ x², as many sums side by side as fill a vector. */
FOV_KERNEL static double sum_squares(const real *x, size_t count) {
  enum { SUMS = 16 };
  double sums[SUMS] = {0}, total = 0;
  size_t i = 0;
  for (; i + SUMS <= count; i += SUMS)
    for (int j = 0; j < SUMS; j++) sums[j] += (double)x[i + j] * (double)x[i + j];
  for (; i < count; i++) total += (double)x[i] * (double)x[i];
  for (int j = 0; j < SUMS; j++) total += sums[j];
  return total;
}

/** Adds up the subtrees of this rank's shards: with one rank, all of the tree. */
static void add_own(const FovTrainer *trainer, size_t start, size_t count) {
  real **gradients = trainer->shard_gradients;
  for (int span = 1; span < trainer->shards; span *= 2)
    for (int s = 0; s + span < trainer->shards; s += 2 * span)
      if (gradients[s + span] && !trainer->is_partial[s + span])
        add_block(gradients[s] + start, gradients[s + span] + start, count);
}

/** Adds up the partials of all ranks, in this rank's range, and the squares of a whole chunk. */
static void add_partials(FovTrainer *trainer, int chunk, size_t start, size_t count) {
  real **partials = trainer->partials;
  size_t at = start - trainer->start;
  for (int span = 1; span < trainer->shards; span *= 2)
    for (int s = 0; s + span < trainer->shards; s += 2 * span)
      if (trainer->is_partial[s + span])
        add_block(partials[s] + at, partials[s + span] + at, count);
  if (start == (size_t)chunk * FOV_CHUNK)
    trainer->chunk_squares[chunk] = sum_squares(partials[0] + at, count);
}

/** Adds up one chunk of this rank's gradients; alone, it finishes it. */
static void reduce_chunk(void *context, int chunk, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  FovPhase before = fov_profile_enter(FOV_PHASE_REDUCE);
  size_t start = (size_t)chunk * FOV_CHUNK;
  size_t left = trainer->training.task.agent->params.size - start;
  size_t count = left < FOV_CHUNK ? left : FOV_CHUNK;
  add_own(trainer, start, count);
  if (fov_ranks_count(trainer->training.ranks) == 1) add_partials(trainer, chunk, start, count);
  fov_profile_enter(before);
}

/** Finishes what lies of a chunk in this rank's range; task 0 has its start. */
static void finish_chunk(void *context, int task, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  FovPhase before = fov_profile_enter(FOV_PHASE_REDUCE);
  size_t chunk = trainer->start / FOV_CHUNK + (size_t)task;
  size_t start = chunk * FOV_CHUNK, end = start + FOV_CHUNK;
  if (start < trainer->start) start = trainer->start;
  if (end > trainer->end) end = trainer->end;
  add_partials(trainer, (int)chunk, start, end - start);
  fov_profile_enter(before);
}

/** The part of a reduction that needs the other ranks. */
static void reduce_ranks(FovTrainer *trainer) {
  FovRanks *ranks = trainer->training.ranks;
  size_t first = trainer->start / FOV_CHUNK, end = (trainer->end + FOV_CHUNK - 1) / FOV_CHUNK;
  fov_ranks_exchange(ranks, trainer->sent, trainer->sent_count, trainer->arriving,
                     trainer->arriving_count);
  if (trainer->end > trainer->start)
    fov_team_run(trainer->threads, (int)(end - first), finish_chunk, trainer);
  fov_ranks_gather(ranks, trainer->chunk_squares, trainer->division.chunks,
                   sizeof *trainer->chunk_squares);
}

double fov_train_reduce(FovTrainer *trainer, FovSums *sums) {
  fov_team_run(trainer->threads, trainer->chunks, reduce_chunk, trainer);
  if (fov_ranks_count(trainer->training.ranks) > 1) reduce_ranks(trainer);
  for (int span = 1; span < trainer->shards; span *= 2)
    for (int s = 0; s + span < trainer->shards; s += 2 * span)
      fov_sums_add(&trainer->shard_sums[s], &trainer->shard_sums[s + span]);
  *sums = trainer->shard_sums[0];
  double squares = 0;
  for (int c = 0; c < trainer->chunks; c++) squares += trainer->chunk_squares[c];
  return squares;
}
