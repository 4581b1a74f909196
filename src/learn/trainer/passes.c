/**
 * Passes over a batch: the lanes of every shard play once, without gradients; then each pass plays
 * them again, forced to the same choices, with the parameters as they are by then.
 *
 *     play    all shards                      kept: choices, log π, returns, predictions
 *     pass 1  shards 0, 2, 4 … | a step | shards 1, 3, 5 … | a step       (two parts)
 *     pass 2  the same
 *
 * A checkpoint is written between updates only, so nothing of this is in it.
 */
#include <stdlib.h>

#include "base/team.h"
#include "learn/trainer/update.h"

int fov_train_passes(int *parts, const FovTraining *training) {
  const FovObjective *objective = training->objective;
  *parts = 1;
  return objective->passes ? objective->passes(parts, training->objective_options) : 0;
}

bool fov_train_allocate_kept(FovTrainer *trainer, double bytes) {
  const FovParams *params = &trainer->training.task.agent->params;
  int shards = trainer->own_shards;
  if (trainer->passes == 0) return true;
  trainer->before = calloc((size_t)shards + 1, sizeof *trainer->before);
  bool complete = trainer->before && fov_workspace_create(&trainer->kept, shards + 1) == FOV_OK;
  for (int i = 0; complete && i < shards; i++)
    complete = fov_arena_reserve(&trainer->kept.arenas[i], (size_t)bytes);
  for (int i = 0; i < FOV_STATE_BLOCKS; i++)
    complete = (trainer->kept_blocks[i] = fov_params_block(params)) && complete;
  return complete;
}

void fov_train_free_kept(FovTrainer *trainer) {
  fov_workspace_finish(&trainer->kept);
  free(trainer->before);
  for (int i = 0; i < FOV_STATE_BLOCKS; i++) free(trainer->kept_blocks[i]);
}

void fov_train_play_kept(FovRollout *rollout, FovArena *arena, const FovPlan *plan,
                         const FovShardInput *input) {
  const FovTask *task = &input->training->task;
  FovTape tape;
  fov_tape_begin(&tape, arena, &task->agent->params, input->values, NULL);
  if (input->transposed) fov_tape_add_transposed(&tape, &task->agent->params, input->transposed);
  fov_rollout_run(rollout, &tape, task, plan);
  // Objectives may read them later, when only this arena still holds what it held.
  for (int t = 0; t < rollout->time_steps; t++) fov_step_log_p(&rollout->at[t], arena);
}

static void keep_shard(void *context, int task, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  FovArena *arena = &trainer->kept.arenas[task];
  const FovShardInput input = {.training = &trainer->training,
                               .values = trainer->state.value,
                               .transposed = trainer->transposed};
  fov_arena_rewind(arena);
  FovPlan plan = fov_train_plan(trainer, arena, trainer->first_shard + task);
  fov_train_play_kept(&trainer->before[task], arena, &plan, &input);
}

void fov_train_keep(FovTrainer *trainer) {
  fov_team_run(trainer->threads, trainer->own_shards, keep_shard, trainer);
}

static void copy_blocks(real *const to[FOV_STATE_BLOCKS], real *const from[FOV_STATE_BLOCKS],
                        const FovTrainer *trainer) {
  size_t bytes = trainer->training.task.agent->params.size * sizeof(real);
  for (int i = 0; i < FOV_STATE_BLOCKS; i++) memcpy(to[i], from[i], bytes);
}

void fov_train_keep_state(FovTrainer *trainer) {
  const FovTrainerState *state = &trainer->state;
  real *const blocks[] = {state->value, state->first, state->second, state->average};
  if (trainer->passes > 0) copy_blocks(trainer->kept_blocks, blocks, trainer);
}

void fov_train_restore_state(FovTrainer *trainer) {
  const FovTrainerState *state = &trainer->state;
  real *const blocks[] = {state->value, state->first, state->second, state->average};
  if (trainer->passes > 0) copy_blocks(blocks, trainer->kept_blocks, trainer);
}
