/** What a training takes: foreseen before it begins, allocated at once, and nothing afterwards.
 * Linked with malloc and its kin wrapped, so that allocations can be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toy_play.h"

/* ---- allocations of the code that is linked with --wrap ---- */

static atomic_int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
  allocations++;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  allocations++;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  allocations++;
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __real_aligned_alloc(alignment, size);
}

static size_t blocks_of(FovTrainer *trainer) {
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  size_t blocks = 0;
  for (int i = 0; i < workspace->count; i++) blocks += workspace->arenas[i].blocks;
  return blocks;
}

static void test_nothing_is_allocated_after_the_first_update(void **state) {
  (void)state;
  const char *networks[] = {TOY_MANY "core = rnn\n",
                            TOY_MANY "core = lstm\n",
                            TOY_MANY "core = gru\n",
                            TOY_MANY "encoder = conv\n" TOY_SMALL_FILTERS,
                            TOY_MANY "env = toy_turns\n",
                            TOY_MANY "env = toy_game\nobjective = gae\n",
                            TOY_MANY "stop = learned\nglimpses = 6\n",
                            TOY_MANY "optimiser = muon\n"};
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    Toy toy;
    toy_create(&toy, networks[i]);
    int before = allocations;
    FovTrainer *trainer = toy_trainer(&toy, 2);
    toy_train(trainer, 1);
    assert_true(allocations > before);
    before = allocations;
    size_t blocks = blocks_of(trainer);
    assert_true(blocks > 0);
    toy_train(trainer, 5);
    assert_int_equal(allocations, before);
    assert_int_equal(blocks_of(trainer), blocks);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** A step that needs more than a shard finds it reserved as well. */
static void test_the_optimiser_s_memory_is_foreseen(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "optimiser = muon\noptimiser.turns = 1\ncore.width = 800\n");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 1);
  assert_int_equal(blocks_of(trainer), 1);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** Share of what is foreseen that is taken at least where no lane leaves early. */
static const double LEAST = 0.6;

/** Fails unless `taken` is at most what was measured, and `least` of it or more. */
static void assert_foreseen(const char *settings, const char *what, double taken, double measured,
                            double least) {
  if (!(taken <= measured && taken >= least * measured))
    fail_msg("%s: %s took %g bytes, foreseen were %g", settings, what, taken, measured);
}

/** What the arenas of a training and of a rollout take, against what is foreseen. least: share of
 * it that they take at least. */
static void check_memory(const char *settings, double least) {
  Toy toy;
  double blocks, shards, shard;
  toy_create(&toy, settings);
  assert_int_equal(fov_training_memory(&blocks, &shards, &toy.training), FOV_OK);
  FovTrainer *trainer = toy_trainer(&toy, 1);
  toy_train(trainer, 2);
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  for (int s = 0; s < workspace->count; s++) {
    if (workspace->arenas[s].blocks != 1)
      fail_msg("%s: took %zu blocks", settings, workspace->arenas[s].blocks);
    assert_foreseen(settings, "training", (double)workspace->arenas[s].used,
                    shards / workspace->count, least);
  }
  ToyPlay play;
  real *values = toy_lively_values(&toy);
  assert_int_equal(fov_shard_bytes(&shard, &toy.task, values), FOV_OK);
  toy.env.spec.cases = FOV_SHARD;
  toy_play(&play, &toy, values, FOV_SHARD);
  assert_foreseen(settings, "playing", (double)play.arena.total, shard, least);
  toy_play_finish(&play);
  free(values);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** Every core with every encoder: of some width; of none to speak of; looking at the whole image
 * with filters all over it. */
static void test_a_shard_s_memory_is_foreseen(void **state) {
  (void)state;
  const char *const sizes[] = {
      "sensor.side = 16\nglimpse.width = 48\n",
      "sensor.side = 1\nglimpse.where = 1\nglimpse.width = 1\ntrain.answer = every\n",
      "sensor.whole = yes\nfirst = learned\nglimpse.width = 128\n"};
  const char *const cores[] = {"core.width = 64\n", "core.width = 1\n", "core.width = 128\n"};
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
        check_memory(settings, LEAST);
      }
}

/** Every core that can be started: in two layers, on coarse views small and large. */
static void test_two_layers_memory_is_foreseen(void **state) {
  (void)state;
  const char *const contexts[] = {
      "core.width = 64\n", "core.width = 1\ncontext.side = 40\ncontext.width = 1\n",
      "core.width = 32\ncontext.side = 24\ncontext.width = 100\nfirst = learned\n"};
  for (const FovCore *const *core = fov_cores; *core; core++)
    for (int i = 0; i < 3 && (*core)->starts; i++) {
      char settings[256];
      snprintf(settings, sizeof settings,
               "train.batch = 64\ntrain.episodes = 64\nlayers = 2\ncore = %s\n%s",
               (*core)->plugin.name, contexts[i]);
      check_memory(settings, LEAST);
    }
}

/** Nor do lanes that drop out take more, whose number changes from step to step; not even if
 * every one of them leaves at a step of its own. */
static void test_who_drops_out_stays_within_what_is_foreseen(void **state) {
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
                                          : "core.width = 1\n");
        check_memory(settings, LEAST);
      }
}

/** Whether it is the batch, the weights or the glimpses that are too many. */
static void test_what_does_not_fit_is_refused_before_it_is_taken(void **state) {
  (void)state;
  const char *const huge[] = {
      "core = lstm\ncore.width = 8192\nglimpse.width = 8192\ntrain.batch = 65536\n",
      "core.width = 8192\nencoder.width = 8192\nglimpses = 64\ntrain.batch = 65536\n"};
  for (int i = 0; i < 2; i++) {
    Toy toy;
    FovTrainer *trainer;
    toy_create(&toy, huge[i]);
    int before = allocations;
    assert_int_equal(fov_trainer_create(&trainer, &toy.training, 1), FOV_ERR_MEMORY);
    assert_message("this training would take ");
    assert_message("make train.batch, env.size or the network smaller");
    assert_null(trainer);
    assert_int_equal(allocations, before);
    toy_finish(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_allocated_after_the_first_update),
      cmocka_unit_test(test_the_optimiser_s_memory_is_foreseen),
      cmocka_unit_test(test_a_shard_s_memory_is_foreseen),
      cmocka_unit_test(test_two_layers_memory_is_foreseen),
      cmocka_unit_test(test_who_drops_out_stays_within_what_is_foreseen),
      cmocka_unit_test(test_what_does_not_fit_is_refused_before_it_is_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
