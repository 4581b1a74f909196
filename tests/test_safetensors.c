#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/rng.h"
#include "record/npy.h"
#include "record/safetensors.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("x.safetensors");
}

/** Plain writing: replacing with fsync would make thousands of hostile files slow, and some file
 * systems flush a file that is cut to be written again. */
static void put_file(const void *data, size_t size) {
  unlink(path);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(data, 1, size, stream), size);
  assert_int_equal(fclose(stream), 0);
}

/** Writes a file of this header, as it is, and `data_size` bytes 0, 1, 2 … */
static void put_header(const char *header, size_t data_size) {
  uint8_t bytes[4096];
  uint64_t length = strlen(header);
  assert_true(8 + length + data_size <= sizeof bytes);
  memcpy(bytes, &length, 8);
  memcpy(bytes + 8, header, length);
  for (size_t i = 0; i < data_size; i++) bytes[8 + length + i] = (uint8_t)i;
  put_file(bytes, 8 + length + data_size);
}

static void assert_refused(const char *message) {
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_ERR_FORMAT);
  assert_null(file);
  assert_message("x.safetensors: ");
  assert_message(message);
}

static float weights[6] = {1, -2, 3.5f, 0, 1e-30f, -1e30f};
static int32_t labels[3] = {1, -2, 3};
static int64_t step = 1234567890123;
static double loss[2] = {0.1, -0.2};
static uint8_t pixels[5] = {0, 1, 2, 254, 255};

static const FovBlob blobs[] = {
    {"step", FOV_DTYPE_I64, 0, {0}, &step},
    {"loss", FOV_DTYPE_F64, 1, {2}, loss},
    {"net.weight", FOV_DTYPE_F32, 2, {2, 3}, weights},
    {"empty", FOV_DTYPE_F32, 2, {0, 7}, NULL},
    {"also empty", FOV_DTYPE_F32, 1, {0}, NULL},
    {"labels", FOV_DTYPE_I32, 1, {3}, labels},
    {"pixels", FOV_DTYPE_U8, 1, {5}, pixels},
};
enum { BLOBS = sizeof blobs / sizeof blobs[0] };
static const FovText texts[] = {{"z", "last"}, {"a", "f\"i\nr\\st é"}};

static void write_sample(void) {
  assert_int_equal(fov_safetensors_write(path, blobs, BLOBS, texts, 2), FOV_OK);
}

static void test_round_trip(void **state) {
  (void)state;
  write_sample();
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  assert_int_equal(fov_safetensors_count(file), BLOBS);
  for (size_t i = 0; i < BLOBS; i++) {
    const FovBlob *blob = fov_safetensors_at(file, i);
    assert_string_equal(blob->name, blobs[i].name);
    assert_int_equal(blob->dtype, blobs[i].dtype);
    assert_int_equal(blob->dims, blobs[i].dims);
    for (int k = 0; k < blob->dims; k++) assert_int_equal(blob->shape[k], blobs[i].shape[k]);
    if (blobs[i].data) assert_memory_equal(blob->data, blobs[i].data, fov_blob_size(&blobs[i]));
    assert_ptr_equal(fov_safetensors_find(file, blobs[i].name), blob);
  }
  assert_string_equal(fov_safetensors_text(file, "a"), "f\"i\nr\\st é");
  assert_string_equal(fov_safetensors_text(file, "z"), "last");
  assert_null(fov_safetensors_text(file, "b"));
  assert_null(fov_safetensors_find(file, "none"));
  fov_safetensors_close(file);
}

static void test_bytes_are_canonical(void **state) {
  (void)state;
  static const char expected[] =
      "\xb8\0\0\0\0\0\0\0"
      "{\"__metadata__\":{\"digest\":\"xxh64:DDDDDDDDDDDDDDDD\",\"a\":\"x\",\"b\":\"y\"},"
      "\"labels\":{\"dtype\":\"I32\",\"shape\":[3],\"data_offsets\":[0,12]},"
      "\"s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[12,13]}}    "
      "\x01\0\0\0\xfe\xff\xff\xff\x03\0\0\0\xff";
  const FovBlob two[] = {{"labels", FOV_DTYPE_I32, 1, {3}, labels},
                         {"s", FOV_DTYPE_U8, 0, {0}, &pixels[4]}};
  const FovText pair[] = {{"b", "y"}, {"a", "x"}};
  assert_int_equal(fov_safetensors_write(path, two, 2, pair, 2), FOV_OK);
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 4096), FOV_OK);
  assert_int_equal(size, sizeof expected - 1);
  const size_t digest = 8 + 33;
  FovDigest whole = FOV_DIGEST_START;
  char found[FOV_DIGEST_SIZE + 1] = "", right[FOV_DIGEST_SIZE + 1];
  memcpy(found, data + digest, FOV_DIGEST_SIZE);
  memset(data + digest, '0', FOV_DIGEST_SIZE);
  fov_digest_add(&whole, data, size);
  assert_string_equal(found, fov_digest_print(right, fov_digest_value(&whole)));
  memset(data + digest, 'D', FOV_DIGEST_SIZE);
  assert_memory_equal(data, expected, size);
  free(data);
}

static void test_a_file_without_arrays_is_valid(void **state) {
  (void)state;
  assert_int_equal(fov_safetensors_write(path, NULL, 0, NULL, 0), FOV_OK);
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  assert_int_equal(fov_safetensors_count(file), 0);
  assert_null(fov_safetensors_text(file, "a"));
  fov_safetensors_close(file);
}

static void test_text_that_is_not_utf8_is_refused(void **state) {
  (void)state;
  const FovText bad = {"config", "\xff"};
  assert_int_equal(fov_safetensors_write(path, NULL, 0, &bad, 1), FOV_ERR_FORMAT);
  assert_message("'config' is not UTF-8");
  assert_false(fov_file_exists(path));
}

static void test_require(void **state) {
  (void)state;
  write_sample();
  FovSafetensors *file;
  const FovBlob *blob;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  const int64_t exact[] = {2, 3}, any[] = {-1, 3}, wrong[] = {-1, 4};
#define REQUIRE(...) fov_safetensors_require(&blob, file, __VA_ARGS__)
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_F32, 2, exact), FOV_OK);
  assert_close(((float *)blob->data)[2], 3.5f, 0);
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_F32, 2, any), FOV_OK);
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_F32, -1, NULL), FOV_OK);
  assert_int_equal(REQUIRE("step", FOV_DTYPE_I64, 0, NULL), FOV_OK);
  assert_int_equal(REQUIRE("none", FOV_DTYPE_F32, -1, NULL), FOV_ERR_FORMAT);
  assert_message("has no 'none'");
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_I32, 2, exact), FOV_ERR_FORMAT);
  assert_message("'net.weight' is of F32, expected I32");
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_F32, 2, wrong), FOV_ERR_FORMAT);
  assert_message("'net.weight' has shape [2, 3], expected [any, 4]");
  assert_null(blob);
  assert_int_equal(REQUIRE("net.weight", FOV_DTYPE_F32, 1, exact), FOV_ERR_FORMAT);
#undef REQUIRE
  fov_safetensors_close(file);
}

/** Foreign writers may sort entries by name and need not pad, so data may lie anywhere. */
static void test_foreign_order_and_alignment(void **state) {
  (void)state;
  for (int pad = 0; pad < 8; pad++) {
    char header[256];
    snprintf(header, sizeof header,
             "{\"b\":{\"shape\":[2],\"data_offsets\":[1,9],\"dtype\":\"I32\"},"
             "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}%*s",
             pad, "");
    put_header(header, 9);
    FovSafetensors *file;
    assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
    assert_string_equal(fov_safetensors_at(file, 0)->name, "a");
    const int32_t *b = fov_safetensors_at(file, 1)->data;
    assert_int_equal((uintptr_t)b % sizeof *b, 0);
    assert_int_equal(b[0], 0x04030201);
    assert_int_equal(b[1], 0x08070605);
    fov_safetensors_close(file);
  }
}

#define ENTRY(name, dtype, shape, offsets)                                                         \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void test_bad_headers_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *header, *message;
    size_t data_size;
  } cases[] = {
      {"[]", "without '{'", 0},
      {" {}", "without '{'", 0},
      {"{", "header, byte", 0},
      {"{}{}", "header, byte", 0},
      {"{}", "1 bytes of data, but the entries end at 0", 1},
      {"{\"a\":1}", "'a': ", 0},
      {"{\"a\":{}}", "'a': ", 0},
      {"{\"__metadata__\":[]}", "__metadata__ is not an object", 0},
      {"{\"__metadata__\":{\"k\":1}}", "'k' is not a string", 0},
      {"{" ENTRY("a", "F16", "[2]", "[0,4]") "}", "'a': dtype 'F16', expected U8, I32", 4},
      {"{" ENTRY("a", "F32", "[2]", "[0,4]") "}", "4 bytes of data do not fill its shape", 4},
      {"{" ENTRY("a", "F32", "[1]", "[0,8]") "}", "8 bytes of data do not fill its shape", 8},
      {"{" ENTRY("a", "F32", "[1]", "[0,4]") "}", "0 to 4, expected a range within the 3", 3},
      {"{" ENTRY("a", "F32", "[1]", "[4,0]") "}", "'a': offsets 4 to 0", 4},
      {"{" ENTRY("a", "F32", "[1]", "[-4,0]") "}", "'a': offsets -4 to 0", 4},
      {"{" ENTRY("a", "F32", "[-1]", "[0,4]") "}", "extent 0 of the shape", 4},
      {"{" ENTRY("a", "F32", "[1.0]", "[0,4]") "}", "extent 0 of the shape", 4},
      {"{" ENTRY("a", "F32", "4", "[0,4]") "}", "'a': a shape of", 4},
      {"{" ENTRY("a", "F32", "[1,1,1,1,1,1,1]", "[0,4]") "}", "a shape of 7 extents", 4},
      {"{" ENTRY("a", "F32", "[1]", "[0,4,8]") "}", "'a': ", 4},
      {"{" ENTRY("a", "F32", "[1]", "[0.0,4]") "}", "'a': ", 4},
      {"{" ENTRY("a", "F32", "[1],\"x\":0", "[0,4]") "}", "'a': ", 4},
      {"{" ENTRY("a", "U8", "[4611686018427387904,4]", "[0,0]") "}", "do not fill its shape", 0},
      {"{" ENTRY("a", "F64", "[2305843009213693952]", "[0,0]") "}", "do not fill its shape", 0},
      {"{" ENTRY("a", "U8", "[9223372036854775808]", "[0,0]") "}", "header, byte", 0},
      {"{" ENTRY("a", "U8", "[2]", "[0,2]") "," ENTRY("b", "U8", "[2]", "[1,3]") "}",
       "'b' begins at byte 1 of the data, expected 2: an overlap", 3},
      {"{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY("b", "U8", "[1]", "[2,3]") "}",
       "'b' begins at byte 2 of the data, expected 1: a hole", 3},
      {"{" ENTRY("a", "U8", "[1]", "[1,2]") "}", "'a' begins at byte 1", 2},
      {"{" ENTRY("a", "U8", "[1]", "[0,1]") "}", "2 bytes of data, but the entries end at 1", 2},
      {"{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY("a", "U8", "[1]", "[1,2]") "}",
       "duplicate object key", 2},
      {"{\"a\\u0000b\":1}", "header, byte", 0},
      {"{\"\xff\":1}", "header, byte", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put_header(cases[i].header, cases[i].data_size);
    assert_refused(cases[i].message);
  }
}

static void test_a_long_name_is_refused(void **state) {
  (void)state;
  char header[512], name[FOV_BLOB_NAME + 1];
  memset(name, 'n', sizeof name);
  for (int length = FOV_BLOB_NAME - 1; length <= FOV_BLOB_NAME; length++) {
    snprintf(header, sizeof header,
             "{\"%.*s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", length, name);
    put_header(header, 1);
    FovSafetensors *file;
    bool fits = length < FOV_BLOB_NAME;
    assert_int_equal(fov_safetensors_open(&file, path), fits ? FOV_OK : FOV_ERR_FORMAT);
    fov_safetensors_close(file);
  }
  assert_message("a name of 96 bytes, expected at most 95");
}

static void test_header_length_is_bounded(void **state) {
  (void)state;
  const uint64_t lengths[] = {0, 3, (1 << 20) + 1, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    char bytes[10];
    memcpy(bytes, &lengths[i], 8);
    memcpy(bytes + 8, "{}", 2);
    put_file(bytes, sizeof bytes);
    assert_refused("not a safetensors file");
  }
}

static void test_text_is_not_called_truncated(void **state) {
  (void)state;
  put_file("# an experiment\n", 16);
  assert_refused(
      "x.safetensors: expected a run or a safetensors file, found text; fovea train makes "
      "a run of an experiment");
}

/** A header that the file does not have in full is truncated, whatever its length. */
static void test_a_whole_file_is_not_called_truncated(void **state) {
  (void)state;
  enum { HEADER = (1 << 20) + 8 };
  char *bytes = calloc(1, 8 + HEADER);
  const uint64_t length = HEADER;
  memcpy(bytes, &length, 8);
  put_file(bytes, 8 + HEADER);
  assert_refused("x.safetensors: a header of 1048584 bytes, expected at most 1048576 (1 MiB)");
  put_file(bytes, 7 + HEADER);
  assert_refused("x.safetensors: truncated or not a safetensors file: a header of 1048584 bytes, "
                 "expected at most the 1048583 that follow");
  free(bytes);
}

static void test_deep_nesting_is_refused(void **state) {
  (void)state;
  enum { DEPTH = 1 << 20 };
  char *bytes = malloc(8 + 5 + DEPTH);
  const uint64_t length = 5 + DEPTH;
  memcpy(bytes, &length, 8);
  memcpy(bytes + 8, "{\"a\":", 5);
  memset(bytes + 13, '[', DEPTH);
  put_file(bytes, 13 + DEPTH);
  free(bytes);
  assert_refused("a header of 1048581 bytes, expected at most 1048576");
}

/** Writes a file whose header is `start`, `item` until `size` bytes are full, and `end`. */
static void put_repeated(const char *start, const char *item, const char *end, size_t size) {
  char *bytes = malloc(8 + size + 64);
  size_t length = (size_t)sprintf(bytes + 8, "%s", start), each = strlen(item);
  for (; length + each + strlen(end) <= size; length += each)
    memcpy(bytes + 8 + length, item, each);
  length += (size_t)sprintf(bytes + 8 + length, "%s", end);
  const uint64_t prefix = length;
  memcpy(bytes, &prefix, 8);
  put_file(bytes, 8 + length);
  free(bytes);
}

static long peak_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/** A parser needs up to 80 times the size of a header of small values. */
static void test_a_header_of_many_values_is_refused_before_it_is_parsed(void **state) {
  (void)state;
  static const char *const items[] = {"{},", "[],", "0,", "\"\","};
  static const size_t sizes[] = {1 << 20, 9 << 20};
  static const char *const messages[] = {"or has too many values for its 1048",
                                         "expected at most 1048576"};
  for (size_t i = 0; i < 2 * sizeof items / sizeof *items; i++) {
    put_repeated("{\"b\":[", items[i / 2], "{}]}", sizes[i % 2]);
    long before = peak_kilobytes();
    assert_refused(messages[i % 2]);
    assert_in_range(peak_kilobytes() - before, 0, 4000);
  }
  put_repeated("{", "\"a\":[[[[]]]],", "\"b\":1}", 1000);
  assert_refused("nests deeper than three levels");
}

static void test_every_truncation_is_refused(void **state) {
  (void)state;
  write_sample();
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  for (size_t cut = 0; cut < size; cut++) {
    put_file(data, cut);
    assert_refused("");
  }
  put_file(data, size + 1); // the reader's zero byte stands behind the end
  assert_refused("the file is damaged; restore it from a copy");
  free(data);
}

/** Reads every byte the file hands out, for the sanitizers to judge. */
static unsigned touch(const FovSafetensors *file) {
  unsigned sum = 0;
  for (size_t i = 0; i < fov_safetensors_count(file); i++) {
    const FovBlob *blob = fov_safetensors_at(file, i);
    assert_int_equal((uintptr_t)blob->data % fov_dtype_size(blob->dtype), 0);
    for (size_t k = 0; k < fov_blob_size(blob); k++) sum += ((const uint8_t *)blob->data)[k];
  }
  return sum;
}

static void test_a_file_without_digest_opens_unchecked(void **state) {
  (void)state;
  FovSafetensors *file;
  write_sample();
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  assert_true(fov_safetensors_is_checked(file));
  fov_safetensors_close(file);
  put_header("{" ENTRY("a", "U8", "[4]", "[0,4]") "}", 4);
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  assert_false(fov_safetensors_is_checked(file));
  fov_safetensors_close(file);
}

static void test_a_digest_in_another_place_is_refused(void **state) {
  (void)state;
  put_header("{\"__metadata__\":{\"a\":\"\",\"digest\":\"xxh64:0123456789abcdef\"}}", 0);
  assert_refused("remove 'digest' from its __metadata__ to accept it unchecked");
}

static void test_every_flipped_bit_is_refused(void **state) {
  (void)state;
  write_sample();
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    data[bit / 8] ^= (char)(1 << bit % 8);
    put_file(data, size);
    FovSafetensors *file;
    if (fov_safetensors_open(&file, path) != FOV_ERR_FORMAT) fail_msg("bit %zu is accepted", bit);
    data[bit / 8] ^= (char)(1 << bit % 8);
  }
  data[size - 1] ^= 1;
  put_file(data, size);
  assert_refused("but its bytes have ");
  assert_message("the file is damaged; restore it from a copy");
  free(data);
}

/** Without a digest: it would refuse the file before the code under test reads it. */
static void test_flipped_bits_never_crash(void **state) {
  (void)state;
  put_header("{\"__metadata__\":{\"k\":\"v\"}," ENTRY("step", "I64", "[]", "[0,8]") "," ENTRY(
                 "loss", "F64", "[2]",
                 "[8,24]") "," ENTRY("w", "F32", "[2,3]",
                                     "[24,48]") "," ENTRY("n", "I32", "[3]",
                                                          "[48,60]") "," ENTRY("pixel"
                                                                               "s",
                                                                               "U8", "[5]",
                                                                               "[60,"
                                                                               "65]") "}",
             65);
  char *data;
  size_t size, opened = 0;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  FovRng rng = fov_rng_stream(1, FOV_STREAM_INIT, 1);
  for (int trial = 0; trial < 4000; trial++) {
    char *copy = malloc(size);
    memcpy(copy, data, size);
    for (uint32_t flips = 1 + fov_rng_below(&rng, 3); flips > 0; flips--)
      copy[fov_rng_below(&rng, (uint32_t)size)] ^= (char)(1 << fov_rng_below(&rng, 8));
    put_file(copy, size);
    free(copy);
    FovSafetensors *file;
    if (fov_safetensors_open(&file, path) == FOV_OK)
      opened += touch(file) > 0;
    else
      assert_null(file);
    fov_safetensors_close(file);
  }
  assert_in_range(opened, 1, 3999); // flips in the data are legal, flips in the header are not
  free(data);
}

static void test_what_is_not_a_file_is_refused(void **state) {
  (void)state;
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_ERR_IO);
  assert_message("cannot open: No such file or directory");
  assert_int_equal(fov_safetensors_open(&file, folder), FOV_ERR_IO);
  assert_message("expected a regular file, found a ");
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(fov_safetensors_open(&file, path), FOV_ERR_IO);
  assert_message("expected a regular file, found a ");
  fov_safetensors_close(NULL);
}

/** Magic number, version 1, length of the text, a dictionary of Python; the data is aligned. */
static void test_an_array_of_numpy(void **state) {
  (void)state;
  static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3,), }";
  char *data;
  size_t size;
  assert_int_equal(fov_npy_write(path, &blobs[2]), FOV_OK);
  assert_int_equal(fov_file_read(&data, &size, path, 1000), FOV_OK);
  assert_int_equal(size, 128 + sizeof weights);
  assert_memory_equal(data, "\x93NUMPY\1\0\x76\0", 10);
  assert_memory_equal(data + 10, text, sizeof text - 1);
  for (size_t i = 10 + sizeof text - 1; i < 127; i++) assert_int_equal(data[i], ' ');
  assert_int_equal(data[127], '\n');
  assert_memory_equal(data + 128, weights, sizeof weights);
  free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip),
      TEST(test_bytes_are_canonical),
      TEST(test_a_file_without_arrays_is_valid),
      TEST(test_text_that_is_not_utf8_is_refused),
      TEST(test_require),
      TEST(test_foreign_order_and_alignment),
      TEST(test_bad_headers_are_refused),
      TEST(test_a_long_name_is_refused),
      TEST(test_header_length_is_bounded),
      TEST(test_text_is_not_called_truncated),
      TEST(test_a_whole_file_is_not_called_truncated),
      TEST(test_deep_nesting_is_refused),
      TEST(test_a_header_of_many_values_is_refused_before_it_is_parsed),
      TEST(test_every_truncation_is_refused),
      TEST(test_a_file_without_digest_opens_unchecked),
      TEST(test_a_digest_in_another_place_is_refused),
      TEST(test_every_flipped_bit_is_refused),
      TEST(test_flipped_bits_never_crash),
      TEST(test_what_is_not_a_file_is_refused),
      TEST(test_an_array_of_numpy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
