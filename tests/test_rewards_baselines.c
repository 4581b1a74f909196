/** Rewards, baselines and the choice of an action, against numbers worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "check.h"
#include "learn/baseline.h"
#include "learn/categorical.h"
#include "learn/reward.h"

enum { DRAWS = 20000 };

/* ---- choosing an action ---- */

static void test_actions_are_sampled_with_their_probabilities(void **state) {
  (void)state;
  const double p[] = {0.5, 0.001, 0.25, 0, 0.249};
  real log_p[5];
  int counts[5] = {0};
  for (int a = 0; a < 5; a++) log_p[a] = (real)log(p[a]);
  FovRng rng = fov_rng_stream(3, FOV_STREAM_POLICY, 1), moved = rng;
  for (int i = 0; i < 5 * DRAWS; i++) counts[fov_sample(log_p, 5, &rng)]++;
  for (int a = 0; a < 5; a++)
    assert_close(counts[a] / (5. * DRAWS), p[a], 5 * sqrt(p[a] * (1 - p[a]) / (5. * DRAWS)));
  // Exactly one draw for each action.
  for (int i = 0; i < 5 * DRAWS; i++) fov_rng_uniform(&moved);
  assert_memory_equal(&rng, &moved, sizeof rng);
}

static void test_the_likeliest_is_the_first_of_equals(void **state) {
  (void)state;
  assert_int_equal(fov_likeliest((real[]){-3, -1, -2, -1}, 4), 1);
  assert_int_equal(fov_likeliest((real[]){-1, -1}, 2), 0);
  assert_int_equal(fov_likeliest((real[]){-5, -4, -(real)INFINITY}, 3), 1);
  assert_int_equal(fov_likeliest((real[]){0}, 1), 0);
}

/* ---- rewards ---- */

static void test_every_reward_follows_its_formula(void **state) {
  (void)state;
  const real log_p[] = {(real)-0.25, (real)-2, (real)-4};
  const real even[] = {(real)-0.6931471805599, (real)-0.6931471805599, (real)-40};
  const struct {
    const char *name;
    real right, wrong;
  } known[] = {{"correct", 1, 0},
               {"probability", (real)0.7788007830714049, (real)0.1353352832366127},
               {"log_probability", (real)-0.25, (real)-2},
               {"cross_entropy", (real)-0.2275598066533, (real)-1.8204784532536},
               {"information_gain", (real)0.5097148253739, (real)0.1406445789453}};
  for (const FovReward *const *r = fov_rewards; *r; r++) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].name, (*r)->plugin.name)) i++;
    if (i == sizeof known / sizeof *known) fail_msg("%s: no case here", (*r)->plugin.name);
    assert_close((*r)->value(1, log_p, NULL, 0, 3), known[i].right, 1e-7);
    assert_close((*r)->value(0, log_p, even, 1, 3), known[i].wrong, 1e-7);
  }
}

/* ---- baselines ---- */

static void test_every_baseline_on_numbers_worked_by_hand(void **state) {
  (void)state;
  // T = 2, B = 6 in images of K = 3 copies.
  const real returns[] = {1, 2, 6, 0, 3, 9, 4, 4, 4, 0, 0, 3};
  const real predicted[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const real greedy[] = {.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2};
  const FovBaselineInput input = {.returns = returns,
                                  .deterministic = greedy,
                                  .predicted = predicted,
                                  .average = 0.5,
                                  .time_steps = 2,
                                  .lanes = 6,
                                  .copies = 3};
  const struct {
    const char *name;
    real b[12];
  } known[] = {
      {"none", {0}},
      {"average", {.5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5}},
      {"learned", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
      {"answer", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
      {"self_critical", {.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2}},
      {"leave_one_out", {4, 3.5, 1.5, 6, 4.5, 1.5, 4, 4, 4, 1.5, 1.5, 0}},
  };
  for (const FovBaseline *const *p = fov_baselines; *p; p++) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].name, (*p)->plugin.name)) i++;
    if (i == sizeof known / sizeof *known) fail_msg("%s: no case here", (*p)->plugin.name);
    real b[12] = {0};
    if ((*p)->values) (*p)->values(b, &input);
    for (int j = 0; j < 12; j++) assert_close(b[j], known[i].b[j], 1e-6);
    assert_int_equal((*p)->head.build != NULL, b[11] == 12);
    assert_int_equal((*p)->least_copies, strcmp((*p)->plugin.name, "leave_one_out") ? 1 : 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_actions_are_sampled_with_their_probabilities),
      cmocka_unit_test(test_the_likeliest_is_the_first_of_equals),
      cmocka_unit_test(test_every_reward_follows_its_formula),
      cmocka_unit_test(test_every_baseline_on_numbers_worked_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
