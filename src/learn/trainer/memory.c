/** What a training takes, measured by playing a small part of it before anything is allocated. */
#include <stdlib.h>

#include "base/memory.h"
#include "learn/trainer/update.h"

typedef struct Trial {
  const FovTraining *training;
  const real *values;
  real *gradient;
} Trial;

/** A plan of full rollouts. */
static FovPlan plan_full(FovArena *arena, const FovTraining *training, int lanes) {
  FovPlan plan = fov_plan_full(arena, &training->task, lanes);
  plan.every = training->options.answer == FOV_TRAIN_ANSWER_EVERY;
  plan.copies = training->options.copies;
  fov_train_enumerate(&plan, arena, training);
  return plan;
}

/** A shard of full rollouts with its backward pass. */
static void try_shard(void *context, FovArena *arena, int lanes) {
  const Trial *trial = context;
  FovSums sums = {0};
  FovPlan plan = plan_full(arena, trial->training, lanes);
  const FovShardInput input = {
      .training = trial->training, .values = trial->values, .batch = lanes};
  fov_train_play(&sums, trial->gradient, arena, &plan, &input);
}

/** The same without gradients. */
static void try_kept(void *context, FovArena *arena, int lanes) {
  const Trial *trial = context;
  FovRollout rollout;
  FovPlan plan = plan_full(arena, trial->training, lanes);
  const FovShardInput input = {.training = trial->training, .values = trial->values};
  fov_train_play_kept(&rollout, arena, &plan, &input);
}

/** Bytes of a rollout that is kept; 0: none is. */
static double kept_bytes(Trial *trial) {
  const FovTraining *training = trial->training;
  const FovTrainOptions *o = &training->options;
  int parts;
  if (fov_train_passes(&parts, training) == 0) return 0;
  return fov_shard_measure(&training->task, o->copies, fov_train_lanes(o), try_kept, trial);
}

/** What an arena holds: a shard, or what the optimiser needs for a parameter. */
static double shard_bytes(Trial *trial) {
  const FovTraining *training = trial->training;
  const FovParams *params = &training->task.agent->params;
  const FovTrainOptions *o = &training->options;
  double bytes =
      fov_shard_measure(&training->task, o->copies, fov_train_lanes(o), try_shard, trial);
  for (int i = 0; training->optimiser->scratch && i < params->count; i++) {
    const FovParam *param = &params->list[i];
    double scratch = (double)training->optimiser->scratch(param->rows, param->cols) * sizeof(real);
    if (scratch > bytes) bytes = scratch;
  }
  return bytes;
}

/** Bytes of the blocks: values, two moments and average, perhaps kept twice, perhaps values
 * transposed; then the gradients of this rank's shards, and what arrives of others. */
static double block_bytes(int *arenas, const FovTraining *training) {
  FovDivision division;
  int rank = training->ranks ? training->ranks->rank : 0;
  fov_train_divide(&division, training);
  size_t shards = division.shards[rank + 1] - division.shards[rank];
  int parts;
  size_t state = fov_train_passes(&parts, training) > 0 ? 2 * FOV_STATE_BLOCKS : FOV_STATE_BLOCKS;
  size_t blocks = state + fov_train_transposes(&training->options) + shards;
  *arenas = shards > 0 ? (int)shards : 1;
  return (double)(blocks * training->task.agent->params.size +
                  fov_train_received(&division, training)) *
         sizeof(real);
}

FovStatus fov_train_measure(FovTrainBytes *bytes, const FovTraining *training) {
  const FovParams *params = &training->task.agent->params;
  *bytes = (FovTrainBytes){0};
  FOV_TRY(fov_train_check(training));
  bytes->blocks = block_bytes(&bytes->arenas, training);
  FOV_TRY(fov_memory_check(bytes->blocks, "this training", "train.batch"));
  real *values = fov_params_block(params), *gradient = fov_params_block(params);
  Trial trial = {.training = training, .values = values, .gradient = gradient};
  bool complete = values && gradient;
  if (complete) bytes->shard = shard_bytes(&trial);
  if (complete) bytes->kept = kept_bytes(&trial);
  free(values);
  free(gradient);
  return complete ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %zu parameters", params->size);
}

FovStatus fov_training_memory(double *blocks, double *shards, const FovTraining *training) {
  FovTrainBytes bytes;
  FOV_TRY(fov_train_measure(&bytes, training));
  *blocks = bytes.blocks;
  *shards = bytes.arenas * (bytes.shard + bytes.kept);
  return FOV_OK;
}
