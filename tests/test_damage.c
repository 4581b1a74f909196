/** Every truncation of a checkpoint and of a trace, and 2,000 flipped bits: refused, or loaded with
 * the values that were saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "record/checkpoint.h"
#include "record/recorder.h"
#include "tests/folder.h"
#include "toy.h"

static const FovIdentity identity = {.config = "core = rnn\nseed = 0\n", .data = 7};
static const FovBest best = {.loss = -0.75, .error = 0.25, .update = 2};

/** What was saved, and what a damaged file is loaded into. */
static Toy toy;
static FovTrainer *saved, *loaded;
static char again[700];

static int enter(void **state) {
  (void)state;
  int made = make_folder("x.safetensors");
  snprintf(again, sizeof again, "%s.again", path);
  toy_create(&toy, "train.batch = 64\ncore.width = 4\nglimpse.width = 4\nencoder.width = 4\n");
  saved = toy_trainer(&toy, 1);
  loaded = toy_trainer(&toy, 1);
  toy_train(saved, 2);
  return made;
}

static int leave(void **state) {
  fov_trainer_destroy(saved), fov_trainer_destroy(loaded);
  toy_finish(&toy);
  return remove_tree(state);
}

static void put(const char *data, size_t size) {
  unlink(path); // some file systems flush a file that is cut to be written again
  FILE *stream = fopen(path, "wb");
  assert_int_equal(fwrite(data, 1, size, stream), size);
  fclose(stream);
}

/** Damages the file at `path`; `load` loads it, and fails the test if it gets other values. Returns
 * how many of the damaged files were loaded. */
static int damage(FovStatus (*load)(void)) {
  enum { FLIPS = 2000 };
  char *data;
  size_t size;
  int accepted = 0;
  assert_int_equal(load(), FOV_OK);
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  for (size_t cut = 0; cut < size; cut++) {
    put(data, cut);
    if (load() == FOV_OK) fail_msg("cut to %zu of %zu bytes, it is accepted", cut, size);
  }
  FovRng rng = fov_rng_stream(1, FOV_STREAM_INIT, 1);
  for (int flip = 0; flip < FLIPS; flip++) {
    char *byte = &data[fov_rng_below(&rng, (uint32_t)size)],
         bit = (char)(1 << fov_rng_below(&rng, 8));
    *byte ^= bit;
    put(data, size);
    accepted += load() == FOV_OK;
    *byte ^= bit;
  }
  free(data);
  return accepted;
}

static FovStatus load_checkpoint(void) {
  FovSafetensors *file;
  FovBest found;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status =
      fov_checkpoint_load(fov_trainer_state(loaded), &found, &toy.experiment.agent.params, file);
  fov_safetensors_close(file);
  FOV_TRY(status);
  assert_same_state(&toy, saved, loaded);
  assert_memory_equal(&found, &best, sizeof best);
  return FOV_OK;
}

static void a_damaged_checkpoint_is_refused(void **state) {
  (void)state;
  assert_int_equal(fov_checkpoint_save(path, &toy.experiment.agent.params, fov_trainer_state(saved),
                                       fov_trainer_weights(saved), &best, &identity),
                   FOV_OK);
  assert_int_equal(damage(load_checkpoint), 0);
}

/** Writes what was read to another file, whose bytes must be those of the first one. */
static FovStatus load_trace(void) {
  static char *first;
  static size_t first_size;
  FovTrace trace;
  char *bytes;
  size_t size;
  FOV_TRY(fov_trace_read(&trace, path));
  assert_int_equal(fov_trace_write(&trace, again), FOV_OK);
  fov_trace_finish(&trace);
  assert_int_equal(fov_file_read(&bytes, &size, again, 1 << 20), FOV_OK);
  if (!first) {
    first = bytes;
    first_size = size;
    return FOV_OK;
  }
  assert_int_equal(size, first_size);
  assert_memory_equal(bytes, first, size);
  free(bytes);
  return FOV_OK;
}

static void a_damaged_trace_is_refused(void **state) {
  (void)state;
  FovTask task = toy.task;
  FovTrace trace;
  FovRecordRequest request = {.task = &task,
                              .values = fov_trainer_weights(saved),
                              .episodes = 2,
                              .seed = 1,
                              .split = FOV_SPLIT_VALID,
                              .update = 2};
  assert_int_equal(fov_record_trace(&trace, &request, fov_trainer_workspace(saved)), FOV_OK);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  assert_int_equal(damage(load_trace), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_checkpoint_is_refused),
      TEST(a_damaged_trace_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
