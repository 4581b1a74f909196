#include "base/profile.h"
#include "base/team.h"
#include "learn/trainer/update.h"

FOV_KERNEL static void average_block(real *restrict average, const real *restrict value, real gain,
                                     size_t count) {
  for (size_t i = 0; i < count; i++) average[i] += gain * (value[i] - average[i]);
}

/** Decay of Polyak's average after `done` updates: short at first, (1 + n)/(10 + n), so that the
 * initial weights are soon forgotten (as TensorFlow's ExponentialMovingAverage). */
static double decay_after(int64_t done, double decay) {
  double young = (1 + (double)done) / (10 + (double)done);
  return young < decay ? young : decay;
}

/** Steps `count` numbers from `start`; `step` carries what else the optimiser needs. */
static void step_range(FovTrainer *trainer, size_t start, size_t count, FovOptimiserStep step) {
  FovTrainerState *state = &trainer->state;
  FovPhase before = fov_profile_enter(FOV_PHASE_OPTIMISE);
  step.value = state->value + start;
  step.first = state->first + start;
  step.second = state->second + start;
  step.gradient = trainer->shard_gradients[0] + start;
  step.count = count;
  step.scale = trainer->scale;
  step.rate = trainer->rate;
  step.update = state->update + 1;
  trainer->training.optimiser->step(&step, trainer->training.optimiser_options);
  double decay = decay_after(state->update, trainer->training.options.average);
  average_block(state->average + start, state->value + start, (real)(1 - decay), count);
  fov_profile_enter(before);
}

static void step_chunk(void *context, int chunk, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  size_t start = (size_t)chunk * FOV_CHUNK;
  size_t left = trainer->training.task.agent->params.size - start;
  size_t count = left < FOV_CHUNK ? left : FOV_CHUNK;
  step_range(trainer, start, count, (FovOptimiserStep){.rows = 1, .cols = (int)count});
}

static void step_param(void *context, int number, int worker) {
  FovTrainer *trainer = context;
  const FovParam *param = &trainer->training.task.agent->params.list[number];
  FovArena *arena = &trainer->workspace.arenas[worker];
  fov_arena_rewind(arena);
  size_t scratch = trainer->training.optimiser->scratch(param->rows, param->cols);
  step_range(trainer, param->offset, (size_t)param->rows * (size_t)param->cols,
             (FovOptimiserStep){.rows = param->rows,
                                .cols = param->cols,
                                .scratch = FOV_NEW(arena, real, scratch)});
}

void fov_train_step(FovTrainer *trainer) {
  int few = trainer->threads < trainer->shards ? trainer->threads : trainer->shards;
  if (trainer->training.optimiser->scratch) // in a shard's arena each
    fov_team_run(few, trainer->training.task.agent->params.count, step_param, trainer);
  else
    fov_team_run(trainer->threads, trainer->chunks, step_chunk, trainer);
}
