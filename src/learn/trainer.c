#include "learn/trainer.h"

#include <stdlib.h>

#include "base/profile.h"
#include "base/team.h"
#include "learn/schedule.h"
#include "tensor/ops.h"

static const char *const schedules[] = {"constant", "linear", "cosine", NULL};

enum { ANSWER_LAST, ANSWER_EVERY };
static const char *const answers[] = {[ANSWER_LAST] = "last", [ANSWER_EVERY] = "every", NULL};

const FovOption fov_train_options[] = {
    FOV_LONG(FovTrainOptions, episodes, "1000000", 1, 1e12, "episodes of the whole training"),
    FOV_INT(FovTrainOptions, batch, "256", 1, 65536, "B: episodes of one update"),
    FOV_INT(FovTrainOptions, copies, "1", 1, FOV_SHARD,
            "K: episodes on the same image; divides batch and 64"),
    FOV_REAL(FovTrainOptions, rate, "1e-3", 0, 100, "learning rate"),
    FOV_CHOICE(FovTrainOptions, schedule, "cosine", schedules,
               "of the learning rate; linear and cosine end at 0"),
    FOV_REAL(FovTrainOptions, warmup, "0.01", 0, 1,
             "share of the training over which the rate rises from 0"),
    FOV_REAL(FovTrainOptions, clip, "5", 0, 1e9, "global norm that gradients are cut to; 0: none"),
    FOV_REAL(FovTrainOptions, average, "0.999", 0, 0.999999,
             "decay of the averaged weights that are evaluated; 0: none"),
    FOV_REAL(FovTrainOptions, reinforce, "1", 0, 1e6, "weight of the policy's loss"),
    FOV_REAL(FovTrainOptions, entropy, "0", 0, 1000,
             "weight of the entropy of moves and of stopping, against deciding too early"),
    FOV_REAL(FovTrainOptions, regression, "1", 0, 1e6, "weight of the baseline's loss"),
    FOV_CHOICE(FovTrainOptions, answer, "last", answers,
               "glimpses after which an answer is trained"),
    FOV_OPTIONS_END,
};

/** Numbers of a block that one task reduces and steps: fixed, so that sums have one order. */
enum { CHUNK = 4096 };

struct FovTrainer {
  FovTraining training;
  FovTrainerState state;
  FovWorkspace workspace;
  int threads, shards, chunks;
  real *gradient, **shard_gradients;
  FovSums *shard_sums;
  double *chunk_squares;
  real scale, rate; /**< of the step at hand */
};

static FovStatus check_options(const FovTraining *training) {
  const FovTrainOptions *o = &training->options;
  if (o->batch % o->copies != 0 || FOV_SHARD % o->copies != 0)
    return fov_fail(FOV_ERR_USAGE,
                    "train.copies = %d: expected a number that divides train.batch = %d and %d",
                    o->copies, o->batch, FOV_SHARD);
  if (o->copies < training->baseline->least_copies)
    return fov_fail(FOV_ERR_USAGE, "baseline = %s needs train.copies of %d or more, found %d",
                    training->baseline->plugin.name, training->baseline->least_copies, o->copies);
  if (training->estimator->predicts && !training->baseline->learned)
    return fov_fail(FOV_ERR_USAGE, "estimator = %s needs baseline = learned, found %s",
                    training->estimator->plugin.name, training->baseline->plugin.name);
  return fov_task_check(&training->task);
}

static int shards_of(const FovTrainOptions *o) {
  return (o->batch + FOV_SHARD - 1) / FOV_SHARD;
}

/** What an arena holds: a shard, or what the optimiser needs for a parameter. */
static double arena_bytes(const FovTraining *training) {
  const FovParams *params = &training->task.agent->params;
  double bytes = fov_shard_bytes(&training->task);
  for (int i = 0; training->optimiser->scratch && i < params->count; i++) {
    const FovParam *param = &params->list[i];
    double scratch = (double)training->optimiser->scratch(param->rows, param->cols) * sizeof(real);
    if (scratch > bytes) bytes = scratch;
  }
  return bytes;
}

void fov_training_memory(double *blocks, double *shards, const FovTraining *training) {
  // Values, two time_steps, average and gradient; then every shard has a gradient and an arena.
  double block = (double)training->task.agent->params.size * sizeof(real);
  double count = shards_of(&training->options);
  *blocks = (5 + count) * block;
  *shards = count * arena_bytes(training);
}

static FovStatus check_memory(const FovTraining *training) {
  double blocks, shards;
  fov_training_memory(&blocks, &shards, training);
  return fov_memory_check(blocks + shards, "this training");
}

static FovStatus allocate(FovTrainer *trainer) {
  const FovParams *params = &trainer->training.task.agent->params;
  FovTrainerState *state = &trainer->state;
  int arenas = trainer->threads > trainer->shards ? trainer->threads : trainer->shards;
  FOV_TRY(fov_workspace_create(&trainer->workspace, arenas));
  trainer->shard_gradients = calloc((size_t)trainer->shards, sizeof *trainer->shard_gradients);
  trainer->shard_sums = calloc((size_t)trainer->shards, sizeof *trainer->shard_sums);
  trainer->chunk_squares = calloc((size_t)trainer->chunks, sizeof *trainer->chunk_squares);
  real **blocks[] = {&state->value, &state->first, &state->second, &state->average,
                     &trainer->gradient};
  bool complete = trainer->shard_gradients && trainer->shard_sums && trainer->chunk_squares;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    complete = (*blocks[i] = fov_params_block(params)) && complete;
  for (int s = 0; trainer->shard_gradients && s < trainer->shards; s++)
    complete = (trainer->shard_gradients[s] = fov_params_block(params)) && complete;
  // Lanes that leave early make updates of different sizes: room for the largest is taken at once.
  double bytes = arena_bytes(&trainer->training);
  for (int s = 0; complete && s < trainer->shards; s++)
    complete = fov_arena_reserve(&trainer->workspace.arenas[s], (size_t)bytes);
  return complete ? FOV_OK
                  : fov_fail(FOV_ERR_MEMORY,
                             "no memory for %d gradients of %zu numbers and %.1f GiB of episodes; "
                             "make train.batch, env.size or the network smaller",
                             trainer->shards, params->size, trainer->shards * bytes / 0x1p30);
}

FovStatus fov_trainer_create(FovTrainer **trainer, const FovTraining *training, int threads) {
  *trainer = NULL;
  FOV_TRY(check_options(training));
  FOV_TRY(check_memory(training));
  FovTrainer *t = calloc(1, sizeof *t);
  if (!t) return fov_fail(FOV_ERR_MEMORY, "no memory for a trainer");
  const FovParams *params = &training->task.agent->params;
  t->training = *training;
  t->threads = threads;
  t->shards = shards_of(&training->options);
  t->chunks = (int)((params->size + CHUNK - 1) / CHUNK);
  FovStatus status = allocate(t);
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
  for (int s = 0; trainer->shard_gradients && s < trainer->shards; s++)
    free(trainer->shard_gradients[s]);
  void *owned[] = {state->value,        state->first,          state->second,
                   state->average,      trainer->gradient,     trainer->shard_gradients,
                   trainer->shard_sums, trainer->chunk_squares};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(trainer);
}

/** Plans the lanes of a shard of the next update: every epoch sees each case once, in an order of
 * its own; the copies of an image share its environment stream. */
static FovPlan plan_shard(const FovTrainer *trainer, FovArena *arena, int shard) {
  const FovTrainOptions *o = &trainer->training.options;
  int64_t first = trainer->state.update * o->batch + (int64_t)shard * FOV_SHARD;
  int left = o->batch - shard * FOV_SHARD, lanes = left < FOV_SHARD ? left : FOV_SHARD;
  uint64_t seed = trainer->training.seed, cases = (uint64_t)trainer->training.task.env->spec.cases;
  int64_t *plan_cases = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    uint64_t episode = (uint64_t)(first + b), image = episode / (uint64_t)o->copies;
    FovRng order = fov_rng_stream(seed, FOV_STREAM_DATA, image / cases);
    plan_cases[b] = (int64_t)fov_rng_permute(image % cases, cases, order.state);
    env_rng[b] = fov_rng_stream(seed, FOV_STREAM_ENV, image);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_POLICY, episode);
  }
  return (FovPlan){
      .lanes = lanes,
      .cases = plan_cases,
      .env_rng = env_rng,
      .policy_rng = policy_rng,
      .choice = fov_task_choice(&trainer->training.task, fov_trainer_progress(trainer), false),
      .predict = trainer->training.baseline->learned,
      .every = o->answer == ANSWER_EVERY};
}

/** The answers' share of the hybrid loss: cross-entropy of the true labels. */
static void seed_answers(FovTape *tape, FovSums *sums, const FovTraining *training,
                         const FovRollout *rollout) {
  const FovTrainOptions *o = &training->options;
  bool every = o->answer == ANSWER_EVERY;
  double weight = 1.0 / o->batch / (every ? training->task.agent->options.glimpses : 1);
  if (training->task.env->spec.answer == FOV_ANSWER_MOVE) return;
  for (int t = 1; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    if (!step->logits) continue;
    real *seed = FOV_NEW(tape->arena, real, step->count);
    FovVar *loss = fov_cross_entropy(tape, NULL, step->logits, step->labels);
    for (int i = 0; i < step->count; i++) {
      bool answered = step->events[i] & FOV_EVENT_ACT;
      seed[i] = (real)(every || answered ? weight : 0);
      if (answered) sums->class_loss += loss->value[i];
    }
    fov_tape_add_grad(tape, loss, seed);
  }
}

/** Whether lane i of a step made a choice: looked, if only at random, acted or decided by a
 * policy. What follows a step where it made none depends on nobody: whether the head ran there
 * for others must not matter. */
static bool chose(const FovTimeStep *step, int i) {
  int choices = FOV_EVENT_LOOK | (step->log_act ? FOV_EVENT_ACT : 0) |
                (step->log_stop ? FOV_EVENT_DECIDE : 0);
  return step->events[i] & choices;
}

/** The baseline's share: squared error of b_t to the return R_t, where something was chosen. */
static void seed_baseline(FovTape *tape, FovSums *sums, const FovRollout *rollout,
                          const FovTrainOptions *o) {
  double total = 0, predicted = 0;
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    int n = step->count;
    if (!step->baseline) continue;
    real *seed = FOV_NEW(tape->arena, real, n), *target = FOV_NEW(tape->arena, real, n);
    for (int i = 0; i < n; i++) {
      seed[i] = chose(step, i) ? (real)(o->regression / o->batch) : 0;
      target[i] = rollout->returns[t * rollout->lanes + step->lanes[i]];
    }
    FovVar *loss = fov_squared_error(tape, step->baseline, target);
    fov_tape_add_grad(tape, loss, seed);
    for (int i = 0; i < n; i++) {
      total += chose(step, i) ? 2 * loss->value[i] : 0;
      predicted += chose(step, i);
    }
  }
  if (predicted > 0) sums->baseline_loss += total / predicted * rollout->lanes;
}

/** The head's predictions, gathered as [M, B]. Where nothing was chosen, what is earned is known.
 */
static real *gather_predictions(FovArena *arena, const FovRollout *rollout) {
  size_t size = (size_t)rollout->time_steps * rollout->lanes;
  real *predicted = FOV_NEW(arena, real, size);
  memcpy(predicted, rollout->returns, size * sizeof *predicted);
  for (int t = 0; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    for (int i = 0; step->baseline && i < step->count; i++)
      if (chose(step, i)) predicted[t * rollout->lanes + step->lanes[i]] = step->baseline->value[i];
  }
  return predicted;
}

/**
 * Seeds log π where the lanes chose it, with their weights [B]; log_prob may be NULL.
 *
 * The entropy H = −E[log π] has the gradient −E[∇log π · log π], of which a sample is at hand
 * (Williams and Peng 1991).
 */
static void seed_choices(FovTape *tape, FovVar *log_prob, const FovTimeStep *step, FovEvent event,
                         const real *weights, double entropy) {
  if (!log_prob) return;
  real *seed = FOV_NEW(tape->arena, real, step->count);
  for (int i = 0; i < step->count; i++)
    seed[i] =
        step->events[i] & event ? weights[step->lanes[i]] + (real)entropy * log_prob->value[i] : 0;
  fov_tape_add_grad(tape, log_prob, seed);
}

/** The policy's share: log π of each choice, weighted by the estimator. */
static void seed_policy(FovTape *tape, const FovTraining *training, const FovRollout *rollout,
                        double average_return) {
  int M = rollout->time_steps, B = rollout->lanes;
  double entropy = training->options.entropy / training->options.batch;
  real *b = FOV_NEW(tape->arena, real, M * B), *weights = FOV_NEW(tape->arena, real, M * B);
  FovBaselineInput input = {.returns = rollout->returns,
                            .predicted = gather_predictions(tape->arena, rollout),
                            .average = (real)average_return,
                            .time_steps = M,
                            .lanes = B,
                            .copies = training->options.copies};
  training->baseline->values(b, &input);
  training->estimator->weights(weights, rollout->returns, b, M, B, training->estimator_options);
  for (int i = 0; i < M * B; i++)
    weights[i] *= (real)(training->options.reinforce / training->options.batch);
  for (int t = 0; t < M; t++) {
    const FovTimeStep *step = &rollout->at[t];
    // A normal distribution of fixed width has an entropy that nothing can change.
    seed_choices(tape, step->log_look, step, FOV_EVENT_LOOK, weights + t * B, 0);
    seed_choices(tape, step->log_act, step, FOV_EVENT_ACT, weights + t * B, entropy);
    seed_choices(tape, step->log_stop, step, FOV_EVENT_DECIDE, weights + t * B, entropy);
  }
}

static void train_shard(void *context, int shard, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  const FovTraining *training = &trainer->training;
  const FovParams *params = &training->task.agent->params;
  // The memory is the shard's, not the worker's: it has its final size after the first update,
  // whichever worker comes by.
  FovArena *arena = &trainer->workspace.arenas[shard];
  FovSums *sums = &trainer->shard_sums[shard];
  *sums = (FovSums){0};
  fov_arena_rewind(arena);
  memset(trainer->shard_gradients[shard], 0, params->size * sizeof(real));

  FovTape tape;
  FovRollout rollout;
  fov_tape_begin(&tape, arena, params, trainer->state.value, trainer->shard_gradients[shard]);
  FovPlan plan = plan_shard(trainer, arena, shard);
  fov_rollout_run(&rollout, &tape, &training->task, &plan);
  seed_answers(&tape, sums, training, &rollout);
  seed_baseline(&tape, sums, &rollout, &training->options);
  seed_policy(&tape, training, &rollout, trainer->state.average_return);
  fov_tape_backward(&tape);

  sums->episodes = rollout.lanes;
  for (int b = 0; b < rollout.lanes; b++) {
    sums->wrong += rollout.wrong[b];
    sums->glimpses += rollout.glimpses[b];
    sums->reward += rollout.returns[b];
  }
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

static size_t chunk_size(const FovTrainer *trainer, int chunk) {
  size_t left = trainer->training.task.agent->params.size - (size_t)chunk * CHUNK;
  return left < CHUNK ? left : CHUNK;
}

/** Adds the shards' gradients in order and sums their squares. */
static void reduce_chunk(void *context, int chunk, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  FovPhase before = fov_profile_enter(FOV_PHASE_REDUCE);
  size_t start = (size_t)chunk * CHUNK, count = chunk_size(trainer, chunk);
  real *gradient = trainer->gradient + start;
  memcpy(gradient, trainer->shard_gradients[0] + start, count * sizeof(real));
  for (int s = 1; s < trainer->shards; s++)
    add_block(gradient, trainer->shard_gradients[s] + start, count);
  trainer->chunk_squares[chunk] = sum_squares(gradient, count);
  fov_profile_enter(before);
}

FOV_KERNEL static void average_block(real *restrict average, const real *restrict value, real gain,
                                     size_t count) {
  for (size_t i = 0; i < count; i++) average[i] += gain * (value[i] - average[i]);
}

/** Steps `count` numbers from `start`; `step` says what else the optimiser has to know. */
static void step_range(FovTrainer *trainer, size_t start, size_t count, FovOptimiserStep step) {
  FovTrainerState *state = &trainer->state;
  FovPhase before = fov_profile_enter(FOV_PHASE_OPTIMISE);
  step.value = state->value + start;
  step.first = state->first + start;
  step.second = state->second + start;
  step.gradient = trainer->gradient + start;
  step.count = count;
  step.scale = trainer->scale;
  step.rate = trainer->rate;
  step.update = state->update + 1;
  trainer->training.optimiser->step(&step, trainer->training.optimiser_options);
  // Polyak's average, with a short memory at first so that the initial weights are soon forgotten.
  double done = (double)state->update, young = (1 + done) / (10 + done);
  double decay = trainer->training.options.average;
  average_block(state->average + start, state->value + start,
                (real)(1 - (young < decay ? young : decay)), count);
  fov_profile_enter(before);
}

static void step_chunk(void *context, int chunk, int worker) {
  (void)worker;
  FovTrainer *trainer = context;
  int count = (int)chunk_size(trainer, chunk);
  step_range(trainer, (size_t)chunk * CHUNK, (size_t)count,
             (FovOptimiserStep){.rows = 1, .cols = count});
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

static void take_step(FovTrainer *trainer) {
  int few = trainer->threads < trainer->shards ? trainer->threads : trainer->shards;
  if (trainer->training.optimiser->scratch) // in a shard's arena each
    fov_team_run(few, trainer->training.task.agent->params.count, step_param, trainer);
  else
    fov_team_run(trainer->threads, trainer->chunks, step_chunk, trainer);
}

static FovStatus refuse_number(const FovTrainer *trainer) {
  const FovParams *params = &trainer->training.task.agent->params;
  for (size_t i = 0; i < params->size; i++)
    if (!isfinite(trainer->gradient[i]))
      return fov_fail(FOV_ERR_NUMBER,
                      "update %lld: the gradient of %s is not finite; try a lower train.rate or "
                      "train.clip",
                      (long long)trainer->state.update + 1, fov_params_name_at(params, i));
  return fov_fail(FOV_ERR_NUMBER, "update %lld: a loss is not finite; try a lower train.rate",
                  (long long)trainer->state.update + 1);
}

static void add_sums(FovSums *sums, const FovSums *more) {
  sums->episodes += more->episodes;
  sums->wrong += more->wrong;
  sums->glimpses += more->glimpses;
  sums->reward += more->reward;
  sums->class_loss += more->class_loss;
  sums->baseline_loss += more->baseline_loss;
}

FovStatus fov_trainer_update(FovTrainer *trainer) {
  FovTrainerState *state = &trainer->state;
  const FovTrainOptions *o = &trainer->training.options;
  fov_team_run(trainer->threads, trainer->shards, train_shard, trainer);
  fov_team_run(trainer->threads, trainer->chunks, reduce_chunk, trainer);

  FovSums sums = {.updates = 1};
  double squares = 0;
  for (int s = 0; s < trainer->shards; s++) add_sums(&sums, &trainer->shard_sums[s]);
  for (int c = 0; c < trainer->chunks; c++) squares += trainer->chunk_squares[c];
  double norm = sqrt(squares);
  if (!isfinite(norm + sums.class_loss + sums.baseline_loss)) return refuse_number(trainer);

  trainer->scale = (real)(o->clip > 0 && norm > o->clip ? o->clip / norm : 1);
  trainer->rate = (real)fov_trainer_rate(trainer);
  take_step(trainer);

  double mean_return = sums.reward / (double)sums.episodes;
  state->average_return += (state->update ? 0.05 : 1) * (mean_return - state->average_return);
  add_sums(&state->sums, &sums);
  state->sums.updates++;
  state->sums.gradient_norm += norm;
  state->update++;
  return FOV_OK;
}

FovTrainerState *fov_trainer_state(FovTrainer *trainer) {
  return &trainer->state;
}

const real *fov_trainer_weights(const FovTrainer *trainer) {
  return trainer->training.options.average > 0 ? trainer->state.average : trainer->state.value;
}

int64_t fov_train_updates_planned(const FovTrainOptions *options) {
  return (options->episodes + options->batch - 1) / options->batch;
}

int64_t fov_trainer_updates_planned(const FovTrainer *trainer) {
  return fov_train_updates_planned(&trainer->training.options);
}

double fov_trainer_progress(const FovTrainer *trainer) {
  return (double)trainer->state.update / (double)fov_trainer_updates_planned(trainer);
}

double fov_trainer_rate(const FovTrainer *trainer) {
  const FovTrainOptions *o = &trainer->training.options;
  // The middle of the update stands for it, so that neither the first nor the last has a rate of 0.
  double middle =
      ((double)trainer->state.update + 0.5) / (double)fov_trainer_updates_planned(trainer);
  return o->rate * fov_schedule((FovSchedule)o->schedule, middle < 1 ? middle : 1, o->warmup);
}

FovWorkspace *fov_trainer_workspace(FovTrainer *trainer) {
  return &trainer->workspace;
}
