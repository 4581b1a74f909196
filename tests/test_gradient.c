/** The gradient of a training, against differences of its loss, and which parameters it reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/objective/policy_gradient.h"
#include "toy_play.h"

#ifdef FOV_DOUBLE // In single precision the steps are so long that they cross the kinks of ReLUs.

/** The loss whose gradient the trainer computes when no choice is sampled from a learned policy. */
static double loss_of(FovTrainer *trainer, const Toy *toy, const real *values, real *scratch) {
  toy_gradient(scratch, trainer, toy, values, false);
  const FovSums *sums = &fov_trainer_state(trainer)->sums;
  // Half the squared error at each of the two glimpses with a prediction: their sum is the mean
  // square.
  return (sums->losses[0] + sums->losses[1]) / (double)sums->episodes;
}

/** Each parameter's gradient along a random direction, against a central difference of the loss. */
static void check_gradient(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  const FovParams *params = &toy.experiment.agent.params;
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = toy_lively_values(&toy), *moved = toy_copy(&toy, values);
  real *gradient = toy_copy(&toy, values), *scratch = toy_copy(&toy, values);
  toy_gradient(gradient, trainer, &toy, values, false);
  const double h = 1e-6;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    FovRng rng = fov_rng_stream(7, FOV_STREAM_INIT, (uint64_t)i);
    double slope = 0, loss[2];
    real direction[1024];
    assert_in_range(toy_count(param), 1, 1024);
    for (size_t j = 0; j < toy_count(param); j++) {
      direction[j] = fov_rng_normal(&rng) / (real)sqrt((double)toy_count(param));
      slope += (double)direction[j] * (double)gradient[param->offset + j];
    }
    for (int side = 0; side < 2; side++) {
      memcpy(moved, values, toy_block_bytes(&toy));
      for (size_t j = 0; j < toy_count(param); j++)
        moved[param->offset + j] += (real)(side ? h : -h) * direction[j];
      loss[side] = loss_of(trainer, &toy, moved, scratch);
    }
    double difference = (loss[1] - loss[0]) / (2 * h);
    if (!(fabs(slope - difference) <= 1e-6 * (1 + fabs(difference))))
      fail_msg("%s: gradient of %s is %.9g, difference %.9g", settings, param->name, slope,
               difference);
  }
  free(values), free(moved), free(gradient), free(scratch);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

#define LOCAL TOY_PLAIN TOY_TILES "baseline = none\nglimpse.width = 9\n"
#define TILES LOCAL "attention = soft\n"

#define WINDOW TOY_PLAIN "baseline = none\n" TOY_WINDOW

#define NO_POLICY TOY_PLAIN "policy = random\nbaseline = learned\n"

static void test_the_gradient_equals_differences_of_the_loss(void **state) {
  (void)state;
  check_gradient(NO_POLICY "core = rnn\n");
  check_gradient(NO_POLICY "core = lstm\n");
  check_gradient(NO_POLICY "core = gru\n");
  check_gradient(NO_POLICY "core = none\n");
  check_gradient(NO_POLICY "core = gru\ntime = yes\n");
  check_gradient(NO_POLICY "core = gru\nglimpse.join = scale\n");
  check_gradient(NO_POLICY "core = rnn\nlayers = 2\n");
  check_gradient(NO_POLICY TOY_TWO_LAYERS "core = rnn\n");
  check_gradient(NO_POLICY TOY_TWO_LAYERS "core = lstm\n");
  check_gradient(NO_POLICY TOY_TWO_LAYERS "core = gru\n");
  check_gradient(NO_POLICY "encoder = conv\n" TOY_SMALL_FILTERS "sensor.scales = 2\n");
  check_gradient(NO_POLICY "encoder = conv\nencoder.filters = 3\nencoder.side = 2\n"
                           "encoder.stride = 1\nencoder.second = 2\nsensor.scales = 2\n");
  check_gradient(TILES "core = lstm\ntiles.heads = 3\ntiles.keys = values\n");
  check_gradient(TILES TOY_TWO_LAYERS "core = rnn\n");
  check_gradient(TILES TOY_COARSE "core = gru\n");
  check_gradient(TILES "tiles.keys = coarse\ntiles.cells = 3\ntiles.heads = 3\nscore = additive\n");
  check_gradient(WINDOW "draw\nsensor.gain = 2\n" TOY_TWO_LAYERS);
  check_gradient(WINDOW "draw\nencoder = conv\n" TOY_SMALL_FILTERS);
  check_gradient(WINDOW "spatial_transformer\ncore = lstm\n");
  check_gradient(TILES "glimpse.join = scale\n");
  check_gradient(WINDOW "draw\nglimpse.join = scale\n");
  check_gradient(TILES TOY_BLOCKS);
  check_gradient(TILES TOY_BLOCKS "core = attention\ncore.hidden = 7\ntiles.keys = values\n"
                                  "tiles.heads = 3\n");
  check_gradient(TOY_PLAIN "policy = centre\ntiles.side = 4\ntiles.width = 6\nbaseline = none\n"
                           "attention = local_m\nattention.distance = 2\ntiles.heads = 3\n");
  check_gradient(LOCAL "attention = local_p\nattention.distance = 3\ntiles.heads = 3\n");
  check_gradient(TOY_PLAIN TOY_TILES "baseline = none\nglimpse.width = 8\nattention = repeat\n"
                                     "tiles.rnn = lstm\n");
  check_gradient(LOCAL "attention = first\n");
  for (const FovScore *const *score = fov_scores; *score; score++) {
    char settings[512];
    snprintf(settings, sizeof settings, TILES "tiles.heads = 3\nscore = %s\n",
             (*score)->plugin.name);
    check_gradient(settings);
  }
}

#define SYMBOLS TOY_PLAIN "baseline = none\npolicy = centre\ntiles.width = 6\n" TOY_SEQUENCE

static void test_the_gradient_of_sequences_equals_differences(void **state) {
  (void)state;
  check_gradient(SYMBOLS "attention = soft\ncore = gru\ntiles.heads = 2\n" TOY_RNN);
  check_gradient(SYMBOLS "attention = soft\ncore = lstm\ntiles.rnn = lstm\nscore = additive\n");
  check_gradient(SYMBOLS "attention = soft\nscore = location\n" TOY_BLOCKS);
  check_gradient(SYMBOLS "attention = soft\ncore = attention\ncore.hidden = 7\n"
                         "time = yes\n" TOY_BLOCKS);
  check_gradient(SYMBOLS "attention = soft\ntiles.values = own\n" TOY_RNN);
  check_gradient(SYMBOLS "attention = repeat\n" TOY_RNN);
  check_gradient(SYMBOLS "attention = repeat\n" TOY_BLOCKS);
  check_gradient(SYMBOLS "attention = first\ntiles.rnn = lstm\n");
  check_gradient(SYMBOLS "attention = local_m\n" TOY_RNN);
  check_gradient(SYMBOLS "attention = local_p\nattention.distance = 2\n" TOY_RNN);
}

/** The first update's plan of a trainer with one shard; of copies, only the first. */
static FovPlan plan_of(FovArena *arena, const Toy *toy) {
  uint64_t seed = toy->training.seed, cases = (uint64_t)toy->env.spec.cases;
  int copies = toy->training.options.copies, lanes = toy->training.options.batch / copies;
  int64_t *which = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    uint64_t episode = (uint64_t)b;
    FovRng order = fov_rng_stream(seed, FOV_STREAM_DATA, episode / cases);
    which[b] = (int64_t)fov_rng_permute(episode % cases, cases, order.state);
    env_rng[b] = fov_rng_stream(seed, FOV_STREAM_ENV, episode);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_POLICY, episode * (uint64_t)copies);
  }
  return (FovPlan){.lanes = lanes, .cases = which, .env_rng = env_rng, .policy_rng = policy_rng};
}

/** The loss of the answer of lane i: cross-entropy, or three times the mean squared error. */
static double answer_loss(const FovTimeStep *m, int i) {
  const real *l = fov_value_row(m->logits, i);
  if (!m->targets) return log(exp(l[0]) + exp(l[1]) + exp(l[2])) - l[m->labels[i]];
  double x = l[0] - m->targets[2 * i], y = l[1] - m->targets[2 * i + 1];
  return 3 * (x * x + y * y) / 2;
}

/** −R log π of the choices of lane i at time step t, and the loss of its answer. */
static double loss_at(const FovRollout *r, int t, int i, bool control) {
  const FovTimeStep *m = &r->at[t];
  double R = r->returns[t * r->lanes + m->lanes[i]], loss = 0;
  if (m->log_look && m->events[i] & FOV_EVENT_LOOK) loss -= R * m->log_look->value[i];
  if (m->log_stop && m->events[i] & FOV_EVENT_DECIDE) loss -= R * m->log_stop->value[i];
  if (m->log_act && m->events[i] & FOV_EVENT_ACT) loss -= R * m->log_act->value[i];
  if (!control && m->events[i] & FOV_EVENT_ACT) loss += answer_loss(m, i);
  return loss;
}

/** The episodes of the first update; forced: choices to repeat, or NULL; gradient: for a backward
 * pass, or NULL. */
static FovRollout play_first(FovArena *arena, const Toy *toy, const real *values,
                             const FovChoices *forced, real *gradient) {
  FovTape tape;
  FovRollout r;
  fov_tape_begin(&tape, arena, &toy->experiment.agent.params, values, gradient);
  FovPlan plan = plan_of(arena, toy);
  plan.forced = forced;
  fov_rollout_run(&r, &tape, &toy->task, &plan);
  return r;
}

/** The surrogate loss of a training without a baseline, where choices are repeated: with other
 * weights neither they nor the returns change. */
static double surrogate(const Toy *toy, const real *values, const FovChoices *forced) {
  FovArena arena = {0};
  double loss = 0;
  FovRollout r = play_first(&arena, toy, values, forced, NULL);
  for (int t = 0; t < r.time_steps; t++)
    for (int i = 0; i < r.at[t].count; i++)
      loss += loss_at(&r, t, i, toy->env.spec.answer == FOV_ANSWER_MOVE);
  fov_arena_finish(&arena);
  return loss / r.lanes;
}

/** A loss of the episodes of the first update; first: their choices. */
typedef double Loss(const Toy *toy, const real *values, const FovChoices *first);

/** The trainer's gradient of the parameters whose names begin with `prefix`, number by number,
 * against differences of a loss. */
static void check_numbers_of(const char *prefix, const char *settings, Loss *loss_at_values) {
  Toy toy;
  FovArena arena = {0};
  toy_create(&toy, settings);
  const FovParams *params = &toy.experiment.agent.params;
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
  // Squares of large numbers would make the differences inexact.
  bool vectors = toy.env.spec.answer == FOV_ANSWER_VECTOR;
  for (size_t i = 0; vectors && i < params->size; i++) values[i] *= 0.7;
  toy_gradient(gradient, trainer, &toy, values, false);
  const FovRollout first = play_first(&arena, &toy, values, NULL, NULL);
  const double h = 1e-6;
  for (int i = 0; i < params->count; i++) {
    if (strncmp(params->list[i].name, prefix, strlen(prefix)) != 0) continue;
    for (size_t j = 0; j < toy_count(&params->list[i]); j += 1 + toy_count(&params->list[i]) / 7) {
      size_t at = params->list[i].offset + j;
      real kept = values[at];
      values[at] = kept + h;
      double above = loss_at_values(&toy, values, &first.choices);
      values[at] = kept - h;
      double below = loss_at_values(&toy, values, &first.choices);
      double difference = (above - below) / (2 * h);
      values[at] = kept;
      assert_near(gradient[at], difference, 1e-6 * (1 + fabs(difference)), "%s: %s[%zu]", settings,
                  params->list[i].name, j);
    }
  }
  fov_arena_finish(&arena);
  free(values), free(gradient);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void check_numbers(const char *settings, Loss *loss_at_values) {
  check_numbers_of("", settings, loss_at_values);
}

#define EARLY TOY_PLAIN "policy = random\nbaseline = none\n"

static void test_the_gradient_of_lanes_that_stop_early_is_the_surrogate_s(void **state) {
  (void)state;
  check_numbers(EARLY "env = toy_turns\nglimpses = 2\ncore = rnn\n", surrogate);
  check_numbers(EARLY "env = toy_turns\nglimpses = 3\ncore = lstm\nstop = learned\n", surrogate);
  check_numbers(EARLY "env = toy_game\nglimpses = 1\ncore = gru\n", surrogate);
  check_numbers(EARLY "env = toy_game\nglimpses = 3\ncore = lstm\nstop = learned\nfirst = random\n",
                surrogate);
  check_numbers(EARLY
                "env = toy\nglimpses = 6\ncore = none\nstop = confident\nstop.threshold=0.7\n",
                surrogate);
}

/** Also through the cue's encoder and the layer that joins its code, and with a hidden place. */
static void test_the_gradient_of_vectors_and_cues_is_the_surrogate_s(void **state) {
  (void)state;
  check_numbers(EARLY "env = toy_find\nglimpses = 2\ncore = gru\ntime = yes\n", surrogate);
  check_numbers(EARLY "env = toy_find\nglimpses = 1\nencoder = conv\n" TOY_SMALL_FILTERS,
                surrogate);
  check_numbers(TILES "env = toy_find\nlayers = 2\n", surrogate);
  check_numbers(EARLY "env = toy_walk\nglimpses = 1\ncore = gru\nglimpse.where = 0\n", surrogate);
  check_numbers(EARLY "env = toy_walk\nglimpses = 2\nfirst = random\n", surrogate);
}

static void test_the_gradient_of_sampled_tiles_is_the_surrogate_s(void **state) {
  (void)state;
#define SAMPLED TOY_PLAIN "baseline = none\nattention = sampled\npolicy.entropy = 0\n" TOY_SITES
  check_numbers(SAMPLED "core = gru\nfirst = centre\n", surrogate);
  check_numbers(SAMPLED TOY_COARSE "core = gru\nfirst = learned\n", surrogate);
  check_numbers(SAMPLED TOY_COARSE "env = toy_turns\nstop = learned\ncore = lstm\n", surrogate);
  check_numbers(SAMPLED TOY_COARSE "env = toy_game\nstop = learned\nscore = additive\n", surrogate);
  check_numbers(SAMPLED "score = location\ncore = gru\nfirst = learned\n", surrogate);
  check_numbers(SAMPLED "score = location\nenv = toy_game\nstop = learned\n", surrogate);
}

/** Half the squared error of a learned control variate, c(ζ̃), to the return of the choice. Choices
 * do not depend on c: they and their noise are drawn as before. */
static double fit_loss(const Toy *toy, const real *values, const FovChoices *first) {
  (void)first;
  FovArena arena = {0};
  // Choices are relaxed where there is a gradient.
  real *gradient = fov_params_block(&toy->experiment.agent.params);
  double loss = 0;
  FovRollout r = play_first(&arena, toy, values, NULL, gradient);
  for (int t = 1; t < r.time_steps; t++)
    for (int i = 0; r.at[t].fitted && r.at[t - 1].log_look && i < r.at[t].count; i++)
      loss += pow(r.at[t].fitted->value[i] - r.returns[(t - 1) * r.lanes + r.at[t].lanes[i]], 2);
  free(gradient);
  fov_arena_finish(&arena);
  assert_true(loss > 0);
  return loss / 2 / r.lanes;
}

static void test_a_learned_control_variate_is_fitted_to_the_return(void **state) {
  (void)state;
#define RELAX TOY_PLAIN "baseline = none\nattention = relax\npolicy.entropy = 0\n" TOY_SITES
  check_numbers_of("control.", RELAX "core = gru\n", fit_loss);
  check_numbers_of("control.", RELAX "env = toy_turns\nglimpses = 2\nfirst = learned\n", fit_loss);
}

/** Only lanes with a label depend on c's weights for it. */
static void test_a_learned_control_variate_reads_the_label(void **state) {
  (void)state;
  enum { LABEL = 1 };
  Toy toy;
  toy_create(&toy, RELAX "core = gru\nglimpses = 2\n");
  const FovParam *w = toy_param(&toy, FOV_CONTROL "w");
  real *values = toy_lively_values(&toy), *other = toy_copy(&toy, values);
  real *gradient = toy_copy(&toy, values); // choices are relaxed where there is a gradient
  int column = w->cols - TOY_ACTIONS + LABEL, with_label = 0, others = 0;
  for (int i = 0; i < w->rows; i++)
    other[w->offset + (size_t)i * (size_t)w->cols + (size_t)column] += 1;
  FovArena arenas[2] = {{0}, {0}};
  const FovRollout r = play_first(&arenas[0], &toy, values, NULL, gradient);
  const FovRollout s = play_first(&arenas[1], &toy, other, NULL, gradient);
  assert_non_null(r.at[1].fitted);
  for (int i = 0; i < r.at[1].count; i++) {
    bool same = r.at[1].fitted->value[i] == s.at[1].fitted->value[i];
    bool labelled = r.labels[r.at[1].lanes[i] * r.turns] == LABEL;
    assert_true(same == !labelled);
    with_label += labelled;
    others += !labelled;
  }
  assert_true(with_label > 0 && others > 0);
  for (int i = 0; i < 2; i++) fov_arena_finish(&arenas[i]);
  free(values);
  free(other);
  free(gradient);
  toy_finish(&toy);
}

/** It belongs to the choice of the glimpse: decisions to stop and moves are learned from the return
 * alone. */
static void test_a_control_variate_does_not_weigh_other_choices(void **state) {
  (void)state;
  check_numbers_of("stop.", RELAX "env = toy_turns\nglimpses = 3\nstop = learned\n", surrogate);
  check_numbers_of("stop.", RELAX "env = toy_game\nglimpses = 3\nstop = learned\n", surrogate);
  check_numbers_of("class.", RELAX "env = toy_game\nglimpses = 2\n", surrogate);
}

/* ---- all sequences of choices ---- */

enum { MOST_CASES = 8, MOST_SEQUENCES = 16 };

/** Settings with one more, in memory that the next call writes again. */
static const char *with(const char *settings, const char *more) {
  static char all[1024];
  snprintf(all, sizeof all, "%s%s", settings, more);
  return all;
}

/** What a sequence of choices gives each lane. */
typedef struct Given {
  double prior[MOST_CASES], log_p[MOST_CASES], reward[MOST_CASES]; // π(l), log p(y | l), R
} Given;

/** l: the sequence of choices whose digits to the base N are `sequence`, the last choice first. */
static Given play_sequence(const Toy *toy, const real *values, int sequence) {
  int N = fov_task_choices(&toy->task);
  Given given = {{0}, {0}, {0}};
  FovArena arena = {0};
  FovTape tape;
  FovRollout r;
  fov_tape_begin(&tape, &arena, &toy->experiment.agent.params, values, NULL);
  FovPlan plan = plan_of(&arena, toy);
  int T = toy->task.options.glimpses, n = plan.lanes;
  FovChoice *places = FOV_NEW(&arena, FovChoice, T * n);
  for (int b = 0; b < n; b++) {
    for (int t = T - 1, digits = sequence; t >= 0; t--, digits /= N)
      places[t * n + b] = (FovChoice){.index = digits % N};
    if (toy->task.options.first == FOV_FIRST_LEARNED) continue;
    places[b] = (FovChoice){.index = -1};
    for (int j = 0; j < 2 && toy->task.options.first == FOV_FIRST_RANDOM; j++)
      places[b].sample[j] = 2 * fov_rng_uniform(&plan.policy_rng[b]) - 1;
  }
  plan.forced = &(FovChoices){.places = places};
  fov_rollout_run(&r, &tape, &toy->task, &plan);
  for (int b = 0; b < n; b++) {
    given.log_p[b] = (double)r.log_probabilities[b * TOY_ACTIONS + r.at[T].labels[b]];
    given.reward[b] = (double)r.returns[b];
    for (int t = 0; t < T; t++)
      if (r.at[t].log_look) given.prior[b] += (double)r.at[t].log_look->value[b];
    given.prior[b] = exp(given.prior[b]);
  }
  fov_arena_finish(&arena);
  return given;
}

/** −log Σ_l π(l) p(y | l), or −Σ_l π(l) R(l) for objective = exact; the mean over the cases. */
static double enumerated_loss(const Toy *toy, const real *values, const FovChoices *first) {
  (void)first;
  int copies = toy->training.options.copies, cases = toy->training.options.batch / copies;
  bool returns = strcmp(toy->training.objective->plugin.name, "exact") == 0;
  double sums[MOST_CASES] = {0}, loss = 0;
  assert_in_range(cases, 1, MOST_CASES);
  for (int sequence = 0; sequence < copies; sequence++) {
    Given given = play_sequence(toy, values, sequence);
    for (int b = 0; b < cases; b++)
      sums[b] += given.prior[b] * (returns ? given.reward[b] : exp(given.log_p[b]));
  }
  for (int b = 0; b < cases; b++) loss -= (returns ? sums[b] : log(sums[b])) / cases;
  return loss;
}

/** −Σ_l π(l) log p(y | l), with the priors of other values. priors: of every sequence. */
static double expected_answer_loss(const Toy *toy, const real *values, const Given *priors) {
  int copies = toy->training.options.copies, cases = toy->training.options.batch / copies;
  double loss = 0;
  for (int sequence = 0; sequence < copies; sequence++) {
    Given given = play_sequence(toy, values, sequence);
    for (int b = 0; b < cases; b++) loss -= priors[sequence].prior[b] * given.log_p[b] / cases;
  }
  return loss;
}

#define ENUMERATED TOY_PLAIN "baseline = none\npolicy.entropy = 0\nreward = correct\n"
#define SITES ENUMERATED "attention = sampled\npolicy = sites\n"
#define GAZES ENUMERATED "policy = tiles\npolicy.side = 2\n"
#define COPIES(copies, batch)                                                                      \
  "train.copies = " #copies "\ntrain.shard = " #batch "\ntrain.batch = " #batch "\n"

/** With one choice and two. */
static const char *const enumerated[] = {
    SITES "tiles.side = 3\nglimpses = 1\nfirst = learned\n" COPIES(9, 18),
    SITES "tiles.side = 3\nglimpses = 2\nfirst = random\nscore = additive\n" COPIES(9, 18),
    SITES "tiles.side = 2\nglimpses = 2\nfirst = learned\ncore = gru\n" COPIES(16, 32),
    GAZES "glimpses = 2\nfirst = centre\n" COPIES(4, 12),
    GAZES "glimpses = 3\nfirst = random\ncore = lstm\n" COPIES(16, 32),
    GAZES "glimpses = 2\nfirst = learned\n" TOY_TWO_LAYERS COPIES(16, 32),
};

static void test_the_gradient_of_the_marginal_likelihood_is_exact(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof enumerated / sizeof *enumerated; k++)
    check_numbers(with(enumerated[k], "objective = marginal\n"), enumerated_loss);
}

/** One number of the gradients without and with the policy's, against differences. */
static void check_number(const Toy *toy, real *values, const Given *priors, real *const gradient[2],
                         size_t at) {
  const double h = 1e-6;
  double policy[2], answer[2];
  real kept = values[at];
  for (int side = 0; side < 2; side++) {
    values[at] = kept + (real)(side ? h : -h);
    policy[side] = enumerated_loss(toy, values, NULL);
    answer[side] = expected_answer_loss(toy, values, priors);
  }
  values[at] = kept;
  const char *name = fov_params_name_at(&toy->experiment.agent.params, at);
  assert_near(gradient[1][at] - gradient[0][at], (policy[1] - policy[0]) / (2 * h), 1e-6,
              "%s, reward", name);
  assert_near(gradient[0][at], (answer[1] - answer[0]) / (2 * h), 1e-6, "%s, answer", name);
}

/** The gradient without the policy's is that of the mean loss of the answers; the rest is −dE[R].
 * The reward is 0 or 1. */
static void check_expected_reward(const char *settings) {
  Toy toy;
  toy_create(&toy, with(settings, "objective = exact\n"));
  const FovParams *params = &toy.experiment.agent.params;
  FovPolicyGradientOptions *options = (FovPolicyGradientOptions *)toy.training.objective_options;
  real *values = toy_lively_values(&toy), *gradient[2];
  for (int whole = 0; whole < 2; whole++) {
    options->policy = whole;
    FovTrainer *trainer = toy_trainer(&toy, 1);
    gradient[whole] = toy_copy(&toy, values);
    toy_gradient(gradient[whole], trainer, &toy, values, false);
    fov_trainer_destroy(trainer);
  }
  Given priors[MOST_SEQUENCES];
  assert_in_range(toy.training.options.copies, 1, MOST_SEQUENCES);
  for (int sequence = 0; sequence < toy.training.options.copies; sequence++)
    priors[sequence] = play_sequence(&toy, values, sequence);
  for (int i = 0; i < params->count; i++) {
    size_t count = toy_count(&params->list[i]);
    for (size_t j = 0; j < count; j += 1 + count / 3)
      check_number(&toy, values, priors, gradient, params->list[i].offset + j);
  }
  free(values), free(gradient[0]), free(gradient[1]);
  toy_finish(&toy);
}

static void test_the_exact_gradient_is_that_of_the_expected_reward(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof enumerated / sizeof *enumerated; k++)
    check_expected_reward(enumerated[k]);
}

static void test_the_marginal_likelihood_is_logged(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof enumerated / sizeof *enumerated; k++) {
    Toy toy;
    toy_create(&toy, with(enumerated[k], "objective = marginal\n"));
    FovTrainer *trainer = toy_trainer(&toy, 1);
    real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
    toy_gradient(gradient, trainer, &toy, values, false);
    const FovSums *sums = &fov_trainer_state(trainer)->sums;
    assert_near(sums->losses[1] / (double)sums->episodes, enumerated_loss(&toy, values, NULL), 1e-9,
                "%s", enumerated[k]);
    free(values), free(gradient);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

#endif

/** The gradient of a batch is the mean of the gradients of its lanes alone, whichever lanes stop
 * early. */
static void check_lanes_add_up(const char *settings) {
  enum { LANES = 24 };
  real *sum = NULL, *all = NULL, *values = NULL;
  size_t size = 0;
  for (int batch = LANES; batch >= 1; batch -= LANES - 1) {
    Toy toy;
    char changed[512];
    snprintf(changed, sizeof changed, TOY_PLAIN "objective = gae\n%strain.batch = %d\n", settings,
             batch);
    toy_create(&toy, changed);
    size = toy.experiment.agent.params.size;
    FovTrainer *trainer = toy_trainer(&toy, 1);
    if (!values) values = toy_lively_values(&toy);
    if (!all) all = toy_copy(&toy, values), sum = fov_params_block(&toy.experiment.agent.params);
    real *gradient = batch == LANES ? all : toy_copy(&toy, values);
    for (int i = 0; i < LANES / batch; i++) {
      fov_trainer_state(trainer)->update = i;
      toy_gradient(gradient, trainer, &toy, values, true);
      for (size_t j = 0; batch == 1 && j < size; j++) sum[j] += gradient[j] / LANES;
    }
    if (batch == 1) free(gradient);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
  const double rounding = sizeof(real) == sizeof(double) ? 1e-10 : 5e-4;
  for (size_t j = 0; j < size; j++)
    assert_near(all[j], sum[j], rounding * (1 + fabs((double)sum[j])), "%s: number %zu", settings,
                j);
  free(sum), free(all), free(values);
}

static void test_the_gradients_of_lanes_add_up(void **state) {
  (void)state;
  for (int k = 0; k < TOY_RAGGED; k++) check_lanes_add_up(toy_ragged[k]);
}

/** train.answer = every gives the mean of the losses of trainings with 1, 2, … glimpses, and
 * train.last the weight of the last one. */
static void test_answers_after_every_glimpse_are_weighed(void **state) {
  (void)state;
  const char *answers[] = {"every", "last", "last", "last", "every\ntrain.last = 0.5"};
  const int glimpses[] = {3, 1, 2, 3, 3};
  real *gradients[5], *values = NULL;
  size_t size = 0;
  for (int i = 0; i < 5; i++) {
    Toy toy;
    char settings[512];
    snprintf(settings, sizeof settings,
             TOY_PLAIN "policy = random\nbaseline = none\nglimpses = %d\ntrain.answer = %s\n",
             glimpses[i], answers[i]);
    toy_create(&toy, settings);
    if (!values) values = toy_lively_values(&toy);
    gradients[i] = toy_copy(&toy, values);
    size = toy.experiment.agent.params.size;
    FovTrainer *trainer = toy_trainer(&toy, 1);
    toy_gradient(gradients[i], trainer, &toy, values, false);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
  for (size_t j = 0; j < size; j++) {
    double before = gradients[1][j] + gradients[2][j];
    assert_close(gradients[0][j], (before + gradients[3][j]) / 3, 1e-6);
    assert_close(gradients[4][j], 0.25 * before + 0.5 * gradients[3][j], 1e-6);
  }
  for (int i = 0; i < 5; i++) free(gradients[i]);
  free(values);
}

/** The gradient of one update with the given weights of the losses. */
static real *gradient_with(const char *more, const char *stop, double reinforce,
                           double regression) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           TOY_PLAIN "%sstop_gradient = %s\nobjective.policy = %g\nobjective.baseline = %g\n", more,
           stop, reinforce, regression);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
  toy_gradient(gradient, trainer, &toy, values, false);
  free(values);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return gradient;
}

/** Whether two gradients differ in a parameter whose name starts with the prefix. */
static bool differs(const real *a, const real *b, const char *settings, const char *prefix) {
  Toy toy;
  toy_create(&toy, settings);
  const FovParams *params = &toy.experiment.agent.params;
  bool found = false;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; toy_is_of(&params->list[i], prefix) && j < toy_count(&params->list[i]); j++)
      found = found || a[params->list[i].offset + j] != b[params->list[i].offset + j];
  toy_finish(&toy);
  return found;
}

/** Whether the gradients of location and baseline reach the parameters `below`, with `settings`;
 * neither reaches another head than its own. */
static void assert_reach(const char *settings, const char *stop, const char *const below[],
                         bool location, bool baseline) {
  real *all = gradient_with(settings, stop, 1, 1);
  real *no_policy = gradient_with(settings, stop, 0, 1);
  real *no_baseline = gradient_with(settings, stop, 1, 0);
  for (int j = 0; below[j]; j++) {
    assert_int_equal(differs(all, no_policy, settings, below[j]), location);
    assert_int_equal(differs(all, no_baseline, settings, below[j]), baseline);
  }
  assert_true(differs(all, no_policy, settings, "location."));
  assert_false(differs(all, no_policy, settings, "baseline."));
  assert_true(differs(all, no_baseline, settings, "baseline."));
  assert_false(differs(all, no_baseline, settings, "location."));
  assert_false(differs(all, no_policy, settings, "class."));
  assert_false(differs(all, no_baseline, settings, "class."));
  free(all), free(no_policy), free(no_baseline);
}

/** The parameters that the answer trains, and those that only the location trains. */
static const char *const first_layer[] = {"core.", "glimpse.", "encoder.", "where.", NULL};
static const char *const second_layer[] = {"gaze.", "context.", "start.", NULL};

static void test_heads_train_the_core_only_if_allowed(void **state) {
  (void)state;
  assert_reach("", "none", first_layer, true, true);
  assert_reach("", "baseline", first_layer, true, false);
  assert_reach("", "location", first_layer, false, true);
  assert_reach("", "both", first_layer, false, false);
}

static void test_heads_train_the_first_layer_only_if_allowed(void **state) {
  (void)state;
  assert_reach(TOY_TWO_LAYERS, "none", first_layer, true, true);
  assert_reach(TOY_TWO_LAYERS, "none", second_layer, true, true);
  assert_reach(TOY_TWO_LAYERS, "baseline", first_layer, true, false);
  assert_reach(TOY_TWO_LAYERS, "baseline", second_layer, true, false);
  // The gradient through the second layer stops between the two.
  assert_reach(TOY_TWO_LAYERS, "location", first_layer, false, false);
  assert_reach(TOY_TWO_LAYERS, "location", second_layer, true, true);
  assert_reach(TOY_TWO_LAYERS, "both", first_layer, false, false);
  assert_reach(TOY_TWO_LAYERS, "both", second_layer, true, false);
}

/** The answer's loss does not change the context and the second layer, not by a rounding error.
 */
static void test_the_answer_s_gradient_stays_in_the_first_layer(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_TWO_LAYERS);
  real *gradient = gradient_with(TOY_TWO_LAYERS, "none", 0, 0);
  real *zero = fov_params_block(&toy.experiment.agent.params);
  for (int i = 0; second_layer[i]; i++)
    assert_false(differs(gradient, zero, TOY_TWO_LAYERS, second_layer[i]));
  for (int i = 0; first_layer[i]; i++)
    assert_true(differs(gradient, zero, TOY_TWO_LAYERS, first_layer[i]));
  free(zero), free(gradient);
  toy_finish(&toy);
}

/** Weights of a window that are huge give neither a loss nor a gradient that is not finite. */
static void test_windows_of_huge_weights_have_finite_gradients(void **state) {
  (void)state;
  const char *const kinds[] = {TOY_PLAIN TOY_WINDOW "draw\n",
                               TOY_PLAIN TOY_WINDOW "spatial_transformer\n"};
  for (int kind = 0; kind < 2; kind++) {
    Toy toy;
    toy_create(&toy, kinds[kind]);
    FovTrainer *trainer = toy_trainer(&toy, 1);
    real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
    const FovParams *params = &toy.experiment.agent.params;
    for (int i = 0; i < params->count; i++)
      for (size_t j = 0; toy_is_of(&params->list[i], "window.") && j < toy_count(&params->list[i]);
           j++)
        values[params->list[i].offset + j] *= (real)1e30;
    toy_gradient(gradient, trainer, &toy, values, false);
    for (size_t j = 0; j < params->size; j++)
      if (!isfinite(gradient[j]))
        fail_msg("%s: gradient of %s", kinds[kind], fov_params_name_at(params, j));
    free(values), free(gradient);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** The answer trains each transformer block of the tiles, and the norm after them. */
static void test_the_answer_trains_the_blocks_of_tiles(void **state) {
  (void)state;
  const char *settings = TOY_SOFT TOY_BLOCKS, *names[] = {"tiles.1.", "tiles.2.", "tiles.norm."};
  Toy toy;
  toy_create(&toy, settings);
  real *gradient = gradient_with(settings, "none", 0, 0);
  real *zero = fov_params_block(&toy.experiment.agent.params);
  for (int i = 0; i < 3; i++) assert_true(differs(gradient, zero, settings, names[i]));
  free(zero), free(gradient);
  toy_finish(&toy);
}

/** The gradient of the answer's loss does not flow through the location. */
static void test_no_gradient_flows_through_the_sample(void **state) {
  (void)state;
  real *gradient = gradient_with("", "none", 0, 1);
  Toy toy;
  toy_create(&toy, "");
  real *zero = fov_params_block(&toy.experiment.agent.params);
  assert_false(differs(gradient, zero, "", "location."));
  assert_true(differs(gradient, zero, "", "where.") && differs(gradient, zero, "", "core."));
  free(zero), free(gradient);
  toy_finish(&toy);
}

/** A first tile trains the queries only if it is learned. */
static void test_a_first_tile_that_is_not_learned_trains_no_query(void **state) {
  (void)state;
  static const char *const firsts[] = {"learned", "centre", "random"};
  for (int i = 0; i < 3; i++) {
    Toy toy;
    char settings[256];
    snprintf(settings, sizeof settings,
             TOY_SITES "attention = straight_through\nglimpses = 1\nfirst = %s\n", firsts[i]);
    toy_create(&toy, settings);
    real *gradient = gradient_with(settings, "none", 1, 1);
    real *zero = fov_params_block(&toy.experiment.agent.params);
    assert_int_equal(differs(gradient, zero, settings, "tiles.query."), i == 0);
    assert_true(differs(gradient, zero, settings, "glimpse."));
    free(zero), free(gradient);
    toy_finish(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef FOV_DOUBLE
      cmocka_unit_test(test_the_gradient_equals_differences_of_the_loss),
      cmocka_unit_test(test_the_gradient_of_sequences_equals_differences),
      cmocka_unit_test(test_the_gradient_of_lanes_that_stop_early_is_the_surrogate_s),
      cmocka_unit_test(test_the_gradient_of_the_marginal_likelihood_is_exact),
      cmocka_unit_test(test_the_marginal_likelihood_is_logged),
      cmocka_unit_test(test_the_exact_gradient_is_that_of_the_expected_reward),
      cmocka_unit_test(test_the_gradient_of_vectors_and_cues_is_the_surrogate_s),
      cmocka_unit_test(test_the_gradient_of_sampled_tiles_is_the_surrogate_s),
      cmocka_unit_test(test_a_learned_control_variate_is_fitted_to_the_return),
      cmocka_unit_test(test_a_learned_control_variate_reads_the_label),
      cmocka_unit_test(test_a_control_variate_does_not_weigh_other_choices),
#endif
      cmocka_unit_test(test_the_gradients_of_lanes_add_up),
      cmocka_unit_test(test_answers_after_every_glimpse_are_weighed),
      cmocka_unit_test(test_heads_train_the_core_only_if_allowed),
      cmocka_unit_test(test_heads_train_the_first_layer_only_if_allowed),
      cmocka_unit_test(test_the_answer_s_gradient_stays_in_the_first_layer),
      cmocka_unit_test(test_windows_of_huge_weights_have_finite_gradients),
      cmocka_unit_test(test_the_answer_trains_the_blocks_of_tiles),
      cmocka_unit_test(test_no_gradient_flows_through_the_sample),
      cmocka_unit_test(test_a_first_tile_that_is_not_learned_trains_no_query),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
