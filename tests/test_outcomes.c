/** Outcomes of evaluations, and which weights a file is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "record/outcomes.h"
#include "record/provenance.h"
#include "record/safetensors.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("x.safetensors");
}

static FovOutcomes make_outcomes(uint8_t wrong[4]) {
  return (FovOutcomes){.wrong = wrong,
                       .cases = 4,
                       .reward = 0.75,
                       .glimpses = 6,
                       .parameters = 10,
                       .update = 7,
                       .seed = -3,
                       .rollouts = 10,
                       .split = FOV_SPLIT_TEST,
                       .input_numbers = NAN,
                       .weights = "0123456789abcdef",
                       .data = "fedcba9876543210"};
}

static void test_outcomes_are_read_as_they_were_written(void **state) {
  (void)state;
  uint8_t wrong[4] = {0, 1, 0, 0};
  FovOutcomes written = make_outcomes(wrong), read;
  assert_int_equal(fov_outcomes_write(&written, path), FOV_OK);
  assert_int_equal(fov_outcomes_read(&read, path), FOV_OK);
  assert_memory_equal(read.wrong, wrong, sizeof wrong);
  assert_true(fov_outcomes_error(&read) == 0.25);
  assert_true(read.reward == 0.75 && read.glimpses == 6 && isnan(read.input_numbers));
  assert_int_equal(read.cases, 4);
  assert_int_equal(read.parameters, 10);
  assert_int_equal(read.update, 7);
  assert_int_equal(read.seed, -3);
  assert_int_equal(read.rollouts, 10);
  assert_int_equal(read.split, FOV_SPLIT_TEST);
  assert_string_equal(read.weights, written.weights);
  assert_string_equal(read.data, written.data);
  fov_outcomes_finish(&read);
}

static void assert_refused(const char *message) {
  FovOutcomes read;
  assert_int_equal(fov_outcomes_read(&read, path), FOV_ERR_FORMAT);
  assert_message(message);
  fov_outcomes_finish(&read);
}

/** Writes outcomes in which one number is wrong. */
static void assert_range(FovOutcomes outcomes, const char *name) {
  char message[100];
  snprintf(message, sizeof message, "x.safetensors: '%s' is outside its range; evaluate again",
           name);
  assert_int_equal(fov_outcomes_write(&outcomes, path), FOV_OK);
  assert_refused(message);
}

static void test_outcomes_that_no_evaluation_has_are_refused(void **state) {
  (void)state;
  uint8_t wrong[4] = {0, 1, 0, 0}, neither[4] = {0, 1, 2, 0};
  FovOutcomes good = make_outcomes(wrong), bad = make_outcomes(neither);
  assert_range(bad, "wrong");
  bad = good, bad.rollouts = 0;
  assert_range(bad, "rollouts");
  bad = good, bad.split = (FovSplit)(FOV_SPLIT_TEST + 1);
  assert_range(bad, "split");
  bad = good, bad.reward = NAN;
  assert_range(bad, "reward");
  bad = good, bad.input_pixels = INFINITY;
  assert_range(bad, "input_pixels");
  bad = good, bad.update = -1;
  assert_range(bad, "update");
  bad = good, bad.cases = 0;
  assert_int_equal(fov_outcomes_write(&bad, path), FOV_OK);
  assert_refused("x.safetensors: expected 1 to 1073741824 cases, found 0");
  bad = good, strcpy(bad.weights, "0123");
  assert_int_equal(fov_outcomes_write(&bad, path), FOV_OK);
  assert_refused("x.safetensors: expected the outcomes of an evaluation, found another file");
}

static void test_files_are_named_after_split_and_rollouts(void **state) {
  (void)state;
  char name[FOV_OUTCOMES_NAME];
  assert_string_equal(fov_outcomes_name(name, FOV_SPLIT_VALID, 1), "valid.safetensors");
  assert_string_equal(fov_outcomes_name(name, FOV_SPLIT_TEST, 10), "test-10.safetensors");
}

/* ---- provenance ---- */

/** The provenance of a file with these texts and, unless it is NULL, this number. */
static FovProvenance write_and_read(const char *weights, const char *update, int64_t *number) {
  const FovText texts[] = {{"weights", weights}, {"update", update}};
  const FovBlob blob = {.name = "state.update", .dtype = FOV_DTYPE_I64, .data = number};
  FovProvenance provenance;
  assert_int_equal(fov_safetensors_write(path, &blob, number ? 1 : 0, texts, update ? 2 : 1),
                   FOV_OK);
  assert_int_equal(fov_provenance_read(&provenance, path), FOV_OK);
  assert_true(provenance.checked);
  return provenance;
}

static void test_the_update_is_a_number_or_a_text(void **state) {
  (void)state;
  int64_t number = 12, negative = -12;
  assert_int_equal(write_and_read("", "7", &number).update, 12);
  assert_int_equal(write_and_read("", "7", &negative).update, -1);
  assert_int_equal(write_and_read("", "7", NULL).update, 7);
  static const char *const bad[] = {"", "x", "7x", "-7", "99999999999999999999", NULL};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(write_and_read("", bad[i], NULL).update, -1);
}

static void test_files_are_of_the_same_weights(void **state) {
  (void)state;
  int64_t number = 12;
  FovProvenance a = write_and_read("0123456789abcdef", NULL, &number), b = a;
  assert_string_equal(a.weights, "0123456789abcdef");
  b.update = 13;
  assert_true(fov_provenance_same(&a, &b));
  b.weights[0] = '1';
  assert_false(fov_provenance_same(&a, &b));
  b = write_and_read("0123", "12", NULL); // no digest: the update decides
  assert_string_equal(b.weights, "");
  assert_true(fov_provenance_same(&a, &b));
  b.update = 13;
  assert_false(fov_provenance_same(&a, &b));
  b = a = write_and_read("", NULL, NULL); // neither
  assert_false(fov_provenance_same(&a, &b));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_outcomes_are_read_as_they_were_written),
      TEST(test_outcomes_that_no_evaluation_has_are_refused),
      TEST(test_files_are_named_after_split_and_rollouts),
      TEST(test_the_update_is_a_number_or_a_text),
      TEST(test_files_are_of_the_same_weights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
