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
#include "tests/check.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("progress.csv");
}

#define FIXED                                                                                      \
  "update,episodes,epoch,seconds,rate,train_error,train_reward,gradient_norm,valid_error,"         \
  "valid_reward,valid_glimpses,glimpses_per_second"
#define HEADER FIXED ",policy_sigma,answer_loss\n"
#define ROW1 "100,12800,0.25,1.5,0.001,0.9,0.1,1e-30,,-inf,3.75,1234567.5,2.5,2.30258509\n"
#define ROW2 "9223372036854775807,-1,0,0,0,0,0,0,0,0,0,1e+300,,0\n"

/** A file of a version that had fixed columns only. */
#define OLD_HEADER                                                                                 \
  "update,episodes,epoch,seconds,rate,sigma,train_error,train_reward,class_loss,baseline_loss,"    \
  "gradient_norm,valid_error,valid_reward,valid_glimpses,glimpses_per_second\n"
#define OLD_ROW "7,12800,0.25,1.5,0.001,4,0.9,0.1,2.5,0.125,1e-30,,-inf,3.75,1234567.5\n"

static const FovProgress row1 = {.update = 100,
                                 .episodes = 12800,
                                 .epoch = 0.25,
                                 .seconds = 1.5,
                                 .rate = 0.001,
                                 .train_error = 0.9,
                                 .train_reward = 0.1,
                                 .gradient_norm = 1e-30,
                                 .valid_error = NAN,
                                 .valid_reward = -INFINITY,
                                 .valid_glimpses = 3.75,
                                 .glimpses_per_second = 1234567.5,
                                 .extra = {{"policy_sigma", 2.5}, {"answer_loss", 2.3025850929}},
                                 .extra_count = 2};
static const FovProgress row2 = {.update = INT64_MAX,
                                 .episodes = -1,
                                 .glimpses_per_second = 1e300,
                                 .extra = {{"answer_loss", 0}, {"policy_sigma", NAN}},
                                 .extra_count = 2};

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
  assert_true(rows[0].train_error == 0.9 && rows[0].train_reward == 0.1);
  assert_int_equal(rows[0].extra_count, 2);
  assert_true(fov_progress_extra(&rows[0], "policy_sigma") == 2.5);
  assert_true(fov_progress_extra(&rows[0], "answer_loss") == 2.30258509);
  assert_true(isnan(fov_progress_extra(&rows[0], "baseline_loss")));
  assert_true(isnan(fov_progress_extra(&rows[1], "policy_sigma")));
  assert_true(fov_progress_extra(&rows[1], "answer_loss") == 0);
  assert_true(rows[0].gradient_norm == 1e-30 && isnan(rows[0].valid_error));
  assert_true(rows[0].valid_reward == -INFINITY && rows[0].valid_glimpses == 3.75);
  assert_true(rows[0].glimpses_per_second == 1234567.5);
  assert_int_equal(rows[1].update, INT64_MAX);
  assert_int_equal(rows[1].episodes, -1);
  free(rows);
}

static void assert_old_row(const FovProgress *row) {
  assert_int_equal(row->update, 7);
  assert_true(row->train_error == 0.9 && row->gradient_norm == 1e-30);
  assert_true(row->glimpses_per_second == 1234567.5);
  assert_int_equal(row->extra_count, 3);
  assert_true(fov_progress_extra(row, "policy_sigma") == 4);
  assert_true(fov_progress_extra(row, "answer_loss") == 2.5);
  assert_true(fov_progress_extra(row, "baseline_loss") == 0.125);
}

static void test_an_old_file_is_read_and_continued(void **state) {
  (void)state;
  FovProgress *rows;
  size_t count;
  put(OLD_HEADER OLD_ROW);
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 1);
  assert_old_row(&rows[0]);
  free(rows);
  // A row is written in the order of the file's columns; a column that the row lacks is empty.
  assert_int_equal(fov_progress_append(path, &row1), FOV_OK);
  assert_content(OLD_HEADER OLD_ROW
                 "100,12800,0.25,1.5,0.001,2.5,0.9,0.1,2.30258509,,1e-30,,-inf,3.75,1234567.5\n");
  // A resumed run rewrites the file, with today's columns.
  assert_int_equal(fov_progress_truncate(path, 7), FOV_OK);
  assert_content(FIXED ",policy_sigma,answer_loss,baseline_loss\n"
                       "7,12800,0.25,1.5,0.001,0.9,0.1,1e-30,,-inf,3.75,1234567.5,4,2.5,0.125\n");
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 1);
  assert_old_row(&rows[0]);
  free(rows);
}

static void test_a_new_column_is_added_to_all_rows(void **state) {
  (void)state;
  FovProgress more = row1;
  fov_progress_add(&more, "policy.entropy", 0.5);
  put(HEADER ROW2);
  assert_int_equal(fov_progress_append(path, &more), FOV_OK);
  assert_content(
      FIXED ",policy_sigma,answer_loss,policy.entropy\n"
            "9223372036854775807,-1,0,0,0,0,0,0,0,0,0,1e+300,,0,\n"
            "100,12800,0.25,1.5,0.001,0.9,0.1,1e-30,,-inf,3.75,1234567.5,2.5,2.30258509,0.5\n");
}

static void test_columns_may_have_any_order(void **state) {
  (void)state;
  put("mine-1,glimpses_per_second,valid_glimpses,valid_reward,valid_error,gradient_norm,"
      "train_reward,train_error,rate,seconds,epoch,episodes,update\n"
      "0,1,2,3,4,5,6,7,8,9,10,11,12\n");
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(rows[0].update, 12);
  assert_true(rows[0].glimpses_per_second == 1 && rows[0].epoch == 10);
  assert_true(fov_progress_extra(&rows[0], "mine-1") == 0);
  free(rows);
}

/** The largest number of extra columns, with the longest names and numbers, and one more. */
static void test_the_number_of_extra_columns_is_bounded(void **state) {
  (void)state;
  FovProgress row = {.update = INT64_MIN, .episodes = INT64_MIN}, *rows, other = {0};
  for (int i = 0; i < FOV_PROGRESS_EXTRAS; i++) {
    char name[FOV_FIGURE_NAME];
    snprintf(name, sizeof name, "%031d", i);
    fov_progress_add(&row, name, -1.23456789e-300);
  }
  size_t count;
  for (int i = 0; i < 2; i++) assert_int_equal(fov_progress_append(path, &row), FOV_OK);
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 2);
  assert_memory_equal(rows[1].extra, row.extra, sizeof row.extra);
  free(rows);
  fov_progress_add(&other, "too_many", 1);
  assert_int_equal(fov_progress_append(path, &other), FOV_ERR_FORMAT);
  assert_message("no column left for 'too_many': expected at most 28");
  assert_count(2);
}

static void add_a_fixed_name(void) {
  FovProgress row = {0};
  fov_progress_add(&row, "epoch", 1);
}

static void add_a_name_twice(void) {
  FovProgress row = {0};
  fov_progress_add(&row, "a", 1);
  fov_progress_add(&row, "a", 1);
}

static void add_a_bad_name(void) {
  FovProgress row = {0};
  fov_progress_add(&row, "a,b", 1);
}

static void test_invalid_column_names_abort(void **state) {
  (void)state;
  assert_true(aborts(add_a_fixed_name));
  assert_true(aborts(add_a_name_twice));
  assert_true(aborts(add_a_bad_name));
}

/** A run may be killed after any byte; the next row starts on a line of its own. */
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
  static const char *const foreign[][2] = {
      {"a", "not a header that fovea writes"},
      {"update,episodes,epok,", "not a header that fovea writes"},
      {"update,loss\n1,2\n", "has no column 'episodes'"},
      {"\n", "column 1, '': expected a name"},
  };
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    put(foreign[i][0]);
    assert_int_equal(fov_progress_append(path, &row1), FOV_ERR_FORMAT);
    assert_message("progress.csv:1: ");
    assert_message(foreign[i][1]);
    assert_content(foreign[i][0]);
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
  assert_message("progress.csv: cannot append: File too large");
  assert_content(HEADER ROW1);
}

static void test_bad_files_are_refused(void **state) {
  (void)state;
  assert_refused("\n", ":1: column 1, '': expected a name of 1 to 31 letters");
  assert_refused("update,episodes,epok\n", ":1: has no column 'epoch'");
  assert_refused(FIXED ",a b\n", ":1: column 13, 'a b': expected a name");
  assert_refused(FIXED ",\x1b[31m\n", ":1: column 13, '?[31m': expected a name");
  assert_refused(FIXED ",a2345678901234567890123456789012\n", ":1: column 13, 'a23456789");
  assert_refused(FIXED ",a,b,a\n", ":1: column 15, 'a': the name of an earlier column");
  assert_refused(FIXED ",sigma,policy_sigma\n", ":1: column 14, 'policy_sigma': the name of");
  assert_refused(FIXED ",epoch\n", ":1: column 13, 'epoch': the name of an earlier column");
  assert_refused(FIXED ",a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n", "expected at most 28 columns");
  assert_refused(HEADER ROW1 "1,2\n", ":3: fewer than 14 cells");
  assert_refused(HEADER "\n", ":2: fewer than 14 cells");
  assert_refused(HEADER "1,2,0,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: more than 14 cells");
  assert_refused(HEADER "1,2,x,0,0,0,0,0,0,0,0,0,0,0\n", ":2: epoch 'x' is not a number");
  assert_refused(HEADER "1,2,0,1 2,0,0,0,0,0,0,0,0,0,0\n", ":2: seconds '1 2' is not a number");
  assert_refused(HEADER ",2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '' is not a number");
  assert_refused(HEADER "1.5,2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '1.5' is not a number");
  assert_refused(HEADER "9223372036854775808,2,0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: update '922");
  assert_refused(HEADER "1,2, ,0,0,0,0,0,0,0,0,0,0,0\n", ":2: epoch ' ' is not a number");
}

static void test_other_tables_are_read_where_they_are_asked_for(void **state) {
  (void)state;
  static const char table[] = "length,update,error\n1,5,0.25\n2,7,\n";
  const char *names[FOV_PROGRESS_COLUMNS];
  FovProgress *rows;
  size_t count;
  double value;
  put(table);
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 2);
  assert_int_equal(fov_progress_names(names, &rows[1]), 3);
  assert_string_equal(names[0], "length");
  assert_true(fov_progress_find(&value, &rows[1], "update") && value == 7);
  assert_true(fov_progress_find(&value, &rows[0], "error") && value == 0.25);
  assert_false(fov_progress_find(&value, &rows[0], "episodes"));
  free(rows);
  put("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n");
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_ERR_FORMAT);
  assert_message("expected at most 16 columns, found 17");
  put(HEADER ROW1);
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_OK);
  assert_true(fov_progress_find(&value, &rows[0], "episodes") && !rows[0].table);
  free(rows);
}

/** As spreadsheets write them: a byte order mark, carriage returns, no newline at the end. */
static void test_tables_of_other_programs_are_read(void **state) {
  (void)state;
  FovProgress *rows;
  size_t count;
  double value;
  put("\xEF\xBB\xBFlength,error\r\n1,0.25\r\n2,0.125");
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 2);
  assert_true(fov_progress_find(&value, &rows[0], "length") && value == 1);
  assert_true(fov_progress_find(&value, &rows[1], "error") && value == 0.125);
  free(rows);
  put("length,error\n1,0.25\n2"); // still being written
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 1);
  free(rows);
  put("length,error\n1,0.25\n2, ");
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_ERR_FORMAT);
  assert_message(":3: error ' ' is not a number");
  put(HEADER ROW1 "2,2"); // a run that was killed
  assert_int_equal(fov_progress_read_table(&rows, &count, path), FOV_OK);
  assert_int_equal(count, 1);
  free(rows);
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

static void test_the_number_of_rows_is_bounded(void **state) {
  (void)state;
  const size_t size = 14 * 300000;
  char *text = malloc(size + 1);
  for (size_t i = 0; i < size; i += 14) memcpy(text + i, "1,2,,,,,,,,,,\n", 14);
  text[size] = '\0';
  assert_refused(text, "300000 lines, expected at most 262144");
  free(text);
}

static void test_a_missing_file_is_an_error_to_read(void **state) {
  (void)state;
  FovProgress *rows;
  size_t count;
  assert_int_equal(fov_progress_read(&rows, &count, path), FOV_ERR_IO);
  assert_message("progress.csv: cannot open");
}

static void test_truncate_keeps_rows_up_to_the_checkpoint(void **state) {
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
      TEST(test_an_old_file_is_read_and_continued),
      TEST(test_a_new_column_is_added_to_all_rows),
      TEST(test_columns_may_have_any_order),
      TEST(test_the_number_of_extra_columns_is_bounded),
      TEST(test_invalid_column_names_abort),
      TEST(test_the_number_of_rows_is_bounded),
      TEST(test_a_partial_line_is_left_out_and_cut),
      TEST(test_append_refuses_a_foreign_file),
      TEST(test_append_to_a_full_disk_leaves_no_part),
      TEST(test_bad_files_are_refused),
      TEST(test_other_tables_are_read_where_they_are_asked_for),
      TEST(test_tables_of_other_programs_are_read),
      TEST(test_a_zero_byte_is_refused),
      TEST(test_a_missing_file_is_an_error_to_read),
      TEST(test_truncate_keeps_rows_up_to_the_checkpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
