/** Readers and writers of files when memory is short or a file cannot be read or written: each call
 * of the C library fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <png.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/file.h"
#include "envs/datasets/lines.h"
#include "envs/datasets/pictures.h"
#include "failing.h"
#include "record/checkpoint.h"
#include "record/csv.h"
#include "record/history.h"
#include "record/outcomes.h"
#include "record/progress.h"
#include "record/provenance.h"
#include "record/run.h"
#include "record/tfevents.h"
#include "record/trace.h"
#include "tests/folder.h"
#include "toy.h"

static Toy toy;
static FovTrainer *trainer;

static int enter(void **state) {
  (void)state;
  return make_folder("file");
}

/** A path in the test's folder, in one of two buffers in turn. */
static const char *below(const char *name) {
  static char paths[2][600];
  static int next;
  char *text = paths[next++ % 2];
  snprintf(text, sizeof *paths, "%s/%s", folder, name);
  return text;
}

static void check(FovStatus (*work)(void)) {
  assert_in_range(fail_each(work, folder), 5, 5000);
}

/* ---- arrays ---- */

static FovStatus write_and_read_arrays(void) {
  uint8_t bytes[3] = {1, 2, 3};
  float numbers[2] = {0.5f, -0.5f}; // at a byte where no float may stand: they are copied
  const FovBlob blobs[] = {
      {.name = "bytes", .dtype = FOV_DTYPE_U8, .dims = 1, .shape = {3}, .data = bytes},
      {.name = "numbers", .dtype = FOV_DTYPE_F32, .dims = 2, .shape = {2, 1}, .data = numbers}};
  const FovText texts[] = {{"two", "2"}, {"one", "1"}};
  FOV_TRY(fov_safetensors_write(path, blobs, 2, texts, 2));
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  const FovBlob *found;
  assert_int_equal(fov_safetensors_require(&found, file, "numbers", FOV_DTYPE_F32, -1, NULL),
                   FOV_OK);
  assert_memory_equal(found->data, numbers, sizeof numbers);
  assert_string_equal(fov_safetensors_text(file, "one"), "1");
  fov_safetensors_close(file);
  FovProvenance provenance;
  return fov_provenance_read(&provenance, path);
}

static FovStatus write_and_read_outcomes(void) {
  uint8_t wrong[4] = {0, 1, 1, 0};
  FovOutcomes written = {.wrong = wrong, .cases = 4, .rollouts = 1}, read;
  strcpy(written.weights, "0123456789abcdef");
  FOV_TRY(fov_outcomes_write(&written, path));
  FovStatus status = fov_outcomes_read(&read, path);
  if (status == FOV_OK) assert_memory_equal(read.wrong, wrong, sizeof wrong);
  fov_outcomes_finish(&read);
  return status;
}

static void test_arrays(void **state) {
  (void)state;
  check(write_and_read_arrays);
  check(write_and_read_outcomes);
}

/* ---- traces ---- */

static FovStatus fill_trace(FovTrace *trace) {
  static const char *const names[] = {"one", "two"}, *const symbols[] = {"a", "b", "c"};
  *trace = (FovTrace){.episodes = 2, .glimpses = 2, .frames = 1, .height = 1, .width = 3};
  trace->channels = trace->side = trace->scales = 1;
  trace->actions = 2;
  trace->vocabulary = 3;
  trace->update = 7;
  fov_trace_add_column(trace, "policy.mean", 2);
  FOV_TRY(fov_trace_allocate(trace));
  for (int i = 0; i < 4; i++) trace->labels[i] = trace->answers[i] = i % 2;
  for (int i = 0; i < 2; i++) trace->lengths[i] = 1 + i;
  return fov_trace_set_names(trace, names, symbols);
}

static FovStatus write_trace(void) {
  FovTrace trace;
  FovStatus status = fill_trace(&trace);
  if (status == FOV_OK) status = fov_trace_write(&trace, path);
  fov_trace_finish(&trace);
  return status;
}

static FovStatus write_and_read_trace(void) {
  FovTrace trace;
  FOV_TRY(write_trace());
  FOV_TRY(fov_trace_read(&trace, path));
  char name[8];
  fov_trace_name(name, sizeof name, &trace, 1);
  assert_string_equal(name, "two");
  fov_trace_symbol(name, sizeof name, &trace, 2);
  assert_string_equal(name, "c");
  fov_trace_finish(&trace);
  return FOV_OK;
}

/** Three snapshots, of which the last is of a later update than the one to go on from. */
static FovStatus keep_snapshots(void) {
  FovTrace trace;
  int64_t *updates = NULL;
  size_t count = 0;
  FOV_TRY(fov_history_begin(folder, 0));
  FovStatus status = fill_trace(&trace);
  for (trace.update = 5; trace.update <= 15 && status == FOV_OK; trace.update += 5)
    status = fov_history_add(folder, &trace);
  fov_trace_finish(&trace);
  if (status == FOV_OK) status = fov_history_begin(folder, 10);
  if (status == FOV_OK) status = fov_history_list(&updates, &count, folder);
  if (status != FOV_OK) return status;
  assert_int_equal(count, 2);
  assert_int_equal(updates[1], 10);
  free(updates);
  return FOV_OK;
}

static void test_traces(void **state) {
  (void)state;
  check(write_and_read_trace);
  check(keep_snapshots);
}

/* ---- checkpoints ---- */

static FovStatus read_weights(const FovSafetensors *file) {
  const FovParams *params = &toy.experiment.agent.params;
  real *values;
  int64_t update;
  FOV_TRY(fov_checkpoint_load_weights(&values, &update, params, false, file));
  assert_memory_equal(values, fov_trainer_weights(trainer), toy_block_bytes(&toy));
  free(values);
  return FOV_OK;
}

static const FovIdentity identity = {.config = "seed = 0\n", .data = 7};

static FovStatus write_state(void) {
  const FovBest best = {.update = 2};
  return fov_checkpoint_save(path, &toy.experiment.agent.params, fov_trainer_state(trainer),
                             fov_trainer_weights(trainer), &best, &identity);
}

static FovStatus write_and_read_weights(void) {
  FovSafetensors *file;
  FOV_TRY(fov_checkpoint_save_weights(path, &toy.experiment.agent.params,
                                      fov_trainer_weights(trainer), 2, &identity));
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = read_weights(file);
  fov_safetensors_close(file);
  return status;
}

static void test_checkpoints(void **state) {
  (void)state;
  toy_create(&toy, "train.batch = 64\ncore.width = 4\nglimpse.width = 4\nencoder.width = 4\n");
  trainer = toy_trainer(&toy, 1);
  check(write_state);
  check(write_and_read_weights);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/* ---- a run ---- */

static FovStatus describe_run(const FovRun *run) {
  const FovRunChange change = {"train.rate", "0.1", "0.2", 3};
  const FovRunFacts facts = {.command = "fovea \xFF", // which is not UTF-8
                             .outcome = "running",
                             .changes = &change,
                             .change_count = 1};
  FOV_TRY(fov_run_log(run, "begun"));
  FOV_TRY(fov_run_describe(run, &facts));
  return fov_run_check_own(run);
}

static FovStatus open_run(void) {
  FovRun run;
  FOV_TRY(fov_run_open(&run, below("run"), true));
  FovStatus status = describe_run(&run);
  fov_run_close(&run);
  return status;
}

/** A new file, a row with another column, and a part of a line that a killed run has left. */
static FovStatus add_rows(void) {
  FovProgress row = {.update = 1}, *rows = NULL;
  size_t count = 0;
  struct stat status;
  remove(path);
  FOV_TRY(fov_progress_append(path, &row));
  fov_progress_add(&row, "loss", 0.5);
  row.update = 2;
  FOV_TRY(fov_progress_append(path, &row));
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(truncate(path, status.st_size - 1), 0);
  FOV_TRY(fov_progress_append(path, &row));
  FOV_TRY(fov_progress_truncate(path, 1));
  FOV_TRY(fov_progress_read(&rows, &count, path));
  assert_int_equal(count, 1);
  assert_true(isnan(fov_progress_extra(&rows[0], "loss")));
  free(rows);
  return FOV_OK;
}

static FovStatus write_events(void) {
  static double now; // part of the file's name
  FovTfevents *events;
  FovProgress row = {.update = 1};
  FOV_TRY(fov_tfevents_open(&events, folder, ++now, true, 1));
  FovStatus status = fov_tfevents_row(events, &row, 2);
  fov_tfevents_close(events);
  return status;
}

static void test_the_files_of_a_run(void **state) {
  (void)state;
  check(open_run);
  assert_int_equal(fov_file_write(below("run/last.safetensors"), "", 0), FOV_OK);
  check(open_run);
  check(add_rows);
  check(write_events);
}

/* ---- settings ---- */

static FovStatus resolve(FovExperiment *experiment) {
  char *text;
  FOV_TRY(fov_settings_read(experiment->settings, path));
  FOV_TRY(fov_settings_add(experiment->settings, "seed=1"));
  FOV_TRY(fov_experiment_resolve(experiment));
  FOV_TRY(fov_config_dump(&text, &experiment->config));
  assert_non_null(strstr(text, "\ntrain.batch = 64\n"));
  free(text);
  return FOV_OK;
}

static FovStatus read_settings(void) {
  FovExperiment experiment;
  FovStatus status = fov_experiment_init(&experiment);
  experiment.slots[FOV_SLOT_ENV].fallback = "toy"; // whose table this program has
  if (status == FOV_OK) status = resolve(&experiment);
  fov_experiment_finish(&experiment);
  return status;
}

static FovStatus read_table(void) {
  FovCsv csv;
  FovStatus status = fov_csv_read(&csv, path);
  if (status == FOV_OK) assert_string_equal(csv.cells[1], "x,y");
  fov_csv_finish(&csv);
  return status;
}

static void write_text(const char *text) {
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
}

static void test_settings_and_tables(void **state) {
  (void)state;
  write_text("train.batch = 64\nestimator = reinforce\n[core]\nwidth = 8\n");
  check(read_settings);
  write_text("one,two\n1,\"x,y\"\n");
  check(read_table);
}

/* ---- data sets ---- */

static FovPicturesOptions options;

static FovStatus load_pictures(void) {
  FovPictures pictures;
  for (FovSplit split = FOV_SPLIT_TRAIN; split <= FOV_SPLIT_TEST; split++) {
    FOV_TRY(fov_pictures_load(&pictures, &options, split));
    assert_int_equal(pictures.pixels[0], 9);
    fov_pictures_finish(&pictures);
  }
  return FOV_OK;
}

static FovStatus read_lines(void) {
  FovLines lines;
  FOV_TRY(fov_lines_read(&lines, path, FOV_LINES_WORD, 9, NULL));
  assert_int_equal(lines.vocabulary, 3);
  assert_string_equal(lines.names[lines.tokens[3]], "a");
  fov_lines_finish(&lines);
  return FOV_OK;
}

static void write_png(const char *name) {
  static const uint8_t pixel = 9;
  png_image image = {.version = PNG_IMAGE_VERSION, .width = 1, .height = 1};
  assert_true(png_image_write_to_file(&image, below(name), 0, &pixel, 0, NULL));
}

static void write_idx(const char *name, const char *bytes, size_t size) {
  gzFile file = gzopen(below(name), "wb");
  assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
  assert_int_equal(gzclose(file), Z_OK);
}

static void test_data_sets(void **state) {
  (void)state;
  static const char images[] = "\0\0\10\3\0\0\0\6\0\0\0\1\0\0\0\1\11\11\11\11\11\11",
                    labels[] = "\0\0\10\1\0\0\0\6\0\1\2\3\4\5";
  write_text("a b\nc a\n");
  check(read_lines);
  assert_int_equal(mkdir(below("png"), 0777), 0);
  for (int i = 0; i < 12; i++) {
    char name[32];
    snprintf(name, sizeof name, "png/%c", 'a' + i % 2);
    mkdir(below(name), 0777);
    snprintf(name, sizeof name, "png/%c/%d.png", 'a' + i % 2, i);
    write_png(name);
  }
  options = (FovPicturesOptions){.classes = 6};
  snprintf(options.data, sizeof options.data, "%s/png", folder);
  check(load_pictures);
  write_idx("train-images-idx3-ubyte.gz", images, sizeof images - 1);
  write_idx("train-labels-idx1-ubyte.gz", labels, sizeof labels - 1);
  write_idx("t10k-images-idx3-ubyte.gz", images, sizeof images - 1);
  write_idx("t10k-labels-idx1-ubyte.gz", labels, sizeof labels - 1);
  snprintf(options.data, sizeof options.data, "%s", folder);
  check(load_pictures);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_arrays),
      TEST(test_traces),
      TEST(test_checkpoints),
      TEST(test_the_files_of_a_run),
      TEST(test_settings_and_tables),
      TEST(test_data_sets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
