#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "record/tfevents.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("x");
}

/** Sets `path` to the first file whose name ends with `suffix`; returns how many there are. */
static int find_files(const char *suffix) {
  DIR *dir = opendir(folder);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name), end = strlen(suffix);
    if (entry->d_name[0] == '.' || length < end ||
        strcmp(entry->d_name + length - end, suffix) != 0)
      continue;
    if (count++ == 0) snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
  }
  closedir(dir);
  return count;
}

/** Checks the frame of the record at *at, moves past it and returns its message. */
static const uint8_t *next_record(size_t *length, const uint8_t **at, const uint8_t *end) {
  uint64_t size;
  uint32_t stored[2], crc[2];
  assert_true(end - *at >= 16);
  memcpy(&size, *at, 8);
  assert_true(size <= (uint64_t)(end - *at) - 16);
  memcpy(&stored[0], *at + 8, 4);
  memcpy(&stored[1], *at + 12 + size, 4);
  crc[0] = fov_crc32c(*at, 8);
  crc[1] = fov_crc32c(*at + 12, size);
  for (int i = 0; i < 2; i++)
    assert_int_equal(stored[i], (uint32_t)((crc[i] >> 15 | crc[i] << 17) + 0xa282ead8u));
  const uint8_t *message = *at + 12;
  *at += 16 + size;
  *length = size;
  return message;
}

static void assert_record(const uint8_t **at, const uint8_t *end, const void *expected,
                          size_t expected_length) {
  size_t length;
  const uint8_t *message = next_record(&length, at, end);
  assert_int_equal(length, expected_length);
  assert_memory_equal(message, expected, length);
}
#define ASSERT_RECORD(literal) assert_record(&at, end, literal, sizeof(literal) - 1)

static void test_crc32c_of_known_texts(void **state) {
  (void)state;
  static const uint8_t zeros[32];
  assert_int_equal(fov_crc32c("123456789", 9), 0xe3069283u);
  assert_int_equal(fov_crc32c("", 0), 0);
  assert_int_equal(fov_crc32c(zeros, sizeof zeros), 0x8a9136aau); // RFC 3720, B.4
}

// 1700000000.5 as a double, little-endian.
#define TIME "\x00\x00\x20\x40\xfc\x54\xd9\x41"
#define START                                                                                      \
  "\x09" TIME "\x1a\x0d"                                                                           \
  "brain.Event:2"

static void test_records_byte_by_byte(void **state) {
  (void)state;
  FovTfevents *events;
  assert_int_equal(fov_tfevents_open(&events, folder, 1700000000.5, false, 0), FOV_OK);
  assert_int_equal(fov_tfevents_scalar(events, "a/b", 128, 1.5f, 1700000000.5), FOV_OK);
  assert_int_equal(fov_tfevents_scalar(events, "c", INT64_MAX, -0.0f, 1700000000.5), FOV_OK);
  fov_tfevents_close(events);
  char *data;
  size_t size;
  assert_int_equal(find_files(".fovea"), 1);
  assert_non_null(strstr(path, "/events.out.tfevents.1700000000."));
  assert_int_equal(fov_file_read(&data, &size, path, 4096), FOV_OK);
  const uint8_t *at = (const uint8_t *)data, *end = at + size;
  assert_memory_equal(at, "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12); // published: 0x224b7fa3
  ASSERT_RECORD(START);
  ASSERT_RECORD("\x09" TIME "\x10\x80\x01\x2a\x0c\x0a\x0a\x0a\x03"
                "a/b"
                "\x15\x00\x00\xc0\x3f");
  ASSERT_RECORD("\x09" TIME "\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                "\x2a\x0a\x0a\x08\x0a\x01"
                "c"
                "\x15\x00\x00\x00\x80");
  assert_ptr_equal(at, end);
  free(data);
}

static void test_a_resumed_run_records_its_first_update(void **state) {
  (void)state;
  FovTfevents *events;
  assert_int_equal(fov_tfevents_open(&events, folder, 1700000000.5, true, 5), FOV_OK);
  char *data;
  size_t size;
  assert_int_equal(find_files(".fovea"), 1);
  assert_int_equal(fov_file_read(&data, &size, path, 4096), FOV_OK);
  const uint8_t *at = (const uint8_t *)data, *end = at + size;
  ASSERT_RECORD(START);
  ASSERT_RECORD("\x09" TIME "\x10\x05\x3a\x02\x08\x01");
  assert_ptr_equal(at, end);
  free(data);
  fov_tfevents_close(events);
}

static void test_points_are_shown_at_once(void **state) {
  (void)state;
  FovTfevents *events;
  char *data;
  size_t size;
  assert_int_equal(fov_tfevents_open(&events, folder, 1, false, 0), FOV_OK);
  assert_int_equal(find_files(".fovea"), 1);
  assert_non_null(strstr(path, "tfevents.0000000001."));
  assert_int_equal(fov_tfevents_scalar(events, "x", 0, 0, 1), FOV_OK);
  assert_int_equal(fov_file_read(&data, &size, path, 4096), FOV_OK);
  const uint8_t *at = (const uint8_t *)data, *end = at + size;
  size_t length;
  next_record(&length, &at, end);
  next_record(&length, &at, end);
  assert_ptr_equal(at, end);
  free(data);
  fov_tfevents_close(events);
}

/** Whether the file at `path` has a point with that tag. */
static bool has_point(const char *tag) {
  char *data, key[FOV_TAG_SIZE + 2];
  size_t size, length = (size_t)snprintf(key, sizeof key, "\x0a%c%s\x15", (int)strlen(tag), tag);
  assert_int_equal(fov_file_read(&data, &size, path, 4096), FOV_OK);
  bool found = memmem(data, size, key, length);
  free(data);
  return found;
}

static void test_a_row_is_one_point_for_each_number(void **state) {
  (void)state;
  FovProgress row = {.update = 1, .valid_error = NAN};
  fov_progress_add(&row, "policy_sigma", 1);
  fov_progress_add(&row, "answer_loss", 2);
  fov_progress_add(&row, "baseline_loss", INFINITY);
  fov_progress_add(&row, "entropy", 3);
  FovTfevents *events;
  assert_int_equal(fov_tfevents_open(&events, folder, 1, false, 0), FOV_OK);
  assert_int_equal(fov_tfevents_row(events, &row, 1), FOV_OK);
  fov_tfevents_close(events);
  assert_int_equal(find_files(".fovea"), 1);
  assert_true(has_point("train/error") && has_point("valid/reward"));
  assert_false(has_point("valid/error"));
  assert_true(has_point("train/sigma") && has_point("train/class_loss"));
  assert_false(has_point("train/baseline_loss"));
  assert_true(has_point("extra/entropy"));
}

static void test_no_file_is_overwritten(void **state) {
  (void)state;
  FovTfevents *events[3];
  for (int i = 0; i < 3; i++)
    assert_int_equal(fov_tfevents_open(&events[i], folder, 1700000000, false, 0), FOV_OK);
  assert_int_equal(find_files(""), 3);
  assert_int_equal(find_files(".fovea"), 1);
  assert_int_equal(find_files(".fovea.1"), 1);
  assert_int_equal(find_files(".fovea.2"), 1);
  for (int i = 0; i < 3; i++) fov_tfevents_close(events[i]);
}

static void test_the_longest_tag_fits(void **state) {
  (void)state;
  char tag[FOV_TAG_SIZE] = "";
  memset(tag, 't', sizeof tag - 1);
  FovTfevents *events;
  assert_int_equal(fov_tfevents_open(&events, folder, 1, false, 0), FOV_OK);
  assert_int_equal(fov_tfevents_scalar(events, tag, -1, 1, 1), FOV_OK);
  fov_tfevents_close(events);
}

static void test_failures_name_the_file(void **state) {
  (void)state;
  FovTfevents *events;
  char missing[300];
  snprintf(missing, sizeof missing, "%s/none", folder);
  assert_int_equal(fov_tfevents_open(&events, missing, 1, false, 0), FOV_ERR_IO);
  assert_null(events);
  assert_non_null(strstr(fov_error_message(), "/none/events.out.tfevents.0000000001."));
  char endless[PATH_MAX];
  memset(endless, 'x', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  assert_int_equal(fov_tfevents_open(&events, endless, 1, false, 0), FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "cannot create: File name too long"));
  fov_tfevents_close(NULL);
}

static void test_a_full_disk_is_an_error(void **state) {
  (void)state;
  FovTfevents *events;
  assert_int_equal(fov_tfevents_open(&events, folder, 1, false, 0), FOV_OK);
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 45;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  FovStatus status = fov_tfevents_scalar(events, "x", 1, 1, 1);
  fov_tfevents_close(events);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "cannot write: File too large"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_crc32c_of_known_texts),
      TEST(test_records_byte_by_byte),
      TEST(test_a_resumed_run_records_its_first_update),
      TEST(test_points_are_shown_at_once),
      TEST(test_a_row_is_one_point_for_each_number),
      TEST(test_no_file_is_overwritten),
      TEST(test_the_longest_tag_fits),
      TEST(test_failures_name_the_file),
      TEST(test_a_full_disk_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
