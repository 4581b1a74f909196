#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "record/progress.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("progress.csv");
}

#define HEADER                                                                                     \
  "update,episodes,epoch,seconds,rate,sigma,train_error,train_reward,class_loss,baseline_loss,"    \
  "gradient_norm,valid_error,valid_reward,valid_glimpses,glimpses_per_second\n"
#define ROW1                                                                                       \
  "100,12800,0.25,1.5,0.001,2.5,0.9,0.1,2.30258509,0.0123456789,1e-30,,-inf,3.75,1234567.5\n"
#define ROW2 "9223372036854775807,-1,0,0,0,0,0,0,0,0,0,0,0,0,1e+300\n"

static const FovProgress row1 = {100,   12800, 0.25,      1.5,          0.001,
                                 2.5,   0.9,   0.1,       2.3025850929, 0.01234567891,
                                 1e-30, NAN,   -INFINITY, 3.75,         1234567.5};
static const FovProgress row2 = {.update = INT64_MAX, .episodes = -1, .glimpses_per_second = 1e300};

static void put(const char *text) {
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
}

static void assert_content(const char *expected) {
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  assert_string_equal(data, expected);
  free(data);
}

static void assert_count(size_t expected) {
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(count, expected);
  free(rows);
}

static void assert_refused(const char *text, const char *message) {
  FovProgress *rows;
  size_t count;
  put(text);
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_ERR_FORMAT);
  assert_null(rows);
  assert_int_equal(count, 0);
  assert_message(message);
}

static void test_append_writes_known_bytes(void **state) {
  (void)state;
  assert_int_equal(fov_progress_append(path, &row1), FOV_OK);
  assert_content(HEADER ROW1);
  assert_int_equal(fov_progress_append(path, &row2), FOV_OK);
  assert_content(HEADER ROW1 ROW2);
}

static void test_read_gives_the_rows_back(void **state) {
  (void)state;
  put(HEADER ROW1 ROW2);
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 2);
  assert_int_equal(rows[0].update, 100);
  assert_int_equal(rows[0].episodes, 12800);
  assert_true(rows[0].epoch == 0.25 && rows[0].seconds == 1.5 && rows[0].rate == 0.001);
  assert_true(rows[0].sigma == 2.5 && rows[0].train_error == 0.9 && rows[0].train_reward == 0.1);
  assert_true(rows[0].class_loss == 2.30258509 && rows[0].baseline_loss == 0.0123456789);
  assert_true(rows[0].gradient_norm == 1e-30 && isnan(rows[0].valid_error));
  assert_true(rows[0].valid_reward == -INFINITY && rows[0].valid_glimpses == 3.75);
  assert_true(rows[0].glimpses_per_second == 1234567.5);
  assert_int_equal(rows[1].update, INT64_MAX);
  assert_int_equal(rows[1].episodes, -1);
  free(rows);
}

/** A run may be killed after any byte; what it appends next must stand on a line of its own. */
static void test_a_partial_line_is_left_out_and_cut(void **state) {
  (void)state;
  static const char whole[] = HEADER ROW1 ROW2;
  const size_t header = strlen(HEADER), first = strlen(HEADER ROW1);
  for (size_t size = 0; size < sizeof whole; size += size < header ? 37 : 1) {
    assert_int_equal(fov_file_write(path, whole, size), FOV_OK);
    size_t rows = (size >= first) + (size == sizeof whole - 1);
    assert_count(rows);
    assert_int_equal(fov_progress_append(path, &row1), FOV_OK);
    assert_content(rows == 0 ? HEADER ROW1 : rows == 1 ? HEADER ROW1 ROW1 : HEADER ROW1 ROW2 ROW1);
  }
}

static void test_append_refuses_a_foreign_file(void **state) {
  (void)state;
  const char *foreign[] = {"a", "update,loss\n1,2\n", "update,episodes,epok,"};
  for (int i = 0; i < 3; i++) {
    put(foreign[i]);
    assert_int_equal(fov_progress_append(path, &row1), FOV_ERR_FORMAT);
    assert_message("progress.csv:1: other columns");
    assert_content(foreign[i]);
  }
}

static void test_append_to_a_full_disk_leaves_no_part(void **state) {
  (void)state;
  put(HEADER ROW1);
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = strlen(HEADER ROW1) + 10;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  FovStatus status = fov_progress_append(path, &row2);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, FOV_ERR_IO);
  assert_message("progress.csv: cannot append: ");
  assert_content(HEADER ROW1);
}

static void test_bad_files_are_refused(void **state) {
  (void)state;
  assert_refused("\n", ":1: column 1 of 15 is '', expected 'update'");
  assert_refused("update,episodes,epok\n", ":1: column 3 of 15 is 'epok', expected 'epoch'");
  assert_refused("update,episodes\n", ":1: fewer than 15 cells");
  assert_refused(HEADER ROW1 "1,2\n", ":3: fewer than 15 cells");
  assert_refused(HEADER "\n", ":2: fewer than 15 cells");
  assert_refused(HEADER "1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: more than 15 cells");
  assert_refused(HEADER "1,2,x,0,0,0,0,0,0,0,0,0,0,0\n", ":2: epoch 'x' is not a number");
  assert_refused(HEADER "1,2,0,1 2,0,0,0,0,0,0,0,0,0,0\n", ":2: seconds '1 2' is not a number");
  assert_refused(HEADER ",2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '' is not a number");
  assert_refused(HEADER "1.5,2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '1.5' is not a number");
  assert_refused(HEADER "9223372036854775808,2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '922");
  assert_refused(HEADER "1,2, ,0,0,0,0,0,0,0,0,0,0,0\n", ":2: epoch ' ' is not a number");
}

static void test_a_zero_byte_is_refused(void **state) {
  (void)state;
  static const char text[] = HEADER "1,\0\n" ROW1;
  assert_int_equal(fov_file_write(path, text, sizeof text - 1), FOV_OK);
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_ERR_FORMAT);
  assert_message(":2: a zero byte");
}

static void test_a_missing_file_is_an_error_to_read(void **state) {
  (void)state;
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_ERR_IO);
  assert_message("progress.csv: cannot open");
}

static void test_truncate_keeps_what_was_checkpointed(void **state) {
  (void)state;
  assert_int_equal(fov_progress_truncate(path, 100), FOV_OK);
  assert_false(fov_file_exists(path));
  put(HEADER ROW1 ROW2 "101,");
  assert_int_equal(fov_progress_truncate(path, INT64_MAX), FOV_OK);
  assert_content(HEADER ROW1 ROW2);
  assert_int_equal(fov_progress_truncate(path, 100), FOV_OK);
  assert_content(HEADER ROW1);
  assert_int_equal(fov_progress_truncate(path, 99), FOV_OK);
  assert_content(HEADER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_append_writes_known_bytes),
      TEST(test_read_gives_the_rows_back),
      TEST(test_a_partial_line_is_left_out_and_cut),
      TEST(test_append_refuses_a_foreign_file),
      TEST(test_append_to_a_full_disk_leaves_no_part),
      TEST(test_bad_files_are_refused),
      TEST(test_a_zero_byte_is_refused),
      TEST(test_a_missing_file_is_an_error_to_read),
      TEST(test_truncate_keeps_what_was_checkpointed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
