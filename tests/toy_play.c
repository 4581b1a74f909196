#include "toy_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* ---- rollouts ---- */

void toy_play_begin(ToyPlay *play, const Toy *toy, const real *values, real *gradient, int first,
                    int lanes) {
  *play = (ToyPlay){0};
  fov_tape_begin(&play->tape, &play->arena, &toy->experiment.agent.params, values, gradient);
  play->plan = fov_plan_cases(&play->arena, first, lanes, 9, FOV_SPLIT_TRAIN, 0);
  play->plan.predict = toy->task.baseline->head.build;
  play->plan.every = true;
  memcpy(play->start, play->plan.policy_rng, (size_t)lanes * sizeof(FovRng));
}

void toy_play_run(ToyPlay *play, const Toy *toy) {
  fov_rollout_run(&play->rollout, &play->tape, &toy->task, &play->plan);
}

void toy_play_finish(ToyPlay *play) {
  fov_arena_finish(&play->arena);
}

void toy_play(ToyPlay *play, const Toy *toy, const real *values, int lanes) {
  toy_play_begin(play, toy, values, NULL, 0, lanes);
  toy_play_run(play, toy);
}

void toy_play_backward(ToyPlay *play, const Toy *toy) {
  double losses[FOV_OBJECTIVE_LOSSES] = {0};
  FovAnswerWeights equal = fov_train_answer_weights(
      &(FovTrainOptions){.answer = FOV_TRAIN_ANSWER_EVERY}, toy->task.options.glimpses);
  const FovObjectiveInput input = {.task = &toy->task,
                                   .rollout = &play->rollout,
                                   .batch = play->plan.lanes,
                                   .copies = 1,
                                   .answers = equal};
  toy->training.objective->backward(&play->tape, losses, &input, toy->training.objective_options);
  fov_tape_backward(&play->tape);
}

int toy_place_in(const FovTimeStep *step, int b) {
  for (int i = 0; i < step->count; i++)
    if (step->lanes[i] == b) return i;
  return -1;
}

int toy_likeliest(const real *p) {
  return p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2;
}

const char *const toy_ragged[TOY_RAGGED] = {
    "env = toy_turns\nglimpses = 2\n",
    "env = toy_game\nglimpses = 2\ncore = lstm\n",
    "env = toy\nglimpses = 6\nstop = confident\nstop.threshold = 0.8\n",
    "env = toy\nglimpses = 6\nstop = learned\nfirst = learned\n",
    "env = toy_turns\nglimpses = 3\nstop = learned\nstop.cost = 0.0625\n",
    "env = toy_turns\nglimpses = 3\nstop = confident\nstop.threshold = 0.6\npolicy = random\n",
    "env = toy_game\nglimpses = 3\nstop = learned\nfirst = random\ncore = lstm\n",
    "env = toy\nglimpses = 4\nstop = learned\nfirst = learned\nattention = gumbel\n" TOY_SITES
    "tiles.keys = values\n",
    "env = toy_game\nglimpses = 3\nstop = learned\nattention = sampled\n" TOY_SITES TOY_COARSE,
    "env = toy_turns\nglimpses = 3\nstop = learned\nfirst = learned\nattention = "
    "straight_through\nscore = location\n" TOY_SITES,
    "env = toy\nglimpses = 4\nstop = learned\nattention = sampled\n" TOY_SITES TOY_BLOCKS,
    "env = toy_find\nglimpses = 2\ncore = gru\n",
    "env = toy_walk\nglimpses = 1\nfirst = random\nglimpse.where = 0\npolicy = relative\n",
    "env = toy_walk\nglimpses = 2\nstop = learned\npolicy = random\ncore = lstm\n",
    TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\nscore = additive\n",
    TOY_SEQUENCE TOY_RNN
    "attention = sampled\npolicy = sites\nfirst = learned\ncore = gru\ntiles.values = own\n",
    TOY_SEQUENCE "attention = local_p\npolicy = centre\n" TOY_BLOCKS,
};

/* ---- trainings ---- */

void toy_gradient(real *gradient, FovTrainer *trainer, const Toy *toy, const real *values,
                  bool go_on) {
  FovTrainerState *state = fov_trainer_state(trainer);
  if (!go_on) state->update = 0;
  state->sums = (FovSums){0};
  memcpy(state->value, values, toy_block_bytes(toy));
  memset(state->first, 0, toy_block_bytes(toy));
  toy_train(trainer, 1);
  for (size_t i = 0; i < toy->experiment.agent.params.size; i++)
    gradient[i] = values[i] - state->value[i];
}

void toy_copy_shared(real *to, const FovParams *to_params, const real *from,
                     const FovParams *from_params) {
  for (int i = 0; i < to_params->count; i++)
    for (int j = 0; j < from_params->count; j++)
      if (!strcmp(to_params->list[i].name, from_params->list[j].name))
        memcpy(to + to_params->list[i].offset, from + from_params->list[j].offset,
               toy_count(&to_params->list[i]) * sizeof(real));
}

real *toy_skilled_values(const Toy *toy) {
  const FovParams *params = &toy->experiment.agent.params;
  real *values = fov_params_block(params);
  assert_non_null(values);
  fov_params_init(values, params, 0);
  Toy skilled;
  toy_create(&skilled, "glimpses = 2\nenv.cases = 6\ntrain.batch = 96\npolicy = random\n"
                       "baseline = none\ntrain.rate = 0.01\n");
  FovTrainer *trainer = toy_trainer(&skilled, 1);
  toy_train(trainer, 300);
  toy_copy_shared(values, params, fov_trainer_state(trainer)->value,
                  &skilled.experiment.agent.params);
  size_t bias = toy_param(toy, "location.bias")->offset;
  values[bias] = values[bias + 1] = (real)0.3;
  fov_trainer_destroy(trainer);
  toy_finish(&skilled);
  return values;
}

FovEvalResult toy_evaluate(const Toy *toy, const real *values, int rollouts, int threads) {
  FovWorkspace workspace;
  FovEvalResult result;
  assert_int_equal(fov_workspace_create(&workspace, threads), FOV_OK);
  const FovEvalRequest request = {.task = &toy->task,
                                  .values = values,
                                  .cases = toy->env.spec.cases,
                                  .rollouts = rollouts,
                                  .seed = 9,
                                  .threads = threads};
  assert_int_equal(fov_evaluate(&result, &request, &workspace), FOV_OK);
  fov_workspace_finish(&workspace);
  return result;
}
