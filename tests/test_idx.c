/** The reader of IDX files: what it reads and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/rng.h"
#include "envs/datasets/idx.h"
#include "tests/folder.h"

enum { HEADER = 16, DATA = 2 * 3 * 4, FILE_SIZE = HEADER + DATA };

/** An array of [2, 3, 4] bytes. */
static void make_file(uint8_t bytes[FILE_SIZE]) {
  static const uint8_t header[HEADER] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
  memcpy(bytes, header, HEADER);
  for (int i = 0; i < DATA; i++) bytes[HEADER + i] = (uint8_t)(7 * i + 1);
}

static void write_plain(const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void write_gzip(const void *bytes, size_t size) {
  gzFile file = gzopen(path, "wb9");
  assert_non_null(file);
  assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
  assert_int_equal(gzclose(file), Z_OK);
}

static size_t read_back(uint8_t *bytes, size_t limit) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, limit, file);
  assert_int_equal(fclose(file), 0);
  return size;
}

static void assert_reads(int ndim, const int *dims, const uint8_t *data, size_t size) {
  FovIdx idx;
  assert_int_equal(fov_idx_read(&idx, path, ndim), FOV_OK);
  assert_memory_equal(idx.dims, dims, (size_t)ndim * sizeof *dims);
  assert_int_equal(idx.size, size);
  assert_memory_equal(idx.data, data, size);
  fov_idx_finish(&idx);
  assert_null(idx.data);
}

static void assert_refuses(int ndim, FovStatus status, const char *words) {
  FovIdx idx;
  assert_int_equal(fov_idx_read(&idx, path, ndim), status);
  assert_null(idx.data);
  assert_int_equal(idx.size, 0);
  assert_ptr_equal(strstr(fov_error_message(), path), fov_error_message());
  assert_non_null(strstr(fov_error_message(), words));
}

static void reads_plain_and_gzip(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  make_file(bytes);
  write_plain(bytes, sizeof bytes);
  assert_reads(3, (int[]){2, 3, 4}, bytes + HEADER, DATA);
  write_gzip(bytes, sizeof bytes);
  assert_reads(3, (int[]){2, 3, 4}, bytes + HEADER, DATA);
}

static void reads_labels(void **state) {
  (void)state;
  static const uint8_t bytes[] = {0, 0, 8, 1, 0, 0, 1, 2};
  uint8_t file[8 + 258] = {0};
  memcpy(file, bytes, sizeof bytes);
  file[8 + 257] = 9;
  write_plain(file, sizeof file);
  assert_reads(1, (int[]){258}, file + 8, 258);
}

static void refuses_every_truncation(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE], packed[256];
  make_file(bytes);
  for (size_t size = 0; size < sizeof bytes; size++) {
    write_plain(bytes, size);
    assert_refuses(3, FOV_ERR_FORMAT, "cut short");
  }
  write_gzip(bytes, sizeof bytes);
  size_t packed_size = read_back(packed, sizeof packed);
  assert_in_range(packed_size, 20, sizeof packed - 1);
  for (size_t size = 0; size < packed_size; size++) {
    write_plain(packed, size);
    assert_refuses(3, FOV_ERR_FORMAT, "fetch it again");
  }
}

/** Larger than zlib's buffers: all data may be there when the end is missing. */
static void refuses_a_large_gzip_without_its_end(void **state) {
  (void)state;
  enum { SIDE = 300, LARGE = HEADER + SIDE * SIDE };
  static const uint8_t header[HEADER] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 1, 44, 0, 0, 1, 44};
  static uint8_t bytes[LARGE], packed[2 * LARGE];
  FovRng rng = fov_rng_stream(1, FOV_STREAM_INIT, 2);
  memcpy(bytes, header, HEADER);
  for (int i = HEADER; i < LARGE; i++) bytes[i] = (uint8_t)fov_rng_u32(&rng);
  write_gzip(bytes, sizeof bytes);
  assert_reads(3, (int[]){1, SIDE, SIDE}, bytes + HEADER, SIDE * SIDE);
  size_t size = read_back(packed, sizeof packed);
  assert_in_range(size, SIDE * SIDE, sizeof packed - 1);
  for (size_t cut = 1; cut <= 12; cut++) {
    write_plain(packed, size - cut);
    assert_refuses(3, FOV_ERR_FORMAT, "fetch it again");
  }
}

static void refuses_every_flipped_header_bit(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  for (int bit = 0; bit < 8 * HEADER; bit++) {
    make_file(bytes);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    write_plain(bytes, sizeof bytes);
    assert_refuses(3, FOV_ERR_FORMAT, "expected");
  }
}

/** Bits of the gzip header do not affect the data; every other flipped bit must be noticed. */
static void never_reads_wrong_data_from_a_damaged_gzip(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE], packed[256];
  make_file(bytes);
  write_gzip(bytes, sizeof bytes);
  size_t size = read_back(packed, sizeof packed);
  for (size_t bit = 8 * 10; bit < 8 * size; bit++) {
    packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    write_plain(packed, size);
    FovIdx idx;
    if (fov_idx_read(&idx, path, 3) == FOV_OK) assert_memory_equal(idx.data, bytes + HEADER, DATA);
    fov_idx_finish(&idx);
    packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  packed[size - 8] ^= 1;
  write_plain(packed, size);
  assert_refuses(3, FOV_ERR_FORMAT, "damaged gzip file (incorrect data check)");
}

static void refuses_trailing_bytes(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE + 1] = {0};
  make_file(bytes);
  write_plain(bytes, sizeof bytes);
  assert_refuses(3, FOV_ERR_FORMAT, "too long");
  write_gzip(bytes, sizeof bytes);
  assert_refuses(3, FOV_ERR_FORMAT, "too long");
}

static void refuses_a_gzip_bomb(void **state) {
  (void)state;
  enum { BOMB = 16 << 20 };
  uint8_t *bytes = calloc(1, BOMB);
  assert_non_null(bytes);
  make_file(bytes);
  write_gzip(bytes, BOMB);
  free(bytes);
  assert_refuses(3, FOV_ERR_FORMAT, "expected 24 bytes of data, found more");
}

static void write_shape(uint32_t n, uint32_t height, uint32_t width) {
  uint8_t bytes[FILE_SIZE];
  make_file(bytes);
  const uint32_t dims[] = {n, height, width};
  for (int i = 0; i < 12; i++) bytes[4 + i] = (uint8_t)(dims[i / 4] >> (24 - 8 * (i % 4)));
  write_plain(bytes, sizeof bytes);
}

static void checks_sizes_before_it_allocates(void **state) {
  (void)state;
  write_shape(0, 3, 4);
  assert_refuses(3, FOV_ERR_FORMAT, "dimension 0: expected 1 to 1073741824, found 0");
  write_shape(2, 3, 65537);
  assert_refuses(3, FOV_ERR_FORMAT, "dimension 2: expected 1 to 65536, found 65537");
  write_shape(2, 0xffffffffu, 4);
  assert_refuses(3, FOV_ERR_FORMAT, "dimension 1: expected 1 to 65536, found 4294967295");
  write_shape(1 << 30, 65536, 65536);
  assert_refuses(3, FOV_ERR_FORMAT, "found a header for 4611686018427387904");
  write_shape(32769, 32768, 1);
  assert_refuses(3, FOV_ERR_FORMAT, "expected at most 1073741824 bytes");
  write_shape(32768, 32768, 1); // more than a compressed file of this size could have
  assert_refuses(3, FOV_ERR_FORMAT, "expected 1073741824 bytes of data, found a file of ");
}

static void refuses_other_types_and_shapes(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  make_file(bytes);
  write_plain(bytes, sizeof bytes);
  assert_refuses(1, FOV_ERR_FORMAT, "expected the magic number 0x00000801, found 0x00000803");
  bytes[2] = 0x0d; // Floats.
  write_plain(bytes, sizeof bytes);
  assert_refuses(3, FOV_ERR_FORMAT, "found 0x00000d03");
}

static void names_a_file_that_cannot_be_opened(void **state) {
  (void)state;
  unlink(path);
  assert_refuses(3, FOV_ERR_IO, ": cannot open: No such file");
  FovIdx idx;
  assert_int_equal(fov_idx_read(&idx, folder, 3), FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), folder));
}

/** The pipe has no writer: a blocking open would never return. */
static void refuses_a_pipe_without_waiting(void **state) {
  (void)state;
  unlink(path);
  assert_int_equal(mkfifo(path, 0666), 0);
  alarm(10); // ends this program if it blocks
  assert_refuses(3, FOV_ERR_IO, "expected a regular file, found a pipe");
  alarm(0);
  unlink(path);
}

static void counts_from_the_header_alone(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  int count = -1;
  make_file(bytes);
  write_plain(bytes, 16); // the header, without data
  assert_int_equal(fov_idx_count(&count, path, 3), FOV_OK);
  assert_int_equal(count, bytes[7]);
  write_plain(bytes, 15);
  assert_int_equal(fov_idx_count(&count, path, 3), FOV_ERR_FORMAT);
  assert_int_equal(count, 0);
}

static int enter(void **state) {
  (void)state;
  return make_folder("file");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_plain_and_gzip),
      cmocka_unit_test(reads_labels),
      cmocka_unit_test(refuses_every_truncation),
      cmocka_unit_test(refuses_a_large_gzip_without_its_end),
      cmocka_unit_test(refuses_every_flipped_header_bit),
      cmocka_unit_test(never_reads_wrong_data_from_a_damaged_gzip),
      cmocka_unit_test(refuses_trailing_bytes),
      cmocka_unit_test(refuses_a_gzip_bomb),
      cmocka_unit_test(checks_sizes_before_it_allocates),
      cmocka_unit_test(refuses_other_types_and_shapes),
      cmocka_unit_test(names_a_file_that_cannot_be_opened),
      cmocka_unit_test(refuses_a_pipe_without_waiting),
      cmocka_unit_test(counts_from_the_header_alone),
  };
  return cmocka_run_group_tests(tests, enter, remove_folder);
}
