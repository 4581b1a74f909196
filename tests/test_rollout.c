/** Rollouts on the toy environments: what lanes see, choose, answer and earn, and forced choices.
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
#include "sensor/augment.h"
#include "toy_play.h"

enum { MEAN }; // the first column of the Gaussian policy

/** log π is that of the raw sample, also where the location is clipped to the border. */
static void test_log_prob_belongs_to_the_raw_sample(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "policy.sigma = 8\nfirst = learned\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, 16);
  int cut = 0;
  // 8 of 20 pixels are 0.8 of the 2 units that the image is wide.
  for (int t = 0; t < p.rollout.time_steps - 1; t++)
    for (int b = 0; b < 16; b++) {
      const FovTimeStep *chosen = &p.rollout.at[t], *looked = chosen + 1;
      double log_prob = -log(2 * M_PI * 0.8 * 0.8);
      for (int j = 0; j < 2; j++) {
        double z = (double)fov_rng_normal(&p.start[b]);
        double raw = (double)chosen->columns[MEAN][2 * b + j] + 0.8 * z;
        log_prob -= z * z / 2;
        assert_close(looked->location->value[2 * b + j], fmin(fmax(raw, -1), 1), 1e-6);
        cut += fabs(raw) > 1;
      }
      assert_close(chosen->log_look->value[b], log_prob, 1e-4);
    }
  assert_in_range(cut, 10, 80);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

static void test_a_glimpse_shows_the_image_at_its_place(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "reward = log_probability\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, 16);
  const FovRollout *r = &p.rollout;
  assert_int_equal(r->time_steps, 4);
  for (int t = 0; t < 4; t++)
    for (int b = 0; b < 16; b++) {
      const FovTimeStep *step = &r->at[t];
      // The only reward is at the end, so every return equals it.
      real earned = r->log_probabilities[TOY_ACTIONS * b + r->labels[b]];
      assert_true(r->rewards[16 * t + b] == (t == 3 ? earned : 0));
      assert_true(r->returns[16 * t + b] == earned);
      assert_int_equal(step->rho != NULL, t > 0);
      if (t == 0) continue;
      real glimpse[16];
      const FovImage image = {
          .bytes = step->frames[b], .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
      const real *l = step->location->value + 2 * b;
      fov_sensor_look(glimpse, &toy.experiment.sensor, &image, l[0], l[1]);
      assert_memory_equal(glimpse, step->rho->value + 16 * b, sizeof glimpse);
    }
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** An odd patch reaches the first and the last pixel, whether it is centred on pixels or not. */
static void test_odd_patches_stay_inside(void **state) {
  (void)state;
  static const int sizes[][2] = {{28, 7}, {100, 11}, {28, 5}, {60, 9}, {7, 7}, {60, 12}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int extent = sizes[i][0], side = sizes[i][1];
    const FovSensor sensor = {.side = side, .scales = 1, .gain = 1, .inside = true};
    const real bound = 1 - (real)side / (real)extent;
    assert_true(fov_patch_start(&sensor, -bound, extent, side) == 0);
    assert_true(fov_patch_start(&sensor, bound, extent, side) == extent - side);
  }
  uint8_t white[TOY_SIDE * TOY_SIDE];
  memset(white, 255, sizeof white);
  const FovImage image = {.bytes = white, .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
  for (int bilinear = 0; bilinear < 2; bilinear++) {
    const FovSensor sensor = {
        .side = 5, .scales = 1, .gain = 1, .inside = true, .bilinear = bilinear};
    const real bound = 1 - (real)5 / TOY_SIDE;
    for (int corner = 0; corner < 4; corner++) {
      real glimpse[25];
      fov_sensor_look(glimpse, &sensor, &image, corner & 1 ? bound : -bound,
                      corner & 2 ? bound : -bound);
      for (int i = 0; i < 25; i++) assert_close(glimpse[i], 1, 1e-6);
    }
  }
}

/** With sensor.inside no glimpse leaves the image, and some touch its edges. */
static void test_glimpses_stay_inside_if_asked(void **state) {
  (void)state;
  enum { LANES = 48 };
  const char *const policies[] = {"policy = random\nfirst = random\n",
                                  "policy = gaussian\npolicy.sigma = 20\nfirst = learned\n",
                                  "policy = relative\npolicy.reach = 1\nfirst = random\n"};
  for (int policy = 0; policy < 3; policy++) {
    Toy toy;
    ToyPlay p;
    char settings[256];
    snprintf(settings, sizeof settings, "sensor.inside = yes\nsensor.side = 4\n%s",
             policies[policy]);
    toy_create(&toy, settings);
    const double bound = 1 - 4. / TOY_SIDE;
    double farthest = 0;
    real *values = toy_lively_values(&toy);
    toy_play(&p, &toy, values, LANES);
    for (int t = 1; t < p.rollout.time_steps; t++)
      for (int i = 0; i < 2 * LANES; i++)
        farthest = fmax(farthest, fabs((double)p.rollout.at[t].location->value[i]));
    assert_true(farthest <= bound + 1e-6 && farthest > 0.95 * bound);
    toy_play_finish(&p);
    free(values);
    toy_finish(&toy);
  }
}

/** A step costs its length of the return, when it is chosen. */
static void test_the_cost_of_a_step_is_part_of_the_return(void **state) {
  (void)state;
  enum { LANES = 12 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_turns\nglimpses = 1\npolicy = relative\npolicy.cost = 0.25\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, LANES);
  const FovRollout *r = &p.rollout;
  int chosen = 0;
  for (int t = 0; t < r->time_steps; t++)
    for (int i = 0; i < r->at[t].count; i++) {
      const FovTimeStep *step = &r->at[t];
      int at = t * LANES + step->lanes[i];
      bool looks = step->events[i] & FOV_EVENT_LOOK;
      const real *a = r->choices.places[at].sample;
      double earned = step->actions[i] >= 0 && step->actions[i] == step->labels[i];
      double cost = looks ? 0.25 * hypot((double)a[0], (double)a[1]) : 0;
      assert_close(r->rewards[at], earned - cost, 1e-6);
      chosen += looks;
    }
  assert_true(chosen >= LANES);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** Certainty of an answer: 1 less its entropy, as a share of that of a guess. */
static double certainty(const real *log_p, int actions) {
  double sum = log(actions);
  for (int a = 0; a < actions; a++) sum += exp((double)log_p[a]) * (double)log_p[a];
  return sum / log(actions);
}

/** What is gained counts from the answer before if the question is the same, else from a guess. */
static void test_information_is_gained_question_by_question(void **state) {
  (void)state;
  enum { LANES = 8 };
  for (int same = 0; same < 2; same++) {
    Toy toy;
    ToyPlay p;
    toy_create(&toy, "env = toy_turns\nglimpses = 1\nreward = information_gain\n");
    toy.env.spec.last = same;
    real *values = toy_lively_values(&toy);
    toy_play(&p, &toy, values, LANES);
    const FovRollout *r = &p.rollout;
    for (int i = 0; i < LANES * TOY_TURNS; i++) {
      int b = i / TOY_TURNS, k = i % TOY_TURNS;
      if (k >= r->taken[b]) continue;
      const real *log_p = r->log_probabilities + (size_t)i * TOY_ACTIONS;
      double before = same && k > 0 ? certainty(log_p - TOY_ACTIONS, TOY_ACTIONS) : 0;
      assert_close(r->rewards[(k + 1) * LANES + b], certainty(log_p, TOY_ACTIONS) - before, 1e-5);
    }
    toy_play_finish(&p);
    free(values);
    toy_finish(&toy);
  }
}

/** Without a memory the last input of the answer is the time, −1 at first and 1 after the end. */
static void test_the_core_reads_the_time(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\ncore = none\ntime = yes\n");
  real *values = fov_params_block(&toy.experiment.agent.params);
  const FovParam *w = toy_param(&toy, "class.w");
  for (int a = 0; a < w->rows; a++)
    values[w->offset + (size_t)((a + 1) * w->cols - 1)] = (real)(a + 1);
  toy_play(&p, &toy, values, 12);
  int T = 2 * TOY_TURNS;
  assert_int_equal(p.rollout.time_steps, T + 1);
  for (int t = 0; t < T; t++) {
    const FovVar *logits = p.rollout.at[t + 1].logits;
    for (int i = 0; i < logits->rows * w->rows; i++)
      assert_close(fov_value_row(logits, i / w->rows)[i % w->rows],
                   (i % w->rows + 1) * (2. * t / T - 1), 1e-6);
  }
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

static void test_the_first_glimpse_is_at_the_requested_place(void **state) {
  (void)state;
  const char *firsts[] = {"first = centre", "first = random", "first = learned"};
  for (int first = 0; first < 3; first++) {
    Toy toy;
    ToyPlay p;
    toy_create(&toy, firsts[first]);
    real *values = toy_lively_values(&toy);
    toy_play(&p, &toy, values, 16);
    for (int b = 0; b < 16; b++)
      for (int j = 0; j < 2; j++) {
        real uniform = 2 * fov_rng_uniform(&p.start[b]) - 1,
             l = p.rollout.at[1].location->value[2 * b + j];
        if (first == FOV_FIRST_CENTRE) assert_true(l == 0);
        if (first == FOV_FIRST_RANDOM) assert_true(l == uniform);
        // From h_0 = 0 the mean is the bias.
        if (first == FOV_FIRST_LEARNED)
          assert_true(p.rollout.at[0].columns[MEAN][2 * b + j] ==
                      values[toy_param(&toy, "location.bias")->offset + (size_t)j]);
      }
    assert_int_equal(p.rollout.at[0].columns[MEAN] != NULL, first == FOV_FIRST_LEARNED);
    assert_int_equal(p.rollout.at[0].log_look != NULL, first == FOV_FIRST_LEARNED);
    assert_int_equal(p.rollout.at[0].baseline != NULL, first == FOV_FIRST_LEARNED);
    for (int t = 1; t < 4; t++) assert_non_null(p.rollout.at[t].logits);
    toy_play_finish(&p);
    free(values);
    toy_finish(&toy);
  }
}

/** With `near`, a random first glimpse is that share nearer the target than without. */
static void test_the_first_glimpse_is_moved_to_the_target(void **state) {
  (void)state;
  const double near = 0.75;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_turns\nfirst = random\nsensor.inside = yes\n");
  real *values = toy_lively_values(&toy), bounds[2];
  toy_play_begin(&p, &toy, values, NULL, 0, 16);
  p.plan.near = near;
  toy_play_run(&p, &toy);
  fov_task_bounds(bounds, &toy.task);
  for (int b = 0; b < 16; b++)
    for (int j = 0; j < 2; j++) {
      double start = (double)bounds[j] * (2 * fov_rng_uniform(&p.start[b]) - 1);
      double target = (double)fov_location_of(TOY_SIDE / 2 - (j == 0 ? 6 : 0), 0, TOY_SIDE);
      assert_close(p.rollout.at[1].location->value[2 * b + j], start + near * (target - start),
                   1e-6);
    }
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** y = act(W x + b) by the parameters "name.w" and "name.bias". */
static void apply(double *y, const Toy *toy, const real *values, const char *name, const double *x,
                  double (*act)(double)) {
  char weight[32], bias[32];
  snprintf(weight, sizeof weight, "%s.w", name);
  snprintf(bias, sizeof bias, "%s.bias", name);
  const FovParam *w = toy_param(toy, weight), *b = toy_param(toy, bias);
  for (int i = 0; i < w->rows; i++) {
    double sum = (double)values[b->offset + (size_t)i];
    for (int j = 0; j < w->cols; j++)
      sum += (double)values[w->offset + (size_t)(i * w->cols + j)] * x[j];
    y[i] = act(sum);
  }
}

static double relu(double x) {
  return fmax(x, 0);
}

static double same(double x) {
  return x;
}

/** Before its first glimpse the agent chooses a place and predicts the return from the context
 * alone, which starts both vars of the second layer's state. */
static void test_a_context_chooses_the_first_glimpse(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, TOY_TWO_LAYERS "core = lstm\nfirst = learned\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, 16);
  for (int b = 0; b < 16; b++) {
    double coarse[9], hidden[7], start[12], mean[2], baseline[1];
    const FovImage image = {
        .bytes = p.rollout.at[0].frames[b], .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
    real view[9];
    fov_sensor_shrink(view, &image, 3);
    for (int i = 0; i < 9; i++) coarse[i] = (double)view[i];
    apply(hidden, &toy, values, "context", coarse, relu);
    apply(start, &toy, values, "start", hidden, tanh);
    apply(mean, &toy, values, "location", start, same);
    apply(baseline, &toy, values, "baseline", start, same);
    for (int j = 0; j < 2; j++)
      assert_close(p.rollout.at[0].columns[MEAN][2 * b + j], mean[j], 1e-5);
    assert_close(p.rollout.at[0].baseline->value[b], baseline[0], 1e-5);
    FovAgentState begun = fov_agent_begin(&toy.experiment.agent, &p.tape, &image, NULL, 1, 1);
    for (int v = 0; v < FOV_STATE_VARS; v++) {
      assert_null(begun.core.vars[v]);
      assert_int_equal(begun.gaze.vars[v] != NULL, v < toy.experiment.agent.core->starts);
      for (int i = 0; begun.gaze.vars[v] && i < 12; i++)
        assert_close(begun.gaze.vars[v]->value[i], start[i], 1e-5);
    }
  }
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** Turn k of lane b, answered at the step that `step` is. */
static void check_turn(const FovRollout *r, const FovTimeStep *step, int b, int k) {
  int i = toy_place_in(step, b), at = b * TOY_TURNS + k;
  bool last = k + 1 == toy_turns_count(b);
  const real *log_p = r->log_probabilities + at * TOY_ACTIONS;
  assert_int_equal(r->labels[at], toy_turns_label(b, k));
  assert_int_equal(r->answers[at], toy_likeliest(log_p));
  assert_int_equal(step->labels[i], r->labels[at]);
  assert_int_equal(step->actions[i], r->answers[at]);
  assert_int_equal(step->events[i], FOV_EVENT_ACT | (last ? 0 : FOV_EVENT_LOOK));
  assert_close(exp(log_p[0]) + exp(log_p[1]) + exp(log_p[2]), 1, 1e-5);
}

static void test_labels_are_answered_in_turn(void **state) {
  (void)state;
  enum { LANES = 24 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, LANES);
  const FovRollout *r = &p.rollout;
  assert_int_equal(fov_task_glimpses(&toy.task), 2 * TOY_TURNS);
  assert_int_equal(r->time_steps, 1 + 2 * TOY_TURNS);
  int all_wrong = 0, counted = 0;
  for (int b = 0; b < LANES; b++) {
    int count = toy_turns_count(b), wrong = 0;
    assert_int_equal(r->taken[b], count);
    assert_int_equal(r->glimpses[b], 2 * count);
    for (int t = 0; t < r->time_steps; t++)
      assert_int_equal(toy_place_in(&r->at[t], b) >= 0, t <= 2 * count);
    real left = 0;
    for (int k = count - 1; k >= 0; k--) {
      const FovTimeStep *looks = &r->at[2 * k + 1];
      check_turn(r, &r->at[2 * k + 2], b, k);
      assert_int_equal(looks->events[toy_place_in(looks, b)], FOV_EVENT_LOOK);
      assert_int_equal(looks->actions[toy_place_in(looks, b)], -1);
      bool right = r->answers[b * TOY_TURNS + k] == r->labels[b * TOY_TURNS + k];
      assert_true(r->rewards[(2 * k + 1) * LANES + b] == 0);
      assert_true(r->rewards[(2 * k + 2) * LANES + b] == right);
      assert_true(r->returns[(2 * k + 2) * LANES + b] == (left += right));
      assert_true(r->returns[(2 * k + 1) * LANES + b] == left);
      wrong += !right;
    }
    for (int k = count; k < TOY_TURNS; k++)
      assert_true(r->labels[b * TOY_TURNS + k] == -1 && r->answers[b * TOY_TURNS + k] == -1);
    assert_int_equal(r->wrong[b], wrong > 0);
    all_wrong += wrong == count, counted += wrong > 0 && wrong < count;
  }
  // One wrong answer of several makes the episode wrong; the test requires such an episode.
  assert_true(counted > 0 && all_wrong < LANES);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** Whether a rollout's answers change with the parameters whose names start with the prefix. */
static bool answers_depend_on(const char *prefix, const char *settings) {
  Toy toy;
  ToyPlay before, after;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  toy_play(&before, &toy, values, 16);
  const FovParams *params = &toy.experiment.agent.params;
  for (int i = 0; i < params->count; i++)
    for (size_t j = 0; toy_is_of(&params->list[i], prefix) && j < toy_count(&params->list[i]); j++)
      values[params->list[i].offset + j] += (real)0.1;
  toy_play(&after, &toy, values, 16);
  bool found = memcmp(before.rollout.log_probabilities, after.rollout.log_probabilities,
                      16 * TOY_ACTIONS * sizeof(real));
  toy_play_finish(&before), toy_play_finish(&after);
  free(values);
  toy_finish(&toy);
  return found;
}

static void test_context_and_second_layer_affect_answers_only_through_the_gaze(void **state) {
  (void)state;
  const char *where[] = {"context.", "start.", "gaze.", "location."};
  for (int i = 0; i < 4; i++) {
    assert_true(answers_depend_on(where[i], TOY_TWO_LAYERS));
    assert_false(answers_depend_on(where[i], TOY_TWO_LAYERS "policy = random\n"));
  }
  assert_true(answers_depend_on("core.", TOY_TWO_LAYERS "policy = random\n"));
}

/** Repeats a lane's actions without an agent; returns its rewards. */
static double replay(const Toy *toy, const FovRollout *r, int b, FovRng rng) {
  uint8_t image[TOY_SIDE * TOY_SIDE];
  int x;
  FovEnvLane lane = {.observation = image, .state = &x};
  double earned = 0;
  fov_env_reset(&toy->env, &lane, b, &rng);
  for (int t = 1; t < r->time_steps; t++) {
    const FovTimeStep *step = &r->at[t];
    int i = toy_place_in(step, b);
    assert_int_equal(i >= 0, !fov_env_over(&lane));
    if (i < 0) continue;
    assert_int_equal(step->labels[i], -1);
    assert_memory_equal(step->frames[i], image, sizeof image);
    if (step->actions[i] < 0) continue;
    fov_env_step(&toy->env, &lane, &(FovAnswer){.action = step->actions[i]}, &rng);
    earned += (double)lane.reward;
    assert_true(r->rewards[t * r->lanes + b] == lane.reward);
  }
  assert_true(fov_env_over(&lane));
  assert_int_equal(lane.taken, r->taken[b]);
  return earned;
}

static void test_a_game_follows_its_actions(void **state) {
  (void)state;
  enum { LANES = 48 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_game\nglimpses = 2\n");
  real *values = toy_lively_values(&toy);
  toy_play_begin(&p, &toy, values, NULL, 0, LANES);
  FovRng env_rng[LANES];
  memcpy(env_rng, p.plan.env_rng, sizeof env_rng);
  p.plan.frames = true;
  toy_play_run(&p, &toy);
  const FovRollout *r = &p.rollout;
  int missed = 0;
  assert_null(r->log_probabilities);
  for (int b = 0; b < LANES; b++) {
    double earned = replay(&toy, r, b, env_rng[b]);
    assert_true(r->returns[b] == (real)earned);
    assert_int_equal(r->wrong[b], earned < 0.5);
    missed += r->wrong[b];
  }
  assert_in_range(missed, 1, LANES - 1);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** Every glimpse is one at the standardised, or augmented, image, as it is at that moment; the
 * frames stay as they are drawn. augment: as in a training. */
static void check_shown(const char *settings, bool standardise, bool augment) {
  enum { LANES = 24 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, settings);
  const FovSensor *sensor = &toy.experiment.sensor;
  FovStandard standard = {.channels = 1, .mean = {0.3}, .deviation = {0.2}};
  if (standardise) toy.task.standard = &standard;
  real *values = toy_lively_values(&toy);
  toy_play_begin(&p, &toy, values, NULL, 0, LANES);
  FovAugmentation augmentations[LANES];
  for (int b = 0; b < LANES; b++)
    augmentations[b] = fov_augmentation_draw(sensor, &p.plan.env_rng[b]);
  p.plan.augment = augment;
  p.plan.frames = true;
  toy_play_run(&p, &toy);
  int checked = 0;
  for (int t = 1; t < p.rollout.time_steps; t++) {
    const FovTimeStep *step = &p.rollout.at[t];
    for (int i = 0; i < step->count; i++, checked++) {
      float augmented[TOY_SIDE * TOY_SIDE], pixels[TOY_SIDE * TOY_SIDE];
      real glimpse[16];
      FovImage image = {
          .bytes = step->frames[i], .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
      if (augment) {
        fov_augment(augmented, &image, augmentations[step->lanes[i]]);
        image.bytes = NULL, image.floats = augmented;
      }
      if (standardise) {
        fov_standardise(pixels, &image, &standard);
        image.bytes = NULL, image.floats = pixels;
      }
      const real *l = step->location->value + 2 * i;
      fov_sensor_look(glimpse, sensor, &image, l[0], l[1]);
      assert_memory_equal(glimpse, fov_value_row(step->rho, i), sizeof glimpse);
    }
  }
  assert_true(checked >= LANES);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

static const char *const shown[] = {"", "env = toy_turns\nglimpses = 2\nstop = learned\n",
                                    "env = toy_game\nglimpses = 2\n"};

static void test_agents_are_shown_standardised_images(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) check_shown(shown[i], true, false);
}

static void test_images_are_augmented_in_a_training_only(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < 4; kind++) {
      char settings[256];
      snprintf(settings, sizeof settings, "%ssensor.contrast = 0.5\nsensor.brightness = 0.3\n",
               shown[i]);
      check_shown(settings, kind & 1, kind & 2);
    }
}

/** The environment draws the same with and without augmentation. */
static void test_augmentation_disturbs_no_other_draw(void **state) {
  (void)state;
  enum { LANES = 16, NUMBERS = 16 };
  Toy toys[2];
  ToyPlay p[2];
  toy_create(&toys[0], "policy = random\n");
  toy_create(&toys[1], "policy = random\nsensor.contrast = 0.3\nsensor.brightness = 0.3\n");
  real *values = toy_lively_values(&toys[0]);
  for (int k = 0; k < 2; k++) {
    toy_play_begin(&p[k], &toys[k], values, NULL, 0, LANES);
    p[k].plan.augment = true;
    toy_play_run(&p[k], &toys[k]);
  }
  const FovTimeStep *one = &p[0].rollout.at[1], *other = &p[1].rollout.at[1];
  int changed = 0;
  for (int i = 0; i < LANES; i++) {
    assert_memory_equal(one->frames[i], other->frames[i], TOY_SIDE * TOY_SIDE);
    changed += memcmp(fov_value_row(one->rho, i), fov_value_row(other->rho, i),
                      NUMBERS * sizeof(real)) != 0;
  }
  assert_in_range(changed, LANES / 2, LANES); // black stays black if the image becomes darker
  assert_memory_equal(p[0].plan.env_rng, p[1].plan.env_rng, LANES * sizeof(FovRng));
  for (int k = 0; k < 2; k++) toy_play_finish(&p[k]), toy_finish(&toys[k]);
  free(values);
}

/** What a vector earns, how far it is from the right one, and whether the goal is met; it is no
 * action, and has no probability. */
static void test_vectors_are_answered_and_judged(void **state) {
  (void)state;
  enum { LANES = 24, GOAL = -400 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_find\nglimpses = 2\n");
  toy.env.spec.goal = GOAL;
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, LANES);
  FovRollout *r = &p.rollout;
  double earned[LANES] = {0};
  int turns[LANES] = {0}, missed = 0;
  assert_null(r->log_probabilities);
  for (int t = 1; t < r->time_steps; t++)
    for (int i = 0; i < r->at[t].count; i++) {
      FovTimeStep *step = &r->at[t];
      int b = step->lanes[i];
      const real *y = fov_value_row(step->logits, i), *target = step->targets + 2 * i;
      double square = pow((double)(y[0] - target[0]), 2) + pow((double)(y[1] - target[1]), 2);
      assert_null(fov_step_log_p(step, &p.arena));
      assert_close(target[0], (b % 5 - 2) / 2.5, 1e-6);
      assert_close(target[1], b % 3 - 1, 1e-6);
      assert_int_equal(step->actions[i], -1);
      assert_int_equal(step->labels[i], -1);
      assert_int_equal(!!(step->events[i] & FOV_EVENT_ACT), t % 2 == 0);
      if (t % 2) continue;
      assert_close(r->rewards[t * LANES + b] / (1 + square), -1.5 * square / (1 + square), 1e-5);
      assert_close(r->squares[2 * b + turns[b]++] / (1 + square), square / (1 + square), 1e-5);
      earned[b] -= 1.5 * square;
    }
  for (int b = 0; b < LANES; b++) {
    assert_int_equal(turns[b], 1 + b % 2);
    assert_int_equal(r->taken[b], 1 + b % 2);
    assert_int_equal(r->wrong[b], earned[b] < GOAL);
    missed += r->wrong[b];
  }
  assert_in_range(missed, 1, LANES - 1);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** A glimpse is what the environment shows at its place, and a place past the edge is the last. */
static void test_a_world_is_asked_what_is_at_a_place(void **state) {
  (void)state;
  enum { LANES = 24 };
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "env = toy_walk\nglimpses = 1\nfirst = random\npolicy = random\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, LANES);
  const FovRollout *r = &p.rollout;
  int left = 0;
  for (int t = 1; t < r->time_steps; t++)
    for (int i = 0; i < r->at[t].count; i++) {
      const FovTimeStep *step = &r->at[t];
      const real *seen = fov_value_row(step->rho, i), *l = fov_value_row(step->location, i);
      assert_int_equal(step->rho->cols, TOY_SEEN);
      for (int j = 0; j < 2; j++) {
        assert_true(seen[j] >= l[j] && seen[j] < l[j] + (real)0.125);
        assert_close(step->targets[2 * i + j], l[1 - j], 1e-6);
      }
      assert_true(seen[2] == t - 1);
      assert_true(t == 1 || fabs((double)l[0]) <= TOY_EDGE);
      // The place after this answer is chosen, and seen if the lane goes on.
      const real *next = r->choices.places[t * LANES + step->lanes[i]].sample;
      bool goes_on = t + 1 < r->time_steps && toy_place_in(step + 1, step->lanes[i]) >= 0;
      bool looks = step->events[i] & FOV_EVENT_LOOK;
      assert_int_equal(looks, t < TOY_WALK);
      if (looks) assert_int_equal(goes_on, fabs((double)next[0]) <= TOY_EDGE);
      left += looks && !goes_on;
    }
  assert_in_range(left, LANES / 2, LANES);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/** An agent whose place is hidden answers the same wherever it looks at an image that it sees
 * whole; one that is told its place does not. */
static void test_a_hidden_place_has_no_effect(void **state) {
  (void)state;
  for (int hidden = 0; hidden < 2; hidden++) {
    Toy toy;
    ToyPlay first, other;
    char settings[128];
    snprintf(settings, sizeof settings, "sensor.whole = yes\npolicy = random\nglimpse.where = %d\n",
             hidden ? 0 : 8);
    toy_create(&toy, settings);
    real *values = toy_lively_values(&toy);
    toy_play(&first, &toy, values, 16);
    toy_play_begin(&other, &toy, values, NULL, 0, 16);
    for (int b = 0; b < 16; b++) fov_rng_u32(&other.plan.policy_rng[b]);
    toy_play_run(&other, &toy);
    const FovVar *a = first.rollout.at[3].logits, *b = other.rollout.at[3].logits;
    bool same = !memcmp(a->value, b->value, (size_t)a->rows * a->stride * sizeof(real));
    assert_int_equal(same, hidden);
    toy_play_finish(&first), toy_play_finish(&other);
    free(values);
    toy_finish(&toy);
  }
}

/** With weights that pass on the cue's first pixel alone, this is the answer: the cue's brightness,
 * standardised as the images are. */
static void test_agents_are_shown_the_cue(void **state) {
  (void)state;
  const FovStandard standard = {.channels = 1, .mean = {0.3}, .deviation = {0.2}};
  static const char *const path[] = {"cue.encoder.w", "cue.what", "class.w"};
  for (int standardised = 0; standardised < 2; standardised++) {
    Toy toy;
    ToyPlay p;
    toy_create(&toy, "env = toy_find\nglimpses = 2\ncore = none\n");
    if (standardised) toy.task.standard = &standard;
    real *values = fov_params_block(&toy.experiment.agent.params);
    for (int i = 0; i < 3; i++) values[toy_param(&toy, path[i])->offset] = 1;
    toy_play(&p, &toy, values, 12);
    assert_int_equal(p.rollout.time_steps, 5);
    for (int t = 1; t < 5; t++)
      for (int i = 0; i < p.rollout.at[t].count; i++) {
        const real *y = fov_value_row(p.rollout.at[t].logits, i);
        assert_close(y[0], standardised ? 0.7 / 0.2 : 1, 1e-5); // the first pixel is bright
        assert_close(y[1], 0, 1e-6);
      }
    toy_play_finish(&p);
    free(values);
    toy_finish(&toy);
  }
}

/** One σ from the mean, which is in the middle, each place 137.5° further than the one before. */
static void test_deterministic_places_spread_in_other_directions(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "glimpses = 5\npolicy.sigma = 2\npolicy.spread = 1\n");
  real *zeros = fov_params_block(&toy.experiment.agent.params);
  toy_play_begin(&p, &toy, zeros, NULL, 0, 12);
  p.plan.deterministic = true;
  toy_play_run(&p, &toy);
  for (int t = 2; t < p.rollout.time_steps; t++)
    for (int i = 0; i < p.rollout.at[t].count; i++) {
      const real *place = fov_value_row(p.rollout.at[t].location, i);
      assert_close(place[0], 4. / TOY_SIDE * cos(2.3999632 * (t - 1)), 1e-6);
      assert_close(place[1], 4. / TOY_SIDE * sin(2.3999632 * (t - 1)), 1e-6);
    }
  toy_play_finish(&p);
  free(zeros);
  toy_finish(&toy);
}

/** log π of an action is the logits' log-softmax; a deterministic rollout takes the likeliest
 * action and has no log π. */
static void test_actions_are_sampled_from_the_logits(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_game\nglimpses = 1\n");
  real *values = toy_lively_values(&toy);
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    ToyPlay p;
    toy_play_begin(&p, &toy, values, NULL, 0, 48);
    p.plan.deterministic = deterministic;
    toy_play_run(&p, &toy);
    int other = 0;
    for (int t = 1; t < p.rollout.time_steps; t++) {
      const FovTimeStep *m = &p.rollout.at[t];
      for (int i = 0; i < m->count; i++) {
        const real *l = m->logits->value + i * m->logits->stride;
        double sum = exp((double)l[0]) + exp((double)l[1]) + exp((double)l[2]);
        other += m->actions[i] != toy_likeliest(l);
        if (!deterministic)
          assert_close(m->log_act->value[i], (double)l[m->actions[i]] - log(sum), 1e-5);
      }
      assert_int_equal(m->log_act != NULL, !deterministic);
    }
    assert_int_equal(other > 20, !deterministic);
    toy_play_finish(&p);
  }
  free(values);
  toy_finish(&toy);
}

static void assert_row(const FovVar *many, int i, const FovVar *one) {
  assert_int_equal(many != NULL, one != NULL);
  for (int j = 0; one && j < one->cols; j++)
    assert_close(many->value[i * many->stride + j], one->value[j],
                 1e-4 * (1 + fabs((double)one->value[j])));
}

/** The policy's columns of lane i's choice, in a batch and alone. */
static void assert_columns(const FovTask *task, const FovTimeStep *many, int i,
                           const FovTimeStep *one) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_task_columns(columns, task);
  for (int c = 0; c < count; c++)
    for (int j = 0, width = columns[c].width; j < width; j++)
      assert_close(many->columns[c][i * width + j], one->columns[c][j],
                   1e-4 * (1 + fabs((double)one->columns[c][j])));
}

static void assert_same_lane(const FovTask *task, const FovRollout *r, int b,
                             const FovRollout *one) {
  assert_int_equal(r->glimpses[b], one->glimpses[0]);
  assert_int_equal(r->taken[b], one->taken[0]);
  assert_int_equal(r->wrong[b], one->wrong[0]);
  for (int t = 0; t < r->time_steps; t++) {
    const FovTimeStep *many = &r->at[t], *alone = &one->at[t];
    int i = toy_place_in(many, b);
    assert_int_equal(i >= 0, t < one->time_steps);
    if (i < 0) continue;
    assert_int_equal(many->events[i], alone->events[0]);
    assert_int_equal(many->labels[i], alone->labels[0]);
    assert_int_equal(many->actions[i], alone->actions[0]);
    // What a vector earns is rounded as its numbers are.
    double rounding = alone->targets ? 1e-4 * (1 + fabs((double)one->returns[t])) : 0;
    assert_close(r->rewards[t * r->lanes + b], one->rewards[t], rounding);
    assert_close(r->returns[t * r->lanes + b], one->returns[t], rounding);
    assert_row(many->location, i, alone->location);
    assert_row(many->rho, i, alone->rho);
    assert_row(many->logits, i, alone->logits);
    if (alone->events[0] & FOV_EVENT_LOOK) assert_columns(task, many, i, alone);
    if (alone->events[0] & FOV_EVENT_LOOK) assert_row(many->log_look, i, alone->log_look);
    if (alone->events[0] & FOV_EVENT_ACT) assert_row(many->log_act, i, alone->log_act);
    if (alone->events[0] & FOV_EVENT_DECIDE) assert_row(many->log_stop, i, alone->log_stop);
  }
}

/** Compacting the batch changes nothing: each lane gives the same results when played alone. */
static void test_a_lane_is_the_same_alone(void **state) {
  (void)state;
  for (int k = 0; k < TOY_RAGGED; k++) {
    Toy toy;
    ToyPlay all, one;
    toy_create(&toy, toy_ragged[k]);
    toy.env.spec.cases = 64;
    real *values = toy_lively_values(&toy);
    toy_play(&all, &toy, values, 64);
    int counts = 0;
    for (int t = 1; t < all.rollout.time_steps; t++)
      counts += all.rollout.at[t].count < all.rollout.at[t - 1].count;
    if (counts < 1) fail_msg("%s: no lane stopped before the others", toy_ragged[k]);
    for (int b = 0; b < 64; b++) {
      toy_play_begin(&one, &toy, values, NULL, b, 1);
      toy_play_run(&one, &toy);
      assert_same_lane(&toy.task, &all.rollout, b, &one.rollout);
      toy_play_finish(&one);
    }
    toy_play_finish(&all);
    free(values);
    toy_finish(&toy);
  }
}

/** A glimpse's cost is subtracted where it is taken. */
static void test_every_glimpse_costs(void **state) {
  (void)state;
  Toy toy;
  ToyPlay p;
  toy_create(&toy, "glimpses = 6\nstop = learned\nstop.cost = 0.125\n");
  real *values = toy_lively_values(&toy);
  toy_play(&p, &toy, values, 48);
  const FovRollout *r = &p.rollout;
  int early = 0;
  for (int b = 0; b < 48; b++) {
    int taken = r->glimpses[b];
    early += taken < 6;
    assert_true(r->returns[b] == (real)(!r->wrong[b] - 0.125 * taken));
    for (int t = 0; t < r->time_steps; t++) {
      double earned = t == taken && !r->wrong[b];
      assert_true(r->rewards[48 * t + b] == (real)(t == 0 || t > taken ? 0 : earned - 0.125));
    }
  }
  assert_in_range(early, 5, 48);
  toy_play_finish(&p);
  free(values);
  toy_finish(&toy);
}

/* ---- choices that are repeated ---- */

/** A rollout with gradients: `forced` repeats another's choices with other generators of the
 * policy. gradient: a block, zeroed here. */
static void play_trained(ToyPlay *play, const Toy *toy, const real *values, real *gradient,
                         const FovChoices *forced) {
  enum { LANES = 24, OTHER = 7 };
  memset(gradient, 0, toy_block_bytes(toy));
  toy_play_begin(play, toy, values, gradient, 0, LANES);
  if (forced) {
    const FovPlan other = fov_plan_cases(&play->arena, 0, LANES, 9, FOV_SPLIT_TRAIN, OTHER);
    play->plan.policy_rng = other.policy_rng;
  }
  play->plan.forced = forced;
  toy_play_run(play, toy);
  toy_play_backward(play, toy);
}

/** Whether log π of the lanes' choices is the same, where an event marks one. */
static bool same_log_prob(const FovTimeStep *a, const FovVar *x, const FovVar *y, FovEvent event) {
  assert_int_equal(x != NULL, y != NULL);
  for (int i = 0; x && i < a->count; i++)
    if (a->events[i] & event && x->value[i * x->stride] != y->value[i * y->stride]) return false;
  return true;
}

static void assert_same_choices(const FovRollout *a, const FovRollout *b) {
  size_t count = (size_t)a->time_steps * (size_t)a->lanes;
  assert_int_equal(a->time_steps, b->time_steps);
  for (size_t i = 0; i < count; i++) {
    const FovChoice *x = &a->choices.places[i], *y = &b->choices.places[i];
    assert_int_equal(x->index, y->index);
    assert_true(x->sample[0] == y->sample[0] && x->sample[1] == y->sample[1]);
  }
  assert_memory_equal(a->choices.actions, b->choices.actions, count * sizeof *a->choices.actions);
  assert_memory_equal(a->choices.stops, b->choices.stops, count * sizeof *a->choices.stops);
  assert_memory_equal(a->glimpses, b->glimpses, (size_t)a->lanes * sizeof *a->glimpses);
  assert_memory_equal(a->taken, b->taken, (size_t)a->lanes * sizeof *a->taken);
  assert_memory_equal(a->answers, b->answers, (size_t)(a->lanes * a->turns) * sizeof *a->answers);
  for (int t = 0; t < a->time_steps; t++) {
    const FovTimeStep *x = &a->at[t], *y = &b->at[t];
    assert_int_equal(x->count, y->count);
    assert_memory_equal(x->lanes, y->lanes, (size_t)x->count * sizeof *x->lanes);
    assert_memory_equal(x->events, y->events, (size_t)x->count);
    assert_memory_equal(x->actions, y->actions, (size_t)x->count * sizeof *x->actions);
    if (t > 0)
      assert_memory_equal(x->location->value, y->location->value,
                          2 * (size_t)x->count * sizeof(real));
  }
}

/** Whether every log π of one rollout equals that of another. */
static bool same_log_probs(const FovRollout *a, const FovRollout *b) {
  bool same = true;
  for (int t = 0; t < a->time_steps; t++) {
    const FovTimeStep *x = &a->at[t], *y = &b->at[t];
    same = same_log_prob(x, x->log_look, y->log_look, FOV_EVENT_LOOK) && same;
    same = same_log_prob(x, x->log_act, y->log_act, FOV_EVENT_ACT) && same;
    same = same_log_prob(x, x->log_stop, y->log_stop, FOV_EVENT_DECIDE) && same;
  }
  return same;
}

static void check_repetition(const char *settings) {
  Toy toy;
  ToyPlay first, again, moved;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  real *gradient = toy_copy(&toy, values), *repeated = toy_copy(&toy, values);
  play_trained(&first, &toy, values, gradient, NULL);
  play_trained(&again, &toy, values, repeated, &first.rollout.choices);
  const FovRollout *a = &first.rollout;
  size_t count = (size_t)a->time_steps * (size_t)a->lanes;
  assert_same_choices(a, &again.rollout);
  assert_memory_equal(a->rewards, again.rollout.rewards, count * sizeof *a->rewards);
  assert_memory_equal(a->returns, again.rollout.returns, count * sizeof *a->returns);
  if (!same_log_probs(a, &again.rollout)) fail_msg("%s: another log π", settings);
  if (memcmp(gradient, repeated, toy_block_bytes(&toy))) fail_msg("%s: another gradient", settings);
  // With other weights the choices stay the same, and log π changes if there is one.
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++) values[i] *= (real)0.9;
  play_trained(&moved, &toy, values, repeated, &first.rollout.choices);
  assert_same_choices(a, &moved.rollout);
  if (same_log_probs(a, &moved.rollout)) fail_msg("%s: log π of other weights", settings);
  toy_play_finish(&first), toy_play_finish(&again), toy_play_finish(&moved);
  free(values), free(gradient), free(repeated);
  toy_finish(&toy);
}

/** Forced to its own choices, with other generators, a rollout repeats itself bit for bit. */
static void test_forced_choices_repeat_a_rollout(void **state) {
  (void)state;
  static const char *const worlds[] = {"toy", "toy_turns", "toy_game"};
  static const char *const firsts[] = {"random", "learned"};
  for (int world = 0; world < 3; world++)
    for (int first = 0; first < 2; first++)
      for (const FovPolicy *const *p = fov_policies; *p; p++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "env = %s\nfirst = %s\npolicy = %s\nstop = learned\nglimpses = 4\n%s",
                 worlds[world], firsts[first], (*p)->plugin.name,
                 (*p)->sites ? "attention = sampled\ntiles.side = 3\n" : "");
        check_repetition(settings);
      }
  for (const FovCore *const *core = fov_cores; *core; core++) {
    char settings[256];
    snprintf(settings, sizeof settings,
             "env = toy_game\nstop = learned\nobjective = gae\ncore = %s\n", (*core)->plugin.name);
    check_repetition(settings);
  }
}

/** A rule without parameters repeats forced stops too, under other weights. */
static void test_forced_stops_are_repeated_where_nothing_is_learned(void **state) {
  (void)state;
  Toy toy;
  ToyPlay first, again;
  toy_create(&toy, "glimpses = 6\nstop = confident\nstop.threshold = 0.8\n");
  real *values = toy_lively_values(&toy), *gradient = toy_copy(&toy, values);
  play_trained(&first, &toy, values, gradient, NULL);
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++) values[i] *= (real)0.5;
  play_trained(&again, &toy, values, gradient, &first.rollout.choices);
  assert_same_choices(&first.rollout, &again.rollout);
  toy_play_finish(&first), toy_play_finish(&again);
  free(values), free(gradient);
  toy_finish(&toy);
}

/* ---- copies of an image ---- */

enum { COPY_LANES = 24, COPIES = 3 };

/** A rollout with gradients of lanes of which three show an image; the plan says so, or 1. */
static void play_copies(ToyPlay *play, const Toy *toy, const real *values, real *gradient,
                        int copies) {
  memset(gradient, 0, toy_block_bytes(toy));
  toy_play_begin(play, toy, values, gradient, 0, COPY_LANES);
  int64_t *cases = FOV_NEW(&play->arena, int64_t, COPY_LANES);
  for (int b = 0; b < COPY_LANES; b++) {
    cases[b] = b / COPIES;
    play->plan.env_rng[b] = play->plan.env_rng[b / COPIES * COPIES];
  }
  play->plan.cases = cases;
  play->plan.copies = copies;
  toy_play_run(play, toy);
  toy_play_backward(play, toy);
}

static void check_copies(const char *settings) {
  const double rounding = sizeof(real) == sizeof(double) ? 1e-12 : 2e-5;
  Toy toy;
  ToyPlay apart, together;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy), *a = toy_copy(&toy, values), *b = toy_copy(&toy, values);
  play_copies(&apart, &toy, values, a, 1);
  play_copies(&together, &toy, values, b, COPIES);
  assert_same_choices(&apart.rollout, &together.rollout);
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++)
    assert_near(a[i], b[i], rounding * (1 + fabs((double)a[i])), "%s: number %zu", settings, i);
  toy_play_finish(&apart), toy_play_finish(&together);
  free(values), free(a), free(b);
  toy_finish(&toy);
}

/** What is looked at once is the same as what each lane looks at, also after some have left. */
static void test_copies_of_an_image_share_its_tiles(void **state) {
  (void)state;
  check_copies("env = toy_turns\nglimpses = 3\nstop = learned\n" TOY_SOFT);
  check_copies("env = toy\n" TOY_SOFT TOY_COARSE);
  check_copies("env = toy\nattention = straight_through\n" TOY_SITES TOY_COARSE);
  check_copies("env = toy_turns\nglimpses = 3\nstop = learned\nfirst = learned\n"
               "attention = sampled\ntiles.keys = values\n" TOY_SITES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_prob_belongs_to_the_raw_sample),
      cmocka_unit_test(test_a_glimpse_shows_the_image_at_its_place),
      cmocka_unit_test(test_odd_patches_stay_inside),
      cmocka_unit_test(test_glimpses_stay_inside_if_asked),
      cmocka_unit_test(test_the_cost_of_a_step_is_part_of_the_return),
      cmocka_unit_test(test_information_is_gained_question_by_question),
      cmocka_unit_test(test_the_core_reads_the_time),
      cmocka_unit_test(test_the_first_glimpse_is_at_the_requested_place),
      cmocka_unit_test(test_the_first_glimpse_is_moved_to_the_target),
      cmocka_unit_test(test_a_context_chooses_the_first_glimpse),
      cmocka_unit_test(test_labels_are_answered_in_turn),
      cmocka_unit_test(test_context_and_second_layer_affect_answers_only_through_the_gaze),
      cmocka_unit_test(test_agents_are_shown_standardised_images),
      cmocka_unit_test(test_vectors_are_answered_and_judged),
      cmocka_unit_test(test_a_world_is_asked_what_is_at_a_place),
      cmocka_unit_test(test_a_hidden_place_has_no_effect),
      cmocka_unit_test(test_agents_are_shown_the_cue),
      cmocka_unit_test(test_images_are_augmented_in_a_training_only),
      cmocka_unit_test(test_augmentation_disturbs_no_other_draw),
      cmocka_unit_test(test_a_game_follows_its_actions),
      cmocka_unit_test(test_deterministic_places_spread_in_other_directions),
      cmocka_unit_test(test_actions_are_sampled_from_the_logits),
      cmocka_unit_test(test_a_lane_is_the_same_alone),
      cmocka_unit_test(test_every_glimpse_costs),
      cmocka_unit_test(test_forced_choices_repeat_a_rollout),
      cmocka_unit_test(test_forced_stops_are_repeated_where_nothing_is_learned),
      cmocka_unit_test(test_copies_of_an_image_share_its_tiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
