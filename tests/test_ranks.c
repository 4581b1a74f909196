/** Ranks: the same bits for any number of them, what is divided and what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forked.h"
#include "learn/trainer/update.h"
#include "toy.h"

enum { CASES = 1000, MOST_RANKS = 9 };

/** What all processes of a test see. */
typedef struct Shared {
  const Toy *toy;
  int threads, updates;
  int64_t update; /**< of the state to begin with; 0: a new training */
  FovStatus status[MOST_RANKS];
  char message[MOST_RANKS][1024];
  uint64_t sent[MOST_RANKS]; /**< in one update */
  FovEvalResult result[MOST_RANKS];
  uint8_t wrong[MOST_RANKS][CASES];
  FovTrainerState state[MOST_RANKS]; /**< without its pointers */
  real blocks[];                     /**< [ranks, 4, size]: of a state */
} Shared;

static size_t size_of(const Shared *shared) {
  return shared->toy->experiment.agent.params.size;
}

static real *block_of(Shared *shared, int rank, int block) {
  return shared->blocks + (size_t)(4 * rank + block) * size_of(shared);
}

static void copy_state(Shared *shared, int rank, FovTrainerState *state, bool load) {
  real *blocks[] = {state->value, state->first, state->second, state->average};
  FovTrainerState *kept = &shared->state[rank], pointers = *state;
  for (int b = 0; b < 4; b++) {
    real *at = block_of(shared, rank, b), *from = load ? at : blocks[b];
    memcpy(load ? blocks[b] : at, from, size_of(shared) * sizeof(real));
  }
  *(load ? state : kept) = *(load ? kept : state);
  FovTrainerState *copy = load ? state : kept;
  copy->value = load ? pointers.value : NULL, copy->first = load ? pointers.first : NULL;
  copy->second = load ? pointers.second : NULL, copy->average = load ? pointers.average : NULL;
}

/** A rank of a training: continues from the state that rank 0 finds, evaluates, leaves the state.
 */
static void train(FovRanks *ranks, void *context) {
  Shared *shared = context;
  int rank = ranks->rank;
  FovTraining training = shared->toy->training;
  training.ranks = ranks;
  FovTrainer *trainer;
  FovStatus status = fov_trainer_create(&trainer, &training, shared->threads);
  forked_check(status == FOV_OK, "%s", fov_error_message());
  FovTrainerState *state = fov_trainer_state(trainer);
  if (shared->update > 0 && rank == 0) copy_state(shared, 0, state, true);
  fov_trainer_broadcast(trainer);
  uint64_t before = ranks->sent;
  for (int i = 0; i < shared->updates && status == FOV_OK; i++) {
    status = fov_trainer_update(trainer);
    if (i == 0) shared->sent[rank] = ranks->sent - before;
  }
  shared->status[rank] = status;
  if (status != FOV_OK) snprintf(shared->message[rank], 1024, "%s", fov_error_message());
  fov_trainer_gather(trainer);
  FovEvalRequest request = {.task = &training.task,
                            .values = fov_trainer_weights(trainer),
                            .cases = training.task.env->spec.cases,
                            .rollouts = 1,
                            .threads = shared->threads,
                            .wrong = shared->wrong[rank],
                            .ranks = ranks};
  status = fov_evaluate(&shared->result[rank], &request, fov_trainer_workspace(trainer));
  forked_check(status == FOV_OK, "%s", fov_error_message());
  copy_state(shared, rank, state, false);
  fov_trainer_destroy(trainer);
}

static Shared *create_shared(const Toy *toy, int threads, int updates) {
  size_t blocks = (size_t)MOST_RANKS * 4 * toy->experiment.agent.params.size;
  Shared *shared = forked_memory(sizeof *shared + blocks * sizeof(real));
  *shared = (Shared){.toy = toy, .threads = threads, .updates = updates};
  return shared;
}

/** Fails the test unless a rank ended as another one of another job did, bit for bit. */
static void assert_same_rank(Shared *a, int rank_a, Shared *b, int rank_b) {
  assert_int_equal(a->status[rank_a], b->status[rank_b]);
  assert_memory_equal(block_of(a, rank_a, 0), block_of(b, rank_b, 0),
                      4 * size_of(a) * sizeof(real));
  assert_memory_equal(&a->state[rank_a], &b->state[rank_b], sizeof *a->state);
  assert_memory_equal(&a->result[rank_a], &b->result[rank_b], sizeof *a->result);
  assert_memory_equal(a->wrong[rank_a], b->wrong[rank_b], CASES);
}

static const int counts[] = {2, 3, 4, 7, 9};

enum { COUNTS = sizeof counts / sizeof *counts, UPDATES = 3 };

static void check_ranks(const char *settings) {
  Toy toy;
  char more[512];
  snprintf(more, sizeof more, "env.cases = 999\n%s", settings);
  toy_create(&toy, more);
  Shared *alone = create_shared(&toy, 1, UPDATES);
  forked_run(1, train, alone);
  for (int i = 0; i < COUNTS; i++) {
    Shared *together = create_shared(&toy, 1 + i % 2, UPDATES);
    forked_run(counts[i], train, together);
    for (int rank = 0; rank < counts[i]; rank++) assert_same_rank(alone, 0, together, rank);
  }
  toy_finish(&toy);
}

static void test_ranks_do_not_change_a_bit(void **state) {
  (void)state;
  check_ranks(TOY_MANY);
  check_ranks(TOY_MANY "train.shard = 24\ntrain.clip = 1e-3\n");
  check_ranks(TOY_MANY "train.shard = 8\ntrain.average = 0\n");
  check_ranks(TOY_MANY "objective = marginal\nbaseline = none\npolicy = tiles\npolicy.side = 2\n"
                       "glimpses = 2\ntrain.copies = 4\n");
  check_ranks("train.batch = 90\ntrain.shard = 8\n"); // fewer chunks than ranks
}

static void test_ranks_do_not_change_a_step_of_whole_parameters(void **state) {
  (void)state;
  check_ranks(TOY_MANY
              "train.shard = 24\noptimiser = muon\nencoder.width = 40\nglimpse.width = 48\n");
  check_ranks(TOY_MANY "optimiser = muon\ntrain.clip = 1e-3\n");
}

static void test_ranks_without_a_shard_idle(void **state) {
  (void)state;
  check_ranks(TOY_MANY "train.shard = 256\n");
  check_ranks("train.batch = 100\noptimiser = muon\n");
}

static void test_a_training_continues_on_another_number_of_ranks(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_MANY "train.shard = 24\n");
  Shared *alone = create_shared(&toy, 1, COUNTS), *together = create_shared(&toy, 2, 1);
  forked_run(1, train, alone);
  for (int i = 0; i < COUNTS; i++) {
    forked_run(counts[COUNTS - 1 - i], train, together);
    together->update = together->state[0].update;
  }
  assert_same_rank(alone, 0, together, 0);
  toy_finish(&toy);
}

/** All ranks refuse the same update, name the same parameter and keep their state. */
static void test_all_ranks_find_the_gradient_that_is_not_finite(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_MANY TOY_DESCENT "train.shard = 24\ntrain.clip = 0\n");
  toy.training.options.rate = sizeof(real) == sizeof(double) ? 1e200 : 1e30;
  Shared *alone = create_shared(&toy, 1, UPDATES), *together = create_shared(&toy, 1, UPDATES);
  forked_run(1, train, alone);
  forked_run(3, train, together);
  assert_int_equal(alone->status[0], FOV_ERR_NUMBER);
  assert_non_null(strstr(alone->message[0], "the gradient of "));
  for (int rank = 0; rank < 3; rank++) {
    assert_int_equal(together->status[rank], FOV_ERR_NUMBER);
    assert_string_equal(together->message[rank], alone->message[0]);
    assert_int_equal(together->state[rank].update, alone->state[0].update);
  }
  toy_finish(&toy);
}

/** k partials of its shards to the others' ranges, and its range of the new values to all. */
static void test_a_rank_sends_its_partials_and_its_values(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.batch = 128\ntrain.shard = 16\ncore.width = 512\n");
  size_t size = toy.experiment.agent.params.size, chunks = (size + FOV_CHUNK - 1) / FOV_CHUNK;
  Shared *shared = create_shared(&toy, 1, 1);
  forked_run(4, train, shared); // each sums a whole subtree: one partial
  for (int rank = 0; rank < 4; rank++) {
    size_t first = chunks * (size_t)rank / 4 * FOV_CHUNK, end = chunks * (size_t)(rank + 1) / 4;
    size_t own = (rank < 3 ? end * FOV_CHUNK : size) - first, small = 3 * 2 * sizeof(FovSums);
    size_t squares = 3 * (end - chunks * (size_t)rank / 4) * sizeof(double);
    assert_int_equal(shared->sent[rank], (size - own + 3 * own) * sizeof(real) + small + squares);
  }
  forked_run(1, train, shared);
  assert_int_equal(shared->sent[0], 0);
  toy_finish(&toy);
}

/** A training of so many shards on so many ranks. */
static FovDivision divide(Toy *toy, FovRanks *ranks, int shards, int count) {
  FovDivision division;
  *ranks = (FovRanks){.count = count};
  toy->training.ranks = ranks;
  toy->training.options.batch = shards;
  toy->training.options.shard = 1;
  fov_train_divide(&division, &toy->training);
  toy->training.ranks = NULL;
  return division;
}

static void check_partials(const FovDivision *division, int shards, int count) {
  for (int r = 0, log = 1; r < count; r++) {
    int own = (int)(division->shards[r + 1] - division->shards[r]), partials = 0;
    for (size_t s = division->shards[r]; s < division->shards[r + 1]; s++)
      partials += fov_train_is_partial(division, s, (size_t)shards);
    while (1 << log <= own) log++;
    assert_true(own == 0 ? partials == 0 : partials >= 1 && partials <= 2 * log);
    if (shards % count == 0 && (own & (own - 1)) == 0) assert_int_equal(partials, 1);
  }
}

static void test_a_rank_has_few_partials(void **state) {
  (void)state;
  Toy toy;
  FovRanks ranks;
  toy_create(&toy, "");
  for (int shards = 1; shards <= 64; shards++)
    for (int count = 1; count <= 20; count++) {
      FovDivision division = divide(&toy, &ranks, shards, count);
      check_partials(&division, shards, count);
    }
  // 0 + 1, 2 on the first rank; 3, (4 + 5) + 6 on the second, which has the rest of the tree.
  FovDivision division = divide(&toy, &ranks, 7, 2);
  for (size_t s = 0; s < 7; s++)
    assert_int_equal(fov_train_is_partial(&division, s, 7), s == 0 || (s >= 2 && s <= 4));
  toy_finish(&toy);
}

/** Ranks that fail in turn. */
static void agree(FovRanks *ranks, void *context) {
  (void)context;
  forked_check(fov_ranks_agree(ranks, FOV_OK) == FOV_OK, "a failure of none");
  FovStatus status = ranks->rank == 1 ? fov_fail(FOV_ERR_IO, "a: cannot read") : FOV_OK;
  if (ranks->rank == 2) status = fov_fail(FOV_ERR_MEMORY, "b: too large");
  forked_check(!fov_ranks_agreed(ranks, FOV_ERR_IO), "rank %d", ranks->rank);
  status = fov_ranks_agree(ranks, status);
  forked_check(status == FOV_ERR_IO && fov_ranks_agreed(ranks, status), "status %d", status);
  forked_check(!strcmp(fov_error_message(), "a: cannot read (rank 1 on host1)"), "%s",
               fov_error_message());
  status = fov_ranks_agree(ranks, fov_fail(FOV_ERR_USAGE, "all alike"));
  forked_check(!strcmp(fov_error_message(), "all alike"), "%s", fov_error_message());
  forked_check(fov_ranks_any(ranks, ranks->rank == 2) && !fov_ranks_any(ranks, false), "any");
}

static void test_ranks_agree_on_the_first_failure(void **state) {
  (void)state;
  forked_run(3, agree, NULL);
}

/** Ranks of one host that may use the same processors share them. */
static void share_processors(FovRanks *ranks, void *context) {
  (void)context;
  int alone = fov_ranks_default_threads(NULL);
  forked_check(fov_ranks_default_threads(ranks) == alone, "other hosts have other processors");
  snprintf(ranks->host, sizeof ranks->host, "host");
  int expected = alone > 3 ? alone / 3 : 1;
  forked_check(fov_ranks_default_threads(ranks) == expected, "expected %d threads", expected);
}

static void test_ranks_of_one_host_share_its_processors(void **state) {
  (void)state;
  forked_run(3, share_processors, NULL);
}

static void test_a_launcher_is_found_by_its_variables(void **state) {
  (void)state;
  int rank;
  unsetenv("OMPI_COMM_WORLD_SIZE"), unsetenv("PMI_SIZE"), unsetenv("PMIX_RANK");
  setenv("SLURM_STEP_NUM_TASKS", "4", 1); // srun without MPI
  assert_int_equal(fov_ranks_launched(&rank), 0);
  setenv("PMIX_RANK", "3", 1);
  assert_int_equal(fov_ranks_launched(&rank), 4);
  assert_int_equal(rank, 3);
  unsetenv("PMIX_RANK"), unsetenv("SLURM_STEP_NUM_TASKS");
  setenv("PMI_SIZE", "2", 1), setenv("PMI_RANK", "1", 1);
  assert_int_equal(fov_ranks_launched(&rank), 2);
  assert_int_equal(rank, 1);
  unsetenv("PMI_SIZE"), unsetenv("PMI_RANK");
}

/** Otherwise each of the processes would train in the same run directory. */
static void test_a_build_without_mpi_refuses_to_be_one_of_several(void **state) {
  (void)state;
  FovRanks ranks;
  if (fov_ranks_supported) return;
  assert_int_equal(fov_ranks_start(&ranks), FOV_OK);
  assert_int_equal(ranks.count, 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1), setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  assert_int_equal(fov_ranks_start(&ranks), FOV_ERR_USAGE);
  assert_string_equal(fov_error_message(),
                      "started as 2 processes, but this fovea was built without MPI: build it with "
                      "meson setup -Dmpi=enabled, or start one");
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  assert_int_equal(fov_ranks_start(&ranks), FOV_OK);
  unsetenv("OMPI_COMM_WORLD_SIZE"), unsetenv("OMPI_COMM_WORLD_RANK");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks_do_not_change_a_bit),
      cmocka_unit_test(test_ranks_do_not_change_a_step_of_whole_parameters),
      cmocka_unit_test(test_ranks_without_a_shard_idle),
      cmocka_unit_test(test_a_training_continues_on_another_number_of_ranks),
      cmocka_unit_test(test_all_ranks_find_the_gradient_that_is_not_finite),
      cmocka_unit_test(test_a_rank_sends_its_partials_and_its_values),
      cmocka_unit_test(test_a_rank_has_few_partials),
      cmocka_unit_test(test_ranks_agree_on_the_first_failure),
      cmocka_unit_test(test_ranks_of_one_host_share_its_processors),
      cmocka_unit_test(test_a_launcher_is_found_by_its_variables),
      cmocka_unit_test(test_a_build_without_mpi_refuses_to_be_one_of_several),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
