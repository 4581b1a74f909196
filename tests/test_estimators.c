/** Estimators of the gradient against the exact one, on a million episodes each, and the figures
 * that are computed from their samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "experiment/gradient/figures.h"
#include "learn/objective/policy_gradient.h"
#include "toy_play.h"

enum { CASES = 8, SEQUENCES = 16 };

/** Two choices of one of four tiles, then an answer. */
#define CHOICES                                                                                    \
  TOY_PLAIN "policy = sites\ntiles.side = 2\ntiles.width = 6\n"                                    \
            "first = learned\nglimpses = 2\nreward = log_probability\npolicy.entropy = 0\n"

/** What is sampled of a toy. */
typedef struct Sampled {
  Toy toy;
  real *values;
  FovGradientSums sums;
} Sampled;

/** Samples the gradient of a training. compared: written by the first call, with other parameters
 * of the baseline left out. from: gives its values; NULL: they are drawn. */
static void sample_toy(Sampled *s, FovGradientParams *compared, const char *settings,
                       const Sampled *from, int64_t episodes, int threads) {
  char all[1024];
  snprintf(all, sizeof all, CHOICES "%s%s",
           strstr(settings, "attention") ? "" : "attention = sampled\n", settings);
  toy_create(&s->toy, all);
  FovTraining *training = &s->toy.training;
  FovTrainOptions *o = &training->options;
  o->answer = FOV_TRAIN_ANSWER_LAST;
  if (training->objective->predicts || training->task.baseline->head.build)
    ((FovPolicyGradientOptions *)training->objective_options)->baseline = 0;
  s->values = toy_lively_values(&s->toy);
  if (from)
    toy_copy_shared(s->values, &s->toy.experiment.agent.params, from->values,
                    &from->toy.experiment.agent.params);
  if (!compared->params)
    assert_int_equal(fov_gradient_params_create(compared, &s->toy.experiment.agent.params), FOV_OK);
  const FovSampling sampling = {.training = training,
                                .values = s->values,
                                .compared = compared,
                                .average_return = -1.1,
                                .cases = CASES,
                                .samples = episodes / CASES / o->copies,
                                .image_seed = 5,
                                .choice_seed = 5,
                                .threads = threads};
  assert_int_equal(fov_gradient_sample(&s->sums, &sampling), FOV_OK);
}

static void finish(Sampled *s) {
  fov_gradient_sums_finish(&s->sums);
  free(s->values);
  toy_finish(&s->toy);
}

#define COPIES(K, shard)                                                                           \
  "train.copies = " #K "\ntrain.shard = " #shard "\ntrain.batch = " #shard "\n"

static void sample_exact(Sampled *s, FovGradientParams *compared) {
  sample_toy(s, compared, "objective = exact\nbaseline = none\n" COPIES(16, 64), NULL,
             CASES * SEQUENCES, 1);
}

/** The group of a name. */
static int group_named(const FovGradientParams *compared, const char *name) {
  int g = 0;
  while (g < compared->group_count && strcmp(compared->groups[g], name)) g++;
  assert_in_range(g, 0, compared->group_count - 1);
  return g;
}

#ifdef __SANITIZE_ADDRESS__ // whose program is slow
enum { MILLION = 1 << 17 };
#else
enum { MILLION = 1 << 20 };
#endif

/** Fails unless every group's mean gradient is the exact one, by 32 projections each, to 99.9 %;
 * and unless the samples are enough to tell. */
static void check_unbiased(const char *settings, const Sampled *exact,
                           FovGradientParams *compared) {
  Sampled s;
  FovEstimator e = {.name = settings};
  sample_toy(&s, compared, settings, exact, MILLION, 2);
  fov_gradient_figures(&e, &s.sums, &exact->sums, compared);
  for (int g = 0; g < compared->group_count; g++)
    if (!(e.groups[g].p > 0.001 / compared->group_count))
      fail_msg("%s: %s is biased, p = %g", settings, compared->groups[g], e.groups[g].p);
  const FovGradientFigures *tiles = &e.groups[group_named(compared, "tiles")];
  if (!(tiles->bias < 0.02 && tiles->cosine > 0.999))
    fail_msg("%s: bias %g, cosine %g", settings, tiles->bias, tiles->cosine);
  finish(&s);
}

static void test_unbiased_estimators_have_the_exact_gradient_as_their_mean(void **state) {
  (void)state;
  const char *const settings[] = {
      "baseline = none\n",
      "baseline = average\n",
      "baseline = learned\n",
      "baseline = answer\ntrain.answer = every\n",
      "baseline = self_critical\n",
      "baseline = leave_one_out\n" COPIES(4, 64),
      "objective = gae\nobjective.lambda = 1\n",
      "baseline = none\nattention = rebar\n",
      "baseline = leave_one_out\nattention = rebar\nattention.temperature = 0.3\n" COPIES(4, 64),
      "baseline = none\nattention = relax\n",
      "baseline = leave_one_out\nattention = relax\n" COPIES(4, 64),
  };
  FovGradientParams compared = {0};
  Sampled exact;
  sample_exact(&exact, &compared);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    check_unbiased(settings[i], &exact, &compared);
  finish(&exact);
  fov_gradient_params_finish(&compared);
}

/** The bias of the choices' own parameters, and its p-value. */
static FovGradientFigures tiles_of(const char *settings, int64_t episodes) {
  FovGradientParams compared = {0};
  Sampled exact, s;
  FovEstimator e = {.name = settings};
  sample_exact(&exact, &compared);
  sample_toy(&s, &compared, settings, &exact, episodes, 2);
  fov_gradient_figures(&e, &s.sums, &exact.sums, &compared);
  FovGradientFigures tiles = e.groups[group_named(&compared, "tiles")];
  finish(&exact), finish(&s);
  fov_gradient_params_finish(&compared);
  return tiles;
}

/** λ = 0 trusts a baseline that was never trained. */
static void test_biased_estimators_are_found(void **state) {
  (void)state;
  FovGradientFigures gae = tiles_of("objective = gae\nobjective.lambda = 0\n", MILLION / 8);
  FovGradientFigures through =
      tiles_of("baseline = none\nattention = straight_through\n", MILLION / 8);
  FovGradientFigures reinmax = tiles_of("baseline = none\nattention = reinmax\n", MILLION / 8);
  assert_true(gae.p < 1e-6 && gae.bias > 0.1);
  assert_true(through.p < 1e-6 && through.bias > 0.02);
  assert_true(reinmax.bias < through.bias);
}

/** The control variate of relaxed choices adds to what a baseline achieves. */
static void test_baselines_and_relaxed_choices_lower_the_variance(void **state) {
  (void)state;
#define MANY "baseline = leave_one_out\n" COPIES(16, 64)
  double none = tiles_of("baseline = none\n", MILLION / 16).variance;
  double critical = tiles_of("baseline = self_critical\n", MILLION / 16).variance;
  double copies = tiles_of(MANY, MILLION / 16).variance;
  double rebar = tiles_of(MANY "attention = rebar\n", MILLION / 16).variance;
  assert_true(critical < 0.5 * none && copies < 0.5 * none && rebar < 0.75 * copies);
}

static void test_threads_do_not_change_the_sums(void **state) {
  (void)state;
  FovGradientParams compared = {0};
  Sampled one, three;
  sample_toy(&one, &compared, "baseline = none\n", NULL, 1024, 1);
  sample_toy(&three, &compared, "baseline = none\n", &one, 1024, 3);
  assert_memory_equal(one.sums.sum, three.sums.sum, compared.size * sizeof(double));
  assert_memory_equal(one.sums.projected, three.sums.projected, sizeof one.sums.projected);
  finish(&one), finish(&three);
  fov_gradient_params_finish(&compared);
}

/* ---- figures on numbers worked by hand ---- */

/** Two groups of one parameter each. Samples of the first are 1 and 3, of the second 2 and 2, each
 * of two episodes; the reference is 1 and −2, exactly. */
static void test_figures_on_numbers_worked_by_hand(void **state) {
  (void)state;
  FovParams params = {0};
  FovGradientParams compared;
  FovEstimator e = {.name = "made"};
  fov_params_add(&params, "first.w", 1, 1, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "second.w", 1, 1, FOV_INIT_ZERO, 0);
  assert_int_equal(fov_gradient_params_create(&compared, &params), FOV_OK);
  double sum[] = {4, 4}, exact[] = {1, -2};
  FovGradientSums sums = {
      .sum = sum, .squares = {1 + 9, 4 + 4}, .seconds = 8, .samples = 2, .lanes = 2};
  FovGradientSums reference = {.sum = exact, .squares = {1, 4}, .samples = 1, .lanes = 1};
  // On the first direction; neither sample of the second group differs from its mean.
  sums.projected[0][0] = 4, sums.projected_squares[0][0] = 1 + 9;
  sums.projected[1][0] = 4, sums.projected_squares[1][0] = 4 + 4;
  reference.projected[0][0] = 1, reference.projected[1][0] = -2;
  fov_gradient_figures(&e, &sums, &reference, &compared);
  // The variance of a sample is 2, of an episode 4, of the mean 1.
  assert_close(e.groups[0].variance, 4, 1e-12);
  assert_close(e.groups[0].norm, 1, 1e-12);
  assert_close(e.groups[0].snr, 0.5, 1e-12);
  assert_close(e.groups[0].bias, 0, 1e-12); // |2 − 1|² − 1
  assert_close(e.groups[1].variance, 0, 1e-12);
  assert_close(e.groups[1].cosine, -1, 1e-12);
  assert_close(e.groups[1].bias, 2, 1e-12);
  assert_close(e.groups[0].p, 1, 1e-12);
  assert_close(e.groups[1].p, 0, 1e-12);
  assert_close(e.all.variance, 4, 1e-12);
  assert_close(e.all.norm, sqrt(5), 1e-12);
  assert_close(e.all.cosine, -2 / sqrt(5 * 7), 1e-12); // |m|² = 8, less 1
  assert_close(e.seconds, 2, 1e-12);
  fov_gradient_params_finish(&compared);
  fov_params_finish(&params);
}

static void test_gradients_that_are_not_numbers_are_not_hidden(void **state) {
  (void)state;
  FovParams params = {0};
  FovGradientParams compared;
  FovEstimator e = {.name = "made"};
  fov_params_add(&params, "first.w", 1, 1, FOV_INIT_ZERO, 0);
  assert_int_equal(fov_gradient_params_create(&compared, &params), FOV_OK);
  double sum[] = {NAN}, exact[] = {1};
  FovGradientSums sums = {.sum = sum, .squares = {NAN}, .samples = 2, .lanes = 1};
  for (int p = 0; p < FOV_PROJECTIONS; p++)
    sums.projected[0][p] = sums.projected_squares[0][p] = NAN;
  const FovGradientSums reference = {.sum = exact, .squares = {1}, .samples = 1, .lanes = 1};
  fov_gradient_figures(&e, &sums, &reference, &compared);
  assert_true(isnan(e.groups[0].variance) && isnan(e.groups[0].snr));
  assert_true(isnan(e.groups[0].bias) && isnan(e.groups[0].p));
  fov_gradient_params_finish(&compared);
  fov_params_finish(&params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unbiased_estimators_have_the_exact_gradient_as_their_mean),
      cmocka_unit_test(test_biased_estimators_are_found),
      cmocka_unit_test(test_baselines_and_relaxed_choices_lower_the_variance),
      cmocka_unit_test(test_threads_do_not_change_the_sums),
      cmocka_unit_test(test_figures_on_numbers_worked_by_hand),
      cmocka_unit_test(test_gradients_that_are_not_numbers_are_not_hidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
