/** Checkpoints, recorded episodes and run directories of a toy training (tests/toy.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/gemm.h"
#include "check.h"
#include "record/checkpoint.h"
#include "record/recorder.h"
#include "record/run.h"
#include "toy.h"

static char folder[256], path[512];

static int enter(void **state) {
  (void)state;
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/fovea-record-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/last.safetensors", folder);
  return 0;
}

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *place) {
  (void)status, (void)type, (void)place;
  return remove(name);
}

static int leave(void **state) {
  (void)state;
  return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- checkpoints ---- */

static const FovBest best = {.error = 0.25, .update = 2};

static void save(const Toy *toy, FovTrainer *trainer) {
  assert_int_equal(fov_checkpoint_save(path, &toy->experiment.agent.params,
                                       fov_trainer_state(trainer), &best, "core = rnn\n"),
                   FOV_OK);
}

static FovStatus load(const Toy *toy, FovTrainer *trainer, FovBest *loaded) {
  return fov_checkpoint_load(fov_trainer_state(trainer), loaded, &toy->experiment.agent.params,
                             path);
}

/** A training that stops and goes on is, bit for bit, one that never stopped. */
static void test_a_resumed_training_is_the_same_training(void **state) {
  (void)state;
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    Toy toy;
    char settings[128];
    snprintf(settings, sizeof settings, "optimiser = %s\nbaseline = average\ntrain.batch = 100\n",
             (*o)->plugin.name);
    toy_create(&toy, settings);
    FovTrainer *whole = toy_trainer(&toy, 1), *begun = toy_trainer(&toy, 1);
    toy_train(whole, 7);
    toy_train(begun, 3);
    save(&toy, begun);
    fov_trainer_destroy(begun);
    FovTrainer *resumed = toy_trainer(&toy, 2);
    FovBest loaded;
    assert_int_equal(load(&toy, resumed, &loaded), FOV_OK);
    assert_true(loaded.error == best.error && loaded.update == best.update);
    toy_train(resumed, 4);
    assert_same_state(&toy, whole, resumed);
    fov_trainer_destroy(whole), fov_trainer_destroy(resumed);
    toy_finish(&toy);
  }
}

static void test_the_same_training_is_the_same_bytes(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.batch = 200\n");
  char *bytes[2];
  size_t sizes[2];
  for (int i = 0; i < 2; i++) {
    FovTrainer *trainer = toy_trainer(&toy, 1 + 2 * i);
    toy_train(trainer, 3);
    save(&toy, trainer);
    assert_int_equal(fov_file_read(&bytes[i], &sizes[i], path, 1 << 24), FOV_OK);
    fov_trainer_destroy(trainer);
  }
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(bytes[0], bytes[1], sizes[0]);
  free(bytes[0]), free(bytes[1]);
  toy_finish(&toy);
}

static void test_weights_and_configuration_alone(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovParams *params = &toy.experiment.agent.params;
  const FovTrainerState *s = fov_trainer_state(trainer);
  toy_train(trainer, 3);
  save(&toy, trainer);
  real *values = fov_params_block(params);
  int64_t update = 0;
  assert_int_equal(fov_checkpoint_load_weights(values, &update, params, false, path), FOV_OK);
  assert_memory_equal(values, s->value, toy_block_bytes(&toy));
  assert_int_equal(update, 3);
  assert_int_equal(fov_checkpoint_load_weights(values, &update, params, true, path), FOV_OK);
  assert_memory_equal(values, s->average, toy_block_bytes(&toy));
  assert_memory_not_equal(values, s->value, toy_block_bytes(&toy));
  char *config;
  assert_int_equal(fov_checkpoint_config(&config, path), FOV_OK);
  assert_string_equal(config, "core = rnn\n");
  free(config), free(values);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_a_checkpoint_of_another_agent_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  save(&toy, trainer);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  const struct {
    const char *settings, *param;
  } others[] = {{"core.width = 13\n", "core.w"},
                {"core = lstm\n", "core.w"},
                {"glimpse.where = 9\n", "where.w"},
                {"sensor.side = 5\n", "what.w"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    FovBest loaded;
    toy_create(&toy, others[i].settings);
    trainer = toy_trainer(&toy, 1);
    assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
    assert_message(path);
    assert_message(others[i].param);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** Saves with one number of the state replaced, and expects the load to name where it stands. */
static void assert_refused(const Toy *toy, FovTrainer *trainer, real *number, real bad,
                           const char *name) {
  real kept = *number;
  FovBest loaded;
  *number = bad;
  save(toy, trainer);
  *number = kept;
  assert_int_equal(load(toy, trainer, &loaded), FOV_ERR_FORMAT);
  char message[128];
  snprintf(message, sizeof message, ": %s holds a number that is not finite", name);
  assert_message(path);
  assert_message(message);
}

static void test_numbers_that_are_not_finite_are_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  FovTrainerState *s = fov_trainer_state(trainer);
  const FovParams *params = &toy.experiment.agent.params;
  const FovParam *last = &params->list[params->count - 1];
  assert_string_equal(last->name, "baseline.bias");
  assert_refused(&toy, trainer, s->value, NAN, "what.w");
  assert_refused(&toy, trainer, s->value + last->offset, INFINITY, "baseline.bias");
  assert_refused(&toy, trainer, s->average + last->offset, NAN, "average.baseline.bias");
  assert_refused(&toy, trainer, s->first, -INFINITY, "first.what.w");
  assert_refused(&toy, trainer, s->second, NAN, "second.what.w");
  s->average_return = NAN;
  save(&toy, trainer);
  FovBest loaded;
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
  assert_message("state.average_return is not a number");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_a_state_that_cannot_be_is_refused(void **state) {
  (void)state;
  Toy toy;
  FovBest loaded;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  fov_trainer_state(trainer)->update = -1;
  save(&toy, trainer);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
  assert_message("state.update is -1");
  fov_trainer_state(trainer)->update = 2;
  fov_trainer_state(trainer)->sums.updates = 3;
  save(&toy, trainer);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
  assert_message("state.update is 2 with 3 updates to report");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_what_is_no_checkpoint_is_refused(void **state) {
  (void)state;
  char *config;
  Toy toy;
  FovBest loaded;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_IO);
  assert_message(path);
  assert_int_equal(fov_file_write(path, "0123456789", 10), FOV_OK);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
  assert_message(path);
  assert_int_equal(fov_checkpoint_config(&config, path), FOV_ERR_FORMAT);
  assert_message(path);
  snprintf(path, sizeof path, "%s/nowhere/last.safetensors", folder);
  assert_int_equal(fov_checkpoint_save(path, &toy.experiment.agent.params,
                                       fov_trainer_state(trainer), &best, ""),
                   FOV_ERR_IO);
  assert_message(path);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/* ---- recorder ---- */

/** Records episodes of a freshly initialised agent. */
static FovTrace record(const Toy *toy, int episodes, bool sampled, bool predict) {
  const FovParams *params = &toy->experiment.agent.params;
  real *values = fov_params_block(params);
  fov_params_init(values, params, 4);
  FovWorkspace workspace;
  FovTrace trace;
  assert_int_equal(fov_workspace_create(&workspace, 1), FOV_OK);
  const FovRecord what = {.task = &toy->task,
                          .values = values,
                          .update = 12,
                          .seed = 9,
                          .episodes = episodes,
                          .sampled = sampled,
                          .predict = predict};
  assert_int_equal(fov_record_trace(&trace, &what, &workspace), FOV_OK);
  fov_workspace_finish(&workspace);
  free(values);
  return trace;
}

/** Episode e, glimpse t: the retina holds what the sensor gives there, the answer is likeliest. */
static void check_step(const FovTrace *trace, const FovSensor *sensor, int e, int t) {
  size_t i = (size_t)e * (size_t)trace->glimpses + (size_t)t;
  int features = fov_sensor_features(sensor, 1), likeliest = 0;
  const float *l = trace->locations + 2 * i, *p = trace->probabilities + TOY_ACTIONS * i;
  const FovImage image = {.bytes = trace->images + (size_t)e * TOY_SIDE * TOY_SIDE,
                          .height = TOY_SIDE,
                          .width = TOY_SIDE,
                          .channels = 1};
  real glimpse[256];
  assert_in_range(features, 1, 256);
  fov_sensor_look(glimpse, sensor, &image, l[0], l[1]);
  for (int j = 0; j < features; j++)
    assert_int_equal(trace->retina[i * (size_t)features + (size_t)j], lround(255. * glimpse[j]));
  for (int a = 0; a < TOY_ACTIONS; a++) likeliest = p[a] > p[likeliest] ? a : likeliest;
  assert_near(p[0] + p[1] + p[2], 1, 1e-5, "probabilities of episode %d, glimpse %d", e, t);
  bool last = t == trace->glimpses - 1;
  if (last) assert_int_equal(trace->answers[e], likeliest);
  assert_true(trace->rewards[i] == (last && trace->answers[e] == trace->labels[e]));
}

static void test_a_trace_is_what_happened(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env.cases = 90\nsensor.scales = 2\n");
  toy_resets = 0;
  FovTrace trace = record(&toy, 70, false, true);
  assert_int_equal(trace.episodes, 70);
  assert_int_equal(trace.glimpses, 3);
  assert_int_equal(trace.update, 12);
  assert_int_equal(trace.side, 4);
  assert_int_equal(trace.scales, 2);
  assert_int_equal(toy_resets, 70);
  for (int e = 0; e < 70; e++) {
    // The image is the case's, with the clutter that the generator of the case draws.
    FovRng rng = fov_rng_stream(9, FOV_STREAM_ENV, (uint64_t)e);
    assert_int_equal(toy_log[e].index, e);
    assert_int_equal(trace.images[e * TOY_SIDE * TOY_SIDE], (uint8_t)fov_rng_u32(&rng));
    assert_int_equal(trace.labels[e], e % TOY_ACTIONS);
    for (int t = 0; t < 3; t++) check_step(&trace, &toy.experiment.sensor, e, t);
  }
  snprintf(path, sizeof path, "%s/trace.safetensors", folder);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  FovTrace read;
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_memory_equal(read.locations, trace.locations, 70 * 3 * 2 * sizeof(float));
  fov_trace_finish(&read);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** What stands for a choice in the trace: of the mean or a sample of it, or none. */
static void check_choices(const char *settings, bool sampled, bool predict, int first_choice) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrace trace = record(&toy, 8, sampled, predict);
  for (int i = 0; i < 8 * 3; i++) {
    bool chosen = i % 3 >= first_choice;
    assert_int_equal(isnan(trace.baselines[i]), !predict || i % 3 == 0);
    for (int j = 2 * i; j < 2 * i + 2; j++) {
      assert_int_equal(isnan(trace.means[j]), !chosen);
      assert_int_equal(isnan(trace.sigmas[j]), !chosen);
      assert_true(trace.locations[j] >= -1 && trace.locations[j] <= 1);
      if (!chosen) continue;
      // The policy's 4 of 20 pixels are 0.4 of the 2 units that the image is wide.
      assert_near(trace.sigmas[j], sampled ? 0.4 : 0, 1e-6, "sigma %d", j);
      assert_int_equal(trace.locations[j] == trace.means[j], !sampled);
    }
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_what_nobody_chose_is_nan(void **state) {
  (void)state;
  check_choices("", false, true, 1);
  check_choices("", true, false, 1);
  check_choices("policy = random\n", true, true, 3);
}

static void test_no_more_episodes_than_cases(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env.cases = 5\n");
  FovTrace trace = record(&toy, 1000, true, false);
  assert_int_equal(trace.episodes, 5);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/* ---- run directories ---- */

static char *read_file(const FovRun *run, const char *name) {
  char file[FOV_PATH_SIZE], *text;
  size_t size;
  assert_int_equal(fov_file_read(&text, &size, fov_run_path(file, run, name), 1 << 20), FOV_OK);
  assert_int_equal(strlen(text), size);
  return text;
}

static void write_file(const FovRun *run, const char *name) {
  char file[FOV_PATH_SIZE];
  assert_int_equal(fov_file_write(fov_run_path(file, run, name), "x", 1), FOV_OK);
}

/** A path inside the test's folder. */
static const char *inside(const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void test_a_fresh_run_makes_its_folders(void **state) {
  (void)state;
  FovRun run;
  for (int resume = 0; resume < 2; resume++) {
    assert_int_equal(fov_run_open(&run, inside(resume ? "a/b/d/" : "a/b/c"), resume), FOV_OK);
    assert_false(run.resumed);
    write_file(&run, FOV_RUN_CONFIG);
    fov_run_close(&run);
    fov_run_close(&run);
  }
}

static void test_a_run_goes_on_only_if_asked(void **state) {
  (void)state;
  FovRun run;
  assert_int_equal(fov_run_open(&run, inside("run"), false), FOV_OK);
  write_file(&run, FOV_RUN_CONFIG);
  fov_run_close(&run);
  // Without a checkpoint there is nothing to lose.
  assert_int_equal(fov_run_open(&run, path, false), FOV_OK);
  write_file(&run, FOV_RUN_LAST);
  fov_run_close(&run);
  assert_int_equal(fov_run_open(&run, path, false), FOV_ERR_USAGE);
  assert_message("there is a run already; add --resume");
  assert_message(path);
  assert_int_equal(run.log, -1);
  assert_int_equal(fov_run_open(&run, path, true), FOV_OK);
  assert_true(run.resumed);
  fov_run_close(&run);
}

static void test_somebody_else_s_folder_is_left_alone(void **state) {
  (void)state;
  FovRun run, other = {0};
  snprintf(other.dir, sizeof other.dir, "%s", folder);
  write_file(&other, "thesis.tex");
  for (int resume = 0; resume < 2; resume++) {
    assert_int_equal(fov_run_open(&run, folder, resume), FOV_ERR_USAGE);
    assert_message("holds files, but no run; choose another --run");
  }
  assert_false(fov_file_exists(inside(FOV_RUN_LOG)));
}

static void test_a_start_that_was_cut_off_is_no_obstacle(void **state) {
  (void)state;
  FovRun run;
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  write_file(&run, ".config.ini.half");
  fov_run_close(&run);
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  fov_run_close(&run);
}

static void test_paths_that_cannot_be_are_refused(void **state) {
  (void)state;
  FovRun run;
  char longest[FOV_PATH_SIZE];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(fov_run_open(&run, "", false), FOV_ERR_USAGE);
  assert_int_equal(fov_run_open(&run, longest, false), FOV_ERR_USAGE);
  assert_message("--run: expected a path of 1 to");
  assert_int_equal(fov_file_write(inside("file"), "x", 1), FOV_OK);
  assert_int_equal(fov_run_open(&run, path, false), FOV_ERR_IO);
  assert_message(path);
  assert_int_equal(fov_run_open(&run, inside("file/run"), false), FOV_ERR_IO);
  assert_message("cannot make the folder");
}

/** Another process that holds a run until its input ends. */
static pid_t hold(int held[2], int release[2]) {
  assert_int_equal(pipe(held), 0);
  assert_int_equal(pipe(release), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  FovRun run;
  char byte = fov_run_open(&run, folder, false) == FOV_OK;
  close(release[1]);
  ssize_t told = write(held[1], &byte, 1), waited = read(release[0], &byte, 1);
  _exit(told == 1 && waited == 0 ? 0 : 1);
}

static void test_only_one_process_holds_a_run(void **state) {
  (void)state;
  int held[2], release[2], status;
  FovRun run;
  char byte = 0;
  pid_t child = hold(held, release);
  assert_int_equal(read(held[0], &byte, 1), 1);
  assert_int_equal(byte, 1);
  assert_int_equal(fov_run_open(&run, folder, false), FOV_ERR_USAGE);
  assert_message("another process is training in it");
  assert_message(folder);
  close(release[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  // However it ended, its lock went with it.
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  fov_run_close(&run);
  close(release[0]), close(held[0]), close(held[1]);
}

/** A line of the log: the time, then the text. */
static char *check_line(char *line, const char *text, size_t length) {
  int year, month, day, hour, minute, second, end = 0;
  sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2dZ %n", &year, &month, &day, &hour, &minute, &second, &end);
  assert_int_equal(end, 21);
  assert_memory_equal(line + end, text, length);
  return line + end + length;
}

static void test_the_log_has_one_line_each(void **state) {
  (void)state;
  FovRun run;
  char longest[3000];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_log(&run, "update %d: %s", 3, "fine"), FOV_OK);
  assert_int_equal(fov_run_log(&run, "two\nlines"), FOV_OK);
  fov_run_close(&run);
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_log(&run, "%s", longest), FOV_OK);
  char *text = read_file(&run, FOV_RUN_LOG);
  char *second = check_line(text, "update 3: fine\n", 15);
  char *third = check_line(second, "two lines\n", 10);
  char *end = check_line(third, longest, 2000);
  end += strspn(end, "a");
  assert_string_equal(end, "\n");
  free(text);
  fov_run_close(&run);
}

static json_t *tell(const FovRunFacts *facts) {
  FovRun run;
  json_error_t error;
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_tell(&run, facts), FOV_OK);
  char *text = read_file(&run, FOV_RUN_JSON);
  fov_run_close(&run);
  json_t *root = json_loads(text, 0, &error);
  if (!root) fail_msg("%s: %s", text, error.text);
  free(text);
  return root;
}

static const char *string_of(const json_t *root, const char *key) {
  const char *text = json_string_value(json_object_get(root, key));
  if (!text) fail_msg("no string '%s'", key);
  return text;
}

static void test_run_json_tells_the_facts(void **state) {
  (void)state;
  json_t *root = tell(&(FovRunFacts){.command = "fovea train \"ä\"",
                                     .seed = INT64_C(9000000000000000),
                                     .threads = 3,
                                     .outcome = "running"});
  assert_string_equal(string_of(root, "fovea"), FOV_VERSION);
  assert_string_equal(string_of(root, "command"), "fovea train \"ä\"");
  assert_string_equal(string_of(root, "outcome"), "running");
  assert_string_equal(string_of(root, "gemm"), fov_gemm_library());
  assert_int_equal(strlen(string_of(root, "time")), 20);
  assert_true(*string_of(root, "host") && *string_of(root, "machine"));
  assert_int_equal(json_integer_value(json_object_get(root, "seed")), INT64_C(9000000000000000));
  assert_int_equal(json_integer_value(json_object_get(root, "threads")), 3);
  json_decref(root);
}

static void test_run_json_is_json_whatever_was_typed(void **state) {
  (void)state;
  json_t *root = tell(&(FovRunFacts){
      .command = "fovea train caf\xe9.ini", .threads = 1, .outcome = "\xff\xfe: cannot open"});
  assert_string_equal(string_of(root, "command"), "fovea train caf?.ini");
  assert_string_equal(string_of(root, "outcome"), "??: cannot open");
  json_decref(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_resumed_training_is_the_same_training),
      TEST(test_the_same_training_is_the_same_bytes),
      TEST(test_weights_and_configuration_alone),
      TEST(test_a_checkpoint_of_another_agent_is_refused),
      TEST(test_numbers_that_are_not_finite_are_refused),
      TEST(test_a_state_that_cannot_be_is_refused),
      TEST(test_what_is_no_checkpoint_is_refused),
      TEST(test_a_trace_is_what_happened),
      TEST(test_what_nobody_chose_is_nan),
      TEST(test_no_more_episodes_than_cases),
      TEST(test_a_fresh_run_makes_its_folders),
      TEST(test_a_run_goes_on_only_if_asked),
      TEST(test_somebody_else_s_folder_is_left_alone),
      TEST(test_a_start_that_was_cut_off_is_no_obstacle),
      TEST(test_paths_that_cannot_be_are_refused),
      TEST(test_only_one_process_holds_a_run),
      TEST(test_the_log_has_one_line_each),
      TEST(test_run_json_tells_the_facts),
      TEST(test_run_json_is_json_whatever_was_typed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
