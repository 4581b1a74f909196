/** The trainer: threads, seeds, epochs, averages, clipping, rates and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/trainer/update.h"
#include "toy_play.h"

static void check_threads(const char *settings) {
  Toy toy;
  char more[512];
  snprintf(more, sizeof more, TOY_MANY "%s", settings);
  toy_create(&toy, more);
  FovTrainer *alone = toy_trainer(&toy, 1);
  toy_train(alone, 4);
  for (int threads = 2; threads <= 4; threads++) {
    FovTrainer *together = toy_trainer(&toy, threads);
    toy_train(together, 4);
    assert_same_state(&toy, alone, together);
    fov_trainer_destroy(together);
  }
  fov_trainer_destroy(alone);
  toy_finish(&toy);
}

static void test_threads_do_not_change_a_bit(void **state) {
  (void)state;
  check_threads("");
  check_threads("env = toy_game\nobjective = gae\n");
  check_threads("optimiser = muon\nencoder.width = 40\nglimpse.width = 48\n");
  check_threads("env = toy_turns\n");
  check_threads("env = toy_find\n");
  check_threads("env = toy_walk\nglimpses = 1\nobjective = gae\n");
  check_threads("stop = learned\nglimpses = 6\n");
  check_threads(TOY_TWO_LAYERS "core = lstm\nfirst = learned\n");
  check_threads("objective = marginal\nbaseline = none\nattention = sampled\npolicy = sites\n"
                "tiles.side = 2\nglimpses = 1\nfirst = learned\ntrain.copies = 4\n");
  check_threads("objective = exact\nbaseline = none\npolicy = tiles\npolicy.side = 2\n"
                "glimpses = 2\ntrain.copies = 4\n");
  check_threads("objective = vimco\nbaseline = none\ntrain.copies = 4\n");
  check_threads("objective = wake_sleep\nbaseline = none\ntrain.copies = 2\n");
  check_threads("objective = ppo\nobjective.parts = 3\nstop = learned\nglimpses = 6\n");
  check_threads("env = toy_game\nobjective = ppo\noptimiser = muon\ntrain.shard = 24\n");
  check_threads("env = toy_turns\nbaseline = self_critical\nstop = learned\nfirst = random\n");
  check_threads("train.shard = 1\n");
  check_threads("sensor.contrast = 0.3\nsensor.brightness = 0.2\n");
  check_threads("train.shard = 24\noptimiser = muon\n");
  check_threads("train.shard = 256\nstop = learned\nglimpses = 6\n");
}

/** Episodes that the busiest thread plays one after the other. */
static int longest_turn(const FovTrainOptions *o, int threads) {
  return (fov_train_shards(o) + threads - 1) / threads * o->shard;
}

/** Compares the shard that is found with every other one. */
static void check_shard_for(int batch, int copies, int threads) {
  FovTrainOptions o = {.batch = batch, .copies = copies}, other = o;
  o.shard = fov_train_shard_for(&o, threads);
  assert_true(o.shard % copies == 0 && fov_train_shards(&o) <= threads);
  for (other.shard = copies; other.shard <= batch; other.shard += copies)
    assert_true(o.shard <= longest_turn(&other, threads));
}

static void test_no_other_shard_feeds_the_threads_better(void **state) {
  (void)state;
  for (int threads = 1; threads <= 40; threads++)
    for (int images = 1; images <= 100; images++)
      for (int copies = 1; copies <= 3; copies++) check_shard_for(images * copies, copies, threads);
  FovTrainOptions o = {.batch = 128, .copies = 1};
  assert_int_equal(fov_train_shard_for(&o, 8), 16);
  assert_int_equal(fov_train_shard_for(&o, 3), 43);
  o.copies = 16;
  assert_int_equal(fov_train_shard_for(&o, 100), 16);
}

/** Adds the same gradients in another order, and multiplies by transposed weights. */
static void test_shards_of_another_size_differ_by_rounding_only(void **state) {
  (void)state;
  const char *const sizes[] = {"train.shard = 64\n", "train.shard = 7\n", "train.shard = 256\n"};
  real *expected = NULL;
  for (int i = 0; i < 3; i++) {
    Toy toy;
    char settings[256];
    snprintf(settings, sizeof settings, TOY_MANY TOY_PLAIN "%s", sizes[i]);
    toy_create(&toy, settings);
    FovTrainer *trainer = toy_trainer(&toy, 2);
    assert_int_equal(trainer->transposed != NULL, i > 0);
    toy_train(trainer, 2);
    const real *value = fov_trainer_state(trainer)->value;
    if (!expected) expected = toy_copy(&toy, value);
    for (size_t j = 0; j < toy.experiment.agent.params.size; j++)
      assert_close(value[j], expected[j], sizeof(real) == sizeof(double) ? 1e-13 : 1e-5);
    if (i > 0) assert_memory_not_equal(value, expected, toy_block_bytes(&toy));
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
  free(expected);
}

static void test_the_seed_determines_the_training(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *one = toy_trainer(&toy, 1), *same = toy_trainer(&toy, 1);
  toy.training.seed++;
  FovTrainer *other = toy_trainer(&toy, 1);
  assert_memory_not_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                          toy_block_bytes(&toy));
  // From the same weights, other episodes alone lead to other weights.
  memcpy(fov_trainer_state(other)->value, fov_trainer_state(one)->value, toy_block_bytes(&toy));
  toy_train(one, 1), toy_train(same, 1), toy_train(other, 1);
  assert_same_state(&toy, one, same);
  assert_memory_not_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                          toy_block_bytes(&toy));
  fov_trainer_destroy(one), fov_trainer_destroy(same), fov_trainer_destroy(other);
  toy_finish(&toy);
}

/** With the same episodes and weights. */
static void test_a_training_augments_its_images(void **state) {
  (void)state;
  Toy plain, augmented;
  toy_create(&plain, ""), toy_create(&augmented, "sensor.brightness = 0.2\n");
  FovTrainer *one = toy_trainer(&plain, 1), *other = toy_trainer(&augmented, 1);
  assert_memory_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                      toy_block_bytes(&plain));
  toy_train(one, 1), toy_train(other, 1);
  assert_memory_not_equal(fov_trainer_state(one)->value, fov_trainer_state(other)->value,
                          toy_block_bytes(&plain));
  fov_trainer_destroy(one), fov_trainer_destroy(other);
  toy_finish(&plain), toy_finish(&augmented);
}

static void test_every_case_comes_once_an_epoch(void **state) {
  (void)state;
  enum { CASES = 24, COPIES = 4 };
  Toy toy;
  toy_create(&toy, "env.cases = 24\ntrain.batch = 32\ntrain.copies = 4\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_resets = 0;
  toy_train(trainer, 6);
  assert_int_equal(toy_resets, 2 * CASES * COPIES);
  int64_t place[2][CASES], moved = 0;
  memset(place, -1, sizeof place);
  for (int image = 0; image < 2 * CASES; image++) {
    const ToyReset *copies = toy_log + image * COPIES;
    int64_t *seen = &place[image / CASES][copies[0].index];
    assert_int_equal(*seen, -1);
    *seen = image;
    for (int k = 1; k < COPIES; k++) assert_memory_equal(&copies[k], &copies[0], sizeof *copies);
  }
  for (int i = 0; i < CASES; i++) {
    moved += place[1][i] - CASES != place[0][i];
    // The same case in the second epoch: another order, other clutter.
    assert_int_not_equal(toy_log[place[0][i] * COPIES].draw, toy_log[place[1][i] * COPIES].draw);
  }
  assert_true(moved > CASES / 2);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void check_average(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  real *before = toy_copy(&toy, s->average);
  assert_memory_equal(before, s->value, toy_block_bytes(&toy));
  // (1 + n) / (10 + n) while that is less than the configured decay.
  const double decays[] = {0.1, 0.15, 0.15};
  for (int n = 0; n < 3; n++) {
    memcpy(before, s->average, toy_block_bytes(&toy));
    toy_train(trainer, 1);
    for (size_t i = 0; i < toy.experiment.agent.params.size; i++)
      assert_close(s->average[i], decays[n] * before[i] + (1 - decays[n]) * s->value[i], 1e-6);
  }
  assert_ptr_equal(fov_trainer_weights(trainer), s->average);
  free(before);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_average_follows_its_formula(void **state) {
  (void)state;
  check_average("train.average = 0.15\n");
  check_average("train.average = 0.15\noptimiser = muon\n");
}

static void test_without_an_average_the_parameters_are_evaluated(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.average = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_ptr_equal(fov_trainer_weights(trainer), fov_trainer_state(trainer)->value);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_the_average_return_moves_slowly(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  double average = 0, before = 0;
  for (int n = 0; n < 4; n++) {
    toy_train(trainer, 1);
    double mean = (s->sums.reward - before) / toy.training.options.batch;
    average += (n ? 0.05 : 1) * (mean - average);
    before = s->sums.reward;
    assert_close(s->average_return, average, 1e-12);
  }
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** The length of the first step at a rate of 1, and the reported norm of the gradient. */
static double step_length(double *norm, const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovTrainerState *s = fov_trainer_state(trainer);
  real *before = toy_copy(&toy, s->value);
  toy_train(trainer, 1);
  double squares = 0;
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++)
    squares += pow((double)s->value[i] - (double)before[i], 2);
  *norm = s->sums.gradient_norm;
  free(before);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return sqrt(squares);
}

static void test_the_gradient_is_clipped_to_its_norm(void **state) {
  (void)state;
  double norm, clipped_norm, loose_norm;
  double whole = step_length(&norm, TOY_PLAIN);
  assert_close(whole, norm, 1e-5 * norm);
  assert_true(norm > 0.1);
  assert_close(step_length(&clipped_norm, TOY_DESCENT "train.rate = 1\ntrain.clip = 0.05\n"), 0.05,
               1e-6);
  assert_true(clipped_norm == norm);
  assert_close(step_length(&loose_norm, TOY_DESCENT "train.rate = 1\ntrain.clip = 1000\n"), whole,
               0);
}

static void test_rate_and_progress_follow_the_updates(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.episodes = 310\ntrain.batch = 32\ntrain.rate = 0.5\n"
                   "train.schedule = linear\ntrain.warmup = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_int_equal(fov_train_updates_planned(&toy.experiment.train), 10);
  for (int i = 0; i < 10; i++) {
    assert_close(fov_trainer_progress(trainer), i / 10., 1e-12);
    assert_close(fov_trainer_rate(trainer), 0.5 * (1 - (i + 0.5) / 10), 1e-12);
    toy_train(trainer, 1);
  }
  const FovSums *sums = &fov_trainer_state(trainer)->sums;
  assert_int_equal(sums->episodes, 320);
  assert_int_equal(sums->updates, 10);
  assert_close(sums->reward, 320 - sums->wrong, 1e-9);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void assert_create_refuses(const char *settings, const char *message) {
  Toy toy;
  FovTrainer *trainer;
  toy_create(&toy, settings);
  assert_int_equal(fov_trainer_create(&trainer, &toy.training, 1), FOV_ERR_USAGE);
  assert_null(trainer);
  assert_message(message);
  toy_finish(&toy);
}

static void test_copies_that_do_not_fit_are_refused(void **state) {
  (void)state;
  assert_create_refuses("train.copies = 5\n", "train.copies = 5: expected a number that divides "
                                              "train.batch = 32 and train.shard = 64");
  assert_create_refuses("train.batch = 48\ntrain.copies = 3\n", "train.copies = 3");
  assert_create_refuses("train.batch = 34\ntrain.copies = 4\n", "train.copies = 4");
  assert_create_refuses("train.shard = 6\ntrain.copies = 4\n", "train.copies = 4");
  assert_create_refuses("baseline = leave_one_out\n",
                        "baseline = leave_one_out needs train.copies of 2 or more, found 1");
}

/** A curriculum of distances: what a shard is planned with, and what has no distance. */
static void test_targets_are_near_at_first(void **state) {
  (void)state;
  const double near[] = {0.8, 0.4, 0, 0};
  Toy toy;
  toy_create(&toy, "env = toy_turns\nfirst = random\ntrain.near = 0.8\ntrain.batch = 16\n"
                   "train.episodes = 64\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  for (int update = 0; update < 4; update++) {
    FovArena arena = {0};
    assert_close(fov_train_plan(trainer, &arena, 0).near, near[update], 1e-12);
    fov_arena_finish(&arena);
    toy_train(trainer, 1);
  }
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  assert_create_refuses("env = toy_turns\ntrain.near = 0.8\n", "set first = random");
  assert_create_refuses("first = random\ntrain.near = 0.8\n", "env = toy has none");
  assert_create_refuses("env = toy_turns\nfirst = random\ntrain.near = 0.8\n" TOY_SOFT,
                        "train.near: expected an attention that goes to a place, found attention "
                        "= soft");
}

static void test_a_baseline_without_the_answers_it_starts_from_is_refused(void **state) {
  (void)state;
  assert_create_refuses("baseline = answer\n", "baseline = answer needs an answer after every "
                                               "glimpse; set train.answer = every");
  assert_create_refuses("train.last = 0.5\n", "set train.answer = every");
  assert_create_refuses("baseline = answer\nenv = toy_game\ntrain.answer = every\n",
                        "baseline = answer needs labels, which moves and vectors do not have");
  assert_create_refuses("baseline = answer\nenv = toy_find\ntrain.answer = every\n",
                        "baseline = answer needs labels, which moves and vectors do not have");
}

static void test_what_a_vector_does_not_have_is_refused(void **state) {
  (void)state;
  assert_create_refuses("env = toy_find\nreward = probability\n",
                        "reward = probability needs labels, and env = toy_find has none");
  assert_create_refuses("env = toy_find\nstop = confident\n",
                        "stop = confident needs the probabilities of an answer, and env = toy_find "
                        "asks for a vector, which has none");
  assert_create_refuses("env = toy_find\nobjective = marginal\npolicy = tiles\n",
                        "expected an environment that asks for one label, found env = toy_find");
}

#define MARGINAL "objective = marginal\n"
#define ONE_TILE "attention = sampled\npolicy = sites\nglimpses = 1\nfirst = learned\n"

/** Every message names what to set. */
static void test_choices_that_cannot_be_enumerated_are_refused(void **state) {
  (void)state;
  assert_create_refuses(MARGINAL "env = toy_turns\npolicy = tiles\n",
                        "objective = marginal: expected an environment that asks for one label, "
                        "found env = toy_turns");
  assert_create_refuses(MARGINAL "env = toy_game\npolicy = tiles\n", "found env = toy_game");
  assert_create_refuses(MARGINAL TOY_SOFT, "expected attention = sampled or gaze, whose choices "
                                           "have a log p, found attention = soft");
  assert_create_refuses(MARGINAL "attention = gumbel\n" TOY_SITES, "found attention = gumbel");
  assert_create_refuses(MARGINAL, "expected policy = tiles, whose choices can be enumerated, found "
                                  "policy = gaussian");
  assert_create_refuses(MARGINAL "policy = tiles\nstop = learned\n",
                        "expected stop = never, found stop = learned");
  assert_create_refuses(MARGINAL "policy = tiles\nglimpses = 1\n",
                        "expected a choice: set first = learned, or more glimpses, found glimpses "
                        "= 1");
  assert_create_refuses(MARGINAL "policy = tiles\npolicy.side = 2\ntrain.copies = 16\n",
                        "objective = marginal: expected baseline = none, found baseline = learned");
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntrain.answer = every\n",
                        "expected train.answer = last, found train.answer = every");
  assert_create_refuses(MARGINAL "policy = tiles\npolicy.side = 2\nglimpses = 2\nfirst = random\n"
                                 "train.copies = 4\nbaseline = none\ntrain.near = 0.5\n",
                        "objective = marginal: expected train.near = 0, found 0.5");
}

static void test_a_patch_that_cannot_move_inside_the_image_is_refused(void **state) {
  (void)state;
  const char *const covering[] = {"sensor.side = 20\n", "sensor.whole = yes\n"};
  for (int i = 0; i < 2; i++) {
    char settings[64];
    snprintf(settings, sizeof settings, "sensor.inside = yes\n%s", covering[i]);
    assert_create_refuses(settings, "expected a patch smaller than the image of 20 x 20 pixels");
  }
}

static void test_a_baseline_of_one_answer_refuses_a_reward_of_two(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_turns\nbaseline = answer\ntrain.answer = every\n"
                   "reward = information_gain\n");
  assert_int_equal(fov_train_check(&toy.training), FOV_OK);
  toy.env.spec.last = true;
  assert_int_equal(fov_train_check(&toy.training), FOV_ERR_USAGE);
  assert_message("baseline = answer: expected a reward of one answer, found reward = "
                 "information_gain, which compares two where env = toy_turns asks again");
  toy_finish(&toy);
}

static void test_copies_without_a_likelihood_are_refused(void **state) {
  (void)state;
  assert_create_refuses("objective = vimco\nbaseline = none\n",
                        "objective = vimco needs train.copies of 2 or more, found 1");
  assert_create_refuses("objective = vimco\ntrain.copies = 2\n",
                        "objective = vimco: expected baseline = none, found baseline = learned");
  assert_create_refuses(
      "objective = wake_sleep\nbaseline = none\ntrain.copies = 2\nstop = learned\n",
      "objective = wake_sleep: expected stop = never, found stop = learned");
  assert_create_refuses("objective = vimco\nbaseline = none\ntrain.copies = 2\nenv = toy_turns\n",
                        "expected an environment that asks for one label, found env = toy_turns");
  assert_create_refuses("objective = vimco\nbaseline = none\ntrain.copies = 2\nenv = toy_game\n",
                        "objective = vimco: expected an environment that asks for one label");
  assert_create_refuses(
      "objective = vimco\nbaseline = none\ntrain.copies = 2\n"
      "train.answer = every\n",
      "objective = vimco: expected train.answer = last, found train.answer = every");
  assert_create_refuses("objective = vimco\nbaseline = none\ntrain.copies = 2\nattention = soft\n",
                        "objective = vimco: expected an attention that chooses, found attention = "
                        "soft");
}

static void test_relaxed_choices_without_labels_are_refused(void **state) {
  (void)state;
  assert_create_refuses("attention = rebar\nenv = toy_game\n" TOY_SITES,
                        "attention = rebar needs labels, which env = toy_game does not have");
  assert_create_refuses("attention = rebar\nobjective = ppo\n" TOY_SITES,
                        "expected objective = reinforce or gae, found objective = ppo");
  assert_create_refuses("attention = relax\nobjective = ppo\n" TOY_SITES,
                        "attention = relax: expected objective = reinforce or gae, found");
  assert_create_refuses("attention = relax\ntrain.copies = 32\ntrain.shard = 32\n" TOY_SITES,
                        "attention = relax compares cases: expected 8 or more episodes of other "
                        "cases in a shard, found 0 (train.copies = 32, train.shard = 32, "
                        "train.batch = ");
  assert_create_refuses("attention = rebar\ntrain.copies = 4\ntrain.batch = 8\n" TOY_SITES,
                        "attention = rebar compares cases: expected 8 or more episodes of other "
                        "cases in a shard, found 4");
}

/** A learned control variate needs none. */
static void test_a_learned_control_variate_trains_in_a_game(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "attention = relax\nenv = toy_game\n" TOY_SITES);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovParam *w = toy_param(&toy, "control.out.w");
  real before = fov_trainer_state(trainer)->value[w->offset];
  toy_train(trainer, 2);
  assert_true(fov_trainer_state(trainer)->value[w->offset] != before);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_augmentation_of_what_is_no_image_is_refused(void **state) {
  (void)state;
  static const char expected[] = "sensor.contrast, sensor.brightness: expected an environment of "
                                 "images without a cue, found env = ";
  assert_create_refuses("env = toy_walk\nsensor.contrast = 0.1\n", expected);
  assert_create_refuses("env = toy_find\nsensor.brightness = 0.1\n", expected);
}

static void test_more_parts_than_shards_are_refused(void **state) {
  (void)state;
  assert_create_refuses("objective = ppo\nobjective.parts = 2\n",
                        "objective.parts = 2: expected at most the 1 shards of a batch");
}

static void test_lanes_that_are_not_the_sequences_of_choices_are_refused(void **state) {
  (void)state;
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntiles.side = 17\n",
                        "expected at most 256 sequences of choices, found 1 choice of one of 289 "
                        "tiles; lower glimpses or tiles.side");
  assert_create_refuses(MARGINAL "policy = tiles\nbaseline = none\n",
                        "found 2 choices of one of 36 tiles; lower glimpses or policy.side");
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntiles.side = 3\n",
                        "plays 9 sequences of choices of a case: expected train.copies = 9, and "
                        "multiples of it, such as 63, for train.shard and train.batch; found 1, 64 "
                        "and 32");
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntrain.copies = 36\n", "such as 36");
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntiles.side = 3\ntrain.copies = 9\n"
                                          "train.batch = 36\n",
                        "objective = marginal plays 9 sequences");
  assert_create_refuses(MARGINAL ONE_TILE "baseline = none\ntiles.side = 3\ntrain.copies = 9\n"
                                          "train.shard = 36\n",
                        "objective = marginal plays 9 sequences");
  assert_create_refuses(MARGINAL "policy = tiles\npolicy.side = 2\nbaseline = none\nglimpses = 4\n"
                                 "first = centre\ntrain.copies = 64\n",
                        "multiples of it, such as 64");
}

static void test_a_reward_on_labels_is_refused_for_a_game(void **state) {
  (void)state;
  assert_create_refuses("env = toy_game\nreward = log_probability\n",
                        "reward = log_probability needs labels, and env = toy_game has none");
}

/** A number of the baseline's bias that is refused with a message, and leaves no trace. */
static void check_refused(const char *objective, real number, const char *message) {
  Toy toy;
  char settings[128];
  snprintf(settings, sizeof settings,
           "policy = random\nstop_gradient = both\ntrain.clip = 0\nobjective = %s\n", objective);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 1), *well = toy_trainer(&toy, 1);
  toy_train(trainer, 2), toy_train(well, 2);
  real *poisoned = &fov_trainer_state(trainer)->value[toy_param(&toy, "baseline.bias")->offset];
  real kept = *poisoned;
  *poisoned = number;
  assert_int_equal(fov_trainer_update(trainer), FOV_ERR_NUMBER);
  assert_message(message);
  *poisoned = kept;
  assert_same_state(&toy, trainer, well);
  toy_train(trainer, 1), toy_train(well, 1);
  assert_same_state(&toy, trainer, well);
  fov_trainer_destroy(trainer), fov_trainer_destroy(well);
  toy_finish(&toy);
}

static void test_a_number_that_is_not_finite_stops_before_the_step(void **state) {
  (void)state;
  const char nan[] = "update 3: the gradient of baseline.w is not finite";
  check_refused("reinforce", NAN, nan);
  check_refused("ppo", NAN, nan);
}

#ifndef FOV_DOUBLE // where the loss, a sum, is not finite first

/** Its square would be a second moment. */
static void test_a_gradient_whose_square_is_not_finite_stops_before_the_step(void **state) {
  (void)state;
  check_refused("reinforce", (real)sqrt(0.9 * (double)FLT_MAX),
                "update 3: the norm of the gradient is ");
}

#endif

/** With one step a batch, what is repeated has not changed: not a bit of log π. */
static void test_the_first_pass_repeats_what_was_played(void **state) {
  (void)state;
  const char *const shards[] = {"64", "24"};
  for (int i = 0; i < 2; i++) {
    Toy toy;
    char settings[128];
    snprintf(settings, sizeof settings,
             "objective = ppo\nobjective.passes = 1\nstop = learned\ntrain.shard = %s\n",
             shards[i]);
    toy_create(&toy, settings);
    FovTrainer *trainer = toy_trainer(&toy, 1);
    toy_train(trainer, 3);
    assert_true(fov_trainer_state(trainer)->sums.losses[3] == 0);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** What is computed from a kept rollout only when it is needed would be in memory of one pass. */
static void test_kept_rollouts_have_their_probabilities(void **state) {
  (void)state;
  Toy toy;
  int answers = 0;
  toy_create(&toy, "objective = ppo\nbaseline = answer\ntrain.answer = every\nglimpses = 4\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  fov_train_keep(trainer);
  const FovRollout *kept = &trainer->before[0];
  for (int t = 0; t < kept->time_steps; t++) {
    answers += kept->at[t].logits != NULL;
    assert_int_equal(kept->at[t].log_p != NULL, kept->at[t].logits != NULL);
  }
  assert_int_equal(answers, 4);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** The second pass fails; the steps of the first are undone. */
static void test_a_pass_that_fails_undoes_the_passes_before(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_DESCENT "objective = ppo\ntrain.clip = 0\n");
  toy.training.options.rate = 1e30;
  FovTrainer *trainer = toy_trainer(&toy, 1), *untouched = toy_trainer(&toy, 1);
  assert_int_equal(fov_trainer_update(trainer), FOV_ERR_NUMBER);
  assert_same_state(&toy, trainer, untouched);
  fov_trainer_destroy(trainer), fov_trainer_destroy(untouched);
  toy_finish(&toy);
}

static void test_a_rate_too_high_is_reported(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_DESCENT "train.rate = 100\ntrain.clip = 0\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  FovStatus status = FOV_OK;
  int done = -1;
  while (status == FOV_OK && done < 200) status = fov_trainer_update(trainer), done++;
  assert_int_equal(status, FOV_ERR_NUMBER);
  assert_int_equal(fov_trainer_state(trainer)->update, done);
  char message[64];
  snprintf(message, sizeof message, "update %d: ", done + 1);
  assert_message(message);
  assert_message("try a lower train.rate");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/* ---- the reduction ---- */

/** Gradient and sums of every shard of the next update, computed here. */
static void play_shards(real *gradients[], FovSums sums[], const FovTrainer *trainer,
                        const Toy *toy) {
  const FovParams *params = &toy->experiment.agent.params;
  for (int i = 0; trainer->transposed && i < params->count; i++)
    fov_param_transpose(trainer->transposed, trainer->state.value, &params->list[i]);
  for (int s = 0; s < trainer->shards; s++) {
    FovArena arena = {0};
    sums[s] = (FovSums){0};
    gradients[s] = fov_params_block(params);
    assert_non_null(gradients[s]);
    FovPlan plan = fov_train_plan(trainer, &arena, s);
    const FovShardInput input = {.training = &toy->training,
                                 .values = trainer->state.value,
                                 .transposed = trainer->transposed,
                                 .average_return = trainer->state.average_return,
                                 .batch = toy->training.options.batch};
    fov_train_play(&sums[s], gradients[s], &arena, &plan, &input);
    fov_arena_finish(&arena);
  }
}

/** A sum over 3, 5 or 6 shards in the order of the tree. */
#define TREE(shards, g)                                                                            \
  ((shards) == 3   ? (g(0) + g(1)) + g(2)                                                          \
   : (shards) == 5 ? ((g(0) + g(1)) + (g(2) + g(3))) + g(4)                                        \
                   : ((g(0) + g(1)) + (g(2) + g(3))) + (g(4) + g(5)))

/** Compares an update's sums with those of the tree; returns the number of gradients for which a
 * sum from left to right differs. */
static int check_tree(int shards, int lanes) {
  Toy toy;
  char settings[64];
  real *gradients[6];
  FovSums sums[6];
  int others = 0;
  snprintf(settings, sizeof settings, "train.batch = %d\ntrain.shard = %d\n", lanes * shards - 10,
           lanes);
  toy_create(&toy, settings);
  FovTrainer *trainer = toy_trainer(&toy, 2);
  toy_train(trainer, 1);
  trainer->state.sums = (FovSums){0};
  play_shards(gradients, sums, trainer, &toy);
  toy_train(trainer, 1);
  assert_int_equal(trainer->shards, shards);
  for (size_t i = 0; i < toy.experiment.agent.params.size; i++) {
#define G(s) gradients[s][i]
    real left = 0, tree = TREE(shards, G);
    for (int s = 0; s < shards; s++) left += G(s);
    assert_true(trainer->shard_gradients[0][i] == tree);
    others += left != tree;
  }
#define LOSS(s) sums[s].losses[0]
#define REWARD(s) sums[s].reward
  assert_true(trainer->state.sums.losses[0] == TREE(shards, LOSS));
  assert_true(trainer->state.sums.reward == TREE(shards, REWARD));
  for (int s = 0; s < shards; s++) free(gradients[s]);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  return others;
}

/** With three shards the tree is the sum from left to right; with more it is not. */
static void test_shards_are_summed_in_a_binary_tree(void **state) {
  (void)state;
  assert_int_equal(check_tree(3, 64), 0);
  assert_true(check_tree(5, 64) > 0);
  assert_true(check_tree(6, 64) > 0);
  assert_true(check_tree(6, 12) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads_do_not_change_a_bit),
      cmocka_unit_test(test_no_other_shard_feeds_the_threads_better),
      cmocka_unit_test(test_shards_of_another_size_differ_by_rounding_only),
      cmocka_unit_test(test_shards_are_summed_in_a_binary_tree),
      cmocka_unit_test(test_the_seed_determines_the_training),
      cmocka_unit_test(test_a_training_augments_its_images),
      cmocka_unit_test(test_every_case_comes_once_an_epoch),
      cmocka_unit_test(test_the_average_follows_its_formula),
      cmocka_unit_test(test_without_an_average_the_parameters_are_evaluated),
      cmocka_unit_test(test_the_average_return_moves_slowly),
      cmocka_unit_test(test_the_gradient_is_clipped_to_its_norm),
      cmocka_unit_test(test_rate_and_progress_follow_the_updates),
      cmocka_unit_test(test_copies_that_do_not_fit_are_refused),
      cmocka_unit_test(test_targets_are_near_at_first),
      cmocka_unit_test(test_a_baseline_without_the_answers_it_starts_from_is_refused),
      cmocka_unit_test(test_what_a_vector_does_not_have_is_refused),
      cmocka_unit_test(test_choices_that_cannot_be_enumerated_are_refused),
      cmocka_unit_test(test_a_patch_that_cannot_move_inside_the_image_is_refused),
      cmocka_unit_test(test_a_baseline_of_one_answer_refuses_a_reward_of_two),
      cmocka_unit_test(test_copies_without_a_likelihood_are_refused),
      cmocka_unit_test(test_relaxed_choices_without_labels_are_refused),
      cmocka_unit_test(test_a_learned_control_variate_trains_in_a_game),
      cmocka_unit_test(test_augmentation_of_what_is_no_image_is_refused),
      cmocka_unit_test(test_more_parts_than_shards_are_refused),
      cmocka_unit_test(test_lanes_that_are_not_the_sequences_of_choices_are_refused),
      cmocka_unit_test(test_a_reward_on_labels_is_refused_for_a_game),
      cmocka_unit_test(test_a_number_that_is_not_finite_stops_before_the_step),
#ifndef FOV_DOUBLE
      cmocka_unit_test(test_a_gradient_whose_square_is_not_finite_stops_before_the_step),
#endif
      cmocka_unit_test(test_the_first_pass_repeats_what_was_played),
      cmocka_unit_test(test_kept_rollouts_have_their_probabilities),
      cmocka_unit_test(test_a_pass_that_fails_undoes_the_passes_before),
      cmocka_unit_test(test_a_rate_too_high_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
