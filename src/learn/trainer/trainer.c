#include "learn/trainer/trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/team.h"
#include "learn/trainer/update.h"

/* ---- creating ---- */

static FovStatus check_options(const FovTraining *training) {
  const FovTrainOptions *o = &training->options;
  const FovBaseline *baseline = training->task.baseline;
  FOV_TRY(fov_task_check(&training->task));
  FOV_TRY(fov_train_check_enumeration(training));
  if (o->batch % o->copies != 0 || o->shard % o->copies != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "train.copies = %d: expected a number that divides train.batch = %d and "
                    "train.shard = %d",
                    o->copies, o->batch, o->shard);
  if (o->copies < baseline->least_copies)
    return fov_fail(FOV_ERR_USAGE, "baseline = %s needs train.copies of %d or more, found %d",
                    baseline->plugin.name, baseline->least_copies, o->copies);
  if (training->objective->predicts && !baseline->head.build)
    return fov_fail(FOV_ERR_USAGE, "objective = %s needs baseline = learned or answer, found %s",
                    training->objective->plugin.name, baseline->plugin.name);
  if (baseline->from_answer && training->task.env->spec.answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE,
                    "baseline = %s needs labels, which moves and vectors do not have; set baseline "
                    "= learned",
                    baseline->plugin.name);
  if (baseline->from_answer && o->answer != FOV_TRAIN_ANSWER_EVERY)
    return fov_fail(FOV_ERR_USAGE,
                    "baseline = %s needs an answer after every glimpse; set train.answer = every",
                    baseline->plugin.name);
  return FOV_OK;
}

static bool allocate_blocks(FovTrainer *trainer) {
  const FovParams *params = &trainer->training.task.agent->params;
  FovTrainerState *state = &trainer->state;
  real **blocks[] = {&state->value, &state->first, &state->second, &state->average};
  bool complete = fov_train_allocate_sums(trainer);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    complete = (*blocks[i] = fov_params_block(params)) && complete;
  if (fov_train_transposes(&trainer->training.options))
    complete = (trainer->transposed = fov_params_block(params)) && complete;
  return complete;
}

/** Arenas of shards; one too where there is no shard, to step and to evaluate in. */
static int arenas_of(const FovTrainer *trainer) {
  return trainer->own_shards > 1 ? trainer->own_shards : 1;
}

/** Reserves the arenas: `shard` bytes for each shard, `evaluation` for each worker. Lanes that
 * leave early make updates of different sizes: room for the largest is taken at once. */
static FovStatus allocate(FovTrainer *trainer, double shard, double evaluation) {
  int shards = arenas_of(trainer), threads = trainer->threads;
  FOV_TRY(fov_workspace_create(&trainer->workspace, threads > shards ? threads : shards));
  bool complete = allocate_blocks(trainer);
  for (int i = 0; complete && i < trainer->workspace.count; i++) {
    double bytes = fmax(i < shards ? shard : 0, i < threads ? evaluation : 0);
    complete = bytes == 0 || fov_arena_reserve(&trainer->workspace.arenas[i], (size_t)bytes);
  }
  return complete ? FOV_OK
                  : fov_fail(FOV_ERR_MEMORY,
                             "no memory for %d gradients of %zu numbers and %.1f GiB of episodes; "
                             "make train.batch, env.size or the network smaller",
                             shards, trainer->training.task.agent->params.size,
                             fmax(shards * shard, threads * evaluation) / 0x1p30);
}

/** Bytes of an arena in which evaluations between the updates are played: 0 if those of a shard are
 * enough, since it has as many lanes and gradients as well. */
static FovStatus measure_evaluation(double *bytes, const FovTraining *training) {
  *bytes = 0;
  return training->options.shard < FOV_SHARD ? fov_shard_bytes(bytes, &training->task, NULL)
                                             : FOV_OK;
}

/** The part of each update that this rank does. */
static void take_part(FovTrainer *trainer) {
  FovDivision *division = &trainer->division;
  int rank = trainer->training.ranks ? trainer->training.ranks->rank : 0;
  fov_train_divide(division, &trainer->training);
  trainer->rank = rank;
  trainer->first_shard = (int)division->shards[rank];
  trainer->own_shards = (int)(division->shards[rank + 1] - division->shards[rank]);
}

FovStatus fov_trainer_create(FovTrainer **trainer, const FovTraining *training, int threads) {
  double blocks, shards, evaluation;
  *trainer = NULL;
  FOV_TRY(check_options(training));
  FOV_TRY(fov_training_memory(&blocks, &shards, training));
  FOV_TRY(measure_evaluation(&evaluation, training));
  FOV_TRY(fov_memory_check(blocks + fmax(shards, threads * evaluation), "this training"));
  FovTrainer *t = calloc(1, sizeof *t);
  if (!t) return fov_fail(FOV_ERR_MEMORY, "no memory for a trainer");
  const FovParams *params = &training->task.agent->params;
  t->training = *training;
  t->threads = threads;
  t->shards = fov_train_shards(&training->options);
  t->chunks = (int)((params->size + FOV_CHUNK - 1) / FOV_CHUNK);
  take_part(t);
  FovStatus status = allocate(t, shards / arenas_of(t), evaluation);
  if (status != FOV_OK) {
    fov_trainer_destroy(t);
    return status;
  }
  fov_params_init(t->state.value, params, training->seed);
  memcpy(t->state.average, t->state.value, params->size * sizeof(real));
  *trainer = t;
  return FOV_OK;
}

void fov_trainer_destroy(FovTrainer *trainer) {
  if (!trainer) return;
  FovTrainerState *state = &trainer->state;
  fov_workspace_finish(&trainer->workspace);
  fov_train_free_sums(trainer);
  void *owned[] = {state->value, state->first, state->second, state->average, trainer->transposed};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(trainer);
}

/* ---- an update: plan, play, objective, reduce, step ---- */

/** The memory is the shard's, not the worker's: it has its final size after the first update,
 * whichever worker plays the shard. */
static void train_shard(void *context, int task, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  int shard = trainer->first_shard + task;
  FovArena *arena = &trainer->workspace.arenas[task];
  real *gradient = trainer->shard_gradients[shard];
  FovSums *sums = &trainer->shard_sums[shard];
  *sums = (FovSums){0};
  memset(gradient, 0, trainer->training.task.agent->params.size * sizeof(real));
  fov_arena_rewind(arena);
  FovPlan plan = fov_train_plan(trainer, arena, shard);
  fov_train_play(sums, gradient, trainer->state.value, trainer->transposed, arena,
                 &trainer->training, &plan, trainer->state.average_return);
}

/** Copies one parameter. */
static void transpose(void *context, int param, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  fov_param_transpose(trainer->transposed, trainer->state.value,
                      &trainer->training.task.agent->params.list[param]);
}

/** The first number of the gradient that is not finite; SIZE_MAX if all are. Each rank has its
 * range of the gradient. */
static size_t find_not_finite(const FovTrainer *trainer) {
  FovRanks *ranks = trainer->training.ranks;
  size_t found[FOV_MAX_RANKS], first = SIZE_MAX, *mine = &found[trainer->rank];
  *mine = SIZE_MAX;
  for (size_t i = trainer->start; i < trainer->end && *mine == SIZE_MAX; i++)
    if (!isfinite(trainer->partials[0][i - trainer->start])) *mine = i;
  fov_ranks_gather_each(ranks, found, sizeof *found);
  for (int r = 0; r < fov_ranks_count(ranks); r++)
    if (found[r] < first) first = found[r];
  return first;
}

static FovStatus refuse_number(const FovTrainer *trainer) {
  size_t number = find_not_finite(trainer);
  long long update = (long long)trainer->state.update + 1;
  if (number < SIZE_MAX)
    return fov_fail(FOV_ERR_NUMBER,
                    "update %lld: the gradient of %s is not finite; try a lower train.rate or "
                    "train.clip",
                    update, fov_params_name_at(&trainer->training.task.agent->params, number));
  return fov_fail(FOV_ERR_NUMBER, "update %lld: a loss is not finite; try a lower train.rate",
                  update);
}

static bool is_finite(const FovSums *sums, double norm) {
  for (int i = 0; i < FOV_OBJECTIVE_LOSSES; i++) norm += sums->losses[i];
  return isfinite(norm);
}

/** Weight of the newest mean return in the moving-average baseline. */
static const double newest = 0.05;

FovStatus fov_trainer_update(FovTrainer *trainer) {
  FovTrainerState *state = &trainer->state;
  double clip = trainer->training.options.clip;
  FovSums sums;
  if (trainer->transposed)
    fov_team_run(trainer->threads, trainer->training.task.agent->params.count, transpose, trainer);
  fov_team_run(trainer->threads, trainer->own_shards, train_shard, trainer);
  double norm = sqrt(fov_train_reduce(trainer, &sums));
  if (!is_finite(&sums, norm)) return refuse_number(trainer);

  trainer->scale = (real)(clip > 0 && norm > clip ? clip / norm : 1);
  trainer->rate = (real)fov_trainer_rate(trainer);
  fov_train_step(trainer);

  double mean_return = sums.reward / (double)sums.episodes;
  state->average_return += (state->update ? newest : 1) * (mean_return - state->average_return);
  sums.updates = 1;
  sums.gradient_norm = norm;
  fov_sums_add(&state->sums, &sums);
  state->update++;
  return FOV_OK;
}

/* ---- the state of several ranks ---- */

void fov_trainer_gather(FovTrainer *trainer) {
  FovTrainerState *state = &trainer->state;
  real *parts[] = {state->average, state->first, state->second};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    fov_ranks_gather(trainer->training.ranks, parts[i], trainer->division.numbers, sizeof(real));
}

void fov_trainer_broadcast(FovTrainer *trainer) {
  FovTrainerState *state = &trainer->state;
  FovRanks *ranks = trainer->training.ranks;
  size_t bytes = trainer->training.task.agent->params.size * sizeof(real);
  real *blocks[] = {state->value, state->average, state->first, state->second};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    fov_ranks_broadcast(ranks, blocks[i], bytes, 0);
  fov_ranks_broadcast(ranks, &state->update, sizeof state->update, 0);
  fov_ranks_broadcast(ranks, &state->average_return, sizeof state->average_return, 0);
  fov_ranks_broadcast(ranks, &state->sums, sizeof state->sums, 0);
}

/* ---- what others may read ---- */

FovTrainerState *fov_trainer_state(FovTrainer *trainer) {
  return &trainer->state;
}

const real *fov_trainer_weights(const FovTrainer *trainer) {
  return trainer->training.options.average > 0 ? trainer->state.average : trainer->state.value;
}

FovWorkspace *fov_trainer_workspace(FovTrainer *trainer) {
  return &trainer->workspace;
}
