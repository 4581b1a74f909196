/** A training on several ranks, from its settings to its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "base/file.h"
#include "experiment/session.h"
#include "forked.h"
#include "tests/folder.h"

static const char experiment[] = "env = catch\n"
                                 "encoder.width = 8\n"
                                 "glimpse.where = 4\n"
                                 "glimpse.width = 8\n"
                                 "core.width = 24\n"
                                 "train.episodes = 384\n"
                                 "train.batch = 64\n"
                                 "train.shard = 12\n"
                                 "eval.times = 2\n"
                                 "eval.cases = 300\n"
                                 "eval.episodes = 1\n";

enum { MOST_RANKS = 7, LINE = 1200, CHANGES = 2 };

/** What the ranks are to do, and what became of it. */
typedef struct Job {
  bool resume, alone_knows; /**< only rank 0 has the experiment file */
  char run[300];
  const char *changes[CHANGES], *odd; /**< of all ranks; of rank 1 */
  int interrupt_rank;                 /**< at update 3; −1: none */
  bool blocks;                        /**< progress.csv cannot be written */
  FovStatus status[MOST_RANKS];
  char message[MOST_RANKS][LINE], note[LINE];
} Job;

static int enter(void **state) {
  (void)state;
  if (make_folder("experiment") != 0) return -1;
  return fov_file_write(path, experiment, strlen(experiment));
}

static Job *create_job(const char *name) {
  Job *job = forked_memory(sizeof *job);
  job->interrupt_rank = -1;
  snprintf(job->run, sizeof job->run, "%s/%s", folder, name);
  return job;
}

/* ---- a rank ---- */

/** The state of this process. */
static struct {
  Job *job;
  int rank;
  volatile sig_atomic_t interrupted;
} mine;

static void take_report(void *context, const FovReport *report) {
  (void)context;
  char name[LINE];
  if (report->kind == FOV_REPORT_NOTE) {
    snprintf(mine.job->note, LINE, "%s", report->note);
    return;
  }
  if (report->kind != FOV_REPORT_UPDATED) return;
  if (report->update == 3 && mine.rank == mine.job->interrupt_rank) mine.interrupted = 1;
  snprintf(name, sizeof name, "%s/" FOV_RUN_PROGRESS, mine.job->run);
  if (mine.rank == 0 && mine.job->blocks) mkdir(name, 0700);
}

/** Ranks other than 0 do not need the run's folder: they would fail to create this one. */
static void be_rank(FovRanks *ranks, void *context) {
  Job *job = context;
  const char *changes[CHANGES + 1];
  FovTrainRequest request = {.file = path,
                             .dir = ranks->rank == 0 ? job->run : "/dev/null/run",
                             .changes = changes,
                             .resume = job->resume,
                             .threads = ranks->rank == 1 ? 2 : 1,
                             .command = "test",
                             .interrupted = &mine.interrupted,
                             .ranks = ranks,
                             .reporter = {take_report, NULL}};
  mine.job = job;
  mine.rank = ranks->rank;
  for (int i = 0; i < CHANGES && job->changes[i]; i++)
    changes[request.change_count++] = job->changes[i];
  if (job->odd && ranks->rank == 1) changes[request.change_count++] = job->odd;
  if (job->alone_knows) request.file = ranks->rank == 0 ? path : "/dev/null/experiment";
  if (job->resume) request.file = NULL;
  job->status[ranks->rank] = fov_session_run(&request);
  forked_check(fov_ranks_agreed(ranks, job->status[ranks->rank]), "they have not agreed");
  if (job->status[ranks->rank] != FOV_OK)
    snprintf(job->message[ranks->rank], LINE, "%s", fov_error_message());
}

/** Runs a job, whose ranks must all end with this status. */
static void run(Job *job, int ranks, FovStatus status) {
  forked_run(ranks, be_rank, job);
  for (int r = 0; r < ranks; r++)
    if (job->status[r] != status)
      fail_msg("rank %d of %d ended with %d: %s", r, ranks, job->status[r], job->message[r]);
}

static void assert_same_file(const Job *a, const Job *b, const char *name) {
  char *bytes[2], file[400];
  size_t size[2];
  const Job *jobs[] = {a, b};
  for (int i = 0; i < 2; i++) {
    snprintf(file, sizeof file, "%s/%s", jobs[i]->run, name);
    assert_int_equal(fov_file_read(&bytes[i], &size[i], file, 1 << 24), FOV_OK);
  }
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(bytes[0], bytes[1], size[0]);
  free(bytes[0]), free(bytes[1]);
}

static void assert_same_run(const Job *a, const Job *b) {
  assert_same_file(a, b, FOV_RUN_LAST);
  assert_same_file(a, b, FOV_RUN_BEST);
  assert_same_file(a, b, FOV_RUN_TRACE);
  assert_same_file(a, b, FOV_RUN_CONFIG);
}

/** A whole training on one rank; first, second: settings, or NULL. */
static Job *train_alone(const char *first, const char *second) {
  Job *alone = create_job("alone");
  alone->changes[0] = first;
  alone->changes[1] = second;
  run(alone, 1, FOV_OK);
  return alone;
}

static void test_any_number_of_ranks_leaves_the_same_files(void **state) {
  (void)state;
  static const int counts[] = {2, 3, 7};
  Job *alone = train_alone(NULL, NULL);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char name[16];
    snprintf(name, sizeof name, "ranks-%d", counts[i]);
    Job *together = create_job(name);
    run(together, counts[i], FOV_OK);
    assert_same_run(alone, together);
  }
}

/** The signal reaches one rank only, which is not the one that writes. Whether an evaluation after
 * that is the best one, on which train.patience depends, is the same on all ranks. */
static void test_an_interrupt_of_one_rank_saves_and_resumes_with_other_ranks(void **state) {
  (void)state;
  const char *times = "eval.times=6", *patience = "train.patience=2";
  Job *alone = train_alone(times, patience), *together = create_job("interrupted");
  together->changes[0] = times;
  together->changes[1] = patience;
  together->interrupt_rank = 2;
  run(together, 4, FOV_ERR_INTERRUPT);
  assert_non_null(strstr(together->message[0], "interrupted and saved"));
  together->interrupt_rank = -1;
  together->resume = true;
  together->changes[0] = NULL;
  run(together, 3, FOV_OK);
  assert_same_run(alone, together);
}

/** Its last updates are evaluated, although no evaluation is due there. */
static void test_a_run_that_is_shortened_to_its_length_is_evaluated(void **state) {
  (void)state;
  char best[400];
  Job *job = create_job("shortened");
  job->changes[0] = "eval.times=1";
  job->interrupt_rank = 0;
  run(job, 2, FOV_ERR_INTERRUPT);
  snprintf(best, sizeof best, "%s/" FOV_RUN_BEST, job->run);
  assert_false(fov_file_exists(best));
  job->interrupt_rank = -1;
  job->resume = true;
  job->changes[0] = "train.episodes=192"; // three batches
  run(job, 2, FOV_OK);
  assert_true(fov_file_exists(best));
}

static void test_ranks_start_from_the_weights_that_rank_0_reads(void **state) {
  (void)state;
  char init[400];
  Job *source = create_job("source"), *alone = create_job("alone"), *together = create_job("other");
  source->changes[0] = "seed=5";
  run(source, 2, FOV_OK);
  snprintf(init, sizeof init, "train.init=%s", source->run);
  alone->changes[0] = together->changes[0] = init;
  alone->changes[1] = together->changes[1] = "train.patience=1";
  run(alone, 1, FOV_OK);
  run(together, 3, FOV_OK);
  assert_same_run(alone, together);
}

static void test_ranks_with_other_settings_are_refused(void **state) {
  (void)state;
  Job *job = create_job("odd");
  job->odd = "core.width=25";
  run(job, 3, FOV_ERR_USAGE);
  for (int r = 0; r < 3; r++)
    assert_string_equal(job->message[r],
                        "a rank was started with 'core.width = 25', rank 0 with 'core.width = 24'; "
                        "start all of them with the same settings (rank 1 on host1)");
  assert_false(fov_file_exists(job->run));
}

static void test_a_failure_of_one_rank_is_that_of_all(void **state) {
  (void)state;
  Job *job = create_job("blind");
  job->alone_knows = true;
  run(job, 3, FOV_ERR_IO);
  for (int r = 0; r < 3; r++) {
    assert_non_null(strstr(job->message[r], "/dev/null/experiment: "));
    assert_non_null(strstr(job->message[r], " (rank 1 on host1)"));
  }
}

static void test_a_file_that_cannot_be_written_ends_all_ranks(void **state) {
  (void)state;
  Job *job = create_job("blocked");
  job->blocks = true;
  run(job, 3, FOV_ERR_IO);
  for (int r = 0; r < 3; r++) assert_non_null(strstr(job->message[r], FOV_RUN_PROGRESS));
}

static void test_ranks_without_a_shard_are_reported(void **state) {
  (void)state;
  Job *job = create_job("idle");
  job->changes[0] = "train.shard=64";
  job->changes[1] = "train.episodes=64";
  run(job, 3, FOV_OK);
  assert_string_equal(job->note,
                      "3 threads on 3 ranks, but a batch of 64 in shards of 64 occupies 1: "
                      "set train.shard = 22 to use all");
  job->resume = true;
  job->changes[0] = NULL;
  run(job, 3, FOV_OK);
  assert_string_equal(job->note,
                      "3 threads on 3 ranks, but a batch of 64 in shards of 64 occupies 1: "
                      "start at most 1 rank");
  job = create_job("few");
  job->changes[0] = "train.batch=2";
  job->changes[1] = "train.shard=1";
  run(job, 3, FOV_OK);
  assert_string_equal(job->note,
                      "3 threads on 3 ranks, but a batch of 2 in shards of 1 occupies 2: "
                      "set a larger train.batch");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)
  const struct CMUnitTest tests[] = {
      TEST(test_any_number_of_ranks_leaves_the_same_files),
      TEST(test_an_interrupt_of_one_rank_saves_and_resumes_with_other_ranks),
      TEST(test_a_run_that_is_shortened_to_its_length_is_evaluated),
      TEST(test_ranks_start_from_the_weights_that_rank_0_reads),
      TEST(test_ranks_with_other_settings_are_refused),
      TEST(test_a_failure_of_one_rank_is_that_of_all),
      TEST(test_a_file_that_cannot_be_written_ends_all_ranks),
      TEST(test_ranks_without_a_shard_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
