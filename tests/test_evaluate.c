/** Evaluation: fixed cases, rollouts that answer together, intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toy_play.h"

static void test_evaluation_does_not_depend_on_the_threads(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env.cases = 150\nreward = log_probability\n");
  real *values = toy_lively_values(&toy);
  for (int rollouts = 1; rollouts <= 5; rollouts += 4) {
    FovEvalResult alone = toy_evaluate(&toy, values, rollouts, 1);
    assert_int_equal(alone.cases, 150);
    for (int threads = 2; threads <= 4; threads++) {
      FovEvalResult together = toy_evaluate(&toy, values, rollouts, threads);
      assert_memory_equal(&together, &alone, sizeof alone);
    }
  }
  free(values);
  toy_finish(&toy);
}

/** Logits that overflow are no answer of class 0. */
static void test_answers_without_a_probability_have_no_reward(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "reward = correct\n");
  real *values = toy_lively_values(&toy);
  assert_true(isfinite(toy_evaluate(&toy, values, 1, 1).reward));
  values[toy_param(&toy, "class.bias")->offset] = (real)INFINITY;
  for (int rollouts = 1; rollouts <= 3; rollouts += 2)
    assert_true(isnan(toy_evaluate(&toy, values, rollouts, 1).reward));
  free(values);
  toy_finish(&toy);
}

/** One rollout follows the mean, whatever sigma is; several are sampled. */
static void test_a_single_rollout_is_deterministic(void **state) {
  (void)state;
  const char *settings[] = {"reward = log_probability\npolicy.sigma = 1\n",
                            "reward = log_probability\npolicy.sigma = 9\n"};
  FovEvalResult once[2], often[2];
  for (int i = 0; i < 2; i++) {
    Toy toy;
    toy_create(&toy, settings[i]);
    real *values = toy_lively_values(&toy);
    once[i] = toy_evaluate(&toy, values, 1, 1);
    often[i] = toy_evaluate(&toy, values, 3, 1);
    free(values);
    toy_finish(&toy);
  }
  assert_memory_equal(&once[0], &once[1], sizeof *once);
  assert_true(often[0].reward != often[1].reward && often[0].reward != once[0].reward);
}

static void test_rollouts_that_draw_nothing_are_played_once(void **state) {
  (void)state;
  const char *settings[] = {"policy = centre\n", "attention = soft\ntiles.side = 8\n",
                            "policy.sigma = 1\n", "policy = random\n"};
  for (int i = 0; i < 4; i++) {
    Toy toy;
    toy_create(&toy, settings[i]);
    real *values = toy_lively_values(&toy);
    FovEvalResult once = toy_evaluate(&toy, values, 1, 1), often = toy_evaluate(&toy, values, 3, 2);
    bool drawn = i >= 2;
    assert_int_equal(once.played, once.cases);
    assert_int_equal(often.played, (drawn ? 3 : 1) * often.cases);
    if (!drawn) {
      assert_int_equal(often.wrong, once.wrong);
      assert_close(often.reward, once.reward, 1e-12);
      assert_close(often.glimpses, once.glimpses, 1e-12);
    }
    free(values);
    toy_finish(&toy);
  }
}

/** The m-th rollout of an evaluation, of the toy's first cases. */
static void play_repeat(ToyPlay *play, const Toy *toy, const real *values, int m,
                        bool deterministic) {
  int lanes = (int)toy->env.spec.cases;
  toy_play_begin(play, toy, values, NULL, 0, lanes);
  play->plan = fov_plan_cases(&play->arena, 0, lanes, 9, FOV_SPLIT_TRAIN, m);
  play->plan.deterministic = deterministic;
  toy_play_run(play, toy);
}

static int best_of(const double *p) {
  return p[0] >= p[1] && p[0] >= p[2] ? 0 : p[1] >= p[2] ? 1 : 2;
}

/** Log-probabilities are summed over the rollouts before the answer is chosen (Ba et al. 2015). */
static void test_several_rollouts_are_averaged(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "glimpses = 2\npolicy.sigma = 9\nreward = log_probability\n");
  real *values = toy_skilled_values(&toy);
  enum { CASES = 48, ROLLOUTS = 4 };
  double log_p[CASES][TOY_ACTIONS] = {{0}}, reward = 0;
  int wrong = 0, alone[ROLLOUTS] = {0};
  for (int m = 0; m < ROLLOUTS; m++) {
    ToyPlay p;
    play_repeat(&p, &toy, values, m, false);
    const FovRollout *r = &p.rollout;
    for (int b = 0; b < CASES; b++) {
      for (int i = 0; i < TOY_ACTIONS; i++)
        log_p[b][i] += (double)r->log_probabilities[b * TOY_ACTIONS + i];
      reward += (double)r->returns[b] / ROLLOUTS / CASES;
      alone[m] += r->answers[b] != r->labels[b];
    }
    toy_play_finish(&p);
  }
  for (int b = 0; b < CASES; b++) wrong += best_of(log_p[b]) != b % TOY_ACTIONS;
  FovEvalResult result = toy_evaluate(&toy, values, ROLLOUTS, 1);
  assert_int_equal(result.cases, CASES);
  assert_int_equal(result.wrong, wrong);
  assert_close(result.reward, reward, 1e-5);
  // The last rollout alone would answer differently.
  assert_int_not_equal(wrong, alone[ROLLOUTS - 1]);
  free(values);
  toy_finish(&toy);
}

/** One wrong answer makes a case wrong, or only a wrong last one, with one rollout or with several
 * that are averaged; rewards and glimpses are means over rollouts. */
static void check_several_answers(bool last) {
  Toy toy;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\npolicy.sigma = 9\nenv.cases = 40\n");
  toy.env.spec.last = last;
  real *values = toy_lively_values(&toy);
  for (int rollouts = 1; rollouts <= 3; rollouts += 2) {
    double log_p[40][TOY_TURNS][TOY_ACTIONS] = {{{0}}}, *flat = log_p[0][0], reward = 0;
    for (int m = 0; m < rollouts; m++) {
      ToyPlay p;
      play_repeat(&p, &toy, values, m, rollouts == 1);
      for (int b = 0; b < 40; b++) reward += (double)p.rollout.returns[b] / rollouts / 40;
      for (int i = 0; i < 40 * TOY_TURNS * TOY_ACTIONS; i++)
        flat[i] += (double)p.rollout.log_probabilities[i];
      toy_play_finish(&p);
    }
    int wrong = 0, glimpses = 0, answers = 0;
    for (int b = 0; b < 40; b++) {
      int bad = 0, latest = 0;
      for (int k = 0; k < toy_turns_count(b); k++)
        bad += latest = best_of(log_p[b][k]) != toy_turns_label(b, k);
      wrong += last ? latest : bad > 0, answers += bad, glimpses += 2 * toy_turns_count(b);
    }
    FovEvalResult result = toy_evaluate(&toy, values, rollouts, 2);
    assert_int_equal(result.cases, 40);
    assert_int_equal(result.wrong, wrong);
    assert_int_equal(result.wrong_answers, answers);
    assert_int_equal(2 * result.answers, glimpses);
    assert_close(result.reward, reward, 1e-5);
    assert_close(result.glimpses, glimpses / 40., 1e-9);
    // More answers are wrong than there are cases, and some cases are right.
    assert_true(wrong < answers && wrong < 40);
  }
  free(values);
  toy_finish(&toy);
}

static void test_several_answers_are_one_case(void **state) {
  (void)state;
  check_several_answers(false);
  check_several_answers(true);
}

/** Rollouts of a control task are not averaged: each is a case, wrong if it misses the goal. */
static void test_each_rollout_of_a_game_is_a_case(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_game\nglimpses = 3\nstop = learned\nenv.cases = 40\n");
  real *values = toy_lively_values(&toy);
  double reward = 0, glimpses = 0;
  int wrong = 0;
  for (int m = 0; m < 3; m++) {
    ToyPlay p;
    play_repeat(&p, &toy, values, m, false);
    for (int b = 0; b < 40; b++) {
      reward += (double)p.rollout.returns[b] / 120;
      glimpses += p.rollout.glimpses[b] / 120.;
      wrong += p.rollout.wrong[b];
    }
    toy_play_finish(&p);
  }
  FovEvalResult result = toy_evaluate(&toy, values, 3, 2);
  assert_int_equal(result.cases, 120);
  assert_int_equal(result.wrong, wrong);
  assert_in_range(wrong, 1, 119);
  assert_close(result.reward, reward, 1e-5);
  assert_close(result.glimpses, glimpses, 1e-9);
  free(values);
  toy_finish(&toy);
}

/** Distances are root mean squared over all vectors, and over the last of each episode; each
 * rollout is a case. */
static void check_vectors(const char *settings) {
  enum { CASES = 40 };
  Toy toy;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  for (int rollouts = 1; rollouts <= 3; rollouts += 2) {
    double all = 0, last = 0, reward = 0, answers = 0;
    int wrong = 0;
    for (int m = 0; m < rollouts; m++) {
      ToyPlay p;
      play_repeat(&p, &toy, values, m, rollouts == 1);
      const FovRollout *r = &p.rollout;
      for (int b = 0; b < CASES; b++) {
        for (int k = 0; k < r->taken[b]; k++) all += (double)r->squares[b * r->turns + k];
        last += (double)r->squares[b * r->turns + r->taken[b] - 1];
        reward += (double)r->returns[b], answers += r->taken[b], wrong += r->wrong[b];
      }
      toy_play_finish(&p);
    }
    FovEvalResult result = toy_evaluate(&toy, values, rollouts, 2);
    double episodes = CASES * rollouts;
    assert_int_equal(result.cases, episodes);
    assert_int_equal(result.wrong, wrong);
    assert_int_equal(result.answers + result.wrong_answers, 0);
    assert_close(result.reward / reward * episodes, 1, 1e-5);
    assert_close(result.distance / sqrt(all / answers), 1, 1e-5);
    assert_close(result.last_distance / sqrt(last / episodes), 1, 1e-5);
    assert_true(answers > episodes && result.distance != result.last_distance);
  }
  free(values);
  toy_finish(&toy);
}

static void test_vectors_are_measured_by_their_distance(void **state) {
  (void)state;
  check_vectors("env = toy_find\nglimpses = 2\nenv.cases = 40\n");
  check_vectors("env = toy_walk\nglimpses = 1\nenv.cases = 40\npolicy = random\n");
}

/* ---- the plan of fixed cases ---- */

static int compare_draws(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void assert_distinct(uint32_t *draws, size_t count) {
  qsort(draws, count, sizeof *draws, compare_draws);
  for (size_t i = 1; i < count; i++)
    if (draws[i] == draws[i - 1]) fail_msg("%u is drawn twice", draws[i]);
}

enum { DRAWN = 64 };

/** Appends the random numbers of a split's first cases, for the environment or the policy. */
static size_t draw_cases(uint32_t *draws, FovSplit split, int repeat, bool policy) {
  FovArena arena = {0};
  FovPlan plan = fov_plan_cases(&arena, 0, DRAWN, 9, split, repeat);
  for (int b = 0; b < DRAWN; b++)
    draws[b] = fov_rng_u32(policy ? &plan.policy_rng[b] : &plan.env_rng[b]);
  fov_arena_finish(&arena);
  return DRAWN;
}

/** Training, validation and test never show the same clutter, even with equal seeds. */
static void test_no_two_splits_share_a_draw(void **state) {
  (void)state;
  enum { UPDATES = 4 };
  uint32_t draws[(UPDATES + 3) * DRAWN], same[DRAWN];
  size_t count = 0;
  Toy toy;
  toy_create(&toy, "seed = 9\ntrain.batch = 64\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_resets = 0;
  toy_train(trainer, UPDATES);
  assert_int_equal(toy_resets, UPDATES * DRAWN);
  for (int i = 0; i < toy_resets; i++) draws[count++] = toy_log[i].draw;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    count += draw_cases(draws + count, split, 0, false);
    // All rollouts of a case show the same image.
    draw_cases(same, split, 5, false);
    assert_memory_equal(same, draws + count - DRAWN, sizeof same);
  }
  assert_distinct(draws, count);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_every_rollout_of_every_case_has_its_own_policy_draws(void **state) {
  (void)state;
  enum { ROLLOUTS = 3 };
  uint32_t draws[3 * ROLLOUTS * DRAWN];
  size_t count = 0;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++)
    for (int repeat = 0; repeat < ROLLOUTS; repeat++)
      count += draw_cases(draws + count, split, repeat, true);
  assert_distinct(draws, count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_evaluation_does_not_depend_on_the_threads),
      cmocka_unit_test(test_answers_without_a_probability_have_no_reward),
      cmocka_unit_test(test_a_single_rollout_is_deterministic),
      cmocka_unit_test(test_rollouts_that_draw_nothing_are_played_once),
      cmocka_unit_test(test_several_rollouts_are_averaged),
      cmocka_unit_test(test_several_answers_are_one_case),
      cmocka_unit_test(test_each_rollout_of_a_game_is_a_case),
      cmocka_unit_test(test_vectors_are_measured_by_their_distance),
      cmocka_unit_test(test_no_two_splits_share_a_draw),
      cmocka_unit_test(test_every_rollout_of_every_case_has_its_own_policy_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
