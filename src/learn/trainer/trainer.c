#include "learn/trainer/trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/team.h"
#include "learn/trainer/update.h"

/* ---- creating ---- */

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

/** Bytes of arena i: of a shard, and of a worker's evaluations. */
static double arena_bytes(const FovTrainer *trainer, int i, double shard, double evaluation) {
  return fmax(i < trainer->arenas ? shard : 0, i < trainer->threads ? evaluation : 0);
}

static double bytes_of_arenas(const FovTrainer *trainer, double shard, double evaluation) {
  double sum = 0;
  for (int i = 0; i < trainer->arenas || i < trainer->threads; i++)
    sum += arena_bytes(trainer, i, shard, evaluation);
  return sum;
}

/** Reserves the arenas: `shard` bytes for each shard and `kept` for its rollout, `evaluation` for
 * each worker. Lanes that leave early make updates of different sizes: room for the largest is
 * taken at once. */
static FovStatus allocate(FovTrainer *trainer, double shard, double kept, double evaluation) {
  int shards = trainer->arenas, threads = trainer->threads;
  FOV_TRY(fov_workspace_create(&trainer->workspace, threads > shards ? threads : shards));
  bool complete = allocate_blocks(trainer) && fov_train_allocate_kept(trainer, kept);
  for (int i = 0; complete && i < trainer->workspace.count; i++) {
    double bytes = arena_bytes(trainer, i, shard, evaluation);
    complete = bytes == 0 || fov_arena_reserve(&trainer->workspace.arenas[i], (size_t)bytes);
  }
  return complete
             ? FOV_OK
             : fov_fail(FOV_ERR_MEMORY,
                        "no memory for %d gradients of %zu numbers and %.1f GiB of episodes; "
                        "make train.batch, env.size, env.longest or the network smaller",
                        shards, trainer->training.task.agent->params.size,
                        (shards * kept + bytes_of_arenas(trainer, shard, evaluation)) / 0x1p30);
}

/** Bytes of an arena in which evaluations between the updates are played: 0 if every worker has one
 * of a shard, and that is enough, since it has as many lanes and gradients as well. */
static FovStatus measure_evaluation(double *bytes, const FovTrainer *trainer) {
  const FovTraining *training = &trainer->training;
  bool enough =
      fov_train_lanes(&training->options) >= FOV_SHARD && trainer->threads <= trainer->arenas;
  *bytes = 0;
  return enough ? FOV_OK : fov_shard_bytes(bytes, &training->task, NULL);
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
  FovTrainBytes bytes;
  double evaluation;
  *trainer = NULL;
  FOV_TRY(fov_train_measure(&bytes, training));
  FovTrainer *t = calloc(1, sizeof *t);
  if (!t) return fov_fail(FOV_ERR_MEMORY, "no memory for a trainer");
  const FovParams *params = &training->task.agent->params;
  t->training = *training;
  t->threads = threads;
  t->shards = fov_train_shards(&training->options);
  t->chunks = (int)((params->size + FOV_CHUNK - 1) / FOV_CHUNK);
  t->passes = fov_train_passes(&t->parts, training);
  t->arenas = bytes.arenas;
  take_part(t);
  FovStatus status = measure_evaluation(&evaluation, t);
  if (status == FOV_OK)
    status = fov_memory_check(bytes.blocks + bytes.arenas * bytes.kept +
                                  bytes_of_arenas(t, bytes.shard, evaluation),
                              "this training", "train.batch");
  if (status == FOV_OK) status = allocate(t, bytes.shard, bytes.kept, evaluation);
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
  fov_train_free_kept(trainer);
  void *owned[] = {state->value, state->first, state->second, state->average, trainer->transposed};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(trainer);
}

/* ---- an update: plan, play, objective, reduce, step ---- */

/** Episodes of the next step: of the shards of its part. */
static int episodes_of_step(const FovTrainer *trainer) {
  const FovTrainOptions *o = &trainer->training.options;
  int episodes = 0;
  for (int s = trainer->part; s < trainer->shards; s += trainer->parts) {
    int left = o->batch - s * o->shard;
    episodes += left < o->shard ? left : o->shard;
  }
  return episodes;
}

/** The memory is the shard's, not the worker's: it has its final size after the first update,
 * whichever worker plays the shard. A shard of another part has a gradient of zeros. */
static void train_shard(void *context, int task, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  int shard = trainer->first_shard + task;
  FovArena *arena = &trainer->workspace.arenas[task];
  const FovShardInput input = {.training = &trainer->training,
                               .values = trainer->state.value,
                               .transposed = trainer->transposed,
                               .before = trainer->before ? &trainer->before[task] : NULL,
                               .average_return = trainer->state.average_return,
                               .batch = episodes_of_step(trainer)};
  trainer->shard_sums[shard] = (FovSums){0};
  memset(trainer->shard_gradients[shard], 0,
         trainer->training.task.agent->params.size * sizeof(real));
  if (shard % trainer->parts != trainer->part) return;
  fov_arena_rewind(arena);
  FovPlan plan = fov_train_plan(trainer, arena, shard);
  if (input.before) plan.forced = &input.before->choices;
  fov_train_play(&trainer->shard_sums[shard], trainer->shard_gradients[shard], arena, &plan,
                 &input);
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

/** Second moments are squares of the gradient. */
static FovStatus refuse_norm(const FovTrainer *trainer, double norm) {
  return fov_fail(
      FOV_ERR_NUMBER,
      "update %lld: the norm of the gradient is %.2g, whose square is not finite; try a "
      "lower train.rate or train.clip",
      (long long)trainer->state.update + 1, norm);
}

static bool is_finite(const FovSums *sums, double norm) {
  for (int i = 0; i < FOV_OBJECTIVE_LOSSES; i++) norm += sums->losses[i];
  return isfinite(norm);
}

static void transpose_all(FovTrainer *trainer) {
  if (trainer->transposed)
    fov_team_run(trainer->threads, trainer->training.task.agent->params.count, transpose, trainer);
}

/** A step on the shards of a part. sums: of its episodes; the norm is that of the gradient. */
static FovStatus make_step(FovTrainer *trainer, FovSums *sums) {
  double clip = trainer->training.options.clip;
  transpose_all(trainer);
  fov_team_run(trainer->threads, trainer->own_shards, train_shard, trainer);
  double norm = sqrt(fov_train_reduce(trainer, sums));
  if (!is_finite(sums, norm)) return refuse_number(trainer);
  double left = clip > 0 ? fmin(clip, norm) : norm;
  if (!isfinite((real)(left * left))) return refuse_norm(trainer, left);
  trainer->scale = (real)(left < norm ? left / norm : 1);
  fov_train_step(trainer);
  trainer->step++;
  sums->gradient_norm = norm;
  return FOV_OK;
}

/** All steps of the passes over a batch. sums: outcomes of its episodes; mean losses and norm. */
static FovStatus make_passes(FovTrainer *trainer, FovSums *sums) {
  int passes = trainer->passes, parts = trainer->parts;
  *sums = (FovSums){0};
  transpose_all(trainer);
  fov_train_keep(trainer);
  for (int step = 0; step < passes * parts; step++) {
    FovSums more;
    trainer->part = step % parts;
    FOV_TRY(make_step(trainer, &more));
    for (int i = 0; i < FOV_OBJECTIVE_LOSSES; i++) more.losses[i] /= passes;
    more.gradient_norm /= passes * parts;
    if (step >= parts) more.episodes = more.wrong = more.glimpses = 0, more.reward = 0;
    fov_sums_add(sums, &more);
  }
  return FOV_OK;
}

/** Steps of all updates so far. */
static int64_t steps_done(const FovTrainer *trainer) {
  int steps = trainer->passes > 0 ? trainer->passes * trainer->parts : 1;
  return trainer->state.update * steps;
}

/** Weight of the newest mean return in the moving-average baseline. */
static const double newest = 0.05;

FovStatus fov_trainer_update(FovTrainer *trainer) {
  FovTrainerState *state = &trainer->state;
  FovSums sums;
  trainer->rate = (real)fov_trainer_rate(trainer);
  trainer->step = steps_done(trainer) + 1;
  fov_train_keep_state(trainer);
  FovStatus status = trainer->passes > 0 ? make_passes(trainer, &sums) : make_step(trainer, &sums);
  if (status != FOV_OK) fov_train_restore_state(trainer);
  FOV_TRY(status);

  double mean_return = sums.reward / (double)sums.episodes;
  state->average_return += (state->update ? newest : 1) * (mean_return - state->average_return);
  sums.updates = 1;
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
