#include "base/profile.h"
#include "base/team.h"
#include "learn/trainer/update.h"

FOV_KERNEL static void average_block(real *restrict average, const real *restrict value, real gain,
                                     size_t count) {
  for (size_t i = 0; i < count; i++) average[i] += gain * (value[i] - average[i]);
}

/** Decay of the moving average after `done` steps: small at first, (1 + n)/(10 + n), so that the
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
  step.gradient = trainer->partials[0] + (start - trainer->start);
  step.count = count;
  step.scale = trainer->scale;
  step.rate = trainer->rate;
  step.number = trainer->step;
  trainer->training.optimiser->step(&step, trainer->training.optimiser_options);
  double decay = decay_after(trainer->step - 1, trainer->training.options.average);
  average_block(state->average + start, state->value + start, (real)(1 - decay), count);
  fov_profile_enter(before);
}

static void step_chunk(void *context, int task, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  size_t start = (trainer->division.chunks[trainer->rank] + (size_t)task) * FOV_CHUNK;
  size_t left = trainer->training.task.agent->params.size - start;
  size_t count = left < FOV_CHUNK ? left : FOV_CHUNK;
  step_range(trainer, start, count, (FovOptimiserStep){.rows = 1, .cols = (int)count});
}

static void step_param(void *context, int task, int worker) {
  FovTrainer *trainer = context;
  size_t number = trainer->division.params[trainer->rank] + (size_t)task;
  const FovParam *param = &trainer->training.task.agent->params.list[number];
  FovArena *arena = &trainer->workspace.arenas[worker];
  fov_arena_rewind(arena);
  size_t scratch = trainer->training.optimiser->scratch(param->rows, param->cols);
  step_range(trainer, param->offset, (size_t)param->rows * (size_t)param->cols,
             (FovOptimiserStep){.rows = param->rows,
                                .cols = param->cols,
                                .scratch = FOV_NEW(arena, real, scratch)});
}

/** Items of this rank. */
static int own(const FovTrainer *trainer, const size_t *bounds) {
  return (int)(bounds[trainer->rank + 1] - bounds[trainer->rank]);
}

void fov_train_step(FovTrainer *trainer) {
  const FovDivision *division = &trainer->division;
  int few = trainer->threads < trainer->arenas ? trainer->threads : trainer->arenas;
  if (trainer->training.optimiser->scratch) // in a shard's arena each
    fov_team_run(few, own(trainer, division->params), step_param, trainer);
  else
    fov_team_run(trainer->threads, own(trainer, division->chunks), step_chunk, trainer);
  fov_ranks_gather(trainer->training.ranks, trainer->state.value, division->numbers, sizeof(real));
}
