/** The parts of an update, one file each: plan and play, reduce, step. */
#ifndef FOV_LEARN_TRAINER_UPDATE_H
#define FOV_LEARN_TRAINER_UPDATE_H

#include "learn/trainer/trainer.h"

/** Numbers of a block that one task reduces and steps: fixed, so that sums have one order. */
enum { FOV_CHUNK = 4096 };

struct FovTrainer {
  FovTraining training;
  FovTrainerState state;
  FovWorkspace workspace;
  int threads, shards, chunks;
  real **shard_gradients; /**< [shards]; after the reduction the first is that of the batch */
  real *transposed;       /**< block: see fov_train_transposes; NULL: they do not */
  FovSums *shard_sums;    /**< [shards] */
  double *chunk_squares;  /**< [chunks] */
  real scale, rate;       /**< of the next step */
};

/** Whether forward passes multiply by transposed copies of the weights, which is faster. Not in
 * shards of the default size: results of earlier versions keep their bits. */
bool fov_train_transposes(const FovTrainOptions *options);

/** Plans the lanes of a shard of the next update: every epoch sees each case once, in an order of
 * its own; the copies of an image share its environment stream. */
FovPlan fov_train_plan(const FovTrainer *trainer, FovArena *arena, int shard);

/** Plays a plan, adds the objective's gradients to a block and its figures to sums. values,
 * transposed: the parameters, and their transposed copies or NULL. */
void fov_train_play(FovSums *sums, real *gradient, const real *values, const real *transposed,
                    FovArena *arena, const FovTraining *training, const FovPlan *plan,
                    double average_return);

/** Adds up the shards' gradients, into the first of them, and their sums; returns the sum of
 * squares of the gradient. */
double fov_train_reduce(FovTrainer *trainer, FovSums *sums);

/** One step of the optimiser and of the moving average. */
void fov_train_step(FovTrainer *trainer);

/** sums += more. */
void fov_sums_add(FovSums *sums, const FovSums *more);

#endif
