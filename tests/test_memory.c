/** Memory of a training: measured before it begins, allocated at once, and nothing afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "check.h"
#include "learn/trainer/update.h"
#include "toy_play.h"

static void test_nothing_is_allocated_after_the_first_update(void **state) {
  (void)state;
  const char *networks[] = {TOY_MANY "core = rnn\n",
                            TOY_MANY "core = lstm\n",
                            TOY_MANY "core = gru\n",
                            TOY_MANY "encoder = conv\n" TOY_SMALL_FILTERS,
                            TOY_MANY "env = toy_turns\n",
                            TOY_MANY "env = toy_game\nobjective = gae\n",
                            TOY_MANY "stop = learned\nglimpses = 6\n",
                            TOY_MANY "env = toy_find\n",
                            TOY_MANY "env = toy_walk\nglimpses = 1\n",
                            TOY_MANY "objective = marginal\nbaseline = none\npolicy = tiles\n"
                                     "policy.side = 2\nglimpses = 2\ntrain.copies = 4\n",
                            TOY_MANY "attention = sampled\n" TOY_SITES TOY_COARSE,
                            TOY_MANY "sensor.contrast = 0.2\n",
                            TOY_MANY TOY_SEQUENCE TOY_RNN "attention = soft\npolicy = centre\n",
                            TOY_MANY TOY_SEQUENCE TOY_BLOCKS "attention = straight_through\n"
                                                             "first = learned\n",
                            TOY_MANY "optimiser = muon\n"};
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
    assert_allocates_once(networks[i]);
}

/** Memory of an optimiser's step that exceeds a shard's is reserved too. */
static void test_the_optimiser_s_memory_is_measured_in_advance(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "optimiser = muon\noptimiser.turns = 1\ncore.width = 800\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 1);
  assert_int_equal(trainer_blocks(trainer), 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** The least share of the measured memory that is used: if all lanes stay, and if they leave. */
static const double STAYING = 0.6, LEAVING = 1. / 12;

/** Fails unless `taken` is at most `measured`, and at least the share `least` of it. */
static void assert_measured(const char *settings, const char *what, double taken, double measured,
                            double least) {
  if (!(taken <= measured && taken >= least * measured))
    fail_msg("%s: %s used %g bytes of %g measured", settings, what, taken, measured);
}

/** The used bytes of every shard's arena against the measured ones. */
static void check_training(const Toy *toy, const char *settings, double least) {
  double blocks, shards;
  assert_int_equal(fov_training_memory(&blocks, &shards, &toy->training), FOV_OK);
  FovTrainer *trainer = toy_trainer(toy, 1);
  toy_train(trainer, 2);
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  for (int s = 0; s < workspace->count; s++) {
    if (workspace->arenas[s].blocks != 1)
      fail_msg("%s: took %zu blocks", settings, workspace->arenas[s].blocks);
    const FovArena *kept = trainer->before ? &trainer->kept.arenas[s] : NULL;
    if (kept && kept->blocks != 1) fail_msg("%s: kept in %zu blocks", settings, kept->blocks);
    size_t used = workspace->arenas[s].used + (kept ? kept->used : 0);
    assert_measured(settings, "training", (double)used, shards / workspace->count, least);
  }
  fov_trainer_destroy(trainer);
}

/** The same for a rollout without gradients. */
static void check_playing(const Toy *toy, const char *settings, double least) {
  FovArena arena = {0};
  FovTape tape;
  FovRollout rollout;
  double bytes;
  real *values = toy_lively_values(toy);
  assert_int_equal(fov_shard_bytes(&bytes, &toy->task, values), FOV_OK);
  assert_true(fov_arena_reserve(&arena, (size_t)bytes));
  fov_tape_begin(&tape, &arena, &toy->experiment.agent.params, values, NULL);
  FovPlan plan = fov_plan_cases(&arena, 0, FOV_SHARD, 9, FOV_SPLIT_TRAIN, 0);
  plan.predict = toy->task.baseline->head.build;
  fov_rollout_run(&rollout, &tape, &toy->task, &plan);
  if (arena.blocks != 1) fail_msg("%s: playing took %zu blocks", settings, arena.blocks);
  assert_measured(settings, "playing", (double)arena.used, bytes, least);
  fov_arena_finish(&arena);
  free(values);
}

/** side: of the image, pixels. */
static void check_memory_of(const char *settings, int side, double least) {
  Toy toy;
  toy_create(&toy, settings);
  toy.env.spec.cases = FOV_SHARD;
  toy.env.spec.observation = fov_byte_image(side, side, 1);
  check_training(&toy, settings, least);
  check_playing(&toy, settings, least);
  toy_finish(&toy);
}

static void check_memory(const char *settings, double least) {
  check_memory_of(settings, TOY_SIDE, least);
}

/** Every core with every encoder: wide, narrow, and looking at the whole image with filters all
 * over it. */
static void test_a_shard_s_memory_is_measured_in_advance(void **state) {
  (void)state;
  const char *const sizes[] = {
      "sensor.side = 16\nglimpse.width = 48\n",
      "sensor.side = 1\nglimpse.where = 1\nglimpse.width = 1\ntrain.answer = every\n",
      "sensor.whole = yes\nfirst = learned\nglimpse.width = 128\n"};
  const char *const cores[] = {"core.width = 64\n", "core.width = 4\n", "core.width = 128\n"};
  const char *const linear[] = {"width = 128\n", "width = 1\n", "width = 256\n"};
  const char *const conv[] = {"stride = 1\nencoder.second = 5\n", "side = 1\n",
                              "side = 4\nencoder.stride = 2\nencoder.second = 16\n"};
  for (const FovEncoder *const *encoder = fov_encoders; *encoder; encoder++)
    for (const FovCore *const *core = fov_cores; *core; core++)
      for (int i = 0; i < 3; i++) {
        bool filters = !strcmp((*encoder)->plugin.name, "conv");
        char settings[512];
        snprintf(settings, sizeof settings,
                 "train.batch = 64\ntrain.episodes = 64\nencoder = %s\nencoder.%score = %s\n%s%s",
                 (*encoder)->plugin.name, filters ? conv[i] : linear[i], (*core)->plugin.name,
                 (*core)->plugin.options ? cores[i] : "", sizes[i]);
        check_memory(settings, STAYING);
      }
}

/** Every score of a memory that grows. */
static void test_memory_of_scores_is_measured_in_advance(void **state) {
  (void)state;
  for (const FovScore *const *score = fov_scores; *score; score++) {
    char settings[256];
    snprintf(settings, sizeof settings,
             "train.batch = 128\ncore = attention\ncore.width = 64\nglimpses = 5\nscore = %s\n",
             (*score)->plugin.name);
    if ((*score)->keyless) continue;
    assert_allocates_once(settings);
    check_memory(settings, STAYING);
  }
}

/** Every core that a context can start: two layers, coarse views small and large. */
static void test_memory_of_two_layers_is_measured_in_advance(void **state) {
  (void)state;
  const char *const contexts[] = {
      "core.width = 64\n", "core.width = 4\ncontext.side = 40\ncontext.width = 1\n",
      "core.width = 32\ncontext.side = 24\ncontext.width = 100\nfirst = learned\n"};
  for (const FovCore *const *core = fov_cores; *core; core++)
    for (int i = 0; i < 3 && (*core)->starts; i++) {
      char settings[256];
      snprintf(settings, sizeof settings,
               "train.batch = 64\ntrain.episodes = 64\nlayers = 2\ncore = %s\n%s",
               (*core)->plugin.name, contexts[i]);
      check_memory(settings, STAYING);
    }
}

/** Every stop rule with every policy, with few and many glimpses, with and without a context. */
static void test_memory_of_stops_and_policies_is_measured_in_advance(void **state) {
  (void)state;
  const char *const more[] = {"glimpses = 1\n",
                              "glimpses = 6\n" TOY_TWO_LAYERS "first = learned\n"};
  for (const FovStopRule *const *stop = fov_stop_rules; *stop; stop++)
    for (const FovPolicy *const *policy = fov_policies; *policy; policy++)
      for (int i = 0; i < 2; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "train.batch = 64\nstop = %s\npolicy = %s\n%s%s",
                 (*stop)->plugin.name, (*policy)->plugin.name, more[i],
                 (*policy)->sites ? "attention = sampled\n" : "");
        check_memory(settings, (*stop)->decide ? LEAVING : STAYING);
      }
}

/** Bytes of a shard in training and in playing. */
static void measure(double bytes[2], const char *settings) {
  Toy toy;
  double blocks;
  toy_create(&toy, settings);
  real *values = toy_lively_values(&toy);
  assert_int_equal(fov_training_memory(&blocks, &bytes[0], &toy.training), FOV_OK);
  assert_int_equal(fov_shard_bytes(&bytes[1], &toy.task, values), FOV_OK);
  free(values);
  toy_finish(&toy);
}

/** An attention that reads one tile, with keys that need no values, takes less memory than with
 * keys of values; if the gradient flows through all values, then only in playing. */
static void test_tiles_that_are_not_read_take_no_memory(void **state) {
  (void)state;
  const char *const hard[] = {"sampled", "straight_through", "gumbel", "rebar", "relax"};
  const char *const lazy[] = {"tiles.keys = coarse\ntiles.cells = 1\n", "score = location\n"};
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
    for (int j = 0; j < 2; j++) {
      double all[2], one[2];
      char settings[512];
      const char *format = "train.batch = 64\nattention = %s\npolicy = sites\ntiles.side = 16\n"
                           "tiles.width = 2\nsensor.side = 8\n%s";
      snprintf(settings, sizeof settings, format, hard[i], "");
      measure(all, settings);
      snprintf(settings, sizeof settings, format, hard[i], lazy[j]);
      measure(one, settings);
      if (!(one[1] < all[1] / 3 && (i > 0 || one[0] < all[0] / 3)))
        fail_msg("%s: %g of %g bytes in training, %g of %g in playing", settings, one[0], all[0],
                 one[1], all[1]);
    }
}

/** A game has none. */
static bool needs_labels(const FovAttention *attention) {
  return attention->relaxes && !attention->control;
}

/** Every attention; images that change are copied. */
static void test_memory_of_attentions_is_measured_in_advance(void **state) {
  (void)state;
  const char *const worlds[] = {"toy", "toy_turns", "toy_game"};
  for (const FovAttention *const *attention = fov_attentions; *attention; attention++)
    for (int i = 0; i < (needs_labels(*attention) ? 2 : 3); i++) {
      char settings[256];
      snprintf(settings, sizeof settings,
               "train.batch = 64\nenv = %s\nstop = %s\nattention = %s\ntiles.side = 3\n"
               "tiles.width = 6\n",
               worlds[i], i > 0 ? "learned" : "never", (*attention)->plugin.name);
      check_memory(settings, i > 0 ? LEAVING : STAYING);
    }
}

static void test_memory_of_attention_over_tiles_is_measured_in_advance(void **state) {
  (void)state;
  check_memory("train.batch = 64\n" TOY_SOFT TOY_COARSE "glimpse.width = 16\n", STAYING);
  check_memory("train.batch = 64\nattention = sampled\n" TOY_SITES TOY_COARSE, STAYING);
  check_memory("train.batch = 64\nattention = straight_through\n" TOY_SITES TOY_COARSE, STAYING);
  check_memory("train.batch = 64\nstop = learned\nattention = sampled\n" TOY_SITES TOY_COARSE,
               LEAVING);
  check_memory("train.batch = 64\nenv = toy_game\nstop = learned\nattention = sampled\n" TOY_SITES
               "score = location\n",
               LEAVING);
  check_memory("train.batch = 64\n" TOY_SOFT "tiles.heads = 2\nglimpse.width = 16\n", STAYING);
  check_memory("train.batch = 64\n" TOY_SOFT TOY_BLOCKS, STAYING);
}

/** Scratch memory does not grow with the lanes. */
static void test_memory_of_windows_is_measured_in_advance(void **state) {
  (void)state;
  check_memory_of("train.batch = 64\n" TOY_WINDOW "spatial_transformer\n", 300, STAYING);
}

/** A training needs an image of floats for each lane, which an evaluation leaves unused. */
static void test_memory_of_augmented_images_is_measured_in_advance(void **state) {
  (void)state;
  check_memory_of("train.batch = 64\nsensor.contrast = 0.2\n", 300, 0.15);
}

/** Copies of an image are played side by side: fewer numbers of lanes can be measured. */
static void test_memory_of_copies_is_measured_in_advance(void **state) {
  (void)state;
  const char *const copies[] = {"train.copies = 1\n", "train.copies = 2\n", "train.copies = 32\n",
                                "train.copies = 64\n"};
  for (int i = 0; i < 4; i++) {
    char settings[256];
    snprintf(settings, sizeof settings, "train.batch = 128\nbaseline = %s\n%s",
             i ? "leave_one_out" : "learned", copies[i]);
    check_memory(settings, STAYING);
  }
  check_memory("baseline = answer\ntrain.answer = every\ntrain.batch = 128\n", STAYING);
  check_memory("baseline = leave_one_out\ntrain.copies = 3\ntrain.shard = 63\ntrain.batch = 126\n",
               STAYING);
  check_memory("baseline = self_critical\ntrain.batch = 128\nstop = learned\n", LEAVING);
  check_memory("objective = vimco\nbaseline = none\ntrain.copies = 2\ntrain.batch = 128\n",
               STAYING);
  check_memory("objective = ppo\ntrain.batch = 128\n", STAYING);
  check_memory("objective = ppo\nobjective.parts = 2\ntrain.batch = 128\nstop = learned\n",
               LEAVING);
  check_memory("objective = marginal\nbaseline = none\nattention = sampled\nfirst = learned\n"
               "glimpses = 1\ntrain.copies = 9\ntrain.shard = 63\ntrain.batch = 126\n" TOY_SITES,
               STAYING);
}

static void test_memory_of_shards_of_any_size_is_measured_in_advance(void **state) {
  (void)state;
  const int sizes[] = {1, 8, 17, 24, 100, 256};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char settings[256];
    snprintf(settings, sizeof settings, "train.batch = %d\ntrain.shard = %d\n", 2 * sizes[i],
             sizes[i]);
    check_memory(settings, STAYING);
  }
}

/** Their shards are larger than those of the training, or more at a time. */
static void check_evaluations(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  toy.env.spec.cases = 6 * FOV_SHARD;
  toy.env.spec.observation = fov_byte_image(500, 500, 1);
  FovTrainer *trainer = toy_trainer(&toy, 6);
  toy_train(trainer, 1);
  FovEvalRequest request = {.task = &toy.task,
                            .values = fov_trainer_weights(trainer),
                            .cases = 6 * FOV_SHARD,
                            .rollouts = 1,
                            .threads = 6};
  FovEvalResult result;
  assert_int_equal(fov_evaluate(&result, &request, fov_trainer_workspace(trainer)), FOV_OK);
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  for (int i = 0; i < 6; i++) assert_int_equal(workspace->arenas[i].blocks, 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_evaluations_between_updates_allocate_no_arena(void **state) {
  (void)state;
  check_evaluations("train.batch = 16\ntrain.shard = 4\n");
  check_evaluations("train.batch = 64\ntrain.shard = 64\n");
}

static void test_memory_of_large_images_is_measured_in_advance(void **state) {
  (void)state;
  check_memory_of("train.batch = 64\nglimpses = 6\n", 1100, 0.99);
  check_memory_of("train.batch = 64\nglimpses = 6\nstop = learned\ntrain.copies = 2\n", 1100, 0.9);
}

/** Bytes of a full rollout of one case. */
static size_t full_bytes(const Toy *toy, const real *values, int index) {
  ToyPlay play;
  toy_play_begin(&play, toy, values, NULL, index, 1);
  play.plan.full = true;
  play.plan.every = false;
  toy_play_run(&play, toy);
  size_t bytes = play.arena.total;
  assert_int_equal(play.rollout.time_steps, fov_task_glimpses(&toy->task) + 1);
  toy_play_finish(&play);
  return bytes;
}

/** Whether its episode is short or long: a few cases are enough to measure. */
static void test_a_full_rollout_takes_the_same_memory_in_every_case(void **state) {
  (void)state;
  const char *const worlds[] = {"env = toy_turns\nglimpses = 2\n",
                                "env = toy_turns\nglimpses = 3\nstop = learned\n",
                                "env = toy_game\nglimpses = 2\nstop = learned\n"};
  for (int i = 0; i < 3; i++) {
    Toy toy;
    toy_create(&toy, worlds[i]);
    real *values = toy_lively_values(&toy);
    size_t bytes = full_bytes(&toy, values, 0);
    for (int index = 1; index < 12; index++)
      if (full_bytes(&toy, values, index) != bytes) fail_msg("%s: case %d", worlds[i], index);
    free(values);
    toy_finish(&toy);
  }
}

/** Lanes that leave take no more memory, even if each leaves at another time step. */
static void test_lanes_that_stop_early_stay_within_the_measured_memory(void **state) {
  (void)state;
  const char *const worlds[] = {"env = toy_turns\nglimpses = 4\n",
                                "env = toy_game\nglimpses = 2\nobjective = gae\n",
                                "env = toy_turns\nglimpses = 6\nstop = learned\n",
                                "env = toy_game\nglimpses = 2\nstop = learned\nfirst = learned\n",
                                "glimpses = 16\nstop = learned\nfirst = learned\n",
                                "glimpses = 16\nstop = confident\ntrain.answer = every\n"};
  for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
    for (const FovCore *const *core = fov_cores; *core; core++)
      for (int wide = 0; wide < 2; wide++) {
        char settings[512];
        snprintf(settings, sizeof settings, "train.batch = 64\ncore = %s\n%s%s",
                 (*core)->plugin.name, worlds[i],
                 !(*core)->plugin.options ? ""
                 : wide                   ? "core.width = 48\n"
                                          : "core.width = 4\n");
        check_memory(settings, LEAVING);
      }
}

/** Too large a batch, too many weights and glimpses. */
static void test_too_large_a_training_is_refused_before_it_allocates(void **state) {
  (void)state;
  const char *const huge[] = {
      "core = lstm\ncore.width = 8192\nglimpse.width = 8192\ntrain.batch = 65536\n",
      "core.width = 8192\nencoder.width = 8192\nglimpses = 64\ntrain.batch = 65536\n"};
  for (int i = 0; i < 2; i++) {
    Toy toy;
    FovTrainer *trainer;
    toy_create(&toy, huge[i]);
    int before = count_allocations();
    assert_int_equal(fov_trainer_create(&trainer, &toy.training, 1), FOV_ERR_MEMORY);
    assert_message("this training would take ");
    assert_message("make train.batch, env.size, env.longest, tiles.side or the network smaller");
    assert_null(trainer);
    assert_int_equal(count_allocations(), before);
    toy_finish(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_allocated_after_the_first_update),
      cmocka_unit_test(test_the_optimiser_s_memory_is_measured_in_advance),
      cmocka_unit_test(test_a_shard_s_memory_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_scores_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_two_layers_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_stops_and_policies_is_measured_in_advance),
      cmocka_unit_test(test_tiles_that_are_not_read_take_no_memory),
      cmocka_unit_test(test_memory_of_attentions_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_attention_over_tiles_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_windows_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_augmented_images_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_copies_is_measured_in_advance),
      cmocka_unit_test(test_memory_of_shards_of_any_size_is_measured_in_advance),
      cmocka_unit_test(test_evaluations_between_updates_allocate_no_arena),
      cmocka_unit_test(test_memory_of_large_images_is_measured_in_advance),
      cmocka_unit_test(test_a_full_rollout_takes_the_same_memory_in_every_case),
      cmocka_unit_test(test_lanes_that_stop_early_stay_within_the_measured_memory),
      cmocka_unit_test(test_too_large_a_training_is_refused_before_it_allocates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
