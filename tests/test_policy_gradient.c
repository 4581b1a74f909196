/** The gradient of the policy against the exact one, and that training learns where to look. */
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

/** Raw locations fall into CELLS × CELLS cells: those of the image, each within one pixel, and
 * those beyond its borders, where the location is clipped. */
enum { INNER = 80, CELLS = INNER + 2, REPEATS = 600 };
static const double sigma = 0.4;

static double edge(int cell) {
  return cell == 0 ? -INFINITY : cell == CELLS ? INFINITY : 2. * (cell - 1) / INNER - 1;
}

static double node(int cell) {
  return fmin(fmax((2. * cell - 1) / INNER - 1, -1), 1);
}

/** The normal distribution's mass in a cell, and its derivative by the mean. */
static double mass_of(double *slope, int cell, double mean) {
  double low = (edge(cell) - mean) / sigma, high = (edge(cell + 1) - mean) / sigma;
  *slope = (exp(-low * low / 2) - exp(-high * high / 2)) / (sqrt(2 * M_PI) * sigma);
  return (erf(high / sqrt(2)) - erf(low / sqrt(2))) / 2;
}

/** A Gaussian forced to look at one row of cells, one cell in each lane. */
static int row;
static const FovPolicy *gaussian;

static void choose_row(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                       const void *layout, const void *options) {
  FovChoice forced[CELLS];
  FovPolicyInput at_cells = *input;
  for (int b = 0; b < input->lanes; b++)
    forced[b] = (FovChoice){.sample = {(real)node(b), (real)node(row)}, .index = -1};
  at_cells.forced = forced;
  gaussian->choose(output, tape, &at_cells, layout, options);
}

/** Adds −dE[R]/dmean of one case with two glimpses: the sum of R over all cells. */
static void integrate(double gradient[2], const Toy *toy, const real *values, int64_t index) {
  FovTask task = toy->task;
  gaussian = task.policy;
  FovPolicy row_policy = *gaussian;
  FovArena arena = {0};
  FovRng rng[CELLS] = {{0}};
  int64_t cases[CELLS];
  row_policy.choose = choose_row;
  task.policy = &row_policy;
  for (int b = 0; b < CELLS; b++) cases[b] = index;
  for (row = 0; row < CELLS; row++) {
    FovTape tape;
    FovRollout r;
    FovPlan plan = {.lanes = CELLS, .cases = cases, .env_rng = rng, .policy_rng = rng};
    fov_arena_rewind(&arena);
    fov_tape_begin(&tape, &arena, &toy->experiment.agent.params, values, NULL);
    fov_rollout_run(&r, &tape, &task, &plan);
    const real *mean = r.at[1].columns[0];
    for (int b = 0; b < CELLS; b++) {
      double dx, dy, x = mass_of(&dx, b, (double)mean[0]), y = mass_of(&dy, row, (double)mean[1]);
      gradient[0] -= (double)r.returns[b] * dx * y;
      gradient[1] -= (double)r.returns[b] * x * dy;
    }
  }
  fov_arena_finish(&arena);
}

#define TWO_GLIMPSES "glimpses = 2\nenv.cases = 6\ntrain.batch = 96\n"

/** The trainer's own gradient of location.bias, averaged over many updates, is the exact one
 * to 99.9 %, and its size is well above the error. */
static void check_policy_gradient(const char *baseline, const char *reward) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           TOY_PLAIN TWO_GLIMPSES "policy.sigma = 4\ntrain.copies = 4\ntrain.answer = every\n"
                                  "baseline = %s\nreward = %s\n",
           baseline, reward);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  size_t bias = toy_param(&toy, "location.bias")->offset;
  real *values = toy_skilled_values(&toy), *gradient = toy_copy(&toy, values);
  double exact[2] = {0}, sum[2] = {0}, squares[2] = {0};
  for (int64_t i = 0; i < 6; i++) integrate(exact, &toy, values, i);
  for (int i = 0; i < REPEATS; i++) {
    toy_gradient(gradient, trainer, &toy, values, true);
    for (int j = 0; j < 2; j++) sum[j] += (double)gradient[bias + (size_t)j];
    for (int j = 0; j < 2; j++) squares[j] += pow((double)gradient[bias + (size_t)j], 2);
  }
  for (int j = 0; j < 2; j++) {
    double mean = sum[j] / REPEATS, wanted = exact[j] / 6;
    double error = sqrt((squares[j] / REPEATS - mean * mean) / REPEATS);
    if (!(fabs(mean - wanted) < 3.29 * error) || !(error < hypot(exact[0], exact[1]) / 12))
      fail_msg("%s, %s: %c is %g +- %g, expected %g", baseline, reward, "xy"[j], mean, error,
               wanted);
  }
  free(gradient), free(values);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_policy_gradient_is_exact_on_average(void **state) {
  (void)state;
  for (const FovBaseline *const *b = fov_baselines; *b; b++)
    for (const FovReward *const *r = fov_rewards; *r; r++)
      check_policy_gradient((*b)->plugin.name, (*r)->plugin.name);
}

/** The test error after training with some changes to the settings. */
static double train_and_test(const char *changes) {
  Toy toy;
  char settings[512];
  snprintf(settings, sizeof settings,
           "glimpses = 2\nenv.cases = 96\ntrain.batch = 64\n"
           "train.episodes = 96000\ntrain.rate = 0.005\ntrain.average = 0.99\n%s",
           changes);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, (int)fov_train_updates_planned(&toy.experiment.train));
  FovEvalResult result = toy_evaluate(&toy, fov_trainer_weights(trainer), 1, 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return (double)result.wrong / (double)result.cases;
}

/** The pattern is visible only where the cue points. */
static void test_training_learns_where_to_look(void **state) {
  (void)state;
  double learned = train_and_test("");
  double random = train_and_test("policy = random\n");
  double unrewarded = train_and_test("objective.policy = 0\n");
  assert_true(learned < 0.1);
  assert_true(random > 0.4);
  assert_true(unrewarded > 0.4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_policy_gradient_is_exact_on_average),
      cmocka_unit_test(test_training_learns_where_to_look),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
