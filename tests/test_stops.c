/** Every stop rule against its contract, with its own head on random states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "head.h"
#include "learn/stop.h"
#include "plugin.h"

enum { ACTIONS = 3, SAMPLES = 20000, STATES = 3, LANES = 64 };

/* ---- deciding ---- */

/** A stop rule with options and a head. */
typedef struct Subject {
  FovSlot slot;
  const FovStopRule *rule;
  Head head;
} Subject;

/** Lane i is in state first + i·step and has generator first + i of `seed`. */
typedef struct Request {
  int lanes, first, step;
  uint64_t seed;
  const bool *forced;
  bool deterministic;
} Request;

typedef struct Decided {
  FovArena arena;
  FovTape tape;
  bool *stop;
  FovVar *log_prob;
  FovRng *rng; /**< [lanes], afterwards; one more stands at either end */
} Decided;

static Subject begin_subject(const char *settings) {
  Subject s = {.slot = plugin_choose(PLUGINS(fov_stop_rules), settings)};
  s.rule = (const FovStopRule *)s.slot.plugin;
  head_create(&s.head, &s.rule->head, s.slot.values);
  return s;
}

static void finish_subject(Subject *s) {
  head_finish(&s->head);
  free(s->slot.values);
}

static FovRng generator(uint64_t seed, int i) {
  return fov_rng_stream(seed, FOV_STREAM_POLICY, (uint64_t)(i + 1));
}

/** Log-probabilities of an answer in a state. */
static void write_log_p(real log_p[ACTIONS], int state) {
  double sum = 0, x[ACTIONS];
  for (int a = 0; a < ACTIONS; a++)
    sum += exp(x[a] = 2 * (double)head_noise(3000000 + (uint64_t)(ACTIONS * state + a)));
  for (int a = 0; a < ACTIONS; a++) log_p[a] = (real)(x[a] - log(sum));
}

static void decide(Decided *d, const Subject *s, const Request *r, real *gradient) {
  int n = r->lanes;
  *d = (Decided){.arena = {0}};
  fov_tape_begin(&d->tape, &d->arena, &s->head.params, s->head.values, gradient);
  real *log_p = FOV_NEW(&d->arena, real, ACTIONS * n);
  for (int i = 0; i < n; i++) write_log_p(log_p + ACTIONS * i, r->first + i * r->step);
  d->stop = FOV_NEW(&d->arena, bool, n);
  d->rng = FOV_NEW(&d->arena, FovRng, n + 2) + 1;
  for (int i = -1; i <= n; i++) d->rng[i] = generator(r->seed, r->first + i);
  const FovStopInput input = {.h = s->rule->head.build ? head_states(&d->tape, r->first, r->step, n)
                                                       : NULL,
                              .log_probabilities = s->rule->reads_answer ? log_p : NULL,
                              .forced = r->forced,
                              .actions = ACTIONS,
                              .deterministic = r->deterministic,
                              .rng = d->rng,
                              .lanes = n};
  d->log_prob = s->rule->decide(d->stop, &d->tape, &input, s->head.layout, s->slot.values);
}

static void finish(Decided *d) {
  fov_arena_finish(&d->arena);
}

typedef void Check(const Subject *s);

/** Runs a check of every rule with a decision. */
static void check_every_rule(Check *check) {
  for (const FovStopRule *const *rule = fov_stop_rules; *rule; rule++) {
    char settings[64];
    snprintf(settings, sizeof settings, "plugin = %s\n", (*rule)->plugin.name);
    Subject s = begin_subject(settings);
    if (s.rule->decide) check(&s);
    finish_subject(&s);
  }
}

/* ---- every rule ---- */

static void check_forced(const Subject *s) {
  Decided free, again;
  decide(&free, s, &(Request){.lanes = LANES, .step = 1, .seed = 1}, NULL);
  decide(&again, s, &(Request){.lanes = LANES, .step = 1, .seed = 2, .forced = free.stop}, NULL);
  assert_memory_equal(free.stop, again.stop, LANES * sizeof(bool));
  for (int i = 0; i < LANES && free.log_prob; i++)
    assert_true(free.log_prob->value[i] == again.log_prob->value[i]);
  // Forced to the opposite, it repeats that as well.
  bool opposite[LANES];
  for (int i = 0; i < LANES; i++) opposite[i] = !free.stop[i];
  finish(&again);
  decide(&again, s, &(Request){.lanes = LANES, .step = 1, .seed = 1, .forced = opposite}, NULL);
  assert_memory_equal(opposite, again.stop, sizeof opposite);
  for (int i = 0; i < LANES && free.log_prob; i++)
    assert_close(exp((double)free.log_prob->value[i]) + exp((double)again.log_prob->value[i]), 1,
                 1e-5);
  finish(&free), finish(&again);
}

static void test_every_rule_repeats_forced_decisions(void **state) {
  (void)state;
  check_every_rule(check_forced);
}

static void check_lanes(const Subject *s) {
  enum { BATCH = 24 };
  Decided batch;
  decide(&batch, s, &(Request){.lanes = BATCH, .step = 1, .seed = 3}, NULL);
  for (int i = 0; i < BATCH; i++) {
    Decided alone;
    decide(&alone, s, &(Request){.lanes = 1, .first = i, .step = 1, .seed = 3}, NULL);
    const FovRng before = generator(3, i - 1), after = generator(3, i + 1);
    assert_int_equal(alone.stop[0], batch.stop[i]);
    assert_memory_equal(&alone.rng[0], &batch.rng[i], sizeof *alone.rng);
    assert_memory_equal(&alone.rng[-1], &before, sizeof before);
    assert_memory_equal(&alone.rng[1], &after, sizeof after);
    finish(&alone);
  }
  finish(&batch);
}

static void test_no_two_lanes_share_a_generator(void **state) {
  (void)state;
  check_every_rule(check_lanes);
}

/** E[∇ log π] = 0, along random directions of the parameters. */
static void check_mean_gradient(const Subject *s) {
  enum { GROUPS = 200, DIRECTIONS = 4 };
  real *gradient = fov_params_block(&s->head.params), ones[LANES];
  assert_non_null(gradient);
  for (int i = 0; i < LANES; i++) ones[i] = 1;
  for (int state = 0; state < STATES && s->rule->head.build; state++) {
    double sum[DIRECTIONS] = {0}, squares[DIRECTIONS] = {0};
    for (int g = 0; g < GROUPS; g++) {
      Decided d;
      memset(gradient, 0, s->head.params.size * sizeof *gradient);
      decide(&d, s, &(Request){.lanes = LANES, .first = state, .seed = (uint64_t)(10 + g)},
             gradient);
      fov_tape_add_grad(&d.tape, d.log_prob, ones);
      fov_tape_backward(&d.tape);
      for (int k = 0; k < DIRECTIONS; k++) {
        double slope = head_project(&s->head, gradient, k);
        sum[k] += slope, squares[k] += slope * slope;
      }
      finish(&d);
    }
    for (int k = 0; k < DIRECTIONS; k++) {
      assert_true(squares[k] > 0);
      if (!is_mean(sum[k], squares[k], GROUPS, 0))
        fail_msg("%s: the mean of ∇ log π is %g", s->rule->plugin.name, sum[k] / GROUPS);
    }
  }
  free(gradient);
}

static void test_the_mean_gradient_of_log_prob_is_zero(void **state) {
  (void)state;
  check_every_rule(check_mean_gradient);
}

/** Stopping has the frequency of log π, which is computed by forcing it. */
static void check_frequencies(const Subject *s) {
  for (int state = 0; state < STATES; state++) {
    Decided d, forced;
    decide(&d, s, &(Request){.lanes = SAMPLES, .first = state, .seed = 4}, NULL);
    decide(&forced, s, &(Request){.lanes = 1, .first = state, .forced = (bool[]){true}}, NULL);
    int counts[2] = {0};
    for (int i = 0; i < SAMPLES; i++) counts[d.stop[i]]++;
    double p = d.log_prob ? exp((double)forced.log_prob->value[0]) : d.stop[0];
    // Without log π all lanes of a state decide the same.
    bool fit = d.log_prob ? are_frequencies(counts, (double[]){1 - p, p}, 2, SAMPLES)
                          : counts[d.stop[0]] == SAMPLES;
    if (!fit) fail_msg("%s: stops %d times, not at %g", s->rule->plugin.name, counts[1], p);
    finish(&d), finish(&forced);
  }
}

static void test_stopping_has_the_frequency_of_log_prob(void **state) {
  (void)state;
  check_every_rule(check_frequencies);
}

/** A deterministic decision draws nothing and has no log π. */
static void check_deterministic(const Subject *s) {
  Decided d;
  decide(&d, s, &(Request){.lanes = LANES, .step = 1, .seed = 5, .deterministic = true}, NULL);
  assert_null(d.log_prob);
  for (int i = 0; i < LANES; i++) {
    const FovRng before = generator(5, i);
    assert_memory_equal(&d.rng[i], &before, sizeof before);
  }
  finish(&d);
}

static void test_every_rule_can_be_deterministic(void **state) {
  (void)state;
  check_every_rule(check_deterministic);
}

/* ---- rules with known formulas ---- */

static void test_never_stops_at_no_cost(void **state) {
  (void)state;
  const FovStopRule *rule = plugin_find(PLUGINS(fov_stop_rules), "never");
  assert_true(!rule->decide && !rule->cost && !rule->head.build && !rule->reads_answer);
}

/** Stops from its threshold on, exactly, for numbers with the same logarithm. */
static void test_confident_stops_from_its_threshold_on(void **state) {
  (void)state;
  Subject s = begin_subject("plugin = confident\nplugin.threshold = 0.75");
  assert_true(s.rule->reads_answer && !s.rule->head.build && !s.rule->cost);
  const real least = (real)log(0.75), below = least - (real)1e-6;
  const real log_p[] = {(real)log(0.125), least, -3, below, -3, -3, 0, -100, -100, -1, -1, -2};
  const bool expected[] = {true, false, true, false};
  FovArena arena = {0};
  FovTape tape;
  fov_tape_begin(&tape, &arena, &s.head.params, s.head.values, NULL);
  FovRng rng[4] = {{0}};
  bool stop[4];
  const FovStopInput input = {.log_probabilities = log_p, .actions = 3, .rng = rng, .lanes = 4};
  assert_null(s.rule->decide(stop, &tape, &input, s.head.layout, s.slot.values));
  assert_memory_equal(stop, expected, sizeof stop);
  for (int i = 0; i < 4; i++) assert_int_equal(rng[i].state, 0);
  fov_arena_finish(&arena);
  finish_subject(&s);
}

/** Sets the learned rule's weights to 0 and its biases to the logits of going on and of stopping.
 */
static void set_logits(Subject *s, double look, double stop) {
  memset(s->head.values, 0, s->head.params.size * sizeof *s->head.values);
  size_t bias = s->head.params.list[1].offset;
  s->head.values[bias] = (real)look, s->head.values[bias + 1] = (real)stop;
}

static void test_stopping_is_sampled_from_its_logits(void **state) {
  (void)state;
  Subject s = begin_subject("plugin = learned\nplugin.cost = 0.25");
  assert_true(s.rule->head.build && !s.rule->reads_answer);
  assert_close(s.rule->cost(s.slot.values), 0.25, 0);
  set_logits(&s, 0.5, -0.75);
  const double p = 1 / (1 + exp(1.25));
  Decided d;
  decide(&d, &s, &(Request){.lanes = SAMPLES, .seed = 6}, NULL);
  int stopped = 0;
  assert_true(d.log_prob->rows == SAMPLES && d.log_prob->cols == 1);
  for (int b = 0; b < SAMPLES; b++) {
    stopped += d.stop[b];
    assert_close(d.log_prob->value[b], log(d.stop[b] ? p : 1 - p), 1e-6);
  }
  assert_close(stopped / (double)SAMPLES, p, 5 * sqrt(p * (1 - p) / SAMPLES));
  finish(&d);
  finish_subject(&s);
}

/** A deterministic decision stops beyond the threshold, the same in every lane. */
static void test_stopping_without_a_sample_has_a_threshold(void **state) {
  (void)state;
  const struct {
    const char *threshold;
    bool stops;
  } known[] = {{"0", true}, {"0.74", true}, {"0.76", false}, {"1", false}};
  for (int i = 0; i < 4; i++) {
    char settings[64];
    snprintf(settings, sizeof settings, "plugin = learned\nplugin.threshold = %s",
             known[i].threshold);
    Subject s = begin_subject(settings);
    set_logits(&s, 0, log(3)); // a probability of 3/4
    Decided d;
    decide(&d, &s, &(Request){.lanes = 2, .deterministic = true}, NULL);
    assert_true(d.stop[0] == known[i].stops && d.stop[1] == known[i].stops);
    finish(&d);
    finish_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rule_repeats_forced_decisions),
      cmocka_unit_test(test_no_two_lanes_share_a_generator),
      cmocka_unit_test(test_the_mean_gradient_of_log_prob_is_zero),
      cmocka_unit_test(test_stopping_has_the_frequency_of_log_prob),
      cmocka_unit_test(test_every_rule_can_be_deterministic),
      cmocka_unit_test(test_never_stops_at_no_cost),
      cmocka_unit_test(test_confident_stops_from_its_threshold_on),
      cmocka_unit_test(test_stopping_is_sampled_from_its_logits),
      cmocka_unit_test(test_stopping_without_a_sample_has_a_threshold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
