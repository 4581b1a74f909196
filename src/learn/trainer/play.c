#include "learn/trainer/update.h"

FovPlan fov_train_plan(const FovTrainer *trainer, FovArena *arena, int shard) {
  const FovTraining *training = &trainer->training;
  const FovTrainOptions *o = &training->options;
  int64_t first = trainer->state.update * o->batch + (int64_t)shard * o->shard;
  int left = o->batch - shard * o->shard, lanes = left < o->shard ? left : o->shard;
  uint64_t seed = training->seed, count = (uint64_t)training->task.env->spec.cases;
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    uint64_t episode = (uint64_t)(first + b), image = episode / (uint64_t)o->copies;
    FovRng order = fov_rng_stream(seed, FOV_STREAM_DATA, image / count);
    cases[b] = (int64_t)fov_rng_permute(image % count, count, order.state);
    env_rng[b] = fov_rng_stream(seed, FOV_STREAM_ENV, image);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_POLICY, episode);
  }
  FovPlan plan = {.lanes = lanes,
                  .cases = cases,
                  .env_rng = env_rng,
                  .policy_rng = policy_rng,
                  .copies = o->copies,
                  .progress = fov_trainer_progress(trainer),
                  .near = fov_train_near(o, fov_trainer_progress(trainer)),
                  .teach = true,
                  .predict = training->task.baseline->head.build,
                  .every = o->answer == FOV_TRAIN_ANSWER_EVERY,
                  .augment = true};
  fov_train_enumerate(&plan, arena, training);
  return plan;
}

/** An episode of every lane with the likeliest choices, from the same start; advances no generator
 * of the plan. */
static FovRollout *play_deterministic(FovArena *arena, const FovPlan *plan,
                                      const FovShardInput *input) {
  size_t bytes = (size_t)plan->lanes * sizeof(FovRng);
  FovRollout *rollout = FOV_NEW(arena, FovRollout, 1);
  FovPlan same = *plan;
  same.env_rng = memcpy(fov_arena_alloc(arena, bytes), plan->env_rng, bytes);
  same.policy_rng = memcpy(fov_arena_alloc(arena, bytes), plan->policy_rng, bytes);
  same.deterministic = true;
  same.predict = same.every = false;
  fov_train_play_kept(rollout, arena, &same, input);
  return rollout;
}

/** Objectives compare the two step by step and lane by lane. */
static void check_repeated(const FovRollout *now, const FovRollout *before) {
  FOV_CHECK(now->time_steps == before->time_steps, "%d time steps repeat %d", now->time_steps,
            before->time_steps);
  for (int t = 0; t < now->time_steps; t++)
    FOV_CHECK(now->at[t].count == before->at[t].count, "%d lanes repeat %d", now->at[t].count,
              before->at[t].count);
}

static void add_outcomes(FovSums *sums, const FovRollout *rollout) {
  sums->episodes += rollout->lanes;
  for (int b = 0; b < rollout->lanes; b++) {
    sums->wrong += rollout->wrong[b];
    sums->glimpses += rollout->glimpses[b];
    sums->reward += rollout->returns[b];
  }
}

void fov_train_play(FovSums *sums, real *gradient, FovArena *arena, const FovPlan *plan,
                    const FovShardInput *input) {
  const FovTraining *training = input->training;
  const FovTask *task = &training->task;
  FovTape tape;
  FovRollout rollout;
  const FovRollout *deterministic =
      task->baseline->deterministic ? play_deterministic(arena, plan, input) : NULL;
  fov_tape_begin(&tape, arena, &task->agent->params, input->values, gradient);
  if (input->transposed) fov_tape_add_transposed(&tape, &task->agent->params, input->transposed);
  fov_rollout_run(&rollout, &tape, task, plan);
  if (input->before) check_repeated(&rollout, input->before);
  const FovTrainOptions *o = &training->options;
  const FovObjectiveInput seen = {.task = task,
                                  .rollout = &rollout,
                                  .before = input->before,
                                  .deterministic = deterministic,
                                  .average_return = input->average_return,
                                  .batch = input->batch,
                                  .copies = o->copies,
                                  .answers = fov_train_answer_weights(o, task->options.glimpses)};
  training->objective->backward(&tape, sums->losses, &seen, training->objective_options);
  fov_tape_backward(&tape);
  // A repeated rollout has other rewards if they depend on the parameters.
  add_outcomes(sums, input->before ? input->before : &rollout);
}
