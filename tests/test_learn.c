/** What can be swapped in learning, against formulas written here; the loops run over the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "config/config.h"
#include "learn/plugins.h"
#include "learn/schedule.h"
#include "tensor/ops.h"

#define TABLE(plugins) ((const FovPlugin *const *)(plugins))

#define assert_close(value, expected, tolerance)                                                   \
  assert_near(value, expected, tolerance, "%s", #value)

/** Fills a slot as the command line would, from lines of `plugin = name` and `plugin.option =
 * value`. Its `values` are the caller's to free. */
static FovSlot choose_plugin(const FovPlugin *const *table, const char *settings) {
  FovSlot slot = {.key = "plugin", .table = table, .fallback = table[0]->name};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *parsed;
  assert_int_equal(fov_settings_create(&parsed), FOV_OK);
  FovStatus status = fov_settings_parse(parsed, settings, "the test");
  if (status == FOV_OK) status = fov_config_resolve(&config, parsed);
  if (status != FOV_OK) fail_msg("%s", fov_error_message());
  fov_settings_destroy(parsed);
  return slot;
}

static FovSlot choose_default(const FovPlugin *const *table, const FovPlugin *plugin) {
  char settings[128];
  snprintf(settings, sizeof settings, "plugin = %s", plugin->name);
  return choose_plugin(table, settings);
}

static bool has_option(const FovPlugin *plugin, const char *name) {
  for (const FovOption *o = plugin->options; o && o->name; o++)
    if (!strcmp(o->name, name)) return true;
  return false;
}

/* ---- policies ---- */

enum { SAMPLES = 20000 };

/** One tape with a [lanes, 2] mean that is the same in each lane, and learned. */
typedef struct Chooser {
  FovArena arena;
  FovParams params;
  FovTape tape;
  real values[64], gradient[64];
  real location[2 * SAMPLES];
  FovRng rng[SAMPLES];
  FovVar *mean;
} Chooser;

static Chooser *create_chooser(int lanes, real x, real y) {
  Chooser *c = calloc(1, sizeof *c);
  assert_non_null(c);
  fov_params_add(&c->params, "mean", 2, 1, FOV_INIT_ZERO, 0);
  c->values[0] = x, c->values[1] = y;
  fov_tape_begin(&c->tape, &c->arena, &c->params, c->values, c->gradient);
  FovVar *ones = fov_constant(&c->tape, lanes, 1);
  for (int b = 0; b < lanes; b++) {
    ones->value[b] = 1;
    c->rng[b] = fov_rng_stream(3, FOV_STREAM_POLICY, (uint64_t)b);
  }
  c->mean = fov_linear(&c->tape, ones, &c->tape.params[0], NULL, FOV_LINEAR);
  return c;
}

static void destroy_chooser(Chooser *c) {
  fov_params_finish(&c->params);
  fov_arena_finish(&c->arena);
  free(c);
}

/** The average of (x − about)^power over the samples' column j. */
static double step(const Chooser *c, int j, double about, int power) {
  double sum = 0;
  for (int b = 0; b < SAMPLES; b++) sum += pow((double)c->location[2 * b + j] - about, power);
  return sum / SAMPLES;
}

static const FovPolicy *find_policy(const char *name) {
  return (const FovPolicy *)fov_plugin_find(TABLE(fov_policies), name);
}

static void test_the_gaussian_has_its_moments(void **state) {
  (void)state;
  Chooser *c = create_chooser(SAMPLES, (real)0.3, (real)-1.5);
  FovChoice choice = {.sigma = {(real)0.5, (real)0.2}};
  FovVar *log_prob =
      find_policy("gaussian")->choose(c->location, &c->tape, c->mean, &choice, c->rng, SAMPLES);
  const double mean[] = {0.3, -1.5}, sigma[] = {0.5, 0.2};
  double product = 0;
  for (int j = 0; j < 2; j++) {
    // Five standard errors of each.
    assert_close(step(c, j, 0, 1), mean[j], 5 * sigma[j] / sqrt(SAMPLES));
    assert_close(step(c, j, mean[j], 2), pow(sigma[j], 2),
                 5 * pow(sigma[j], 2) * sqrt(2. / SAMPLES));
  }
  for (int b = 0; b < SAMPLES; b++) {
    double x = (c->location[2 * b] - 0.3) / 0.5, y = (c->location[2 * b + 1] + 1.5) / 0.2;
    product += x * y;
    assert_close(log_prob->value[b], -(x * x + y * y) / 2 - log(2 * M_PI * 0.5 * 0.2), 1e-4);
  }
  assert_close(product / SAMPLES, 0, 5 / sqrt(SAMPLES));
  destroy_chooser(c);
}

static void test_random_is_uniform_over_the_image(void **state) {
  (void)state;
  Chooser *c = create_chooser(SAMPLES, 0, 0);
  const FovPolicy *policy = find_policy("random");
  assert_false(policy->learned);
  assert_null(policy->sigma);
  assert_null(policy->choose(c->location, &c->tape, NULL, &(FovChoice){0}, c->rng, SAMPLES));
  for (int i = 0; i < 2 * SAMPLES; i++) assert_true(c->location[i] >= -1 && c->location[i] <= 1);
  for (int j = 0; j < 2; j++) {
    assert_close(step(c, j, 0, 1), 0, 5 * sqrt(1. / 3 / SAMPLES));
    assert_close(step(c, j, 0, 2), 1. / 3, 5 * sqrt(4. / 45 / SAMPLES));
    assert_close(step(c, j, 0, 4), 1. / 5, 5 * sqrt(16. / 225 / SAMPLES));
  }
  destroy_chooser(c);
}

static void test_every_learned_policy_can_be_deterministic(void **state) {
  (void)state;
  for (const FovPolicy *const *p = fov_policies; *p; p++) {
    if (!(*p)->learned) continue;
    Chooser *c = create_chooser(3, (real)0.25, (real)-7);
    FovChoice choice = {.sigma = {1, 1}, .deterministic = true};
    assert_null((*p)->choose(c->location, &c->tape, c->mean, &choice, c->rng, 3));
    for (int b = 0; b < 3; b++) {
      assert_true(c->location[2 * b] == (real)0.25);
      assert_true(c->location[2 * b + 1] == -7);
    }
    destroy_chooser(c);
  }
}

/** Every lane has a generator of its own: what one lane samples does not move with the others. */
static void test_a_lanes_choice_is_its_own(void **state) {
  (void)state;
  for (const FovPolicy *const *p = fov_policies; *p; p++) {
    Chooser *many = create_chooser(8, 0, 0), *one = create_chooser(1, 0, 0);
    FovChoice choice = {.sigma = {1, 1}};
    one->rng[0] = many->rng[5];
    (*p)->choose(many->location, &many->tape, many->mean, &choice, many->rng, 8);
    (*p)->choose(one->location, &one->tape, one->mean, &choice, one->rng, 1);
    assert_memory_equal(one->location, many->location + 10, 2 * sizeof(real));
    // But for the one that is the same for all.
    if (strcmp((*p)->plugin.name, "centre"))
      assert_memory_not_equal(many->location, many->location + 10, 2 * sizeof(real));
    destroy_chooser(many);
    destroy_chooser(one);
  }
}

static void test_sigma_follows_its_schedule(void **state) {
  (void)state;
  const FovPolicy *policy = find_policy("gaussian");
  FovSlot fixed = choose_plugin(TABLE(fov_policies), "plugin = gaussian\nplugin.sigma = 3");
  FovSlot falling = choose_plugin(TABLE(fov_policies),
                                  "plugin = gaussian\nplugin.sigma = 3\nplugin.sigma_end = 1");
  assert_close(policy->sigma(fixed.values, 0), 3, 0);
  assert_close(policy->sigma(fixed.values, 1), 3, 0);
  assert_close(policy->sigma(falling.values, 0), 3, 0);
  assert_close(policy->sigma(falling.values, 0.25), 2.5, 1e-12);
  assert_close(policy->sigma(falling.values, 1), 1, 1e-12);
  FovSlot sooner = choose_plugin(
      TABLE(fov_policies),
      "plugin = gaussian\nplugin.sigma = 3\nplugin.sigma_end = 1\nplugin.sigma_fall = 0.5");
  assert_close(policy->sigma(sooner.values, 0.25), 2, 1e-12);
  assert_close(policy->sigma(sooner.values, 0.5), 1, 1e-12);
  assert_close(policy->sigma(sooner.values, 0.75), 1, 1e-12);
  free(sooner.values);
  free(fixed.values);
  free(falling.values);
}

static void test_centre_is_the_centre(void **state) {
  (void)state;
  Chooser *c = create_chooser(3, (real)0.3, (real)-1.5);
  const FovPolicy *policy = find_policy("centre");
  FovRng before = c->rng[1];
  assert_true(!policy->learned && !policy->sigma);
  memset(c->location, 0xff, 6 * sizeof(real));
  assert_null(policy->choose(c->location, &c->tape, NULL, &(FovChoice){0}, c->rng, 3));
  for (int i = 0; i < 6; i++) assert_true(c->location[i] == 0);
  assert_memory_equal(&c->rng[1], &before, sizeof before);
  destroy_chooser(c);
}

/* ---- choosing an action ---- */

static void test_actions_are_sampled_as_often_as_they_ought(void **state) {
  (void)state;
  const double p[] = {0.5, 0.001, 0.25, 0, 0.249};
  real log_p[5];
  int counts[5] = {0};
  for (int a = 0; a < 5; a++) log_p[a] = (real)log(p[a]);
  FovRng rng = fov_rng_stream(3, FOV_STREAM_POLICY, 1), moved = rng;
  for (int i = 0; i < 5 * SAMPLES; i++) counts[fov_sample(log_p, 5, &rng)]++;
  for (int a = 0; a < 5; a++)
    assert_close(counts[a] / (5. * SAMPLES), p[a], 5 * sqrt(p[a] * (1 - p[a]) / (5. * SAMPLES)));
  // One draw each, whatever comes of it.
  for (int i = 0; i < 5 * SAMPLES; i++) fov_rng_uniform(&moved);
  assert_memory_equal(&rng, &moved, sizeof rng);
}

static void test_the_likeliest_is_the_first_of_equals(void **state) {
  (void)state;
  assert_int_equal(fov_likeliest((real[]){-3, -1, -2, -1}, 4), 1);
  assert_int_equal(fov_likeliest((real[]){-1, -1}, 2), 0);
  assert_int_equal(fov_likeliest((real[]){-5, -4, -(real)INFINITY}, 3), 1);
  assert_int_equal(fov_likeliest((real[]){0}, 1), 0);
}

/* ---- stop rules ---- */

static const FovStopRule *find_stop(const char *name) {
  const void *rule = fov_plugin_find(TABLE(fov_stop_rules), name);
  assert_non_null(rule);
  return rule;
}

static void test_never_stops_at_no_cost(void **state) {
  (void)state;
  const FovStopRule *rule = find_stop("never");
  assert_true(!rule->decide && !rule->cost && !rule->learned && !rule->reads_answer);
}

/** Stops from its threshold on, exactly: numbers whose logarithms are the same ones. */
static void test_confident_stops_from_its_threshold_on(void **state) {
  (void)state;
  const FovStopRule *rule = find_stop("confident");
  assert_true(rule->reads_answer && !rule->learned && !rule->cost);
  FovSlot slot =
      choose_plugin(TABLE(fov_stop_rules), "plugin = confident\nplugin.threshold = 0.75");
  const real least = (real)log(0.75), below = least - (real)1e-6;
  const real log_p[] = {(real)log(0.125), least, -3, below, -3, -3, 0, -100, -100, -1, -1, -2};
  const bool expected[] = {true, false, true, false};
  Chooser *c = create_chooser(4, 0, 0);
  FovRng before = c->rng[0];
  bool stop[4];
  const FovStopInput input = {.log_probabilities = log_p, .actions = 3, .rng = c->rng, .lanes = 4};
  assert_null(rule->decide(stop, &c->tape, &input, slot.values));
  assert_memory_equal(stop, expected, sizeof stop);
  assert_memory_equal(&c->rng[0], &before, sizeof before);
  free(slot.values);
  destroy_chooser(c);
}

static void test_stopping_is_sampled_from_its_logits(void **state) {
  (void)state;
  const FovStopRule *rule = find_stop("learned");
  assert_true(rule->learned && !rule->reads_answer);
  FovSlot slot = choose_plugin(TABLE(fov_stop_rules), "plugin = learned\nplugin.cost = 0.25");
  assert_close(rule->cost(slot.values), 0.25, 0);
  // The chooser's mean serves as logits: of looking on, of stopping.
  Chooser *c = create_chooser(SAMPLES, (real)0.5, (real)-0.75);
  const double p = 1 / (1 + exp(1.25));
  bool *stop = calloc(SAMPLES, sizeof *stop);
  assert_non_null(stop);
  const FovStopInput input = {.logits = c->mean, .rng = c->rng, .lanes = SAMPLES};
  FovVar *log_prob = rule->decide(stop, &c->tape, &input, slot.values);
  int stopped = 0;
  assert_true(log_prob->rows == SAMPLES && log_prob->cols == 1);
  for (int b = 0; b < SAMPLES; b++) {
    stopped += stop[b];
    assert_close(log_prob->value[b], log(stop[b] ? p : 1 - p), 1e-6);
  }
  assert_close(stopped / (double)SAMPLES, p, 5 * sqrt(p * (1 - p) / SAMPLES));
  free(stop);
  free(slot.values);
  destroy_chooser(c);
}

/** Without a sample it stops beyond its threshold, the same for every lane, and draws nothing. */
static void test_stopping_without_a_sample_has_a_threshold(void **state) {
  (void)state;
  const FovStopRule *rule = find_stop("learned");
  const struct {
    const char *threshold;
    bool stops;
  } known[] = {{"0", true}, {"0.74", true}, {"0.76", false}, {"1", false}};
  for (int i = 0; i < 4; i++) {
    char settings[64];
    snprintf(settings, sizeof settings, "plugin = learned\nplugin.threshold = %s",
             known[i].threshold);
    FovSlot slot = choose_plugin(TABLE(fov_stop_rules), settings);
    Chooser *c = create_chooser(2, 0, (real)log(3)); // a probability of 3/4
    FovRng before = c->rng[1];
    bool stop[2];
    const FovStopInput input = {
        .logits = c->mean, .deterministic = true, .rng = c->rng, .lanes = 2};
    assert_null(rule->decide(stop, &c->tape, &input, slot.values));
    assert_true(stop[0] == known[i].stops && stop[1] == known[i].stops);
    assert_memory_equal(&c->rng[1], &before, sizeof before);
    free(slot.values);
    destroy_chooser(c);
  }
}

/* ---- rewards ---- */

static void test_every_reward_is_what_its_name_says(void **state) {
  (void)state;
  const real log_p[] = {(real)-0.25, (real)-2, (real)-4};
  const struct {
    const char *name;
    real right, wrong;
  } known[] = {{"correct", 1, 0},
               {"probability", (real)0.7788007830714049, (real)0.1353352832366127},
               {"log_probability", (real)-0.25, (real)-2}};
  for (const FovReward *const *r = fov_rewards; *r; r++) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].name, (*r)->plugin.name)) i++;
    if (i == sizeof known / sizeof *known) fail_msg("%s: no case here", (*r)->plugin.name);
    assert_close((*r)->value(1, log_p, 0), known[i].right, 1e-7);
    assert_close((*r)->value(0, log_p, 1), known[i].wrong, 1e-7);
  }
}

/* ---- baselines ---- */

static void test_every_baseline_on_numbers_worked_by_hand(void **state) {
  (void)state;
  // T = 2, B = 6 in images of K = 3 copies.
  const real returns[] = {1, 2, 6, 0, 3, 9, 4, 4, 4, 0, 0, 3};
  const real predicted[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const FovBaselineInput input = {.returns = returns,
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
      {"leave_one_out", {4, 3.5, 1.5, 6, 4.5, 1.5, 4, 4, 4, 1.5, 1.5, 0}},
  };
  for (const FovBaseline *const *p = fov_baselines; *p; p++) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].name, (*p)->plugin.name)) i++;
    if (i == sizeof known / sizeof *known) fail_msg("%s: no case here", (*p)->plugin.name);
    real b[12];
    (*p)->values(b, &input);
    for (int j = 0; j < 12; j++) assert_close(b[j], known[i].b[j], 1e-6);
    assert_int_equal((*p)->learned, !strcmp((*p)->plugin.name, "learned"));
    assert_int_equal((*p)->least_copies, strcmp((*p)->plugin.name, "leave_one_out") ? 1 : 2);
  }
}

/* ---- estimators ---- */

/**
 * A problem whose policy gradient is known: two states s, two choices in each episode.
 *
 * l_1 ~ N(w_s, σ²) earns offset_s + a_s · l_1, then l_2 ~ N(w_{1−s}, σ²) earns 2 if its x is beyond
 * c. So E[R | s] = offset_s + a_s · w_s + 2 Φ((w_{1−s},x − c) / σ_x), and w [2, 2] is learned.
 */
enum { LANES = 16, COPIES = 4, UPDATES = 4000, WEIGHTS = 4 };
static const double w[WEIGHTS] = {0.4, -0.2, 0.1, 0.3}; // [xy, s]
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
  return (w[s] - c) / sigma[0];
}

/** What is expected from choice t on in state s. */
static double expected_return(int s, int t) {
  double second = erfc(-beyond(1 - s) / sqrt(2));
  return t == 1 ? second : offset[s] + a[s][0] * w[s] + a[s][1] * w[2 + s] + second;
}

/** −dE[R]/dw, the states being equally likely: what an estimator's gradients must average to. */
static double exact_gradient(int j, int s) {
  return -(a[s][j] + (j == 0 ? 2 * phi(beyond(s)) / sigma[0] : 0)) / 2;
}

typedef struct Moments {
  double mean[WEIGHTS], variance[WEIGHTS], total_variance;
} Moments;

typedef struct Play {
  FovArena arena;
  FovParams params;
  real values[WEIGHTS], gradient[64];
  real returns[2 * LANES], predicted[2 * LANES], b[2 * LANES], weights[2 * LANES];
  FovVar *log_prob[2];
  FovTape tape;
  double average;
} Play;

/** Makes choice t in each lane and puts what it earns into returns[t]. */
static void choose_and_earn(Play *p, int t, FovRng *rng) {
  real location[2 * LANES];
  const FovChoice choice = {.sigma = {(real)sigma[0], (real)sigma[1]}};
  FovVar *x = fov_constant(&p->tape, LANES, 2);
  for (int b = 0; b < LANES; b++)
    for (int s = 0; s < 2; s++) x->value[2 * b + s] = s == (t ? 1 - state_of(b) : state_of(b));
  FovVar *mean = fov_linear(&p->tape, x, &p->tape.params[0], NULL, FOV_LINEAR);
  p->log_prob[t] = find_policy("gaussian")->choose(location, &p->tape, mean, &choice, rng, LANES);
  for (int b = 0; b < LANES; b++) {
    int s = state_of(b);
    const real *l = location + 2 * b;
    p->returns[t * LANES + b] =
        (real)(t ? 2 * (l[0] > c) : offset[s] + a[s][0] * l[0] + a[s][1] * l[1]);
    p->predicted[t * LANES + b] = (real)expected_return(s, t);
  }
}

/** One update's gradient, through the same functions and in the same order as the trainer's. */
static void play(Play *p, const FovSlot *slot, const FovBaseline *baseline, int update) {
  const FovEstimator *estimator = (const FovEstimator *)slot->plugin;
  FovRng rng[LANES];
  for (int b = 0; b < LANES; b++)
    rng[b] = fov_rng_stream(11, FOV_STREAM_POLICY, (uint64_t)(update * LANES + b));
  fov_arena_rewind(&p->arena);
  memset(p->gradient, 0, sizeof p->gradient);
  fov_tape_begin(&p->tape, &p->arena, &p->params, p->values, p->gradient);
  for (int t = 0; t < 2; t++) choose_and_earn(p, t, rng);
  for (int b = 0; b < LANES; b++) p->returns[b] += p->returns[LANES + b];
  FovBaselineInput input = {.returns = p->returns,
                            .predicted = p->predicted,
                            .average = (real)p->average,
                            .time_steps = 2,
                            .lanes = LANES,
                            .copies = COPIES};
  baseline->values(p->b, &input);
  estimator->weights(p->weights, p->returns, p->b, 2, LANES, slot->values);
  for (int i = 0; i < 2 * LANES; i++) p->weights[i] /= LANES;
  for (int t = 0; t < 2; t++) fov_tape_add_grad(&p->tape, p->log_prob[t], p->weights + t * LANES);
  fov_tape_backward(&p->tape);
  double sum = 0;
  for (int b = 0; b < LANES; b++) sum += p->returns[b];
  p->average += (update ? 0.05 : 1) * (sum / LANES - p->average);
}

/** An estimator as the whole return makes it: with a lambda below 1 it is biased, as long as the
 * baseline is no exact prediction. */
static FovSlot choose_unbiased(const FovEstimator *estimator) {
  const FovPlugin *plugin = &estimator->plugin;
  char settings[128];
  snprintf(settings, sizeof settings, "plugin = %s\n%s", plugin->name,
           has_option(plugin, "lambda") ? "plugin.lambda = 1\n" : "");
  return choose_plugin(TABLE(fov_estimators), settings);
}

static Moments measure(const FovEstimator *estimator, const FovBaseline *baseline) {
  FovSlot slot = choose_unbiased(estimator);
  Play p = {0};
  Moments m = {0};
  fov_params_add(&p.params, "w", 2, 2, FOV_INIT_ZERO, 0);
  for (int i = 0; i < WEIGHTS; i++) p.values[i] = (real)w[i];
  double sum[WEIGHTS] = {0}, squares[WEIGHTS] = {0};
  for (int update = 0; update < UPDATES; update++) {
    play(&p, &slot, baseline, update);
    for (int i = 0; i < WEIGHTS; i++) sum[i] += p.gradient[i];
    for (int i = 0; i < WEIGHTS; i++) squares[i] += pow(p.gradient[i], 2);
  }
  for (int i = 0; i < WEIGHTS; i++) {
    m.mean[i] = sum[i] / UPDATES;
    m.variance[i] = squares[i] / UPDATES - m.mean[i] * m.mean[i];
    m.total_variance += m.variance[i];
  }
  fov_params_finish(&p.params);
  fov_arena_finish(&p.arena);
  free(slot.values);
  return m;
}

/** With any baseline the mean of the gradients is the gradient of the mean, to 99.9 %. */
static void test_every_estimator_is_unbiased_with_every_baseline(void **state) {
  (void)state;
  for (const FovEstimator *const *e = fov_estimators; *e; e++)
    for (const FovBaseline *const *p = fov_baselines; *p; p++) {
      Moments m = measure(*e, *p);
      for (int i = 0; i < WEIGHTS; i++) {
        double error = sqrt(m.variance[i] / UPDATES), exact = exact_gradient(i / 2, i % 2);
        if (!(fabs(m.mean[i] - exact) < 3.29 * error) || !(error < fabs(exact) / 5))
          fail_msg("%s, %s: component %d is %g +- %g, expected %g", (*e)->plugin.name,
                   (*p)->plugin.name, i, m.mean[i], error, exact);
      }
    }
}

static void test_every_baseline_lowers_the_variance(void **state) {
  (void)state;
  for (const FovEstimator *const *e = fov_estimators; *e; e++) {
    const void *none = fov_plugin_find(TABLE(fov_baselines), "none");
    double without = measure(*e, none).total_variance;
    for (const FovBaseline *const *p = fov_baselines; *p; p++) {
      double with = measure(*e, *p).total_variance;
      if (*p != none && !(with < 0.75 * without))
        fail_msg("%s, %s: variance %g, without %g", (*e)->plugin.name, (*p)->plugin.name, with,
                 without);
    }
  }
}

/** Weights of an estimator on numbers of which the second of two lanes ends at its second step.
 */
enum { GAE_MOMENTS = 3, GAE_LANES = 2, GAE_SIZE = GAE_MOMENTS * GAE_LANES };
static const real gae_returns[GAE_SIZE] = {4, 3, 3, 1, 2, 0};
static const real gae_b[GAE_SIZE] = {1, 2, (real)0.5, -1, 3, 0};

static void weigh(real weights[GAE_SIZE], const char *settings) {
  FovSlot slot = choose_plugin(TABLE(fov_estimators), settings);
  const FovEstimator *estimator = (const FovEstimator *)slot.plugin;
  estimator->weights(weights, gae_returns, gae_b, GAE_MOMENTS, GAE_LANES, slot.values);
  free(slot.values);
}

static void test_gae_on_numbers_worked_by_hand(void **state) {
  (void)state;
  // Rewards are 1, 1, 2 and 2, 1; so δ = 0.5, 3.5, −1 and −1, 2.
  const struct {
    const char *settings;
    real advantage[GAE_SIZE];
  } known[] = {
      {"plugin = gae\nplugin.lambda = 0", {(real)0.5, -1, (real)3.5, 2, -1, 0}},
      {"plugin = gae\nplugin.lambda = 0.5", {2, 0, 3, 2, -1, 0}},
      {"plugin = gae\nplugin.lambda = 1", {3, 1, (real)2.5, 2, -1, 0}},
      {"plugin = gae", {(real)2.84, (real)0.8, (real)2.6, 2, -1, 0}},
  };
  for (int k = 0; k < 4; k++) {
    real weights[GAE_SIZE];
    weigh(weights, known[k].settings);
    for (int i = 0; i < GAE_SIZE; i++)
      assert_near(weights[i], -known[k].advantage[i], 1e-6, "%s: %d", known[k].settings, i);
  }
}

static void test_gae_of_the_whole_return_is_reinforce(void **state) {
  (void)state;
  real gae[GAE_SIZE], reinforce[GAE_SIZE];
  weigh(gae, "plugin = gae\nplugin.lambda = 1");
  weigh(reinforce, "plugin = reinforce");
  for (int i = 0; i < GAE_SIZE; i++) assert_close(gae[i], reinforce[i], 1e-6);
}

/* ---- optimisers ---- */

enum { NUMBERS = 37 };

/** Numbers and time_steps of an optimiser under test. */
typedef struct Descent {
  real value[NUMBERS], first[NUMBERS], second[NUMBERS], gradient[NUMBERS];
} Descent;

static FovOptimiserStep step_of(Descent *d, real rate, int64_t update) {
  return (FovOptimiserStep){.value = d->value,
                            .first = d->first,
                            .second = d->second,
                            .gradient = d->gradient,
                            .count = NUMBERS,
                            .rows = 1,
                            .cols = NUMBERS,
                            .scale = 1,
                            .rate = rate,
                            .update = update};
}

/** f(x) = Σ a_i (x_i − c_i)² / 2 with curvatures from 0.5 to 2, at a rate that falls to 0. */
static void test_every_optimiser_finds_the_bottom_of_a_bowl(void **state) {
  (void)state;
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    FovSlot slot = choose_default(TABLE(fov_optimisers), &(*o)->plugin);
    Descent d = {0};
    enum { STEPS = 500 };
    for (int t = 1; t <= STEPS; t++) {
      for (int i = 0; i < NUMBERS; i++)
        d.gradient[i] = (real)(0.5 + 1.5 * i / NUMBERS) * (d.value[i] - (real)sin(i));
      FovOptimiserStep step = step_of(&d, (real)(0.05 * (STEPS - t + 1) / STEPS), t);
      (*o)->step(&step, slot.values);
    }
    for (int i = 0; i < NUMBERS; i++)
      if (!(fabs((double)d.value[i] - sin(i)) < 0.02))
        fail_msg("%s: x[%d] is %g, expected %g", (*o)->plugin.name, i, (double)d.value[i], sin(i));
    free(slot.values);
  }
}

/** What an optimiser ought to do with one number: x, m, v before and after step t. */
typedef void Formula(double *x, double *m, double *v, double g, double rate, int t);

static void adam(double *x, double *m, double *v, double g, double rate, int t) {
  *m = 0.8 * *m + 0.2 * g;
  *v = 0.9 * *v + 0.1 * g * g;
  *x -= rate * (*m / (1 - pow(0.8, t))) / (sqrt(*v / (1 - pow(0.9, t))) + 0.01);
}

static void adamw(double *x, double *m, double *v, double g, double rate, int t) {
  *x -= rate * 0.3 * *x;
  adam(x, m, v, g, rate, t);
}

static void momentum(double *x, double *m, double *v, double g, double rate, int t) {
  (void)v, (void)t;
  *m = 0.7 * *m + g;
  *x -= rate * *m;
}

static void nesterov(double *x, double *m, double *v, double g, double rate, int t) {
  (void)v, (void)t;
  *m = 0.7 * *m + g;
  *x -= rate * (g + 0.7 * *m);
}

static void decayed(double *x, double *m, double *v, double g, double rate, int t) {
  momentum(x, m, v, g + 0.3 * *x, rate, t);
}

#define ADAM "plugin.beta1 = 0.8\nplugin.beta2 = 0.9\nplugin.epsilon = 0.01\n"

static const struct {
  const char *settings;
  Formula *formula;
} optimiser_cases[] = {
    {"plugin = adam\n" ADAM, adam},
    {"plugin = adamw\n" ADAM "plugin.decay = 0.3", adamw},
    {"plugin = muon\nplugin.decay = 0.3\n" ADAM, adam}, // of what is no hidden layer
    {"plugin = sgd\nplugin.momentum = 0.7", momentum},
    {"plugin = sgd\nplugin.momentum = 0.7\nplugin.nesterov = yes", nesterov},
    {"plugin = sgd\nplugin.momentum = 0.7\nplugin.decay = 0.3", decayed},
};
enum { OPTIMISER_CASES = sizeof optimiser_cases / sizeof *optimiser_cases };

/** Two steps of every number, the gradient being scaled by 1/2 as clipping does. */
static void check_steps(const char *settings, Formula *formula) {
  FovSlot slot = choose_plugin(TABLE(fov_optimisers), settings);
  Descent d = {0};
  double x[NUMBERS], m[NUMBERS] = {0}, v[NUMBERS] = {0};
  for (int i = 0; i < NUMBERS; i++) d.value[i] = (real)(x[i] = 0.125 * (i - 5));
  for (int t = 1; t <= 2; t++) {
    for (int i = 0; i < NUMBERS; i++) d.gradient[i] = (real)(i % 7 - 3.5) * (t == 1 ? 2 : -1);
    FovOptimiserStep step = step_of(&d, (real)0.25, t);
    step.scale = (real)0.5;
    ((const FovOptimiser *)slot.plugin)->step(&step, slot.values);
    for (int i = 0; i < NUMBERS; i++) {
      formula(&x[i], &m[i], &v[i], 0.5 * d.gradient[i], 0.25, t);
      assert_close(d.value[i], x[i], 2e-6 * (1 + fabs(x[i])));
      assert_close(d.first[i], m[i], 2e-6 * (1 + fabs(m[i])));
      assert_close(d.second[i], v[i], 2e-6 * (1 + fabs(v[i])));
    }
  }
  free(slot.values);
}

static void test_every_optimiser_takes_the_steps_of_its_paper(void **state) {
  (void)state;
  for (int i = 0; i < OPTIMISER_CASES; i++)
    check_steps(optimiser_cases[i].settings, optimiser_cases[i].formula);
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    char line[64];
    snprintf(line, sizeof line, "plugin = %s\n", (*o)->plugin.name);
    int cases = 0;
    for (int i = 0; i < OPTIMISER_CASES; i++)
      cases += !strncmp(optimiser_cases[i].settings, line, strlen(line));
    if (cases == 0) fail_msg("%s: no case here", (*o)->plugin.name);
  }
}

enum { ROWS = 48, COLS = 33, AREA = ROWS * COLS };

/** The number of a matrix with one number in each of 33 rows and columns; its sign and size differ
 * from place to place. */
static double *diagonal(double *x, int rows, int i) {
  return rows == ROWS ? &x[(i * 5 + 3) % ROWS * COLS + i] : &x[i * ROWS + (i * 5 + 3) % ROWS];
}

/** Such a matrix has its numbers for singular values, which Muon's iteration changes one by one. */
static void check_muon(int rows, int cols) {
  FovSlot slot = choose_plugin(TABLE(fov_optimisers),
                               "plugin = muon\nplugin.momentum = 0.7\nplugin.turns = 4\n"
                               "plugin.decay = 0.3");
  const FovOptimiser *muon = (const FovOptimiser *)slot.plugin;
  static real value[AREA], first[AREA], second[AREA], gradient[AREA];
  static double x[AREA], m[AREA], g[AREA];
  real *scratch = calloc(muon->scratch(rows, cols), sizeof *scratch);
  memset(first, 0, sizeof first);
  memset(m, 0, sizeof m);
  for (int i = 0; i < AREA; i++) value[i] = (real)(x[i] = 0.125 * (i % 9 - 4));
  for (int t = 1; t <= 2; t++) {
    double squares = 0;
    memset(g, 0, sizeof g);
    for (int i = 0; i < COLS; i++) *diagonal(g, rows, i) = pow(-0.9, i + 7 * t);
    for (int i = 0; i < AREA; i++) {
      gradient[i] = (real)g[i];
      m[i] = 0.7 * m[i] + 0.5 * g[i];
      squares += pow(0.5 * g[i] + 0.7 * m[i], 2);
    }
    FovOptimiserStep step = {value, first,   second,    gradient,   AREA, rows,
                             cols,  scratch, (real)0.5, (real)0.25, t};
    muon->step(&step, slot.values);
    for (int i = 0; i < AREA; i++) {
      double s = (0.5 * g[i] + 0.7 * m[i]) / sqrt(squares);
      for (int k = 0; k < 4; k++) s = 3.4445 * s - 4.7750 * pow(s, 3) + 2.0315 * pow(s, 5);
      x[i] = x[i] * (1 - 0.25 * 0.3) - 0.25 * 0.2 * sqrt(ROWS) * s;
      assert_close(value[i], x[i], 1e-4);
      assert_close(first[i], m[i], 1e-6);
      assert_close(second[i], 0, 0);
    }
  }
  free(scratch);
  free(slot.values);
}

static void test_muon_makes_singular_values_one(void **state) {
  (void)state;
  check_muon(ROWS, COLS);
  check_muon(COLS, ROWS);
}

static void test_muon_stays_where_nothing_is_to_be_learned(void **state) {
  (void)state;
  FovSlot slot = choose_plugin(TABLE(fov_optimisers), "plugin = muon");
  const FovOptimiser *muon = (const FovOptimiser *)slot.plugin;
  static real value[AREA], first[AREA], second[AREA], gradient[AREA];
  real *scratch = calloc(muon->scratch(ROWS, COLS), sizeof *scratch);
  FovOptimiserStep step = {value, first, second, gradient, AREA, ROWS, COLS, scratch, 1, 1, 1};
  muon->step(&step, slot.values);
  for (int i = 0; i < AREA; i++) assert_close(value[i], 0, 0);
  // What is left of an old gradient fades away, and the steps with it.
  for (int i = 0; i < AREA; i++) gradient[i] = (real)sin(i);
  muon->step(&step, slot.values);
  memset(gradient, 0, sizeof gradient);
  for (int t = 0; t < 1000; t++) muon->step(&step, slot.values);
  static real settled[AREA];
  memcpy(settled, value, sizeof value);
  for (int t = 0; t < 2000; t++) muon->step(&step, slot.values);
  for (int i = 0; i < AREA; i++) assert_close(value[i], settled[i], 1e-9);
  free(scratch);
  free(slot.values);
}

/* ---- schedules ---- */

static void test_schedules_have_their_ends_and_middles(void **state) {
  (void)state;
  const struct {
    FovSchedule schedule;
    double middle, end;
  } known[] = {
      {FOV_SCHEDULE_CONSTANT, 1, 1}, {FOV_SCHEDULE_LINEAR, 0.5, 0}, {FOV_SCHEDULE_COSINE, 0.5, 0}};
  for (int i = 0; i < 3; i++) {
    assert_close(fov_schedule(known[i].schedule, 0, 0), 1, 0);
    assert_close(fov_schedule(known[i].schedule, 0.5, 0), known[i].middle, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 1, 0), known[i].end, 1e-12);
    // With a warm-up of a fifth: the rise is linear, and the fall takes what is left.
    assert_close(fov_schedule(known[i].schedule, 0, 0.2), 0, 0);
    assert_close(fov_schedule(known[i].schedule, 0.05, 0.2), 0.25, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.2, 0.2), 1, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.6, 0.2), known[i].middle, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 1, 0.2), known[i].end, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.5, 1), 0.5, 1e-12);
  }
  assert_close(fov_schedule(FOV_SCHEDULE_COSINE, 0.25, 0), (1 + sqrt(0.5)) / 2, 1e-12);
}

static void test_schedules_rise_then_fall(void **state) {
  (void)state;
  for (int s = FOV_SCHEDULE_CONSTANT; s <= FOV_SCHEDULE_COSINE; s++)
    for (int i = 1; i <= 1000; i++) {
      double before = fov_schedule((FovSchedule)s, (i - 1) / 1000., 0.3);
      double after = fov_schedule((FovSchedule)s, i / 1000., 0.3);
      assert_true(after >= 0 && after <= 1);
      assert_true(i <= 300 ? after > before : after <= before);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_gaussian_has_its_moments),
      cmocka_unit_test(test_random_is_uniform_over_the_image),
      cmocka_unit_test(test_every_learned_policy_can_be_deterministic),
      cmocka_unit_test(test_a_lanes_choice_is_its_own),
      cmocka_unit_test(test_sigma_follows_its_schedule),
      cmocka_unit_test(test_centre_is_the_centre),
      cmocka_unit_test(test_actions_are_sampled_as_often_as_they_ought),
      cmocka_unit_test(test_the_likeliest_is_the_first_of_equals),
      cmocka_unit_test(test_never_stops_at_no_cost),
      cmocka_unit_test(test_confident_stops_from_its_threshold_on),
      cmocka_unit_test(test_stopping_is_sampled_from_its_logits),
      cmocka_unit_test(test_stopping_without_a_sample_has_a_threshold),
      cmocka_unit_test(test_every_reward_is_what_its_name_says),
      cmocka_unit_test(test_every_baseline_on_numbers_worked_by_hand),
      cmocka_unit_test(test_every_estimator_is_unbiased_with_every_baseline),
      cmocka_unit_test(test_every_baseline_lowers_the_variance),
      cmocka_unit_test(test_gae_on_numbers_worked_by_hand),
      cmocka_unit_test(test_gae_of_the_whole_return_is_reinforce),
      cmocka_unit_test(test_every_optimiser_finds_the_bottom_of_a_bowl),
      cmocka_unit_test(test_every_optimiser_takes_the_steps_of_its_paper),
      cmocka_unit_test(test_muon_makes_singular_values_one),
      cmocka_unit_test(test_muon_stays_where_nothing_is_to_be_learned),
      cmocka_unit_test(test_schedules_have_their_ends_and_middles),
      cmocka_unit_test(test_schedules_rise_then_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
