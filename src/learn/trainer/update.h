/** The parts of an update, one file each: divide among ranks, plan and play, reduce, step. */
#ifndef FOV_LEARN_TRAINER_UPDATE_H
#define FOV_LEARN_TRAINER_UPDATE_H

#include "learn/trainer/trainer.h"

/** Numbers of a block that one task reduces and steps: fixed, so that sums have one order. */
enum { FOV_CHUNK = 4096 };

/**
 * Which part of an update a rank does: of each array, rank r has entry r up to entry r + 1, without
 * that one. See divide.c.
 */
typedef struct FovDivision {
  size_t shards[FOV_MAX_RANKS + 1];  /**< that it plays */
  size_t numbers[FOV_MAX_RANKS + 1]; /**< of a block, that it steps */
  size_t params[FOV_MAX_RANKS + 1];  /**< likewise, with an optimiser that steps whole parameters */
  size_t chunks[FOV_MAX_RANKS + 1];  /**< whose squares it adds: their first number is its own */
} FovDivision;

/** Divides an update among the ranks of a training. */
void fov_train_divide(FovDivision *division, const FovTraining *training);

/** Whether a shard is the first of a subtree that its rank sums and other ranks add; see reduce.c.
 * shards: of the batch. */
bool fov_train_is_partial(const FovDivision *division, size_t shard, size_t shards);

/** The range [*start, *end) of a block in which a rank finishes the sums: the numbers that it steps
 * and those up to the end of its last chunk. size: of a block. */
void fov_train_range(size_t *start, size_t *end, const FovDivision *division, int rank,
                     size_t size);

/** Numbers that a rank receives from others in an update, to finish the sums of its range. */
size_t fov_train_received(const FovDivision *division, const FovTraining *training);

struct FovTrainer {
  FovTraining training;
  FovTrainerState state;
  FovWorkspace workspace;
  FovDivision division;
  int threads, shards, chunks;               /**< of this rank; of the batch; of a block */
  int rank, first_shard, own_shards, arenas; /**< see FovTrainBytes */
  size_t start, end;      /**< of the block: the range in which this rank finishes the sums */
  real **shard_gradients; /**< [shards] blocks; NULL: another rank plays the shard */
  bool *is_partial;       /**< [shards]: see fov_train_is_partial */
  real **partials; /**< [shards] of [end − start]: the sums of subtrees, in this rank's range;
                        NULL unless is_partial. The first becomes that of the batch */
  real *received;  /**< the partials of other ranks */
  FovMessage *sent, *arriving; /**< of an update: partials, and sums of shards */
  int sent_count, arriving_count;
  real *transposed;      /**< block: see fov_train_transposes; NULL: they do not */
  FovSums *shard_sums;   /**< [shards] */
  double *chunk_squares; /**< [chunks] */
  real scale, rate;      /**< of the next step */
  int64_t step;          /**< number of the next step: 1 for the first */
  int passes, parts;     /**< see fov_train_passes */
  int part;              /**< shards part, part + parts, … make the next step */
  FovWorkspace kept;     /**< [own_shards]: arenas of the rollouts that are repeated */
  FovRollout *before;    /**< [own_shards]: these; NULL: none is repeated */
  real *kept_blocks[FOV_STATE_BLOCKS]; /**< of the state before the update */
};

/** What a training takes, in bytes. */
typedef struct FovTrainBytes {
  double blocks; /**< values, moments, gradients and the like */
  double shard;  /**< of an arena in which a shard is played */
  double kept;   /**< of a rollout that is repeated, one for each arena; 0: none is */
  int arenas;    /**< of this rank: one for each of its shards; one too where it has none, to step
                      and to evaluate in */
} FovTrainBytes;

/** Measures it by playing a small part of the training; fails as fov_training_memory does. */
FovStatus fov_train_measure(FovTrainBytes *bytes, const FovTraining *training);

/** Allocates and fills what an update needs of the gradients: blocks, partials and messages. False
 * if memory is short; freed by fov_train_free_sums in any case. */
bool fov_train_allocate_sums(FovTrainer *trainer);
void fov_train_free_sums(FovTrainer *trainer);

/** Whether forward passes multiply by transposed copies of the weights, which is faster. Not in
 * shards of the default size: results of earlier versions keep their bits. */
bool fov_train_transposes(const FovTrainOptions *options);

/** The share of the way to the target that first glimpses are moved at a progress from 0 to 1: a
 * curriculum of distances, from train.near at 0 linearly to 0 at 1/2. */
double fov_train_near(const FovTrainOptions *options, double progress);

/** Plans the lanes of a shard of the next update: every epoch sees each case once, in an order of
 * its own; the copies of an image share its environment stream. */
FovPlan fov_train_plan(const FovTrainer *trainer, FovArena *arena, int shard);

/** Fails unless the objective needs no enumeration, or every sequence of choices can be enumerated
 * and has its lane: N^T copies of a case for T choices of one of N places. */
FovStatus fov_train_check_enumeration(const FovTraining *training);

/** N^T: the sequences of T choices of one of N places, or a number above FOV_MAX_SHARD; 0: they
 * cannot be enumerated. */
int fov_train_sequences(const FovTask *task);

/** Forces lane j of each case's N^T copies to the sequence of choices j, for an objective that
 * enumerates. */
void fov_train_enumerate(FovPlan *plan, FovArena *arena, const FovTraining *training);

/** What a shard's gradient is computed with. */
typedef struct FovShardInput {
  const FovTraining *training;
  const real *values, *transposed; /**< the parameters; transposed copies, or NULL */
  const FovRollout *before;        /**< that the plan forces the lanes to repeat; NULL: none */
  double average_return;
  int batch; /**< episodes of the optimiser's step, in all its shards */
} FovShardInput;

/** Plays a plan, adds the objective's gradients to a block and its figures to sums. */
void fov_train_play(FovSums *sums, real *gradient, FovArena *arena, const FovPlan *plan,
                    const FovShardInput *input);

/** Fails unless environment, objective, baseline and options fit together. */
FovStatus fov_train_check(const FovTraining *training);

/* Passes over a batch, of an objective that repeats what was played; see passes.c. */

/** The passes of an objective and the steps of each; 0 and 1: it repeats nothing. */
int fov_train_passes(int *parts, const FovTraining *training);

/** Allocates what is kept from pass to pass. False if memory is short. */
bool fov_train_allocate_kept(FovTrainer *trainer, double bytes);
void fov_train_free_kept(FovTrainer *trainer);

/** Plays a rollout without gradients, all of which stays in the arena. */
void fov_train_play_kept(FovRollout *rollout, FovArena *arena, const FovPlan *plan,
                         const FovShardInput *input);

/** Plays all shards of this rank without gradients, and keeps the rollouts. */
void fov_train_keep(FovTrainer *trainer);

/** Keeps the state, or goes back to the one that was kept. */
void fov_train_keep_state(FovTrainer *trainer);
void fov_train_restore_state(FovTrainer *trainer);

/** Adds up the shards' gradients, into the first of the partials, and their sums; returns the sum
 * of squares of the whole gradient. Collective. */
double fov_train_reduce(FovTrainer *trainer, FovSums *sums);

/** One step of the optimiser and of the moving average; collective. */
void fov_train_step(FovTrainer *trainer);

/** sums += more. */
void fov_sums_add(FovSums *sums, const FovSums *more);

#endif
