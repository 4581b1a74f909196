/** A training of a few updates and the agent that it leaves, without the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "experiment/session.h"
#include "experiment/trained.h"
#include "record/progress.h"
#include "record/run.h"
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

static const char *counted; /**< whose openings are counted */
static int openings;
static bool replace; /**< a file by another one, as soon as it is open */

FovStatus __real_fov_safetensors_open(FovSafetensors **file, const char *name);
FovStatus __wrap_fov_safetensors_open(FovSafetensors **file, const char *name);

FovStatus __wrap_fov_safetensors_open(FovSafetensors **file, const char *name) {
  openings += counted && fov_has_ending(name, counted);
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

static FovTrainRequest request(void) {
  return (FovTrainRequest){.file = path, .dir = run, .threads = 1, .command = "test"};
}

/** Trains with one setting changed, or none. */
static void train(const char *change) {
  FovTrainRequest what = request();
  what.changes = &change;
  what.change_count = change != NULL;
  assert_int_equal(begin(&what, true), FOV_OK);
}

static void test_an_interrupted_training_is_saved(void **state) {
  (void)state;
  const volatile sig_atomic_t now = 1;
  FovTrainRequest what = request();
  what.interrupted = &now;
  assert_int_equal(begin(&what, true), FOV_ERR_INTERRUPT);
  what.interrupted = NULL;
  what.resume = true;
  assert_int_equal(begin(&what, true), FOV_OK);
}

static void test_a_resumed_training_reads_its_checkpoint_once(void **state) {
  (void)state;
  train(NULL);
  FovTrainRequest what = request();
  what.resume = true;
  openings = 0;
  counted = FOV_RUN_LAST;
  replace = true;
  FovStatus status = begin(&what, false);
  replace = false;
  assert_int_equal(status, FOV_OK);
  assert_int_equal(openings, 1);
}

/** There is at most one evaluation after an update, whatever eval.times asks for. */
static void test_patience_counts_evaluations_that_were_made(void **state) {
  (void)state;
  const char *changes[] = {"train.patience=3", "eval.times=400", "train.episodes=640",
                           "train.rate=1e-9", "train.average=0"};
  FovTrainRequest what = request();
  FovProgress *rows;
  size_t count;
  char progress[400];
  snprintf(progress, sizeof progress, "%s/" FOV_RUN_PROGRESS, run);
  what.changes = changes;
  what.change_count = sizeof changes / sizeof *changes;
  assert_int_equal(begin(&what, true), FOV_OK);
  assert_int_equal(fov_progress_read(&rows, &count, progress), FOV_OK);
  free(rows);
  assert_int_equal(count, 1 + 3);
}

/* ---- a trained agent ---- */

static void test_a_trained_agent_is_of_one_file(void **state) {
  (void)state;
  train(NULL);
  FovTrained trained;
  openings = 0;
  counted = FOV_RUN_BEST;
  replace = true;
  FovStatus status = fov_trained_load(&trained, run, NULL, 0, FOV_SPLIT_TEST);
  replace = false;
  assert_int_equal(status, FOV_OK);
  assert_int_equal(openings, 1);
  assert_int_equal(trained.update, 2);
  assert_true(trained.checked);
  fov_trained_finish(&trained);
}

/** Loads the agent of the run with one setting changed, or none. */
static FovStatus load(const char *change) {
  FovTrained trained;
  FovStatus status = fov_trained_load(&trained, run, &change, change != NULL, FOV_SPLIT_TEST);
  fov_trained_finish(&trained);
  return status;
}

/** Rewrites the best checkpoint of the run with one more array, or with a digit of a setting
 * replaced by a letter. */
static void rewrite(const char *array, const char *setting) {
  static const char *const keys[] = {"config", "data", "format", "weights"};
  enum { MAX = 64, TEXTS = sizeof keys / sizeof *keys };
  FovBlob blobs[MAX];
  FovText texts[TEXTS];
  float zero = 0;
  FovSafetensors *file;
  char best[400];
  snprintf(best, sizeof best, "%s/" FOV_RUN_BEST, run);
  assert_int_equal(fov_safetensors_open(&file, best), FOV_OK);
  size_t count = fov_safetensors_count(file);
  assert_in_range(count, 1, MAX - 1);
  for (size_t i = 0; i < count; i++) blobs[i] = *fov_safetensors_at(file, i);
  for (int i = 0; i < TEXTS; i++)
    texts[i] = (FovText){keys[i], fov_safetensors_text(file, keys[i])};
  char *config = strdup(texts[0].value), *at = setting ? strstr(config, setting) : NULL;
  texts[0].value = config;
  if (setting) at[strlen(setting)] = 'x';
  if (array) {
    blobs[count] = (FovBlob){.dtype = FOV_DTYPE_F32, .dims = 2, .shape = {1, 1}, .data = &zero};
    snprintf(blobs[count++].name, FOV_BLOB_NAME, "%s", array);
  }
  assert_int_equal(fov_safetensors_write(best, blobs, count, texts, TEXTS), FOV_OK);
  free(config);
  fov_safetensors_close(file);
}

static void add_array(const char *name) {
  rewrite(name, NULL);
}

/** Loads it with settings changed that do not fit its weights: the message ends with `part`. */
static void assert_does_not_fit(const char *const *changes, int count, const char *part) {
  FovTrained trained;
  assert_int_not_equal(fov_trained_load(&trained, run, changes, count, FOV_SPLIT_TEST), FOV_OK);
  fov_trained_finish(&trained);
  const char *message = fov_error_message(), *end = message + strlen(message) - strlen(part);
  if (end < message || strcmp(end, part) != 0)
    fail_msg("'%s' does not end with '%s'", message, part);
}

static void test_settings_that_do_not_fit_are_named(void **state) {
  (void)state;
  const char *several[] = {"env.speed=1", "core.width=9", "eval.seed=3", "policy=random"};
  const char *env[] = {"eval.seed=3", "env.size=30"};
  train("sensor.whole=yes");
  assert_does_not_fit((const char *[]){"core.width=9"}, 1,
                      "has shape [8, 8], expected [9, 8]; the likely cause is on the command line: "
                      "core.width=9");
  assert_does_not_fit(several, 4, "command line: core.width=9 policy=random");
  assert_does_not_fit((const char *[]){"core=none"}, 1,
                      "do not use; the likely cause is on the command line: core=none");
  assert_does_not_fit((const char *[]){"policy=relative"}, 1,
                      "has no 'step.w'; the likely cause is on the command line: policy=relative");
  // What the agent sees whole may have another size.
  assert_does_not_fit(env, 2, "command line: env.size=30");
  add_array("memory.w");
  assert_does_not_fit(NULL, 0, "'memory.w', which these settings do not use");
}

/** Also a setting of the replaced policy: the names of its weights depend on it. */
static void test_a_wrong_setting_of_a_checkpoint_is_the_cause(void **state) {
  (void)state;
  train("policy=tiles");
  rewrite(NULL, "policy.side = ");
  assert_does_not_fit((const char *[]){"policy=random"}, 1, "expected an integer from 2 to 64");
}

/** Before heads were plug-ins, every agent had that of a location and that of a baseline. */
static void test_old_agents_have_heads_that_they_do_not_use(void **state) {
  (void)state;
  train("policy=random");
  add_array("location.w");
  assert_int_equal(load(NULL), FOV_OK);
}

static void test_only_weights_of_heads_may_be_unused(void **state) {
  (void)state;
  train("policy=relative"); // with weights that no older version had
  assert_int_equal(load("policy=random"), FOV_OK);
  assert_int_equal(load("stop=confident"), FOV_OK);
  assert_int_equal(load("policy=tiles"), FOV_ERR_FORMAT);
  assert_message("has no 'location.w'");
  assert_int_equal(load("baseline=none"), FOV_OK);
  assert_int_equal(load("core=none"), FOV_ERR_USAGE);
  assert_message("trained with 'core.w', which these settings do not use");
  add_array("average.core.w"); // is not read from a file of weights
  assert_int_equal(load(NULL), FOV_OK);
  add_array("memory.w");
  assert_int_equal(load(NULL), FOV_ERR_USAGE);
  assert_message(run);
  assert_message("trained with 'memory.w', which these settings do not use");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_an_interrupted_training_is_saved),
      TEST(test_a_resumed_training_reads_its_checkpoint_once),
      TEST(test_patience_counts_evaluations_that_were_made),
      TEST(test_a_trained_agent_is_of_one_file),
      TEST(test_settings_that_do_not_fit_are_named),
      TEST(test_a_wrong_setting_of_a_checkpoint_is_the_cause),
      TEST(test_old_agents_have_heads_that_they_do_not_use),
      TEST(test_only_weights_of_heads_may_be_unused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
