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
                  .predict = training->task.baseline->head.build,
                  .every = o->answer == FOV_TRAIN_ANSWER_EVERY,
                  .augment = true};
  fov_train_enumerate(&plan, arena, training);
  return plan;
}

void fov_train_play(FovSums *sums, real *gradient, const real *values, const real *transposed,
                    FovArena *arena, const FovTraining *training, const FovPlan *plan,
                    double average_return) {
  const FovTask *task = &training->task;
  FovTape tape;
  FovRollout rollout;
  fov_tape_begin(&tape, arena, &task->agent->params, values, gradient);
  if (transposed) fov_tape_add_transposed(&tape, &task->agent->params, transposed);
  fov_rollout_run(&rollout, &tape, task, plan);
  const FovObjectiveInput input = {.task = task,
                                   .rollout = &rollout,
                                   .average_return = average_return,
                                   .batch = training->options.batch,
                                   .copies = training->options.copies,
                                   .every = plan->every};
  training->objective->backward(&tape, sums->losses, &input, training->objective_options);
  fov_tape_backward(&tape);
  sums->episodes += rollout.lanes;
  for (int b = 0; b < rollout.lanes; b++) {
    sums->wrong += rollout.wrong[b];
    sums->glimpses += rollout.glimpses[b];
    sums->reward += rollout.returns[b];
  }
}
