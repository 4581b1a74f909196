#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "record/safetensors.h"
#include "record/trace.h"
#include "tests/folder.h"

static int enter(void **state) {
  (void)state;
  return make_folder("x.safetensors");
}

enum { E = 2, T = 3, F = T, H = 5, W = 7, C = 3, A = 4, G = 2, S = 2, K = 3 };

/** A trace in which adjacent numbers differ. */
static FovTrace make_trace(void) {
  static const char *const names[A] = {"up", "", "down right", "3"};
  FovTrace trace = {.episodes = E,
                    .glimpses = T,
                    .frames = F,
                    .control = true,
                    .height = H,
                    .width = W,
                    .channels = C,
                    .actions = A,
                    .side = G,
                    .scales = S,
                    .update = 123456789012,
                    .weights = "0123456789abcdef",
                    .policy = "gaussian",
                    .split = "test",
                    .seed = "18446744073709551615",
                    .subset = "first 1, then wrong"};
  fov_trace_add_column(&trace, "policy.mean", 2);
  fov_trace_add_column(&trace, "policy.sigma", 2);
  fov_trace_add_column(&trace, "policy.tiles", K * K);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  for (int i = 0; i < E * F * H * W * C; i++) trace.images[i] = (uint8_t)i;
  for (int i = 0; i < E * T * S * G * G * C; i++) trace.retina[i] = (uint8_t)(255 - i);
  for (int i = 0; i < E * T * 2; i++) {
    trace.locations[i] = -1 + 2 * (float)i / (E * T * 2 - 1);
    trace.column[0].values[i] = i < 2 ? NAN : 1.5f * (float)i;
    trace.column[1].values[i] = i < 2 ? NAN : 0.1f * (float)i;
  }
  for (int i = 0; i < E * T * K * K; i++) trace.column[2].values[i] = 0.01f * (float)i;
  for (int i = 0; i < E * T * A; i++) trace.probabilities[i] = (float)i / (E * T * A - 1);
  for (int i = 0; i < E * T; i++) {
    trace.baselines[i] = i == 1 ? NAN : -(float)i;
    trace.rewards[i] = (float)i;
    trace.labels[i] = i % (A + 1) - 1;
    trace.answers[i] = A - 1 - i % (A + 1);
  }
  for (int i = 0; i < E; i++) {
    trace.lengths[i] = T - i;
    trace.wrong[i] = i;
  }
  assert_int_equal(fov_trace_set_names(&trace, names, NULL), FOV_OK);
  return trace;
}

static void test_arrays_start_empty(void **state) {
  (void)state;
  FovTrace trace = {.episodes = 2,
                    .glimpses = 1,
                    .frames = 1,
                    .height = 1,
                    .width = 1,
                    .channels = 1,
                    .actions = 2,
                    .side = 1,
                    .scales = 1};
  fov_trace_add_column(&trace, "policy.tiles", 3);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  assert_close(trace.probabilities[2 * 1 * 2 - 1], 0, 0);
  assert_int_equal(trace.answers[1], -1);
  assert_int_equal(trace.labels[0], -1);
  assert_int_equal(trace.lengths[1], 1);
  assert_int_equal(trace.wrong[1], 0);
  assert_true(isnan(trace.column[0].values[2 * 3 - 1]) && isnan(trace.baselines[1]));
  fov_trace_finish(&trace);
  assert_null(trace.images);
  fov_trace_finish(&trace);
}

static void assert_column(const FovTrace *trace, const char *name, int width,
                          const float *expected) {
  const float *values = fov_trace_column(trace, name, width);
  assert_non_null(values);
  assert_memory_equal(values, expected, (size_t)E * T * width * sizeof *values);
  assert_int_equal(fov_trace_find_column(trace, name)->width, width);
  assert_null(fov_trace_column(trace, name, width + 1));
}

#define ASSERT_SAME(field, count)                                                                  \
  assert_memory_equal(read.field, trace.field, (count) * sizeof *trace.field)

static void test_a_sequence_keeps_its_symbols(void **state) {
  (void)state;
  enum { EPISODES = 2, ROOM = 3, SYMBOLS = 4 };
  const char *const names[SYMBOLS] = {" ", "\xC3\xA9", "the", "."};
  const int32_t symbols[EPISODES * ROOM] = {3, 0, 1, 2, -1, -1};
  FovTrace read, trace = {.episodes = EPISODES,
                          .glimpses = 1,
                          .frames = 1,
                          .height = 1,
                          .width = ROOM,
                          .channels = 1,
                          .actions = 2,
                          .vocabulary = SYMBOLS,
                          .side = 1,
                          .scales = 1};
  char text[8];
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  assert_int_equal(trace.symbols[EPISODES * ROOM - 1], -1);
  memcpy(trace.symbols, symbols, sizeof symbols);
  assert_int_equal(fov_trace_set_names(&trace, NULL, names), FOV_OK);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_int_equal(read.vocabulary, SYMBOLS);
  assert_memory_equal(read.symbols, symbols, sizeof symbols);
  assert_int_equal(fov_trace_length(&read, 0), 3);
  assert_int_equal(fov_trace_length(&read, 1), 1);
  fov_trace_symbol(text, sizeof text, &read, 1);
  assert_string_equal(text, names[1]);
  fov_trace_symbol(text, sizeof text, &read, -1);
  assert_string_equal(text, "");
  fov_trace_finish(&read);
  trace.symbols[0] = SYMBOLS;
  assert_int_equal(fov_trace_write(&trace, path), FOV_ERR_FORMAT);
  fov_trace_finish(&trace);
}

/** The longest names fit a header, even if each byte is escaped; longer ones are left out. */
static void test_too_many_names_are_left_out(void **state) {
  (void)state;
  static char name[FOV_TRACE_NAMES];
  const char *const names[] = {name};
  memset(name, '"', FOV_TRACE_NAMES - 2);
  for (int longer = 0; longer < 2; longer++) {
    FovTrace read, trace = {.episodes = 1,
                            .glimpses = 1,
                            .frames = 1,
                            .height = 1,
                            .width = 1,
                            .channels = 1,
                            .actions = 1,
                            .vocabulary = 1,
                            .side = 1,
                            .scales = 1};
    if (longer) name[FOV_TRACE_NAMES - 2] = '"';
    assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
    assert_int_equal(fov_trace_set_names(&trace, names, names), FOV_OK);
    assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
    assert_int_equal(fov_trace_read(&read, path), FOV_OK);
    assert_int_equal(!read.names, longer);
    assert_int_equal(!read.symbol_names, longer);
    fov_trace_finish(&read);
    fov_trace_finish(&trace);
  }
}

static void test_names_are_printable(void **state) {
  (void)state;
  static const char *const names[] = {"a\tb", "\xC3\xA9\xC3", "c\nd"};
  FovTrace trace = {.actions = 3};
  assert_int_equal(fov_trace_set_names(&trace, names, NULL), FOV_OK);
  assert_string_equal(trace.names, "a?b\n\xC3\xA9?\nc?d");
  fov_trace_finish(&trace);
}

static void test_round_trip(void **state) {
  (void)state;
  FovTrace trace = make_trace(), read;
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_int_equal(read.episodes, E);
  assert_int_equal(read.glimpses, T);
  assert_int_equal(read.frames, F);
  assert_true(read.control);
  assert_string_equal(read.names, "up\n\ndown right\n3");
  assert_int_equal(read.height, H);
  assert_int_equal(read.width, W);
  assert_int_equal(read.channels, C);
  assert_int_equal(read.actions, A);
  assert_int_equal(read.side, G);
  assert_int_equal(read.scales, S);
  assert_int_equal(read.update, 123456789012);
  ASSERT_SAME(images, E * F * H * W * C);
  ASSERT_SAME(retina, E * T * S * G * G * C);
  ASSERT_SAME(locations, E * T * 2);
  ASSERT_SAME(probabilities, E * T * A);
  ASSERT_SAME(baselines, E * T);
  ASSERT_SAME(rewards, E * T);
  ASSERT_SAME(labels, E * T);
  ASSERT_SAME(answers, E * T);
  ASSERT_SAME(lengths, E);
  ASSERT_SAME(wrong, E);
  assert_int_equal(read.columns, 3);
  assert_column(&read, "policy.mean", 2, trace.column[0].values);
  assert_column(&read, "policy.sigma", 2, trace.column[1].values);
  assert_column(&read, "policy.tiles", K * K, trace.column[2].values);
  assert_string_equal(read.weights, "0123456789abcdef");
  assert_string_equal(read.policy, "gaussian");
  assert_string_equal(read.split, "test");
  assert_string_equal(read.seed, "18446744073709551615");
  assert_string_equal(read.subset, "first 1, then wrong");
  fov_trace_finish(&read);
  fov_trace_finish(&trace);
}

static void test_the_file_describes_itself(void **state) {
  (void)state;
  FovTrace trace = make_trace();
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  FovSafetensors *file;
  const FovBlob *blob;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  assert_string_equal(fov_safetensors_text(file, "format"), "fovea-trace");
  assert_string_equal(fov_safetensors_text(file, "version"), "3");
  assert_string_equal(fov_safetensors_text(file, "weights"), "0123456789abcdef");
  assert_string_equal(fov_safetensors_text(file, "update"), "123456789012");
  const int64_t retina[] = {E, T, S, G, G, C};
  assert_int_equal(fov_safetensors_require(&blob, file, "retina", FOV_DTYPE_U8, 6, retina), FOV_OK);
  const int64_t tiles[] = {E, T, K * K};
  assert_int_equal(fov_safetensors_require(&blob, file, "policy.tiles", FOV_DTYPE_F32, 3, tiles),
                   FOV_OK);
  fov_safetensors_close(file);
}

/** Overwrites element `index` of an array in the file of a valid trace with `value`, and reads it.
 */
static void assert_poison_refused(const char *field, size_t index, const void *value, size_t size,
                                  const char *message) {
  FovTrace trace = make_trace();
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  char *data;
  size_t length;
  assert_int_equal(fov_file_read(&data, &length, path, 1 << 20), FOV_OK);
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  const char *base = fov_safetensors_at(file, 0)->data;
  const char *array = fov_safetensors_find(file, field)->data;
  uint64_t header;
  drop_digest(data);
  memcpy(&header, data, 8);
  memcpy(data + 8 + header + (array - base) + index * size, value, size);
  fov_safetensors_close(file);
  assert_int_equal(fov_file_write(path, data, length), FOV_OK);
  free(data);
  assert_int_equal(fov_trace_read(&trace, path), FOV_ERR_FORMAT);
  assert_null(trace.images);
  assert_message("x.safetensors: ");
  assert_message(message);
}

static void test_numbers_out_of_range_are_refused(void **state) {
  (void)state;
  const float nan = NAN, inf = INFINITY, two = 2, far = -1.5f;
  const int32_t four = A, none = 0, below = -2;
#define POISON(field, index, value, message)                                                       \
  assert_poison_refused(field, index, &value, sizeof value, message)
  POISON("locations", 3, nan, "'locations': number 3 is nan, expected -1 to 1");
  POISON("locations", 4, far, "'locations': number 4 is -1.5, expected -1 to 1");
  POISON("policy.mean", 5, inf, "'policy.mean': number 5 is inf");
  POISON("policy.tiles", E * T * K * K - 1, inf, "'policy.tiles': number 53 is inf");
  POISON("probabilities", E * T * A - 1, two, "'probabilities': number 23 is 2, expected 0 to 1");
  POISON("probabilities", 0, nan, "'probabilities': number 0 is nan");
  POISON("baselines", 0, inf, "'baselines': number 0 is inf");
  POISON("rewards", 1, nan, "'rewards': number 1 is nan");
  POISON("labels", 5, four, "'labels': number 5 is 4, expected -1 to 3");
  POISON("answers", 4, below, "'answers': number 4 is -2, expected -1 to 3");
  POISON("lengths", 1, none, "'lengths': number 1 is 0, expected 1 to 3");
  POISON("lengths", 0, four, "'lengths': number 0 is 4, expected 1 to 3");
  POISON("wrong", 1, four, "'wrong': number 1 is 4, expected 0 to 1");
#undef POISON
}

static void test_write_refuses_what_read_would(void **state) {
  (void)state;
  FovTrace trace = make_trace();
  trace.rewards[0] = NAN;
  assert_int_equal(fov_trace_write(&trace, path), FOV_ERR_FORMAT);
  assert_message("'rewards': number 0 is nan");
  assert_false(fov_file_exists(path));
  trace.rewards[0] = 0;
  trace.column[1].values[7] = INFINITY;
  assert_int_equal(fov_trace_write(&trace, path), FOV_ERR_FORMAT);
  assert_message("'policy.sigma': number 7 is inf");
  trace.column[1].values[7] = 0;
  strcpy(trace.weights, "0123");
  assert_int_equal(fov_trace_write(&trace, path), FOV_ERR_FORMAT);
  assert_message("weights '0123', expected 16 hexadecimal digits");
  strcpy(trace.weights, "");
  strcpy(trace.policy, "\x1b]0;");
  assert_int_equal(fov_trace_write(&trace, path), FOV_ERR_FORMAT);
  assert_message("policy: expected a text without control characters");
  assert_false(fov_file_exists(path));
  fov_trace_finish(&trace);
}

/** Writes a valid trace with additional blobs. */
static void write_with(const FovTrace *trace, const char *version, const FovBlob *more, int count) {
  FovSafetensors *file;
  FovBlob blobs[32];
  int used = count;
  assert_int_equal(fov_trace_write(trace, path), FOV_OK);
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  memcpy(blobs, more, (size_t)count * sizeof *more);
  for (size_t i = 0; i < fov_safetensors_count(file); i++)
    blobs[used++] = *fov_safetensors_at(file, i);
  const FovText texts[] = {{"format", "fovea-trace"}, {"version", version}, {"side", "2"},
                           {"scales", "2"},           {"update", "0"},      {"whole", "no"},
                           {"control", "yes"}};
  assert_int_equal(fov_safetensors_write(path, blobs, (size_t)used, texts, 7), FOV_OK);
  fov_safetensors_close(file);
}

/** A trace without columns. */
static FovTrace make_bare_trace(void) {
  FovTrace trace = make_trace();
  for (int i = 0; i < trace.columns; i++) free(trace.column[i].values);
  trace.columns = 0;
  return trace;
}

static void test_means_and_sigmas_of_version_2_become_columns(void **state) {
  (void)state;
  FovTrace trace = make_bare_trace(), read;
  float means[E * T * 2], sigmas[E * T * 2];
  for (int i = 0; i < E * T * 2; i++) {
    means[i] = i < 2 ? NAN : (float)i;
    sigmas[i] = 0.5f * (float)i;
  }
  const FovBlob old[] = {{"means", FOV_DTYPE_F32, 3, {E, T, 2}, means},
                         {"sigmas", FOV_DTYPE_F32, 3, {E, T, 2}, sigmas}};
  write_with(&trace, "2", old, 2);
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_int_equal(read.columns, 2);
  assert_column(&read, "policy.mean", 2, means);
  assert_column(&read, "policy.sigma", 2, sigmas);
  assert_string_equal(read.weights, "");
  fov_trace_finish(&read);
  write_with(&trace, "2", old, 1);
  assert_int_equal(fov_trace_read(&read, path), FOV_ERR_FORMAT);
  assert_message("has no 'sigmas'");
  fov_trace_finish(&trace);
}

static void test_a_policy_may_have_no_columns(void **state) {
  (void)state;
  FovTrace trace = make_bare_trace(), read;
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_int_equal(read.columns, 0);
  assert_null(fov_trace_find_column(&read, "policy.mean"));
  assert_null(fov_trace_column(&read, "policy.mean", 2));
  fov_trace_finish(&read);
  fov_trace_finish(&trace);
}

/** Adds one blob to a valid trace without columns; reading must fail. */
static void assert_column_refused(FovBlob column, const char *message) {
  static float zeros[E * T * 5000];
  FovTrace trace = make_bare_trace(), read;
  column.data = zeros;
  write_with(&trace, "3", &column, 1);
  assert_int_equal(fov_trace_read(&read, path), FOV_ERR_FORMAT);
  assert_null(read.images);
  assert_message(message);
  fov_trace_finish(&trace);
}

static void test_bad_columns_are_refused(void **state) {
  (void)state;
  const FovDtype f = FOV_DTYPE_F32;
  assert_column_refused((FovBlob){"policy.x", f, 3, {E, T, 5000}, NULL}, "1 to 4096 numbers");
  assert_column_refused((FovBlob){"policy.x", f, 3, {E, T, 0}, NULL}, "1 to 4096 numbers");
  assert_column_refused((FovBlob){"policy.x", f, 2, {E, T}, NULL}, "expected 3 extents");
  assert_column_refused((FovBlob){"policy.x", f, 3, {E, T - 1, 2}, NULL}, "'policy.x' has shape");
  assert_column_refused((FovBlob){"policy.x", FOV_DTYPE_I32, 3, {E, T, 2}, NULL}, "'policy.x'");
  assert_column_refused((FovBlob){"policy.", f, 3, {E, T, 2}, NULL}, "a bad name of a column");
  assert_column_refused((FovBlob){"policy.a b", f, 3, {E, T, 2}, NULL}, "a bad name of a column");
  assert_column_refused((FovBlob){"policy.a2345678901234567890123456789012", f, 3, {E, T, 2}, NULL},
                        "a bad name");
}

static void test_more_columns_than_fit_are_refused(void **state) {
  (void)state;
  FovTrace trace = make_bare_trace(), read;
  FovBlob columns[FOV_TRACE_COLUMNS + 1];
  float values[E * T] = {0};
  for (int i = 0; i <= FOV_TRACE_COLUMNS; i++) {
    columns[i] = (FovBlob){"", FOV_DTYPE_F32, 3, {E, T, 1}, values};
    snprintf(columns[i].name, sizeof columns[i].name, "policy.c%d", i);
  }
  write_with(&trace, "3", columns, FOV_TRACE_COLUMNS);
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_int_equal(read.columns, FOV_TRACE_COLUMNS);
  fov_trace_finish(&read);
  write_with(&trace, "3", columns, FOV_TRACE_COLUMNS + 1);
  assert_int_equal(fov_trace_read(&read, path), FOV_ERR_FORMAT);
  assert_message("more than 10 columns policy.*, attention.* and answer.*");
  fov_trace_finish(&trace);
}

/** Writes the texts and the arrays that define the sizes, with one text changed. */
static void assert_texts_refused(const char *key, const char *value, const char *message) {
  FovText texts[] = {{"format", "fovea-trace"}, {"version", "3"}, {"side", "2"},
                     {"scales", "2"},           {"update", "0"},  {"whole", "no"},
                     {"control", "no"},         {"weights", ""},  {"split", ""},
                     {"tiles_across", "3"},     {"reach", "all"}};
  enum { TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < TEXTS; i++)
    if (strcmp(texts[i].key, key) == 0) texts[i].value = value;
  static uint8_t image[E * H * W * C];
  static float probabilities[E * T * A];
  const FovBlob blobs[] = {
      {"probabilities", FOV_DTYPE_F32, 3, {E, T, A}, probabilities},
      {"images", FOV_DTYPE_U8, 5, {E, 1, H, W, C}, image},
  };
  assert_int_equal(fov_safetensors_write(path, blobs, 2, texts, TEXTS), FOV_OK);
  FovTrace trace;
  assert_int_equal(fov_trace_read(&trace, path), FOV_ERR_FORMAT);
  assert_message(message);
}

static void test_bad_texts_are_refused(void **state) {
  (void)state;
  assert_texts_refused("format", "checkpoint", "format 'checkpoint', expected 'fovea-trace'");
  assert_texts_refused("version", "1", "version '1', expected '3'");
  assert_texts_refused("side", "0", "side '0', expected a number from 1");
  assert_texts_refused("side", "2x", "side '2x', expected a number");
  assert_texts_refused("scales", "", "scales '', expected a number");
  assert_texts_refused("scales", "2147483648", "scales '2147483648', expected a number");
  assert_texts_refused("update", "9223372036854775808", "expected a number from 0 to");
  assert_texts_refused("control", "maybe", "control 'maybe', expected yes or no");
  assert_texts_refused("whole", "", "whole '', expected yes or no");
  assert_texts_refused("reach", "none", "reach 'none', expected glimpse, near or all");
  assert_texts_refused("weights", "0123456789ABCDEF", "expected 16 hexadecimal digits");
  assert_texts_refused("weights", "0123456789abcdef0", "17 bytes, expected at most 16");
  assert_texts_refused("split", "te\nst", "split: expected a text without control characters");
  assert_texts_refused("tiles_across", "0", "tiles_across '0', expected a number from 1 to 4096");
  assert_texts_refused("none", "", "has no 'locations'");
}

static void write_tiles(int tiles, int across) {
  FovTrace trace = {.episodes = 1,
                    .glimpses = 1,
                    .frames = 1,
                    .height = 1,
                    .width = 1,
                    .channels = 1,
                    .actions = 2,
                    .side = 1,
                    .scales = 1,
                    .tiles_across = across};
  fov_trace_add_column(&trace, "attention.tiles", tiles);
  assert_int_equal(fov_trace_allocate(&trace), FOV_OK);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
}

static void test_a_grid_of_tiles_is_square_unless_the_file_names_its_width(void **state) {
  (void)state;
  const int grids[][4] = {{9, 0, 3, 3},   {12, 6, 6, 2}, {20, 20, 20, 1},
                          {20, 1, 1, 20}, {9, 9, 9, 1},  {12, 0, 0, 0}};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    FovTrace read;
    write_tiles(grids[i][0], grids[i][1]);
    assert_int_equal(fov_trace_read(&read, path), FOV_OK);
    assert_int_equal(read.tiles_across, grids[i][1]);
    FovGrid grid = fov_trace_grid(&read, grids[i][0]);
    assert_int_equal(grid.across, grids[i][2]);
    assert_int_equal(grid.down, grids[i][3]);
    fov_trace_finish(&read);
  }
  FovTrace read;
  write_tiles(20, 6);
  assert_int_equal(fov_trace_read(&read, path), FOV_ERR_FORMAT);
  assert_message("'attention.tiles': 20 numbers, expected rows of 6");
}

/** Empty arrays can have any size in their shape, which must not reach an allocation. */
static void test_huge_empty_sizes_are_refused(void **state) {
  (void)state;
  const FovText texts[] = {{"format", "fovea-trace"}, {"version", "3"}, {"side", "1"},
                           {"scales", "1"},           {"update", "0"},  {"whole", "no"},
                           {"control", "no"}};
  const FovBlob blob = {"images", FOV_DTYPE_U8, 5, {INT32_MAX, 0, 1, 1, 1}, NULL};
  assert_int_equal(fov_safetensors_write(path, &blob, 1, texts, 7), FOV_OK);
  FovTrace trace;
  assert_int_equal(fov_trace_read(&trace, path), FOV_ERR_FORMAT);
  assert_message("'images': extent 1 is 0, expected 1 to 2147483647");
}

static void test_another_retina_is_refused(void **state) {
  (void)state;
  FovTrace trace = make_trace();
  trace.side = 1; // every array is large enough, but the retina has another shape
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  trace.side = G;
  fov_trace_finish(&trace);
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  drop_digest(data);
  char *side = strstr(data + 8, "\"side\":\"1\"");
  assert_non_null(side);
  side[8] = '2';
  assert_int_equal(fov_file_write(path, data, size), FOV_OK);
  free(data);
  assert_int_equal(fov_trace_read(&trace, path), FOV_ERR_FORMAT);
  assert_message("'retina' has shape [2, 3, 2, 1, 1, 3], expected [2, 3, 2, 2, 2, 3]");
}

/** Replaces one text in a valid trace's file by another of the same length, and reads it. */
static void assert_edit_refused(const char *before, const char *after, const char *message) {
  FovTrace trace = make_trace();
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  drop_digest(data);
  char *at = strstr(data + 8, before);
  assert_non_null(at);
  memcpy(at, after, strlen(after));
  assert_int_equal(fov_file_write(path, data, size), FOV_OK);
  free(data);
  assert_int_equal(fov_trace_read(&trace, path), FOV_ERR_FORMAT);
  assert_null(trace.images);
  assert_message(message);
}

static void test_a_name_for_each_action_or_none(void **state) {
  (void)state;
  assert_edit_refused("down right", "down\\nrigh", "5 names, expected one for each of 4 actions");
}

/** There must be one frame or one per glimpse; otherwise a reader would read beyond the end. */
static void test_a_wrong_number_of_frames_is_refused(void **state) {
  (void)state;
  assert_edit_refused("[2,3,5,7,3]", "[3,2,5,7,3]", "2 frames an episode, expected 1 or 3");
}

static void assert_no_pair(const FovTrace *a, FovTrace b, const char *reason) {
  assert_int_equal(fov_trace_check_pair(a, "a.st", &b, "b.st"), FOV_ERR_USAGE);
  if (!strstr(fov_error_message(), reason)) fail_msg("'%s'", fov_error_message());
}

static void test_a_pair_of_traces_has_the_same_episodes(void **state) {
  (void)state;
  FovTrace a = make_trace(), b = make_trace(), other = b;
  b.images[H * W * C] ^= 1; // of a later frame
  assert_int_equal(fov_trace_check_pair(&a, "a.st", &b, "b.st"), FOV_OK);
  other.vocabulary = 3;
  assert_no_pair(&a, other, "a.st, b.st: not the same task: 0 and 3 symbols");
  other = b;
  other.control = false;
  assert_no_pair(&a, other, "only one of them has classes");
  other = b;
  other.actions = A + 1;
  assert_no_pair(&a, other, "4 and 5 answers");
  other = b;
  other.width = W - 1;
  assert_no_pair(&a, other, "images of 5 × 7 × 3 and 5 × 6 × 3");
  b.images[F * H * W * C] ^= 1;
  assert_no_pair(&a, b, "episode 1 begins with another image");
  int32_t symbols[2][E * W] = {{0}, {[W] = 1}};
  FovTrace first = a;
  other = b;
  first.vocabulary = other.vocabulary = 2;
  first.symbols = symbols[0];
  other.symbols = symbols[1];
  assert_no_pair(&first, other, "episode 1 begins with another sequence");
  other.symbols = symbols[0];
  assert_int_equal(fov_trace_check_pair(&first, "a.st", &other, "b.st"), FOV_OK);
  fov_trace_finish(&a);
  fov_trace_finish(&b);
}

static void test_flipped_bits_never_crash(void **state) {
  (void)state;
  FovTrace trace = make_trace();
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
  char *data;
  size_t size;
  assert_int_equal(fov_file_read(&data, &size, path, 1 << 20), FOV_OK);
  drop_digest(data);
  FovRng rng = fov_rng_stream(1, FOV_STREAM_INIT, 1);
  for (int trial = 0; trial < 2000; trial++) {
    uint32_t at = fov_rng_below(&rng, (uint32_t)size), bit = 1u << fov_rng_below(&rng, 8);
    data[at] ^= (char)bit;
    unlink(path); // some file systems flush a file that is cut to be written again
    FILE *stream = fopen(path, "wb");
    assert_int_equal(fwrite(data, 1, size, stream), size);
    fclose(stream);
    if (fov_trace_read(&trace, path) == FOV_OK) assert_true(trace.labels[E - 1] < A);
    fov_trace_finish(&trace);
    data[at] ^= (char)bit;
  }
  free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_arrays_start_empty),
      TEST(test_a_sequence_keeps_its_symbols),
      TEST(test_too_many_names_are_left_out),
      TEST(test_names_are_printable),
      TEST(test_round_trip),
      TEST(test_the_file_describes_itself),
      TEST(test_numbers_out_of_range_are_refused),
      TEST(test_write_refuses_what_read_would),
      TEST(test_means_and_sigmas_of_version_2_become_columns),
      TEST(test_a_policy_may_have_no_columns),
      TEST(test_bad_columns_are_refused),
      TEST(test_more_columns_than_fit_are_refused),
      TEST(test_a_grid_of_tiles_is_square_unless_the_file_names_its_width),
      TEST(test_bad_texts_are_refused),
      TEST(test_huge_empty_sizes_are_refused),
      TEST(test_another_retina_is_refused),
      TEST(test_a_name_for_each_action_or_none),
      TEST(test_a_wrong_number_of_frames_is_refused),
      TEST(test_a_pair_of_traces_has_the_same_episodes),
      TEST(test_flipped_bits_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
