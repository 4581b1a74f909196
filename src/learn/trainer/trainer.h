/**
 * The trainer: one update after another, the same bits for any number of threads.
 *
 * An update plays a batch of episodes in shards of fixed size, runs the backward pass of each
 * shard's tape, adds the shards' gradients in the order of a fixed binary tree and takes a step of
 * the optimiser, or several with an objective that has passes. All randomness is a function of the
 * seed and of how many episodes came before, so blocks and sums are the whole state.
 */
#ifndef FOV_LEARN_TRAINER_TRAINER_H
#define FOV_LEARN_TRAINER_TRAINER_H

#include "base/ranks.h"
#include "learn/evaluate.h"
#include "learn/objective.h"
#include "learn/optimiser.h"

typedef struct FovTrainOptions {
  int64_t episodes; /**< of the whole training */
  int batch;        /**< episodes of one update */
  int copies;       /**< K: episodes on the same image, side by side */
  int shard;        /**< lanes of a shard */
  double rate;      /**< learning rate */
  int schedule;     /**< FovSchedule */
  double warmup;    /**< share of the training over which the rate rises from 0 */
  double clip;      /**< gradients with a larger global norm are clipped to it; 0: none */
  double average;   /**< decay of the weights' moving average used in evaluation; 0: none */
  int answer;       /**< FovTrainAnswer */
  double last;      /**< share of the loss that the answer given has, if every answer is trained; 0:
                         as much as each earlier one */
  double near;      /**< share of the way to the target that a random first glimpse is moved; falls
                         to 0 by the middle of the training */
} FovTrainOptions;

/** Where the answer's loss is taken. */
typedef enum FovTrainAnswer {
  FOV_TRAIN_ANSWER_LAST,  /**< where an answer is given */
  FOV_TRAIN_ANSWER_EVERY, /**< after every glimpse */
} FovTrainAnswer;

extern const FovOption fov_train_options[];

/** Updates of a whole training: the last one may go beyond `episodes`. */
int64_t fov_train_updates_planned(const FovTrainOptions *options);

/**
 * The weights of the answers after the T glimpses before an answer is given; they sum to 1, or to
 * less where a stop rule answers early.
 * - FOV_TRAIN_ANSWER_LAST: 1 for the answer that is given, 0 for those before;
 * - FOV_TRAIN_ANSWER_EVERY: 1/T each;
 * - the same with `last` = s > 0: s for the one that is given, (1 − s)/(T − 1) for each before.
 */
FovAnswerWeights fov_train_answer_weights(const FovTrainOptions *options, int glimpses);

/** Shards of a batch: more threads than that have nothing to play. */
int fov_train_shards(const FovTrainOptions *options);

/** Lanes of the largest shard. */
int fov_train_lanes(const FovTrainOptions *options);

/** The `shard` with which `threads` threads play a batch in the least time: no thread plays more
 * than one, and a smaller one would not be faster. */
int fov_train_shard_for(const FovTrainOptions *options, int threads);

/** A task with its objective, optimiser, options and seed; const. Where `ranks` has several, they
 * make each update together. */
typedef struct FovTraining {
  FovTask task;
  const FovObjective *objective;
  const void *objective_options;
  const FovOptimiser *optimiser;
  const void *optimiser_options;
  FovTrainOptions options;
  uint64_t seed;
  FovRanks *ranks; /**< NULL: one */
} FovTraining;

/** Sums over the episodes or updates since the last report. */
typedef struct FovSums {
  int64_t episodes, updates, wrong, glimpses;
  double reward, gradient_norm;
  double losses[FOV_OBJECTIVE_LOSSES]; /**< as the objective names them */
} FovSums;

enum { FOV_STATE_BLOCKS = 4 };

/** All that changes from update to update: what a checkpoint keeps. */
typedef struct FovTrainerState {
  int64_t update;        /**< done so far */
  double average_return; /**< the moving-average baseline */
  FovSums sums;
  real *value, *first, *second, *average; /**< blocks: parameters, two moments, moving average */
} FovTrainerState;

/** Bytes of a training without its data set and evaluations, on this rank: of its blocks, which are
 * as large as the parameters, and of its shards' arenas. An update after the first allocates
 * nothing. Fails unless environment, objective, baseline and options fit together (copies divide
 * the shard, the baseline has its copies). */
FovStatus fov_training_memory(double *blocks, double *shards, const FovTraining *training);

typedef struct FovTrainer FovTrainer;

/** Fails as fov_training_memory does, and allocates; `training` is copied, what it points to must
 * outlive the trainer. */
FovStatus fov_trainer_create(FovTrainer **trainer, const FovTraining *training, int threads);
void fov_trainer_destroy(FovTrainer *trainer);

/**
 * One update; collective. On FOV_ERR_NUMBER (a loss or gradient that is not finite; the message
 * names update and parameter) the state is as it was before.
 */
FovStatus fov_trainer_update(FovTrainer *trainer);

/** The state, to be saved or, before the first update, to be loaded into. With several ranks see
 * the next two functions. */
FovTrainerState *fov_trainer_state(FovTrainer *trainer);

/** Completes moments and average on all ranks, for an evaluation or a checkpoint; collective. A
 * rank keeps up only the numbers that it steps; the parameters and all sums are the same
 * everywhere. */
void fov_trainer_gather(FovTrainer *trainer);

/** Copies the state of rank 0 to all others; collective. */
void fov_trainer_broadcast(FovTrainer *trainer);

/** The weights to evaluate: the moving average, or the parameters if there is none. */
const real *fov_trainer_weights(const FovTrainer *trainer);

/** Learning rate of the next update. */
double fov_trainer_rate(const FovTrainer *trainer);

/** Share of the training that is done: 0 … 1. */
double fov_trainer_progress(const FovTrainer *trainer);

/** The shards' memory, for evaluation between updates. */
FovWorkspace *fov_trainer_workspace(FovTrainer *trainer);

#endif
