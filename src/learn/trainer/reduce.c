/**
 * Sums over shards, in the order of a fixed binary tree, whichever thread computed which shard:
 *
 *     shard   0   1   2   3   4        span
 *             0 + 1   2 + 3   4         1
 *               0   +   2     4         2
 *                   0    +    4         4
 *
 * A subtree needs nothing of the others, so it can be summed wherever its shards are.
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

/** Adds up one range of all shards' gradients, into the first shard's. */
static void reduce_chunk(void *context, int chunk, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  FovPhase before = fov_profile_enter(FOV_PHASE_REDUCE);
  real **gradients = trainer->shard_gradients;
  size_t start = (size_t)chunk * FOV_CHUNK;
  size_t left = trainer->training.task.agent->params.size - start;
  size_t count = left < FOV_CHUNK ? left : FOV_CHUNK;
  for (int span = 1; span < trainer->shards; span *= 2)
    for (int s = 0; s + span < trainer->shards; s += 2 * span)
      add_block(gradients[s] + start, gradients[s + span] + start, count);
  trainer->chunk_squares[chunk] = sum_squares(gradients[0] + start, count);
  fov_profile_enter(before);
}

double fov_train_reduce(FovTrainer *trainer, FovSums *sums) {
  fov_team_run(trainer->threads, trainer->chunks, reduce_chunk, trainer);
  for (int span = 1; span < trainer->shards; span *= 2)
    for (int s = 0; s + span < trainer->shards; s += 2 * span)
      fov_sums_add(&trainer->shard_sums[s], &trainer->shard_sums[s + span]);
  *sums = trainer->shard_sums[0];
  double squares = 0;
  for (int c = 0; c < trainer->chunks; c++) squares += trainer->chunk_squares[c];
  return squares;
}
