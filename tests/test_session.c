/** A training of a few updates and the agent that it leaves, without the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "experiment/session.h"
#include "experiment/trained.h"
#include "record/safetensors.h"
#include "tests/folder.h"

static const char experiment[] = "env = catch\n"
                                 "encoder.width = 8\n"
                                 "glimpse.where = 4\n"
                                 "glimpse.width = 8\n"
                                 "core.width = 8\n"
                                 "train.episodes = 128\n"
                                 "train.batch = 64\n"
                                 "eval.times = 1\n"
                                 "eval.cases = 4\n"
                                 "eval.episodes = 1\n";

static char run[300]; /**< a run directory in the test's folder */

static int enter(void **state) {
  (void)state;
  if (make_folder("experiment") != 0) return -1;
  snprintf(run, sizeof run, "%s/run", folder);
  return fov_file_write(path, experiment, strlen(experiment));
}

/* ---- opened files, counted by the linker's --wrap ---- */

static int openings;
static bool replace; /**< a file by another one, as soon as it is open */

FovStatus __real_fov_safetensors_open(FovSafetensors **file, const char *name);
FovStatus __wrap_fov_safetensors_open(FovSafetensors **file, const char *name);

FovStatus __wrap_fov_safetensors_open(FovSafetensors **file, const char *name) {
  openings++;
  FOV_TRY(__real_fov_safetensors_open(file, name));
  return replace ? fov_file_write(name, "another file", 12) : FOV_OK;
}

/* ---- a training ---- */

/** Prepares and opens a training in `run`, and runs it if `train`. */
static FovStatus begin(const FovTrainRequest *request, bool train) {
  FovSession session;
  FovStatus status = fov_session_prepare(&session, request);
  if (status == FOV_OK) status = fov_session_open(&session);
  if (status == FOV_OK && train) status = fov_session_train(&session);
  fov_session_finish(&session);
  return status;
}

static const volatile sig_atomic_t never;

static FovTrainRequest request(void) {
  return (FovTrainRequest){
      .file = path, .dir = run, .threads = 1, .command = "test", .interrupted = &never};
}

static void train(void) {
  FovTrainRequest what = request();
  assert_int_equal(begin(&what, true), FOV_OK);
}

static void test_a_resumed_training_reads_one_file(void **state) {
  (void)state;
  train();
  FovTrainRequest what = request();
  what.resume = true;
  openings = 0;
  replace = true;
  FovStatus status = begin(&what, false);
  replace = false;
  assert_int_equal(status, FOV_OK);
  assert_int_equal(openings, 1);
}

/* ---- a trained agent ---- */

static void test_a_trained_agent_is_of_one_file(void **state) {
  (void)state;
  train();
  FovTrained trained;
  openings = 0;
  replace = true;
  FovStatus status = fov_trained_load(&trained, run, NULL, 0, FOV_SPLIT_TEST);
  replace = false;
  assert_int_equal(status, FOV_OK);
  assert_int_equal(openings, 1);
  assert_int_equal(trained.update, 2);
  assert_true(trained.checked);
  fov_trained_finish(&trained);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_resumed_training_reads_one_file),
      TEST(test_a_trained_agent_is_of_one_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
