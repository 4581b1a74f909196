/** Explanations: gradients and maps against differences, with readings held and not, and maps of
 * which the right answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "explain/curves.h"
#include "explain/jacobian.h"
#include "explain/maps.h"
#include "explain/randomised.h"
#include "toy.h"

enum { LANES = 3 };

static const bool DOUBLE = sizeof(real) == sizeof(double);

/** Some episodes of a toy agent that are explained. */
typedef struct Scene {
  Toy toy;
  real *values; // owned
  FovArena arena, scratch;
  int64_t cases[LANES];
  FovHeld held;
  double completeness[LANES];
  FovExplained explained;
} Scene;

static FovExplainRequest request_of(const Scene *s, const char *target, bool through) {
  FovExplainRequest request = {.task = &s->toy.task,
                               .values = s->values,
                               .cases = s->cases,
                               .count = LANES,
                               .seed = 3,
                               .weights_seed = 4,
                               .split = FOV_SPLIT_TRAIN,
                               .progress = 1,
                               .through = through,
                               .threads = 1};
  assert_int_equal(fov_target_parse(&request.target, target), FOV_OK);
  return request;
}

static void begin(Scene *s, const char *settings, const char *target, bool through) {
  memset(s, 0, sizeof *s);
  toy_create(&s->toy, settings);
  assert_int_equal(fov_experiment_standardise(&s->toy.experiment, &s->toy.env), FOV_OK);
  s->values = toy_lively_values(&s->toy);
  for (int b = 0; b < LANES; b++) s->cases[b] = 2 * b + 1;
  FovExplainRequest request = request_of(s, target, through);
  if (fov_explain_check(&request) != FOV_OK) fail_msg("%s: %s", settings, fov_error_message());
  fov_held_play(&s->held, &s->arena,
                &(FovHeldRequest){.task = request.task,
                                  .values = request.values,
                                  .cases = request.cases,
                                  .lanes = LANES,
                                  .seed = request.seed,
                                  .split = request.split,
                                  .progress = 1,
                                  .through = through});
  s->explained = (FovExplained){.held = &s->held,
                                .target = request.target,
                                .arena = &s->arena,
                                .scratch = &s->scratch,
                                .completeness = s->completeness};
}

static void finish(Scene *s) {
  fov_arena_finish(&s->arena), fov_arena_finish(&s->scratch);
  free(s->values);
  toy_finish(&s->toy);
}

static real *new_map(Scene *s) {
  return fov_arena_zeros(&s->arena, fov_explained_pixels(&s->explained) * sizeof(real));
}

#define WIDE "glimpse.width = 9\n"
#define FILTERS "encoder = conv\nsensor.scales = 2\n" TOY_SMALL_FILTERS

/* ---- gradients ---- */

#ifdef FOV_DOUBLE // in single precision the steps are so long that they cross the kinks of ReLUs

/** dy/dx of all pixels, by differences, at any pixels [B, P]. */
static double *differences(Scene *s, const float *at, double h) {
  size_t numbers = fov_held_pixels(&s->held), count = fov_explained_pixels(&s->explained);
  double *slopes = FOV_NEW(&s->arena, double, count);
  float *pixels = FOV_NEW(&s->arena, float, count);
  for (size_t i = 0; i < numbers; i++) {
    double y[2][LANES], steps[LANES] = {0};
    for (int side = 0; side < 2; side++) {
      memcpy(pixels, at, count * sizeof *pixels);
      for (size_t b = 0; b < LANES; b++) {
        float *pixel = &pixels[b * numbers + i];
        *pixel = (float)((double)*pixel + (side ? h : -h));
        steps[b] += (side ? 1 : -1) * (double)*pixel;
      }
      fov_explained_values(y[side], &s->explained, pixels);
    }
    for (size_t b = 0; b < LANES; b++) slopes[b * numbers + i] = (y[1][b] - y[0][b]) / steps[b];
  }
  return slopes;
}

static void check_gradient(const char *settings, const char *target, bool through) {
  static Scene s;
  double y[LANES], most = 0; // the largest number of the gradient
  begin(&s, settings, target, through);
  size_t count = fov_explained_pixels(&s.explained);
  // Standardised images are floats: the rounding of a short step shows.
  bool standardised = fov_is_standardised(s.held.task.standard);
  double *slopes = differences(&s, s.held.pixels, standardised ? 1e-4 : 1e-5);
  const real *gradient = fov_explained_gradient(y, &s.explained, NULL);
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)gradient[i]));
  for (size_t i = 0; i < count; i++)
    assert_near(gradient[i], slopes[i], (standardised ? 1e-2 : 1e-6) * (1 + most),
                "%s%s, number %zu", settings, target, i);
  if (!(most > 1e-4)) fail_msg("%s: %s does not depend on the pixels", settings, target);
  finish(&s);
}

static void test_gradients_of_a_gaze_equal_differences(void **state) {
  (void)state;
  check_gradient("core = rnn\n", "logit", false);
  check_gradient("core = gru\nsensor.scales = 3\n", "logit:label", false);
  check_gradient("core = lstm\nsensor.bilinear = yes\n", "logit:2", false);
  check_gradient("core = none\nsensor.whole = yes\n", "log_p", false);
  check_gradient(FILTERS, "entropy", false);
  check_gradient("baseline = learned\nstop_gradient = both\n", "baseline", false);
  check_gradient("stop_gradient = both\n", "location_x", false);
  check_gradient("policy = relative\n", "location_y", false);
  check_gradient(TOY_TWO_LAYERS, "location_x", false);
  check_gradient(TOY_TWO_LAYERS "stop_gradient = location\n", "location_y", false);
  check_gradient("stop = confident\nstop.threshold = 0.6\n", "logit", false);
  check_gradient("sensor.standardise = yes\n", "logit", false);
  check_gradient("env = toy_turns\nprevious = 3\n", "logit", false);
  check_gradient("env = toy_game\nreward = correct\n", "logit", false);
  check_gradient("env = toy_find\n", "logit:1", false);
}

static void test_gradients_of_other_readings_equal_differences(void **state) {
  (void)state;
  static const char *const readings[] = {
      TOY_SOFT WIDE,
      TOY_SOFT WIDE "tiles.heads = 3\ntiles.keys = values\n",
      TOY_SOFT WIDE TOY_COARSE,
      TOY_SOFT WIDE TOY_BLOCKS,
      TOY_SOFT WIDE TOY_TWO_LAYERS,
      "attention = local_m\n" TOY_TILES WIDE,
      "attention = local_p\n" TOY_TILES WIDE "attention.distance = 3\n",
      TOY_WINDOW "draw\n",
      TOY_WINDOW "draw\nsensor.gain = 2\n" TOY_TWO_LAYERS,
      TOY_WINDOW "spatial_transformer\n",
  };
  for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
    for (int through = 0; through < 2; through++) check_gradient(readings[i], "logit", through);
}

static void test_gradients_of_hard_choices_equal_differences(void **state) {
  (void)state;
  static const char *const names[] = {"sampled", "straight_through", "gumbel", "reinmax", "rebar",
                                      "relax"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char settings[256];
    snprintf(settings, sizeof settings, TOY_SITES WIDE "attention = %s\n", names[i]);
    check_gradient(settings, "log_p", false);
  }
  check_gradient(TOY_SITES WIDE TOY_COARSE "attention = sampled\n", "logit", false);
}

#endif

/** What is repeated is what was played, with any reading, and with readings held or not. */
static void check_replay(const char *settings, bool through) {
  static Scene s;
  double y[LANES];
  begin(&s, settings, "log_p", through);
  const FovRollout *rollout = &s.held.rollout;
  fov_explained_values(y, &s.explained, NULL);
  for (int b = 0; b < LANES; b++) {
    size_t turn = (size_t)(b * rollout->turns + rollout->taken[b] - 1);
    const real *log_p = rollout->log_probabilities + turn * (size_t)s.held.agent.actions;
    int answer = rollout->answers[turn];
    assert_near(y[b], log_p[answer], DOUBLE ? 1e-6 : 2e-4, "%s, lane %d", settings, b);
  }
  finish(&s);
}

static void test_episodes_are_repeated_as_they_were_played(void **state) {
  (void)state;
  static const char *const settings[] = {
      "core = gru\nsensor.scales = 2\n",
      "time = yes\n",
      "sensor.standardise = yes\n",
      "first = learned\n" TOY_TWO_LAYERS,
      "stop = confident\nstop.threshold = 0.6\n",
      "env = toy_turns\nprevious = 3\n",
      "core = attention\ncore.hidden = 7\n",
      TOY_SOFT WIDE,
      "attention = local_p\n" TOY_TILES WIDE,
      TOY_WINDOW "draw\n",
      TOY_WINDOW "spatial_transformer\n",
      TOY_SITES WIDE "attention = gumbel\n",
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) check_replay(settings[i], false);
  check_replay(TOY_SOFT WIDE, true);
  check_replay(TOY_WINDOW "draw\n", true);
}

/* ---- times ---- */

/** What the head computes in lane b after glimpse t, of a class. */
static double output_at(const Scene *s, const FovReplay *replay, int b, int t, int class) {
  const FovTimeStep *step = &s->held.rollout.at[t];
  int row = 0;
  while (step->lanes[row] != b) row++;
  return (double)fov_value_row(replay->outputs[t], row)[class < 0 ? 0 : class];
}

/** Maps at a time explain the answer that is given then or next, after the last one that. Returns
 * how many of these are not the last answer of their lane. */
static int check_time(Scene *s, const FovReplay *replay, const char *target, int time,
                      int glimpses) {
  FovMaps maps;
  const FovRollout *rollout = &s->held.rollout;
  FovExplainRequest request = request_of(s, target, false);
  request.target.time = time;
  assert_int_equal(fov_maps_make(&maps, &request, &fov_method_gaze, NULL), FOV_OK);
  int earlier = 0;
  for (int b = 0; b < LANES; b++) {
    int taken = rollout->glimpses[b], last = rollout->taken[b] - 1;
    int t = time == 0 ? s->held.last[b] : time < taken ? time : taken;
    int turn = (t - 1) / glimpses < last ? (t - 1) / glimpses : last;
    const int *answers = rollout->answers + b * rollout->turns;
    const int *labels = rollout->labels + b * rollout->turns;
    assert_int_equal(maps.answers[b], answers[turn]);
    assert_int_equal(maps.labels[b], labels[turn]);
    assert_int_equal(maps.times[b], t);
    int class = strchr(target, ':') ? labels[turn] : answers[turn];
    assert_near(maps.y[b], output_at(s, replay, b, t, class), DOUBLE ? 1e-6 : 2e-4,
                "%s, lane %d, time %d", target, b, time);
    earlier += class != (strchr(target, ':') ? labels[last] : answers[last]);
  }
  fov_maps_finish(&maps);
  return earlier;
}

/** glimpses: before each answer, at most. Returns as check_time, of all times. */
static int check_times(const char *settings, const char *target, int glimpses) {
  static Scene s;
  FovReplay whole;
  int earlier = 0;
  begin(&s, settings, target, false);
  fov_replay_run(&whole, &s.arena, &s.held, &(FovReplayRequest){.reader = FOV_READER_ANSWER});
  int most = fov_task_glimpses(&s.toy.task);
  for (int time = 0; time <= most; time++)
    earlier += check_time(&s, &whole, target, time, glimpses);
  FovTarget beyond = s.explained.target;
  beyond.time = most + 1;
  assert_int_equal(fov_target_check(&beyond, &s.toy.task), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "the glimpses of an episode"));
  finish(&s);
  return earlier;
}

static void test_the_answer_is_that_of_the_time_or_the_next(void **state) {
  (void)state;
  const char *const turns = "env = toy_turns\ncore = gru\nprevious = 3\nglimpses = 2\n";
  assert_int_equal(check_times("glimpses = 3\n", "logit", 3), 0); // one answer
  assert_int_equal(check_times("glimpses = 3\n", "logit:label", 3), 0);
  check_times("glimpses = 4\nstop = confident\nstop.threshold = 0.6\n", "logit", 4);
  assert_true(check_times(turns, "logit", 2) > 0);
  assert_true(check_times(turns, "logit:label", 2) > 0);
  assert_true(check_times("env = toy_turns\nglimpses = 1\n", "logit:label", 1) > 0);
  assert_true(
      check_times("env = toy_game\nreward = correct\ncore = rnn\nglimpses = 2\n", "logit", 2) > 0);
}

/** An episode that ends where the agent looks, after its last answer. */
static void test_glimpses_after_the_last_answer_have_a_time(void **state) {
  (void)state;
  static Scene s;
  const char *const walk = "env = toy_walk\nglimpses = 2\npolicy = random\n";
  begin(&s, walk, "logit", false);
  int after = 0;
  for (int b = 0; b < LANES; b++) after += s.held.rollout.glimpses[b] > s.held.last[b];
  assert_true(after > 0);
  finish(&s);
  check_times(walk, "logit", 2);
}

/* ---- methods ---- */

/** The map of a method, with its options as `settings` would set them. */
static real *map_of(Scene *s, const FovMethod *method, const char *setting) {
  FovSettings *settings;
  void *values = calloc(1, method->plugin.options_size + 1);
  FovGroup group = {.prefix = "", .options = method->plugin.options, .values = values};
  FovConfig config = {.groups = &group, .group_count = 1};
  assert_int_equal(fov_settings_create(&settings), FOV_OK);
  if (setting) assert_int_equal(fov_settings_add(settings, setting), FOV_OK);
  if (group.options) assert_int_equal(fov_config_resolve(&config, settings), FOV_OK);
  real *map = new_map(s);
  method->map(map, &s->explained, values);
  fov_settings_destroy(settings);
  free(values);
  return map;
}

static const FovMethod *method_named(const char *name) {
  for (const FovMethod *const *m = fov_methods; *m; m++)
    if (strcmp((*m)->plugin.name, name) == 0) return *m;
  fail_msg("no method %s", name);
  return NULL;
}

#define EXPLAINED "core = gru\nsensor.scales = 2\n"

#ifdef FOV_DOUBLE

static void assert_map(const Scene *s, const real *map, const double *expected, const char *name) {
  size_t count = fov_explained_pixels(&s->explained);
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(expected[i]));
  assert_true(most > 0);
  for (size_t i = 0; i < count; i++)
    assert_near(map[i], expected[i], 1e-6 * (1 + most), "%s, number %zu", name, i);
}

static void test_maps_of_gradients_equal_their_definitions(void **state) {
  (void)state;
  static Scene s;
  begin(&s, EXPLAINED, "log_p:label", false);
  size_t count = fov_explained_pixels(&s.explained);
  const float *x = s.held.pixels;
  double *slopes = differences(&s, x, 1e-5), *expected = FOV_NEW(&s.arena, double, count);
  for (size_t i = 0; i < count; i++) expected[i] = fabs(slopes[i]);
  assert_map(&s, map_of(&s, method_named("saliency"), NULL), expected, "saliency");
  assert_map(&s, map_of(&s, method_named("smoothgrad"), "noise=0"), expected, "smoothgrad");
  for (size_t i = 0; i < count; i++) expected[i] = (double)x[i] * slopes[i];
  assert_map(&s, map_of(&s, method_named("input_x_gradient"), NULL), expected, "input_x_gradient");
  finish(&s);
}

static void test_smoothgrad_averages_noisy_pictures(void **state) {
  (void)state;
  static Scene s;
  begin(&s, EXPLAINED, "logit", false);
  size_t numbers = fov_held_pixels(&s.held), count = fov_explained_pixels(&s.explained);
  double *expected = FOV_NEW_ZEROS(&s.arena, double, count);
  float *noisy = FOV_NEW(&s.arena, float, count);
  FovRng rng[LANES];
  for (int b = 0; b < LANES; b++)
    rng[b] = fov_rng_stream(s.explained.seed, FOV_STREAM_EXPLAIN, (uint64_t)s.cases[b]);
  for (int k = 0; k < 25; k++) {
    for (size_t i = 0; i < count; i++)
      noisy[i] = s.held.pixels[i] + 0.15f * fov_rng_normal(&rng[i / numbers]);
    double *slopes = differences(&s, noisy, 1e-5);
    for (size_t i = 0; i < count; i++) expected[i] += fabs(slopes[i]) / 25;
  }
  assert_map(&s, map_of(&s, method_named("smoothgrad"), NULL), expected, "smoothgrad");
  finish(&s);
}

static void test_integrated_gradients_follow_the_path_and_are_complete(void **state) {
  (void)state;
  static Scene s;
  const double baseline = 0.25;
  begin(&s, EXPLAINED, "logit", false);
  size_t numbers = fov_held_pixels(&s.held), count = fov_explained_pixels(&s.explained);
  double *expected = FOV_NEW_ZEROS(&s.arena, double, count), y[LANES], y_0[LANES];
  float *between = FOV_NEW(&s.arena, float, count);
  for (int k = 0; k < 50; k++) {
    for (size_t i = 0; i < count; i++)
      between[i] = (float)(baseline + (k + 0.5) / 50 * ((double)s.held.pixels[i] - baseline));
    double *slopes = differences(&s, between, 1e-5);
    for (size_t i = 0; i < count; i++)
      expected[i] += slopes[i] * ((double)s.held.pixels[i] - baseline) / 50;
  }
  const FovMethod *method = method_named("integrated_gradients");
  assert_map(&s, map_of(&s, method, "baseline=0.25"), expected, "integrated_gradients");
  for (size_t i = 0; i < count; i++) between[i] = (float)baseline;
  fov_explained_values(y, &s.explained, NULL);
  fov_explained_values(y_0, &s.explained, between);
  for (int b = 0; b < LANES; b++) {
    double sum = 0;
    for (size_t i = 0; i < numbers; i++) sum += expected[(size_t)b * numbers + i];
    assert_true(fabs(y[b] - y_0[b]) > 1e-3);
    assert_near(s.completeness[b], sum - (y[b] - y_0[b]), 1e-6, "lane %d", b);
    assert_near(s.completeness[b], 0, 0.05 * fabs(y[b] - y_0[b]), "lane %d", b);
  }
  finish(&s);
}

#endif

/** Each pixel by itself: the mean of what its squares do to y. */
static void test_occlusion_covers_squares(void **state) {
  (void)state;
  static Scene s;
  enum { SQUARE = 6, STRIDE = 3, PLACES = 6 }; // 0, 3 … 15 on 20 pixels
  begin(&s, EXPLAINED, "logit", false);
  size_t count = fov_explained_pixels(&s.explained);
  double *expected = FOV_NEW_ZEROS(&s.arena, double, count), y[LANES], without[LANES];
  int *squares = FOV_NEW_ZEROS(&s.arena, int, TOY_SIDE *TOY_SIDE);
  float *pixels = FOV_NEW(&s.arena, float, count);
  fov_explained_values(y, &s.explained, NULL);
  for (int square = 0; square < PLACES * PLACES; square++) {
    memcpy(pixels, s.held.pixels, count * sizeof *pixels);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < TOY_SIDE * TOY_SIDE; i++) {
        int row = i / TOY_SIDE - square / PLACES * STRIDE;
        int column = i % TOY_SIDE - square % PLACES * STRIDE;
        if (row < 0 || row >= SQUARE || column < 0 || column >= SQUARE) continue;
        squares[i] += pass;
        for (int b = 0; b < LANES; b++) {
          size_t at = (size_t)b * TOY_SIDE * TOY_SIDE + (size_t)i;
          pixels[at] = 0;
          if (pass) expected[at] += y[b] - without[b];
        }
      }
      if (pass == 0) fov_explained_values(without, &s.explained, pixels);
    }
  }
  for (size_t i = 0; i < count; i++) expected[i] /= squares[i % (TOY_SIDE * TOY_SIDE)];
  const real *map = map_of(&s, method_named("occlusion"), NULL);
  for (size_t i = 0; i < count; i++)
    assert_near(map[i], expected[i], DOUBLE ? 1e-10 : 1e-4, "number %zu", i);
  finish(&s);
}

/** Replays with pixel i of every lane moved by h; false: as they were. */
static FovReplay replay(Scene *s, FovArena *arena, size_t i, double h, FovWatch watching) {
  FovReplay replay;
  size_t numbers = fov_held_pixels(&s->held), count = fov_explained_pixels(&s->explained);
  float *pixels = FOV_NEW(arena, float, count);
  memcpy(pixels, s->held.pixels, count * sizeof *pixels);
  for (size_t b = 0; b < LANES; b++) pixels[b * numbers + i] += (float)h;
  fov_replay_run(
      &replay, arena, &s->held,
      &(FovReplayRequest){
          .pixels = pixels, .reader = FOV_READER_ANSWER, .watching = watching, .gradient = h == 0});
  return replay;
}

/** Σ of all glimpses of lane b. */
static double sum_of_glimpses(const Scene *s, const FovReplay *replay, int b) {
  double sum = 0;
  for (int t = 1; t < s->held.rollout.time_steps; t++) {
    const FovTimeStep *step = &s->held.rollout.at[t];
    const FovVar *rho = replay->glimpses[t];
    for (int i = 0; i < step->count; i++)
      for (int j = 0; j < rho->cols && step->lanes[i] == b; j++)
        sum += (double)fov_value_row(rho, i)[j];
  }
  return sum;
}

/** A pixel's number is what it adds to all glimpses, of soft attention to their mean. */
static void check_places(const char *settings, const char *name) {
  static Scene s;
  begin(&s, settings, "logit", false);
  size_t numbers = fov_held_pixels(&s.held);
  const real *map = map_of(&s, method_named(name), NULL);
  double before[LANES];
  FovReplay was = replay(&s, &s.arena, 0, 0, (FovWatch)0);
  for (int b = 0; b < LANES; b++) before[b] = sum_of_glimpses(&s, &was, b);
  for (size_t i = 0; i < numbers; i++) {
    fov_arena_rewind(&s.scratch);
    FovReplay moved = replay(&s, &s.scratch, i, 1, (FovWatch)0);
    for (int b = 0; b < LANES; b++)
      assert_near(map[(size_t)b * numbers + i], sum_of_glimpses(&s, &moved, b) - before[b],
                  DOUBLE ? 1e-5 : 5e-3, "%s: %s, lane %d, pixel %zu", settings, name, b, i);
  }
  finish(&s);
}

static void test_maps_of_places_are_what_was_seen(void **state) {
  (void)state;
  check_places(EXPLAINED, "gaze");
  check_places("stop = confident\nstop.threshold = 0.6\n", "gaze");
  check_places(TOY_WINDOW "draw\n", "gaze");
  check_places(TOY_SITES WIDE "attention = sampled\n", "gaze");
  check_places(TOY_SITES WIDE TOY_COARSE "attention = sampled\n", "gaze");
  check_places(TOY_SOFT WIDE "tiles.heads = 3\n", "weights");
  check_places("attention = local_p\n" TOY_TILES WIDE, "weights");
}

#ifdef FOV_DOUBLE

/** Watched gradients, times how a pixel changes what is watched, are how it changes y. */
static void check_watched(const char *settings, FovWatch kind) {
  static Scene s;
  double y[LANES];
  begin(&s, settings, "logit", false);
  size_t numbers = fov_held_pixels(&s.held);
  FovReplay whole = replay(&s, &s.arena, 0, 0, kind);
  fov_explained_seed(y, &whole, &s.explained);
  fov_replay_backward(&whole, &s.held);
  assert_non_null(whole.tape.watched);
  for (size_t i = 0; i < numbers; i += 7) {
    const double h = 1e-4;
    double expected = 0, found = 0;
    fov_arena_rewind(&s.scratch);
    FovReplay up = replay(&s, &s.scratch, i, h, kind), down = replay(&s, &s.scratch, i, -h, kind);
    FovWatched *a = up.tape.watched, *b = down.tape.watched;
    for (FovWatched *w = whole.tape.watched; w; w = w->previous) {
      for (int r = 0; r < w->var->rows; r++)
        for (int j = 0; j < w->var->cols && w->var->has_grad; j++)
          found += (double)fov_grad_row(w->var, r)[j] *
                   (double)(fov_value_row(a->var, r)[j] - fov_value_row(b->var, r)[j]);
      a = a->previous, b = b->previous;
    }
    for (size_t l = 0; l < LANES; l++) expected += 2 * h * (double)whole.gradient[l * numbers + i];
    assert_near(found / h, expected / h, 1e-3 * (1 + fabs(expected / h)), "%s, pixel %zu", settings,
                i);
  }
  finish(&s);
}

static void test_watched_gradients_carry_the_gradient_of_the_pixels(void **state) {
  (void)state;
  check_watched(FILTERS, FOV_WATCH_MAPS);
  check_watched("encoder = conv\nencoder.filters = 3\nencoder.side = 2\nencoder.stride = 1\n"
                "encoder.second = 2\nsensor.scales = 2\n",
                FOV_WATCH_MAPS);
  check_watched(EXPLAINED, FOV_WATCH_READOUT);
  check_watched(TOY_WINDOW "draw\n", FOV_WATCH_READOUT);
}

#endif

/** Grad-CAM of a gaze with one patch whose maps are as large as it: no interpolation. */
static void test_grad_cam_weighs_maps(void **state) {
  (void)state;
  static Scene s;
  double y[LANES];
  begin(&s, "encoder = conv\nencoder.filters = 3\nencoder.side = 1\nencoder.stride = 1\n", "logit",
        false);
  int side = s.held.agent.glimpse.side, cells = side * side, F = 3;
  size_t numbers = fov_held_pixels(&s.held);
  real *expected = new_map(&s), cam[64];
  assert_true(cells <= 64);
  FovReplay whole = replay(&s, &s.arena, 0, 0, FOV_WATCH_MAPS);
  fov_explained_seed(y, &whole, &s.explained);
  fov_replay_backward(&whole, &s.held);
  FovWatched *w = whole.tape.watched;
  double most = 0;
  for (int t = s.held.rollout.time_steps - 1; t > 0; t--, w = w->previous)
    for (int b = 0; b < LANES; b++) {
      memset(cam, 0, sizeof cam);
      for (int k = 0; k < F; k++) {
        double weight = 0;
        for (int i = 0; i < cells; i++)
          weight += (double)fov_grad_row(w->var, b)[i * F + k] / cells;
        for (int i = 0; i < cells; i++)
          cam[i] += (real)weight * fov_value_row(w->var, b)[i * F + k];
      }
      for (int i = 0; i < cells; i++) {
        cam[i] = cam[i] > 0 ? cam[i] : 0;
        most = fmax(most, (double)cam[i]);
      }
      const real *l = fov_value_row(s.held.rollout.at[t].location, b);
      fov_sensor_look_back(expected + (size_t)b * numbers, cam, &s.held.agent.sensor, l[0], l[1],
                           TOY_SIDE, TOY_SIDE, 1);
    }
  assert_true(most > 0 && !w);
  const real *map = map_of(&s, method_named("grad_cam"), NULL);
  for (size_t i = 0; i < LANES * numbers; i++)
    assert_near(map[i], expected[i], (DOUBLE ? 1e-9 : 1e-4) * (1 + most), "number %zu", i);
  finish(&s);
}

/** Every method of the table explains an agent that it fits, and is not zero. */
static void test_every_method_explains(void **state) {
  (void)state;
  static const char *const agents[] = {EXPLAINED, FILTERS, TOY_SOFT WIDE};
  for (const FovMethod *const *m = fov_methods; *m; m++) {
    int explained = 0;
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
      static Scene s;
      begin(&s, agents[i], "logit", false);
      if (!(*m)->check || (*m)->check(&s.toy.task, false) == FOV_OK) {
        const real *map = map_of(&s, *m, NULL);
        double sum = 0;
        for (size_t j = 0; j < fov_explained_pixels(&s.explained); j++) sum += fabs((double)map[j]);
        if (!(sum > 0)) fail_msg("%s: the map of %s is 0", agents[i], (*m)->plugin.name);
        explained++;
      }
      finish(&s);
    }
    if (explained == 0) fail_msg("%s explains nothing", (*m)->plugin.name);
  }
}

/* ---- the sequential Jacobian ---- */

/** ‖∂y_t/∂g_s‖² of lane b, from watched gradients that test_watched_… checks. */
static double squared_norm(Scene *s, FovReplay *r, FovVar *x, int lane_row, int s_step) {
  double sum = 0;
  for (int j = 0; j < x->cols; j++) {
    real *seeds = FOV_NEW_ZEROS(&s->arena, real, (size_t)x->rows * x->cols);
    seeds[(size_t)lane_row * x->cols + (size_t)j] = 1;
    fov_tape_add_grad(&r->tape, x, seeds);
    fov_replay_backward(r, &s->held);
    FovWatched *w = r->tape.watched;
    for (int t = s->held.rollout.time_steps - 1; t > s_step; t--) w = w->previous;
    for (int k = 0; k < w->var->cols && w->var->has_grad; k++)
      sum += pow((double)fov_grad_row(w->var, lane_row)[k], 2);
    fov_replay_clear(r, &s->held);
  }
  return sum;
}

static void check_jacobian(const char *settings, FovJacobianOf of) {
  static Scene s;
  FovJacobian jacobian;
  begin(&s, settings, "logit", false);
  int T = fov_task_glimpses(&s.toy.task);
  FovExplainRequest request = request_of(&s, "logit", false);
  assert_int_equal(fov_jacobian_make(&jacobian, &request, of), FOV_OK);
  assert_true(jacobian.S == T && !jacobian.symbols);
  FovReplay whole = replay(&s, &s.arena, 0, 0, FOV_WATCH_READOUT);
  for (int i = 0; i < LANES * T * T; i++) {
    int b = i / (T * T), t = i / T % T + 1, step = i % T + 1;
    FovVar *x = of == FOV_JACOBIAN_LOGITS ? whole.outputs[t] : whole.states[t];
    double expected = step > t ? 0 : sqrt(squared_norm(&s, &whole, x, b, step));
    if (step <= t) assert_true(expected > 0);
    assert_near(jacobian.norms[i], expected, 1e-4 * (1 + expected), "%s, lane %d, t %d, s %d",
                settings, b, t, step);
  }
  fov_jacobian_finish(&jacobian);
  finish(&s);
}

static void test_the_jacobian_has_the_norms_of_all_glimpses(void **state) {
  (void)state;
  check_jacobian("core = gru\nglimpses = 3\n", FOV_JACOBIAN_LOGITS);
  check_jacobian("core = lstm\n", FOV_JACOBIAN_STATE);
  check_jacobian("encoder = linear\n" TOY_SOFT WIDE, FOV_JACOBIAN_LOGITS);
}

#ifdef FOV_DOUBLE

/** Adds to squares [LANES, T] those of (y1 − y0) / 2h. */
static void add_slopes(double *squares, const Scene *s, const FovReplay replays[2], double h,
                       FovJacobianOf of) {
  int T = fov_task_glimpses(&s->toy.task);
  for (int t = 1; t < s->held.rollout.time_steps; t++) {
    const FovTimeStep *step = &s->held.rollout.at[t];
    FovVar *y[2];
    for (int i = 0; i < 2; i++)
      y[i] = of == FOV_JACOBIAN_LOGITS ? replays[i].outputs[t] : replays[i].states[t];
    for (int i = 0; i < step->count; i++)
      for (int j = 0; j < y[0]->cols; j++)
        squares[step->lanes[i] * T + t - 1] +=
            pow((fov_value_row(y[1], i)[j] - fov_value_row(y[0], i)[j]) / (2 * h), 2);
  }
}

/** ‖∂y_t/∂x_v‖² [LANES, T] of the vector of symbol v, which no lane of the toy shows twice. */
static void measure_symbol(double *squares, Scene *s, int v, FovJacobianOf of) {
  const double h = 1e-5;
  const FovParam *table = s->held.agent.params.list;
  while (strcmp(table->name, "tiles.symbols") != 0) table++;
  for (int k = 0; k < table->cols; k++) {
    real *value = &s->values[table->offset + (size_t)(v * table->cols + k)], kept = *value;
    FovReplay replays[2];
    for (int i = 0; i < 2; i++) {
      *value = kept + (i ? h : -h);
      fov_replay_run(&replays[i], &s->arena, &s->held,
                     &(FovReplayRequest){.reader = FOV_READER_ANSWER});
    }
    *value = kept;
    add_slopes(squares, s, replays, h, of);
  }
}

static void check_symbols(const char *settings, bool through, FovJacobianOf of) {
  static Scene s;
  FovJacobian jacobian;
  int found = 0;
  begin(&s, settings, "logit", through);
  FovExplainRequest request = request_of(&s, "logit", through);
  assert_int_equal(fov_jacobian_make(&jacobian, &request, of), FOV_OK);
  assert_int_equal(jacobian.S, TOY_ROOM);
  int T = jacobian.T;
  for (int v = 0; v < 4; v++) {
    double *squares = fov_arena_zeros(&s.arena, (size_t)(LANES * T) * sizeof *squares);
    measure_symbol(squares, &s, v, of);
    for (int i = 0; i < LANES * T * TOY_ROOM; i++) {
      int b = i / (T * TOY_ROOM), t = i / TOY_ROOM % T, at = i % TOY_ROOM;
      int taken = s.held.rollout.glimpses[b], symbol = jacobian.symbols[b * TOY_ROOM + at];
      float norm = jacobian.norms[i];
      assert_int_equal(isnan(norm), t >= taken || symbol < 0);
      if (isnan(norm) || symbol != v) continue;
      assert_near(norm, sqrt(squares[b * T + t]), 1e-5 * (1 + (double)norm),
                  "%s, lane %d, t %d, symbol %d", settings, b, t + 1, at);
      found += norm > 0;
    }
  }
  assert_true(found > 0);
  for (int b = 0; b < LANES; b++)
    for (int t = 0; t < T; t++)
      assert_int_equal(jacobian.answers[b * T + t],
                       t < s.held.rollout.glimpses[b] ? s.held.rollout.answers[b * T + t] : -1);
  fov_jacobian_finish(&jacobian);
  finish(&s);
}

static void test_the_jacobian_of_a_sequence_has_the_norms_of_all_symbols(void **state) {
  (void)state;
  check_symbols(TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\n", false,
                FOV_JACOBIAN_LOGITS);
  check_symbols(TOY_SEQUENCE TOY_BLOCKS "attention = soft\npolicy = centre\n", true,
                FOV_JACOBIAN_STATE);
  check_symbols(TOY_SEQUENCE TOY_RNN "attention = first\npolicy = centre\n", false,
                FOV_JACOBIAN_LOGITS);
  check_symbols(TOY_SEQUENCE "attention = sampled\npolicy = sites\nfirst = learned\n", false,
                FOV_JACOBIAN_LOGITS);
}

#endif

static void test_glimpses_that_were_not_taken_have_no_norm(void **state) {
  (void)state;
  static Scene s;
  begin(&s, "stop = confident\nstop.threshold = 0.6\nglimpses = 4\n", "logit", false);
  FovJacobian jacobian;
  FovExplainRequest request = request_of(&s, "logit", false);
  assert_int_equal(fov_jacobian_make(&jacobian, &request, FOV_JACOBIAN_LOGITS), FOV_OK);
  double sums[16] = {0}, counts[16] = {0};
  for (int i = 0; i < LANES * 16; i++) {
    int taken = s.held.rollout.glimpses[i / 16], t = i / 4 % 4, step = i % 4;
    float norm = jacobian.norms[i];
    assert_int_equal(isnan(norm), t >= taken || step >= taken);
    if (!isnan(norm)) sums[i % 16] += (double)norm, counts[i % 16]++;
  }
  for (int i = 0; i < 16; i++)
    if (counts[i] > 0)
      assert_near(jacobian.mean[i], sums[i] / counts[i], 1e-9, "%d", i);
    else
      assert_true(isnan(jacobian.mean[i]));
  fov_jacobian_finish(&jacobian);
  finish(&s);
}

/* ---- checks ---- */

static void test_rank_correlations_of_worked_numbers(void **state) {
  (void)state;
  double room[16];
  const double x[] = {1, 2, 2, 3}, y[] = {1, 3, 2, 4}, z[] = {9, 5, 5, -1}, same[] = {2, 2, 2, 2};
  assert_near(fov_rank_correlation(x, y, 4, room), 4.5 / sqrt(4.5 * 5), 1e-12, "ties");
  assert_near(fov_rank_correlation(x, z, 4, room), -1, 1e-12, "opposite");
  assert_near(fov_rank_correlation(x, x, 4, room), 1, 1e-12, "equal");
  assert_true(isnan(fov_rank_correlation(x, same, 4, room)));
}

static void test_random_weights_change_what_depends_on_them(void **state) {
  (void)state;
  static Scene s;
  FovRandomised result;
  begin(&s, "core = gru\nbaseline = learned\n", "logit", false);
  FovExplainRequest request = request_of(&s, "logit", false);
  assert_int_equal(fov_randomised_measure(&result, &request, method_named("saliency"), NULL),
                   FOV_OK);
  assert_true(result.looked > -1 && result.looked < 1);
  for (int l = 0; l < result.count; l++) {
    const FovRandomisedLayer *layer = &result.layers[l];
    bool head = strcmp(layer->name, "baseline") == 0 || strcmp(layer->name, "location") == 0;
    // Heads that the answer does not read leave its map as it is.
    assert_int_equal(layer->alone == 1, head);
    if (l > 0) assert_true(layer->cascade < 1);
  }
  assert_string_equal(result.layers[0].name, "baseline");
  assert_string_equal(result.layers[result.count - 1].name, "encoder");
  assert_int_equal(fov_randomised_measure(&result, &request, &fov_method_gaze, NULL), FOV_OK);
  for (int l = 0; l < result.count; l++) assert_near(result.layers[l].cascade, 1, 0, "gaze");
  finish(&s);
}

/** Marks four pixels of every lane, four less, and no others. */
static void mark(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  size_t numbers = fov_held_pixels(explained->held);
  for (int b = 0; b < explained->held->lanes; b++)
    for (int i = 0; i < 8; i++) map[(size_t)b * numbers + (size_t)(150 + 13 * i)] = i < 4 ? 2 : 1;
}

static const FovMethod marks = {.plugin = {.name = "marks", .help = ""}, .map = mark};

/** 400 pixels: four are changed from point to point. */
static void test_curves_change_the_marked_pixels_first(void **state) {
  (void)state;
  static Scene s;
  FovFaithfulness f;
  begin(&s, EXPLAINED, "log_p", false);
  size_t numbers = fov_held_pixels(&s.held), count = fov_explained_pixels(&s.explained);
  FovExplainRequest request = request_of(&s, "logit", false);
  assert_int_equal(fov_faithfulness_measure(&f, &request, &marks, NULL, 0.5), FOV_OK);
  float *pixels = FOV_NEW(&s.arena, float, count);
  for (int kind = 0; kind < FOV_CURVE_KINDS; kind++)
    for (int point = 0; point < 3; point++) {
      bool deletion = kind == FOV_CURVE_DELETION;
      double y[LANES], mean = 0;
      for (size_t i = 0; i < count; i++) pixels[i] = deletion ? s.held.pixels[i] : 0.5f;
      for (size_t b = 0; b < LANES; b++)
        for (size_t i = 0; i < (size_t)(4 * point); i++) {
          size_t at = b * numbers + 150 + 13 * i;
          pixels[at] = deletion ? 0.5f : s.held.pixels[at];
        }
      fov_explained_values(y, &s.explained, pixels);
      for (int b = 0; b < LANES; b++) mean += exp(y[b]) / LANES;
      assert_near(f.mean[kind][point], mean, DOUBLE ? 1e-12 : 1e-6, "kind %d, point %d", kind,
                  point);
    }
  // One curve ends where the other starts; the areas are the means of the trapezoids.
  for (int kind = 0; kind < FOV_CURVE_KINDS; kind++) {
    const double *curve = f.mean[kind], *other = f.mean[!kind];
    double area = 0, mean = 0;
    assert_near(curve[FOV_CURVE_POINTS - 1], other[0], 1e-6, "kind %d", kind);
    for (int k = 1; k < FOV_CURVE_POINTS; k++) area += (curve[k - 1] + curve[k]) / 200;
    for (int b = 0; b < LANES; b++) mean += f.areas[kind][b] / LANES;
    assert_near(mean, area, 1e-9, "kind %d", kind);
  }
  fov_faithfulness_finish(&f);
  finish(&s);
}

/* ---- many episodes ---- */

enum { MANY = 150 };

static void test_threads_do_not_change_a_bit_of_maps(void **state) {
  (void)state;
  static Scene s;
  int64_t cases[MANY];
  FovMaps maps[2];
  begin(&s, EXPLAINED, "logit", false);
  for (int e = 0; e < MANY; e++) cases[e] = 3 * e % 40;
  for (int i = 0; i < 2; i++) {
    FovExplainRequest request = request_of(&s, "logit", false);
    request.cases = cases, request.count = MANY, request.threads = 1 + 2 * i;
    assert_int_equal(fov_maps_make(&maps[i], &request, method_named("saliency"), NULL), FOV_OK);
  }
  size_t numbers = fov_maps_numbers(&maps[0]);
  assert_memory_equal(maps[0].map, maps[1].map, MANY * numbers * sizeof(float));
  assert_memory_equal(maps[0].places, maps[1].places, MANY * 2 * sizeof(float));
  // Episodes 24 and 64, of different shards, are both of case 32.
  const float *pixels = maps[0].pixels;
  assert_memory_equal(pixels + 24 * numbers, pixels + 64 * numbers, numbers * sizeof(float));
  assert_memory_not_equal(pixels, pixels + 64 * numbers, numbers * sizeof(float));
  double sum = 0;
  for (int e = 0; e < MANY; e++) sum += (double)maps[0].map[(size_t)e * numbers + 210] / MANY;
  assert_near(maps[0].mean[210], sum, 1e-6 * (1 + fabs(sum)), "the mean");
  fov_maps_finish(&maps[0]), fov_maps_finish(&maps[1]);
  finish(&s);
}

static void test_what_is_not_finite_is_refused(void **state) {
  (void)state;
  static Scene s;
  FovMaps maps;
  FovJacobian jacobian;
  FovRandomised randomised;
  begin(&s, EXPLAINED, "logit", false);
  // As if they overflowed: how large they must be depends on the compiler.
  s.values[toy_param(&s.toy, "class.w")->offset] = NAN;
  FovExplainRequest request = request_of(&s, "logit", false);
  assert_int_equal(fov_maps_make(&maps, &request, method_named("saliency"), NULL), FOV_ERR_NUMBER);
  assert_non_null(strstr(fov_error_message(), "the map of episode 0 is not finite"));
  assert_int_equal(fov_jacobian_make(&jacobian, &request, FOV_JACOBIAN_LOGITS), FOV_ERR_NUMBER);
  assert_non_null(strstr(fov_error_message(), "the Jacobian of episode 0 is not finite"));
  assert_int_equal(fov_randomised_measure(&randomised, &request, method_named("saliency"), NULL),
                   FOV_ERR_NUMBER);
  assert_non_null(strstr(fov_error_message(), "a map of episode 0 is not finite"));
  fov_jacobian_finish(&jacobian);
  fov_maps_finish(&maps);
  finish(&s);
}

static void test_wrong_episodes_and_those_of_a_class_are_selected(void **state) {
  (void)state;
  static Scene s;
  begin(&s, EXPLAINED, "logit", false);
  FovExplainRequest request = request_of(&s, "logit", false);
  int64_t *cases, *wrong, found, count;
  const FovExplainFilter of_class = {.count = 30, .label = 1},
                         wrong_ones = {.count = 30, .label = -1, .wrong = true};
  assert_int_equal(fov_explain_select(&cases, &found, &request, &of_class), FOV_OK);
  assert_int_equal(fov_explain_select(&wrong, &count, &request, &wrong_ones), FOV_OK);
  FovMaps maps;
  request.cases = cases, request.count = found;
  assert_int_equal(fov_maps_make(&maps, &request, &fov_method_gaze, NULL), FOV_OK);
  assert_in_range(found, 1, 29);
  for (int e = 0; e < found; e++) assert_int_equal(maps.labels[e], 1);
  fov_maps_finish(&maps);
  request.cases = wrong, request.count = count;
  assert_int_equal(fov_maps_make(&maps, &request, &fov_method_gaze, NULL), FOV_OK);
  assert_in_range(count, 1, 29);
  for (int e = 0; e < count; e++) assert_int_not_equal(maps.labels[e], maps.answers[e]);
  fov_maps_finish(&maps);
  free(cases), free(wrong);
  finish(&s);
}

/** The class of an episode with several answers is that of the one that is explained. */
static void test_classes_are_selected_at_the_time(void **state) {
  (void)state;
  static Scene s;
  enum { CASES = 12 };
  begin(&s, "env = toy_turns\nglimpses = 2\n", "logit", false);
  FovExplainRequest request = request_of(&s, "logit", false);
  const FovExplainFilter filter = {.count = CASES, .label = 1};
  for (int time = 0; time <= 2 * TOY_TURNS; time++) {
    int64_t *cases, found, expected = 0;
    request.target.time = time;
    assert_int_equal(fov_explain_select(&cases, &found, &request, &filter), FOV_OK);
    for (int64_t i = 0; i < CASES; i++) {
      int last = toy_turns_count(i) - 1, turn = time == 0 ? last : (time - 1) / 2;
      if (toy_turns_label(i, turn < last ? turn : last) != 1) continue;
      assert_true(expected < found && cases[expected] == i);
      expected++;
    }
    assert_int_equal(found, expected);
    free(cases);
  }
  finish(&s);
}

/* ---- what is refused ---- */

static void refuse_target(const char *settings, const char *target, bool through,
                          const char *message) {
  Toy toy;
  toy_create(&toy, settings);
  FovExplainRequest request = {.task = &toy.task, .through = through};
  FovStatus status = fov_target_parse(&request.target, target);
  if (status == FOV_OK) status = fov_explain_check(&request);
  assert_int_equal(status, FOV_ERR_USAGE);
  if (!strstr(fov_error_message(), message))
    fail_msg("%s: expected %s, found %s", target, message, fov_error_message());
  toy_finish(&toy);
}

static void look(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env, (void)lane, (void)place, (void)rng;
}

/** A replay has no picture of before the first look, which a context saw. */
static void test_a_context_before_a_look_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "layers = 2\ncontext.side = 2\n");
  FovEnvType type = *toy.env.type;
  assert_int_equal(fov_explain_check(&(FovExplainRequest){.task = &toy.task}), FOV_OK);
  type.look = look;
  toy.env.type = &type;
  assert_int_equal(fov_explain_check(&(FovExplainRequest){.task = &toy.task}), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "expected context.side = 0"));
  toy_finish(&toy);
}

static void test_what_an_agent_does_not_compute_is_refused(void **state) {
  (void)state;
  refuse_target("", "logits", false, "expected logit, log_p");
  refuse_target("", "logit:", false, "expected logit, log_p");
  refuse_target("", "logit:2x", false, "expected logit, log_p");
  refuse_target("", "entropy:1", false, "expected logit, log_p");
  refuse_target("", "logit:3", false, "expected a class from 0 to 2");
  refuse_target("baseline = none\n", "baseline", false, "predicts nothing");
  refuse_target("policy = tiles\n", "location_x", false, "policy = tiles has no mean");
  refuse_target("glimpses = 1\n", "location_y", false, "expected 2 glimpses or more");
  refuse_target("env = toy_find\n", "log_p", false, "name one of its numbers");
  refuse_target("env = toy_game\nreward = correct\n", "logit:label", false, "has no labels");
  refuse_target("", "logit", true, "places that have no gradient");
  refuse_target(TOY_SITES "attention = gumbel\n", "logit", true, "places that have no gradient");
  Toy toy;
  toy_create(&toy, TOY_SEQUENCE "attention = soft\npolicy = centre\n");
  for (const FovMethod *const *m = fov_methods; *m; m++) {
    assert_int_equal(fov_method_check(*m, &toy.task, false), FOV_ERR_USAGE);
    assert_non_null(strstr(fov_error_message(), "toy_letters, which shows symbols"));
  }
  toy.env.spec.changes = true;
  assert_int_equal(fov_explain_check(&(FovExplainRequest){.task = &toy.task}), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "found env = toy_letters, which changes them"));
  toy_finish(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef FOV_DOUBLE
      cmocka_unit_test(test_gradients_of_a_gaze_equal_differences),
      cmocka_unit_test(test_gradients_of_other_readings_equal_differences),
      cmocka_unit_test(test_gradients_of_hard_choices_equal_differences),
      cmocka_unit_test(test_maps_of_gradients_equal_their_definitions),
      cmocka_unit_test(test_smoothgrad_averages_noisy_pictures),
      cmocka_unit_test(test_integrated_gradients_follow_the_path_and_are_complete),
      cmocka_unit_test(test_watched_gradients_carry_the_gradient_of_the_pixels),
      cmocka_unit_test(test_the_jacobian_of_a_sequence_has_the_norms_of_all_symbols),
#endif
      cmocka_unit_test(test_episodes_are_repeated_as_they_were_played),
      cmocka_unit_test(test_the_answer_is_that_of_the_time_or_the_next),
      cmocka_unit_test(test_glimpses_after_the_last_answer_have_a_time),
      cmocka_unit_test(test_occlusion_covers_squares),
      cmocka_unit_test(test_maps_of_places_are_what_was_seen),
      cmocka_unit_test(test_grad_cam_weighs_maps),
      cmocka_unit_test(test_every_method_explains),
      cmocka_unit_test(test_the_jacobian_has_the_norms_of_all_glimpses),
      cmocka_unit_test(test_glimpses_that_were_not_taken_have_no_norm),
      cmocka_unit_test(test_rank_correlations_of_worked_numbers),
      cmocka_unit_test(test_random_weights_change_what_depends_on_them),
      cmocka_unit_test(test_curves_change_the_marked_pixels_first),
      cmocka_unit_test(test_threads_do_not_change_a_bit_of_maps),
      cmocka_unit_test(test_what_is_not_finite_is_refused),
      cmocka_unit_test(test_wrong_episodes_and_those_of_a_class_are_selected),
      cmocka_unit_test(test_classes_are_selected_at_the_time),
      cmocka_unit_test(test_what_an_agent_does_not_compute_is_refused),
      cmocka_unit_test(test_a_context_before_a_look_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
