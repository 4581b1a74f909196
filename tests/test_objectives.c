/** Objectives: their gradient against an exact one, on numbers worked by hand, and entropies. The
 * rollouts are made here, from choices with known returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/objective.h"
#include "plugin.h"
#include "tensor/ops.h"

/* ---- rollouts made by hand ---- */

enum { MOST_LANES = 16, MOST_STEPS = 3 };

/** A rollout of a game whose only choices are places. */
typedef struct Made {
  FovArena arena;
  FovParams params;
  real values[64], gradient[64];
  FovTape tape;
  FovEnv env;
  FovPolicy policy;
  FovTask task;
  FovTimeStep at[MOST_STEPS];
  FovRollout rollout;
  const FovRollout *before; // that it repeats
  int lanes[MOST_LANES];
  uint8_t events[MOST_LANES];
  real returns[MOST_STEPS * MOST_LANES], greedy[MOST_STEPS * MOST_LANES];
} Made;

static void begin_made(Made *m, int rows, int cols, const real *values) {
  *m = (Made){.env = {.spec = {.answer = FOV_ANSWER_MOVE}}};
  fov_params_add(&m->params, "w", rows, cols, FOV_INIT_ZERO, 0);
  memcpy(m->values, values, (size_t)(rows * cols) * sizeof *values);
  for (int b = 0; b < MOST_LANES; b++) m->lanes[b] = b, m->events[b] = FOV_EVENT_LOOK;
  m->task = (FovTask){.env = &m->env, .policy = &m->policy};
}

static void finish_made(Made *m) {
  fov_params_finish(&m->params);
  fov_arena_finish(&m->arena);
}

/** Rewinds everything to an empty rollout of so many lanes. */
static void begin_rollout(Made *m, int time_steps, int lanes) {
  fov_arena_rewind(&m->arena);
  memset(m->gradient, 0, sizeof m->gradient);
  fov_tape_begin(&m->tape, &m->arena, &m->params, m->values, m->gradient);
  memset(m->at, 0, sizeof m->at);
  for (int t = 0; t < time_steps; t++)
    m->at[t] = (FovTimeStep){.count = lanes, .lanes = m->lanes, .events = m->events};
  m->rollout =
      (FovRollout){.time_steps = time_steps, .lanes = lanes, .at = m->at, .returns = m->returns};
}

/** A constant [lanes, 1]. */
static FovVar *column_of(Made *m, const real *values, int lanes) {
  FovVar *x = fov_constant(&m->tape, lanes, 1);
  for (int b = 0; b < lanes; b++) x->value[b * x->stride] = values[b];
  return x;
}

/** The objective's gradients of the rollout; copies: lanes on the same image. */
static void add_gradients(Made *m, double *losses, const FovSlot *slot, const FovBaseline *baseline,
                          int copies, double average_return) {
  const FovObjective *objective = (const FovObjective *)slot->plugin;
  m->task.baseline = baseline;
  FovRollout greedy = m->rollout;
  greedy.returns = m->greedy;
  const FovObjectiveInput input = {.task = &m->task,
                                   .rollout = &m->rollout,
                                   .before = m->before,
                                   .deterministic = baseline->deterministic ? &greedy : NULL,
                                   .average_return = average_return,
                                   .batch = m->rollout.lanes,
                                   .copies = copies,
                                   .answers = {.given = 1}};
  objective->backward(&m->tape, losses, &input, slot->values);
}

/* ---- the exact gradient ---- */

/**
 * A problem whose policy gradient is known: two states s, two choices in each episode.
 *
 * l_1 ~ N(w_s, σ²) earns offset_s + a_s · l_1, then l_2 ~ N(w_{1−s}, σ²) earns 2 if its x is beyond
 * c. So E[R | s] = offset_s + a_s · w_s + 2 Φ((w_{1−s},x − c) / σ_x), and w [2, 2] is learned.
 */
enum { LANES = 16, COPIES = 4, UPDATES = 4000, WEIGHTS = 4 };
static const real w[WEIGHTS] = {(real)0.4, (real)-0.2, (real)0.1, (real)0.3}; // [xy, s]
static const double a[2][2] = {{1, -0.5}, {0.8, 0.7}};
static const double offset[2] = {2, 3}, c = 0.25;
static const double sigma[2] = {0.5, 0.7};

static int state_of(int lane) {
  return lane / COPIES % 2;
}

static double phi(double z) {
  return exp(-z * z / 2) / sqrt(2 * M_PI);
}

static double beyond(int s) {
  return ((double)w[s] - c) / sigma[0];
}

/** The expected return from choice t on in state s. */
static double expected_return(int s, int t) {
  double second = erfc(-beyond(1 - s) / sqrt(2));
  double first = offset[s] + a[s][0] * (double)w[s] + a[s][1] * (double)w[2 + s];
  return t == 1 ? second : first + second;
}

/** What the means of both choices earn from choice t on. */
static double greedy_return(int s, int t) {
  double first = offset[s] + a[s][0] * (double)w[s] + a[s][1] * (double)w[2 + s];
  return (t ? 0 : first) + 2 * (beyond(1 - s) > 0);
}

/** −dE[R]/dw with equally likely states: the mean of an objective's gradients must equal it. */
static double exact_gradient(int j, int s) {
  return -(a[s][j] + (j == 0 ? 2 * phi(beyond(s)) / sigma[0] : 0)) / 2;
}

typedef struct Moments {
  double mean[WEIGHTS], variance[WEIGHTS], total_variance;
} Moments;

/** Makes choice t in each lane: its log π, its reward, and the expected return less `known`. */
static void choose_and_earn(Made *m, int t, FovRng *rng, double known) {
  real samples[2 * LANES], expected[LANES];
  const real sd[2] = {(real)sigma[0], (real)sigma[1]};
  FovVar *x = fov_constant(&m->tape, LANES, 2);
  for (int b = 0; b < LANES; b++)
    for (int s = 0; s < 2; s++) x->value[2 * b + s] = s == (t ? 1 - state_of(b) : state_of(b));
  FovVar *mean = fov_linear(&m->tape, x, &m->tape.params[0], NULL, FOV_LINEAR);
  for (int i = 0; i < 2 * LANES; i++)
    samples[i] = mean->value[i] + sd[i % 2] * fov_rng_normal(&rng[i / 2]);
  m->at[t].log_look = fov_gaussian_log_prob(&m->tape, mean, samples, sd);
  for (int b = 0; b < LANES; b++) {
    int s = state_of(b);
    const real *l = samples + 2 * b;
    double first = offset[s] + a[s][0] * (double)l[0] + a[s][1] * (double)l[1];
    m->returns[t * LANES + b] = (real)(t ? 2 * ((double)l[0] > c) : first);
    expected[b] = (real)(expected_return(s, t) - known);
    m->greedy[t * LANES + b] = (real)greedy_return(s, t);
  }
  m->at[t].baseline = column_of(m, expected, LANES);
}

/** One update's gradient; `average` is the mean return of earlier ones. */
static void play(Made *m, const FovSlot *slot, const FovBaseline *baseline, int update,
                 double *average) {
  FovRng rng[LANES];
  double losses[FOV_OBJECTIVE_LOSSES] = {0}, sum = 0;
  for (int b = 0; b < LANES; b++)
    rng[b] = fov_rng_stream(11, FOV_STREAM_POLICY, (uint64_t)(update * LANES + b));
  begin_rollout(m, 2, LANES);
  for (int t = 0; t < 2; t++) choose_and_earn(m, t, rng, baseline->from_answer ? *average : 0);
  for (int b = 0; b < LANES; b++) m->returns[b] += m->returns[LANES + b];
  add_gradients(m, losses, slot, baseline, COPIES, *average);
  fov_tape_backward(&m->tape);
  for (int b = 0; b < LANES; b++) sum += (double)m->returns[b];
  *average += (update ? 0.05 : 1) * (sum / LANES - *average);
}

/** An objective with the whole return: with a lambda below 1 it is biased, unless the baseline
 * predicts exactly. */
static FovSlot choose_unbiased(const FovObjective *objective) {
  const FovPlugin *plugin = &objective->plugin;
  char settings[128];
  snprintf(settings, sizeof settings, "plugin = %s\n%s", plugin->name,
           plugin_has_option(plugin, "lambda") ? "plugin.lambda = 1\n" : "");
  return plugin_choose(PLUGINS(fov_objectives), settings);
}

static Moments measure(const FovObjective *objective, const FovBaseline *baseline) {
  FovSlot slot = choose_unbiased(objective);
  Made m;
  Moments moments = {{0}, {0}, 0};
  double sum[WEIGHTS] = {0}, squares[WEIGHTS] = {0}, average = 0;
  begin_made(&m, 2, 2, w);
  for (int update = 0; update < UPDATES; update++) {
    play(&m, &slot, baseline, update, &average);
    for (int i = 0; i < WEIGHTS; i++) sum[i] += (double)m.gradient[i];
    for (int i = 0; i < WEIGHTS; i++) squares[i] += pow((double)m.gradient[i], 2);
  }
  for (int i = 0; i < WEIGHTS; i++) {
    moments.mean[i] = sum[i] / UPDATES;
    moments.variance[i] = squares[i] / UPDATES - moments.mean[i] * moments.mean[i];
    moments.total_variance += moments.variance[i];
  }
  finish_made(&m);
  free(slot.values);
  return moments;
}

/** Whether an objective weighs choices by rewards and a baseline. */
static bool is_policy_gradient(const FovObjective *objective) {
  return !objective->enumerates && !objective->likelihood;
}

/** With any baseline the mean of the gradients is the gradient of the mean, to 99.9 %. */
static void test_every_objective_is_unbiased_with_every_baseline(void **state) {
  (void)state;
  for (const FovObjective *const *o = fov_objectives; *o; o++)
    for (const FovBaseline *const *p = fov_baselines; *p && is_policy_gradient(*o); p++) {
      Moments m = measure(*o, *p);
      for (int i = 0; i < WEIGHTS; i++) {
        double error = sqrt(m.variance[i] / UPDATES), exact = exact_gradient(i / 2, i % 2);
        if (!(fabs(m.mean[i] - exact) < 3.29 * error) || !(error < fabs(exact) / 5))
          fail_msg("%s, %s: component %d is %g +- %g, expected %g", (*o)->plugin.name,
                   (*p)->plugin.name, i, m.mean[i], error, exact);
      }
    }
}

static void test_every_baseline_lowers_the_variance(void **state) {
  (void)state;
  for (const FovObjective *const *o = fov_objectives; *o; o++) {
    if (!is_policy_gradient(*o)) continue; // no baseline
    const void *none = plugin_find(PLUGINS(fov_baselines), "none");
    double without = measure(*o, none).total_variance;
    for (const FovBaseline *const *p = fov_baselines; *p; p++) {
      double with = measure(*o, *p).total_variance;
      if (*p != none && !(with < 0.75 * without))
        fail_msg("%s, %s: variance %g, without %g", (*o)->plugin.name, (*p)->plugin.name, with,
                 without);
    }
  }
}

/* ---- weights on log π ---- */

/** Two lanes; the second ends at its second time step. */
enum { GAE_STEPS = 3, GAE_LANES = 2, GAE_SIZE = GAE_STEPS * GAE_LANES };
static const real gae_returns[GAE_SIZE] = {4, 3, 3, 1, 2, 0};
static const real gae_b[GAE_SIZE] = {1, 2, (real)0.5, -1, 3, 0};

/** A learned column [lanes, 1] of numbers −1, −2, …, which has a gradient. */
static FovVar *learned_column(Made *m, int lanes) {
  real numbers[MOST_LANES];
  for (int b = 0; b < lanes; b++) numbers[b] = (real)(-1 - b);
  return fov_linear(&m->tape, column_of(m, numbers, lanes), &m->tape.params[0], NULL, FOV_LINEAR);
}

static double gradient_at(const FovVar *y, int row) {
  return y->has_grad ? (double)y->grad[row * y->stride] : 0;
}

/** dL/d log π of each choice, times the batch; 0 where a lane has ended. Returns the logged loss of
 * the policy. */
static double weigh(double weights[GAE_SIZE], const char *settings) {
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), settings);
  double losses[FOV_OBJECTIVE_LOSSES] = {0};
  Made m;
  begin_made(&m, 1, 1, (real[]){1});
  begin_rollout(&m, GAE_STEPS, GAE_LANES);
  memcpy(m.returns, gae_returns, sizeof gae_returns);
  m.at[2].count = 1;
  for (int t = 0; t < GAE_STEPS; t++) {
    m.at[t].log_look = learned_column(&m, m.at[t].count);
    m.at[t].baseline = column_of(&m, gae_b + t * GAE_LANES, m.at[t].count);
  }
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "learned"), 1, 0);
  memset(weights, 0, GAE_SIZE * sizeof *weights);
  for (int t = 0; t < GAE_STEPS; t++)
    for (int b = 0; b < m.at[t].count; b++)
      weights[t * GAE_LANES + b] = GAE_LANES * gradient_at(m.at[t].log_look, b);
  finish_made(&m);
  free(slot.values);
  return losses[2];
}

static void test_gae_on_numbers_worked_by_hand(void **state) {
  (void)state;
  // Rewards are 1, 1, 2 and 2, 1; so δ = 0.5, 3.5, −1 and −1, 2.
  const struct {
    const char *settings;
    double advantage[GAE_SIZE];
  } known[] = {
      {"plugin = gae\nplugin.lambda = 0", {0.5, -1, 3.5, 2, -1, 0}},
      {"plugin = gae\nplugin.lambda = 0.5", {2, 0, 3, 2, -1, 0}},
      {"plugin = gae\nplugin.lambda = 1", {3, 1, 2.5, 2, -1, 0}},
      {"plugin = gae", {2.84, 0.8, 2.6, 2, -1, 0}},
      {"plugin = gae\nplugin.policy = 3", {8.52, 2.4, 7.8, 6, -3, 0}},
  };
  for (int k = 0; k < 5; k++) {
    double weights[GAE_SIZE], loss = weigh(weights, known[k].settings), expected = 0;
    for (int i = 0; i < GAE_SIZE; i++) {
      assert_near(weights[i], -known[k].advantage[i], 1e-6, "%s: %d", known[k].settings, i);
      // log π is −1 in the first lane and −2 in the second.
      expected += known[k].advantage[i] * (1 + i % 2);
    }
    assert_near(loss, expected, 1e-5, "%s: the policy's loss", known[k].settings);
  }
}

static void test_gae_of_the_whole_return_is_reinforce(void **state) {
  (void)state;
  double gae[GAE_SIZE], reinforce[GAE_SIZE];
  weigh(gae, "plugin = gae\nplugin.lambda = 1");
  weigh(reinforce, "plugin = reinforce");
  for (int i = 0; i < GAE_SIZE; i++) assert_close(gae[i], reinforce[i], 1e-6);
}

/** Four choices of log π = −1, −2, −3, −4 whose probabilities have changed by the ratios 1.5, 0.5,
 * 1.5 and 0.5; advantages 2, −1, −1 and 2. */
static void test_ppo_on_numbers_worked_by_hand(void **state) {
  (void)state;
  enum { LANES_OF_PPO = 4 };
  const double ratio[] = {1.5, 0.5, 1.5, 0.5}, expected[] = {0, 0, 1.5, -1};
  real before_log_p[LANES_OF_PPO];
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), "plugin = ppo\nplugin.clip = 0.2\n");
  double losses[FOV_OBJECTIVE_LOSSES] = {0}, kl = 0;
  Made m;
  begin_made(&m, 1, 1, (real[]){1});
  begin_rollout(&m, 1, LANES_OF_PPO);
  memcpy(m.returns, (real[]){3, 1, 1, 3}, LANES_OF_PPO * sizeof(real));
  for (int b = 0; b < LANES_OF_PPO; b++) {
    before_log_p[b] = (real)(-1 - b - log(ratio[b]));
    kl += ratio[b] - 1 - log(ratio[b]);
  }
  FovTimeStep then = m.at[0];
  then.log_look = column_of(&m, before_log_p, LANES_OF_PPO);
  then.baseline = column_of(&m, (real[]){1, 2, 2, 1}, LANES_OF_PPO);
  real returns[] = {3, 1, 1, 3};
  const FovRollout before = {
      .time_steps = 1, .lanes = LANES_OF_PPO, .at = &then, .returns = returns};
  memset(m.returns, 0, sizeof m.returns); // those of the repetition do not count
  m.before = &before;
  m.at[0].log_look = learned_column(&m, LANES_OF_PPO);
  m.at[0].baseline = learned_column(&m, LANES_OF_PPO); // −1, −2, −3, −4
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "learned"), 1, 0);
  for (int b = 0; b < LANES_OF_PPO; b++) {
    assert_close(LANES_OF_PPO * gradient_at(m.at[0].log_look, b), expected[b], 1e-6);
    assert_close(losses[3], kl, 1e-5);
    assert_close(losses[4], 2, 1e-6);
  }
  fov_tape_backward(&m.tape);
  for (int b = 0; b < LANES_OF_PPO; b++)
    assert_close(LANES_OF_PPO * gradient_at(m.at[0].baseline, b), -1 - b - (double)returns[b],
                 1e-5);
  finish_made(&m);
  free(slot.values);
}

/** Two moves, or decisions to stop or not, were equally likely and now have π = 0.8 and 0.2. One
 * lane chose each, so the gradient is an exact mean: dH/d log π of a choice, −π log π, in spite of
 * its old probability. */
static void test_ppo_raises_the_entropy_of_the_policy_that_it_changes(void **state) {
  (void)state;
  const double now[] = {0.8, 0.2};
  for (int stop = 0; stop < 2; stop++) {
    FovSlot slot = plugin_choose(PLUGINS(fov_objectives),
                                 "plugin = ppo\nplugin.policy = 0\nplugin.entropy = 3\n");
    double losses[FOV_OBJECTIVE_LOSSES] = {0};
    real zeros[2] = {0};
    Made m;
    begin_made(&m, 1, 1, (real[]){1});
    begin_rollout(&m, 1, 2);
    for (int b = 0; b < 2; b++) m.events[b] = stop ? FOV_EVENT_DECIDE : FOV_EVENT_ACT;
    FovTimeStep then = m.at[0];
    *(stop ? &then.log_stop : &then.log_act) =
        column_of(&m, (real[]){(real)log(0.5), (real)log(0.5)}, 2);
    const FovRollout before = {.time_steps = 1, .lanes = 2, .at = &then, .returns = zeros};
    m.before = &before;
    FovVar *x = column_of(&m, (real[]){(real)log(now[0]), (real)log(now[1])}, 2);
    FovVar *log_prob = fov_linear(&m.tape, x, &m.tape.params[0], NULL, FOV_LINEAR);
    *(stop ? &m.at[0].log_stop : &m.at[0].log_act) = log_prob;
    add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), 1, 0);
    for (int b = 0; b < 2; b++)
      assert_close(gradient_at(log_prob, b), 3 * now[b] * log(now[b]), 1e-6);
    finish_made(&m);
    free(slot.values);
  }
}

/* ---- losses of the baseline ---- */

/** Half the squared error where a choice was made; the mean square is logged. */
static void test_the_baseline_learns_only_where_a_choice_was_made(void **state) {
  (void)state;
  const char *const settings[] = {"plugin = reinforce\n",
                                  "plugin = reinforce\nplugin.baseline = 4\n"};
  for (int k = 0; k < 2; k++) {
    FovSlot slot = plugin_choose(PLUGINS(fov_objectives), settings[k]);
    double losses[FOV_OBJECTIVE_LOSSES] = {0}, weight = k ? 4 : 1;
    Made m;
    begin_made(&m, 1, 1, (real[]){1});
    begin_rollout(&m, 1, 3);
    memcpy(m.returns, (real[]){1, 2, 7}, 3 * sizeof(real));
    m.at[0].baseline = learned_column(&m, 3); // −1, −2, −3
    m.events[1] = 0;
    add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "learned"), 1, 0);
    fov_tape_backward(&m.tape);
    assert_close(gradient_at(m.at[0].baseline, 0), weight * -2 / 3, 1e-6);
    assert_close(gradient_at(m.at[0].baseline, 1), 0, 0);
    assert_close(gradient_at(m.at[0].baseline, 2), weight * -10 / 3, 1e-6);
    // (2² + 10²) / 2, for each of the three episodes.
    assert_close(losses[1], 52 * 3, 1e-4);
    finish_made(&m);
    free(slot.values);
  }
}

/** Time step 0 has no answer: the average return of 0.5 stands for it. Then p = 1/2 and 1/5. */
static void test_the_baseline_of_answers_predicts_what_is_missing(void **state) {
  (void)state;
  const real logits[] = {0, 0, (real)log(4), 0}, *b[] = {(real[]){0, 0}, (real[]){0.25, 0.5}};
  const double advantages[] = {0.5, -0.4, 0.25, -0.6};
  int labels[] = {0, 1};
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), "plugin = reinforce\n");
  double losses[FOV_OBJECTIVE_LOSSES] = {0};
  Made m;
  begin_made(&m, 1, 1, (real[]){1});
  m.task.reward = plugin_find(PLUGINS(fov_rewards), "probability");
  begin_rollout(&m, 2, 2);
  memcpy(m.returns, (real[]){1, 0.1, 1, 0.1}, 4 * sizeof(real));
  for (int t = 0; t < 2; t++) {
    m.at[t].labels = labels;
    m.at[t].log_look = learned_column(&m, 2);
    m.at[t].baseline = fov_add(&m.tape, learned_column(&m, 2), column_of(&m, (real[]){1, 2}, 2));
    for (int i = 0; i < 2; i++) m.at[t].baseline->value[i * m.at[t].baseline->stride] += b[t][i];
  }
  m.at[1].logits = fov_constant(&m.tape, 2, 2);
  for (int i = 0; i < 4; i++) fov_value_row(m.at[1].logits, i / 2)[i % 2] = logits[i];
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "answer"), 1, 0.5);
  fov_tape_backward(&m.tape);
  for (int i = 0; i < 4; i++) {
    assert_close(gradient_at(m.at[i / 2].log_look, i % 2), -advantages[i] / 2, 1e-6);
    assert_close(gradient_at(m.at[i / 2].baseline, i % 2), -advantages[i] / 2, 1e-6);
  }
  finish_made(&m);
  free(slot.values);
}

/* ---- the marginal likelihood ---- */

/** Two cases of two choices among two; the second has the lanes of the first in reverse. */
enum { SEQUENCES = 4, CASES = 2, CASE_LANES = SEQUENCES * CASES };
static const double first_p[SEQUENCES] = {0.25, 0.25, 0.75, 0.75};
static const double second_p[SEQUENCES] = {0.5, 0.5, 0.1, 0.9};
static const double answer_p[SEQUENCES] = {0.8, 0.2, 0.5, 0.9};

static int sequence_of(int lane) {
  return lane < SEQUENCES ? lane : CASE_LANES - 1 - lane;
}

static double log_of(double p) {
  return log(p);
}

static double logit(double p) {
  return log(p / (1 - p));
}

/** A column f(p) of the lanes' sequences, which has a gradient. */
static FovVar *sequence_column(Made *m, const double *p, double (*f)(double)) {
  real numbers[CASE_LANES];
  for (int b = 0; b < CASE_LANES; b++) numbers[b] = (real)f(p[sequence_of(b)]);
  return fov_linear(&m->tape, column_of(m, numbers, CASE_LANES), &m->tape.params[0], NULL,
                    FOV_LINEAR);
}

static double quarter(const void *options) {
  (void)options;
  return 0.25;
}

/** The posterior of the sequences is the weight of choices and answers, the prior of entropies. */
static void test_the_marginal_likelihood_on_numbers_worked_by_hand(void **state) {
  (void)state;
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), "plugin = marginal\n");
  double losses[FOV_OBJECTIVE_LOSSES] = {0}, likelihood = 0.77, answer = 0;
  int labels[CASE_LANES] = {0};
  Made m;
  begin_made(&m, 1, 1, (real[]){1});
  begin_rollout(&m, 3, CASE_LANES);
  m.policy.entropy = quarter;
  m.at[0].log_look = sequence_column(&m, first_p, log_of);
  m.at[0].look_entropy = sequence_column(&m, first_p, log_of);
  m.at[1].log_look = sequence_column(&m, second_p, log_of);
  m.at[1].look_entropy = sequence_column(&m, first_p, log_of);
  FovVar *right = sequence_column(&m, answer_p, logit);
  m.at[2].logits =
      fov_concat(&m.tape, (FovVar *[]){right, fov_constant(&m.tape, CASE_LANES, 1)}, 2);
  for (int b = 0; b < CASE_LANES; b++) m.at[2].logits->value[b * m.at[2].logits->stride + 1] = 0;
  m.at[2].labels = labels;
  m.env.spec.answer = FOV_ANSWER_CLASS;
  uint8_t answered[CASE_LANES];
  memset(answered, FOV_EVENT_ACT, sizeof answered);
  m.at[2].events = answered;
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), SEQUENCES, 0);
  fov_tape_backward(&m.tape);
  for (int b = 0; b < CASE_LANES; b++) {
    int j = sequence_of(b);
    double prior = first_p[j] * second_p[j], posterior = prior * answer_p[j] / likelihood;
    answer -= prior * log(answer_p[j]);
    assert_close(gradient_at(m.at[0].log_look, b), -posterior / CASES, 1e-6);
    assert_close(gradient_at(m.at[1].log_look, b), -posterior / CASES, 1e-6);
    assert_close(gradient_at(right, b), posterior * (answer_p[j] - 1) / CASES, 1e-6);
    for (int t = 0; t < 2; t++)
      assert_close(gradient_at(m.at[t].look_entropy, b), -0.25 * prior / CASES, 1e-6);
  }
  assert_close(losses[0], SEQUENCES * answer, 1e-5);
  assert_close(losses[1], -CASE_LANES * log(likelihood), 1e-5);
  finish_made(&m);
  free(slot.values);
}

/* ---- bounds on the likelihood ---- */

/** Two copies of an image choose one of three places each, with probabilities p; the answer is then
 * right with probability q. */
enum { PLACES = 3, TWO = 2 };
static const double place_p[PLACES] = {0.5, 0.3, 0.2}, place_q[PLACES] = {0.9, 0.2, 0.6};

/** The objective's gradients of one pair of choices: of the logits of places, and of those of right
 * answers, [TWO]. */
static void play_pair(Made *m, double losses[FOV_OBJECTIVE_LOSSES], double answers[TWO],
                      const char *settings, const int chosen[TWO]) {
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), settings);
  static uint8_t answered[TWO] = {FOV_EVENT_ACT, FOV_EVENT_ACT};
  static int labels[TWO] = {0, 0};
  real logits[TWO];
  begin_rollout(m, 2, TWO);
  FovVar *scores =
      fov_linear(&m->tape, column_of(m, (real[]){1, 1}, TWO), &m->tape.params[0], NULL, FOV_LINEAR);
  m->at[0].log_look = fov_categorical_log_prob(&m->tape, scores, chosen);
  for (int k = 0; k < TWO; k++) logits[k] = (real)logit(place_q[chosen[k]]);
  FovVar *right = fov_input(&m->tape, TWO, 1);
  for (int k = 0; k < TWO; k++) fov_value_row(right, k)[0] = logits[k];
  FovVar *parts[] = {right, fov_zeros(&m->tape, TWO, 1)};
  m->at[1] = (FovTimeStep){.count = TWO,
                           .lanes = m->lanes,
                           .events = answered,
                           .labels = labels,
                           .logits = fov_concat(&m->tape, parts, 2)};
  m->env.spec.answer = FOV_ANSWER_CLASS;
  add_gradients(m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), TWO, 0);
  fov_tape_backward(&m->tape);
  for (int k = 0; k < TWO; k++) answers[k] = gradient_at(right, k);
  free(slot.values);
}

static void begin_pairs(Made *m) {
  real logits[PLACES];
  for (int i = 0; i < PLACES; i++) logits[i] = (real)log(place_p[i]);
  begin_made(m, PLACES, 1, logits);
}

/** E[log (q_a + q_b) / 2] over both choices, with probabilities p. */
static double expected_bound(const double p[PLACES]) {
  double bound = 0;
  for (int i = 0; i < PLACES; i++)
    for (int b = 0; b < PLACES; b++) bound += p[i] * p[b] * log((place_q[i] + place_q[b]) / 2);
  return bound;
}

/** The gradient of the bound by the logits of places: p_i (dE/dp_i − Σ_j p_j dE/dp_j). */
static void bound_gradient(double gradient[PLACES]) {
  double slope[PLACES] = {0}, mean = 0;
  for (int i = 0; i < PLACES; i++)
    for (int b = 0; b < PLACES; b++)
      slope[i] += 2 * place_p[b] * log((place_q[i] + place_q[b]) / 2);
  for (int i = 0; i < PLACES; i++) mean += place_p[i] * slope[i];
  for (int i = 0; i < PLACES; i++) gradient[i] = place_p[i] * (slope[i] - mean);
}

/** Exactly: the mean over all pairs of choices. */
static void test_the_gradient_of_vimco_is_that_of_its_bound(void **state) {
  (void)state;
  double sum[PLACES] = {0}, exact[PLACES], bound = 0;
  Made m;
  begin_pairs(&m);
  for (int pair = 0; pair < PLACES * PLACES; pair++) {
    double losses[FOV_OBJECTIVE_LOSSES] = {0}, answers[TWO];
    const int chosen[TWO] = {pair / PLACES, pair % PLACES};
    play_pair(&m, losses, answers, "plugin = vimco\n", chosen);
    double p = place_p[chosen[0]] * place_p[chosen[1]];
    for (int i = 0; i < PLACES; i++) sum[i] += p * (double)m.gradient[i];
    bound -= p * losses[2] / TWO;
  }
  bound_gradient(exact);
  for (int i = 0; i < PLACES; i++) assert_close(sum[i], -exact[i], 1e-6);
  assert_close(bound, expected_bound(place_p), 1e-6);
  finish_made(&m);
}

/** q = 0.9 and 0.6: weights 0.6 and 0.4 of the answers, and of the choices less a half. */
static void test_wake_sleep_on_numbers_worked_by_hand(void **state) {
  (void)state;
  double losses[FOV_OBJECTIVE_LOSSES] = {0}, answers[TWO];
  const int chosen[TWO] = {0, 2};
  Made m;
  begin_pairs(&m);
  play_pair(&m, losses, answers, "plugin = wake_sleep\nplugin.policy = 3\n", chosen);
  assert_close(gradient_at(m.at[0].log_look, 0), -3 * 0.1, 1e-6);
  assert_close(gradient_at(m.at[0].log_look, 1), 3 * 0.1, 1e-6);
  assert_close(answers[0], 0.6 * (0.9 - 1), 1e-6);
  assert_close(answers[1], 0.4 * (0.6 - 1), 1e-6);
  assert_close(losses[2], -2 * log(0.75), 1e-6);
  finish_made(&m);
}

/** A time step at which `count` lanes answer, rightly with probability q. Writes the logits of the
 * right answers. */
static FovTimeStep answer_of(Made *m, FovVar **right_logits, const int *lanes, int count,
                             const double *q) {
  static uint8_t answered[MOST_LANES];
  static int labels[MOST_LANES];
  FovVar *right = *right_logits = fov_input(&m->tape, count, 1);
  for (int i = 0; i < count; i++) fov_value_row(right, i)[0] = (real)logit(q[i]);
  memset(answered, FOV_EVENT_ACT | FOV_EVENT_LOOK, sizeof answered);
  FovVar *parts[] = {right, fov_zeros(&m->tape, count, 1)};
  return (FovTimeStep){.count = count,
                       .lanes = lanes,
                       .events = answered,
                       .labels = labels,
                       .log_look = learned_column(m, count),
                       .logits = fov_concat(&m->tape, parts, 2)};
}

/** Two cases of two lanes answer with q = 0.9 and 0.6, whose weights are 0.6 and 0.4; then the
 * second case answers again, the other way round. */
static void test_a_choice_is_weighed_by_the_answers_after_it(void **state) {
  (void)state;
  const double first[] = {0.9, 0.6, 0.9, 0.6}, second[] = {0.6, 0.9};
  const double expected[2][4] = {{-0.1, 0.1, 0, 0}, {0, 0, 0.1, -0.1}};
  const int rest[] = {2, 3};
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), "plugin = wake_sleep\n");
  double losses[FOV_OBJECTIVE_LOSSES] = {0};
  Made m;
  begin_made(&m, 1, 1, (real[]){1});
  m.env.spec.answer = FOV_ANSWER_CLASS;
  begin_rollout(&m, 3, 4);
  m.at[0].log_look = learned_column(&m, 4);
  FovVar *right[2];
  m.at[1] = answer_of(&m, &right[0], m.lanes, 4, first);
  m.at[2] = answer_of(&m, &right[1], rest, 2, second);
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), TWO, 0);
  for (int b = 0; b < 4; b++) {
    assert_close(TWO * gradient_at(m.at[0].log_look, b), expected[0][b], 1e-6);
    assert_close(TWO * gradient_at(m.at[1].log_look, b), expected[1][b], 1e-6);
  }
  for (int i = 0; i < 2; i++) assert_close(gradient_at(m.at[2].log_look, i), 0, 0);
  fov_tape_backward(&m.tape);
  for (int b = 0; b < 4; b++)
    assert_close(TWO * gradient_at(right[0], b), (b % 2 ? 0.4 : 0.6) * (first[b] - 1), 1e-6);
  for (int i = 0; i < 2; i++)
    assert_close(TWO * gradient_at(right[1], i), (i ? 0.6 : 0.4) * (second[i] - 1), 1e-6);
  assert_close(losses[2], -6 * log(0.75), 1e-5);
  finish_made(&m);
  free(slot.values);
}

/* ---- entropies ---- */

/** Probabilities 1/2, 1/4, 1/4, and lanes in the same proportions. */
enum { ENTROPY_LANES = 4, ENTROPY_ACTIONS = 3 };
static const double probabilities[ENTROPY_ACTIONS] = {0.5, 0.25, 0.25};
static const int actions[ENTROPY_LANES] = {0, 0, 1, 2};

/** The gradient of the logits, w [A, 1] of a state that is 1, if nothing is earned: of the entropy
 * alone. stop: the choice is whether to stop, not an action. */
static void entropy_gradient(double gradient[ENTROPY_ACTIONS], const char *settings, bool stop) {
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), settings);
  double losses[FOV_OBJECTIVE_LOSSES] = {0};
  real logits[ENTROPY_ACTIONS], ones[ENTROPY_LANES] = {1, 1, 1, 1};
  Made m;
  for (int i = 0; i < ENTROPY_ACTIONS; i++) logits[i] = (real)log(probabilities[i]);
  begin_made(&m, ENTROPY_ACTIONS, 1, logits);
  begin_rollout(&m, 1, ENTROPY_LANES);
  for (int b = 0; b < ENTROPY_LANES; b++) m.events[b] = stop ? FOV_EVENT_DECIDE : FOV_EVENT_ACT;
  FovVar *ys =
      fov_linear(&m.tape, column_of(&m, ones, ENTROPY_LANES), &m.tape.params[0], NULL, FOV_LINEAR);
  FovVar *log_prob = fov_categorical_log_prob(&m.tape, ys, actions);
  *(stop ? &m.at[0].log_stop : &m.at[0].log_act) = log_prob;
  add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), 1, 0);
  fov_tape_backward(&m.tape);
  for (int i = 0; i < ENTROPY_ACTIONS; i++) gradient[i] = (double)m.gradient[i];
  finish_made(&m);
  free(slot.values);
}

/** −weight · dH/d logit_i = weight · p_i (log p_i + H): a descent raises the entropy. */
static void test_the_entropy_of_moves_and_stops_is_raised(void **state) {
  (void)state;
  double entropy = 0, gradient[ENTROPY_ACTIONS];
  for (int i = 0; i < ENTROPY_ACTIONS; i++) entropy -= probabilities[i] * log(probabilities[i]);
  for (int stop = 0; stop < 2; stop++) {
    entropy_gradient(gradient, "plugin = reinforce\nplugin.entropy = 0.5\n", stop);
    for (int i = 0; i < ENTROPY_ACTIONS; i++)
      assert_close(gradient[i], 0.5 * probabilities[i] * (log(probabilities[i]) + entropy), 1e-6);
    entropy_gradient(gradient, "plugin = reinforce\n", stop);
    for (int i = 0; i < ENTROPY_ACTIONS; i++) assert_close(gradient[i], 0, 1e-9);
  }
}

static double policy_entropy(const void *options) {
  (void)options;
  return 0.25;
}

/** A policy's exact entropy is raised with the policy's own weight, where a place was chosen. */
static void test_a_policy_s_exact_entropy_is_raised(void **state) {
  (void)state;
  FovSlot slot = plugin_choose(PLUGINS(fov_objectives), "plugin = reinforce\n");
  for (int weighed = 0; weighed < 2; weighed++) {
    double losses[FOV_OBJECTIVE_LOSSES] = {0};
    Made m;
    begin_made(&m, 1, 1, (real[]){1});
    begin_rollout(&m, 1, 3);
    m.policy.entropy = weighed ? policy_entropy : NULL;
    m.at[0].look_entropy = learned_column(&m, 3);
    m.events[1] = FOV_EVENT_ACT;
    add_gradients(&m, losses, &slot, plugin_find(PLUGINS(fov_baselines), "none"), 1, 0);
    for (int b = 0; b < 3; b++)
      assert_close(gradient_at(m.at[0].look_entropy, b), weighed && b != 1 ? -0.25 / 3 : 0, 1e-7);
    finish_made(&m);
  }
  free(slot.values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_objective_is_unbiased_with_every_baseline),
      cmocka_unit_test(test_every_baseline_lowers_the_variance),
      cmocka_unit_test(test_gae_on_numbers_worked_by_hand),
      cmocka_unit_test(test_gae_of_the_whole_return_is_reinforce),
      cmocka_unit_test(test_the_marginal_likelihood_on_numbers_worked_by_hand),
      cmocka_unit_test(test_the_gradient_of_vimco_is_that_of_its_bound),
      cmocka_unit_test(test_wake_sleep_on_numbers_worked_by_hand),
      cmocka_unit_test(test_a_choice_is_weighed_by_the_answers_after_it),
      cmocka_unit_test(test_ppo_on_numbers_worked_by_hand),
      cmocka_unit_test(test_ppo_raises_the_entropy_of_the_policy_that_it_changes),
      cmocka_unit_test(test_the_baseline_learns_only_where_a_choice_was_made),
      cmocka_unit_test(test_the_baseline_of_answers_predicts_what_is_missing),
      cmocka_unit_test(test_the_entropy_of_moves_and_stops_is_raised),
      cmocka_unit_test(test_a_policy_s_exact_entropy_is_raised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
