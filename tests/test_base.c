#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/gemm.h"
#include "base/gumbel.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/rng.h"
#include "base/team.h"
#include "base/text.h"
#include "tests/folder.h"

static void messages_have_no_control_characters(void **state) {
  (void)state;
  assert_int_equal(fov_fail(FOV_ERR_IO, "a\x1b]0;b\a\n\r\t\x7f: %s", "gr\xc3\xbc\xc3\x9f"),
                   FOV_ERR_IO);
  assert_string_equal(fov_error_message(), "a?]0;b?????: gr\xc3\xbc\xc3\x9f");
  fov_fail(FOV_ERR_IO, "%s again", fov_error_message());
  assert_message("?????: gr\xc3\xbc\xc3\x9f again");
  fov_fail(FOV_ERR_IO, "a\xc2\x9b[31m\xc2\xa0"); // U+009B starts a sequence as ESC [ does
  assert_string_equal(fov_error_message(), "a??[31m\xc2\xa0");
}

static void text_is_printable_utf8(void **state) {
  (void)state;
  static const char *const good[] = {
      "", " ~", "\xC3\xBC", "\xE2\x80\xA6", "\xEF\xBF\xBD", "\xF0\x9F\x91\x81", "\xF4\x8F\xBF\xBF"};
  static const char *const bad[] = {
      "\n",       "\x7F",         "\x80",         "\xC0\x80",         "\xC2\x9B",         "\xC3",
      "\xE2\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFF"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char text[8];
    assert_true(fov_text_is_printable(good[i]));
    fov_text_clean(strcpy(text, good[i]));
    assert_string_equal(text, good[i]);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[8];
    assert_false(fov_text_is_printable(bad[i]));
    fov_text_clean(strcpy(text, bad[i]));
    assert_int_equal(strlen(text), strlen(bad[i]));
    assert_int_equal(strspn(text, "?"), strlen(text));
  }
}

/** A separator ends a line; a bidirectional control shows the text after it in another order. */
static void separators_and_bidirectional_controls_are_not_printable(void **state) {
  (void)state;
  for (int c = 0x2020; c < 0x2080; c++) {
    const char text[] = {'\xE2', (char)(0x80 | (c >> 6 & 0x3F)), (char)(0x80 | (c & 0x3F)), '\0'};
    bool control = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    assert_int_equal(fov_text_is_printable(text), !control);
  }
  fov_fail(FOV_ERR_IO, "a\xE2\x80\xAE"
                       "b");
  assert_string_equal(fov_error_message(), "a???b");
}

static void columns_are_counted_as_they_are_printed(void **state) {
  (void)state;
  assert_int_equal(fov_text_columns("", SIZE_MAX), 0);
  assert_int_equal(fov_text_columns("gr\xC3\xBC\xC3\x9F", SIZE_MAX), 4);
  assert_int_equal(fov_text_columns("gr\xC3\xBC\xC3\x9F", 4), 3);
  assert_int_equal(fov_text_columns("a\xE2\x80\xAE"
                                    "b",
                                    SIZE_MAX),
                   5); // printed as a???b
  assert_int_equal(fov_text_columns("a\xC3", SIZE_MAX), 2);
}

static void words_of_a_shell_are_quoted_where_they_need_it(void **state) {
  (void)state;
  char text[24];
  assert_string_equal(fov_text_word(text, sizeof text, "runs/a-s0"), "runs/a-s0");
  assert_string_equal(fov_text_word(text, sizeof text, "my runs/a"), "'my runs/a'");
  assert_string_equal(fov_text_word(text, sizeof text, "it's"), "'it'\\''s'");
  assert_string_equal(fov_text_word(text, sizeof text, ""), "''");
  assert_string_equal(fov_text_word(text, sizeof text, "0123456789012345678901234"),
                      "01234567890123456789012");
}

/* ---- memory ---- */

/** Writes a file into `folder`, with the folders that its name has. */
static void write_below(const char *name, const char *text) {
  char below[600];
  snprintf(below, sizeof below, "%s/%s", folder, name);
  *strrchr(below, '/') = '\0';
  assert_int_equal(fov_make_folders(below), FOV_OK);
  snprintf(below, sizeof below, "%s/%s", folder, name);
  assert_int_equal(fov_file_write(below, text, strlen(text)), FOV_OK);
}

/** Whether this process is in the groups of the folder instead of its own. */
static bool is_grouped;

FILE *__real_fopen64(const char *name, const char *mode);
FILE *__wrap_fopen64(const char *name, const char *mode);

FILE *__wrap_fopen64(const char *name, const char *mode) {
  static const char root[] = "/sys/fs/cgroup";
  char below[700];
  if (is_grouped && strcmp(name, "/proc/self/cgroup") == 0) name = path;
  if (is_grouped && strncmp(name, root, sizeof root - 1) == 0) {
    snprintf(below, sizeof below, "%s%s", folder, name + sizeof root - 1);
    name = below;
  }
  return __real_fopen64(name, mode);
}

static int make_groups(void **state) {
  (void)state;
  return make_folder("cgroup");
}

static void the_least_limit_of_all_control_groups_counts(void **state) {
  (void)state;
  assert_true(isinf(fov_cgroup_limit(path, folder))); // no such file
  write_below("cgroup", "7:pids:/a\n4:memory:/a/b\n0::/c/d\n");
  assert_true(isinf(fov_cgroup_limit(path, folder)));
  write_below("memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write_below("c/d/memory.max", "max\n");
  assert_true(isinf(fov_cgroup_limit(path, folder)));
  write_below("memory/a/memory.limit_in_bytes", "7000\n"); // of the group above
  write_below("memory/other/memory.limit_in_bytes", "5\n");
  assert_true(fov_cgroup_limit(path, folder) == 7000);
  write_below("c/d/memory.max", "6000\n");
  assert_true(fov_cgroup_limit(path, folder) == 6000);
  write_below("memory.max", "5000\n"); // the root, as a container sees it
  assert_true(fov_cgroup_limit(path, folder) == 5000);
  is_grouped = true;
  FovStatus enough = fov_memory_check(5000, "this test", ""),
            more = fov_memory_check(5001, "this test", "");
  double available = fov_memory_available();
  is_grouped = false;
  assert_int_equal(enough, FOV_OK);
  assert_int_equal(more, FOV_ERR_MEMORY);
  assert_message("and its control group may use 0.0; make ");
  assert_true(available == 5000);
}

/** Addresses that are in use already do not count. */
static void a_limit_of_addresses_counts(void **state) {
  (void)state;
  struct rlimit before, limit;
  double pages, page = (double)sysconf(_SC_PAGESIZE);
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lf", &pages), 1);
  fclose(file);
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)(pages * page) + (64 << 20);
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
  double left = fov_memory_limit();
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_true(left > 60 << 20 && left < 68 << 20);
}

static void more_memory_than_there_is_is_refused(void **state) {
  (void)state;
  assert_int_equal(fov_memory_check(1 << 20, "this test", ""), FOV_OK);
  assert_int_equal(fov_memory_check(0x1p60, "this test", ""), FOV_ERR_MEMORY);
  assert_message("this test would take 1073741824.0 GiB of memory, and this machine has ");
}

/** The end of a message has the reason. */
static void a_long_message_loses_its_middle(void **state) {
  (void)state;
  char name[3000];
  for (size_t size = 900; size < sizeof name; size += 7) {
    memset(name, 'x', size);
    name[size] = '\0';
    fov_fail(FOV_ERR_IO, "first %s: last", name);
    const char *text = fov_error_message();
    size_t length = size + strlen("first : last");
    assert_int_equal(strlen(text), length < 1023 ? length : 1023);
    assert_memory_equal(text, "first x", 7);
    assert_string_equal(text + strlen(text) - 7, "x: last");
    assert_int_equal(strstr(text, "x...x") != NULL, length > 1023);
  }
}

static uint64_t digest_of(const void *data, size_t size) {
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, data, size);
  return fov_digest_value(&digest);
}

static void digest_gives_the_published_values(void **state) {
  (void)state;
  static const char text[] = "Nobody inspects the spammish repetition";
  char digits[FOV_DIGEST_SIZE + 1];
  assert_string_equal(fov_digest_print(digits, digest_of("", 0)), "ef46db3751d8e999");
  assert_string_equal(fov_digest_print(digits, digest_of("a", 1)), "d24ec4f1a98c6e5b");
  assert_string_equal(fov_digest_print(digits, digest_of("abc", 3)), "44bc2cf5ad770999");
  assert_string_equal(fov_digest_print(digits, digest_of(text, sizeof text - 1)),
                      "fbcea83c8a378bf1");
}

static void digest_does_not_depend_on_the_pieces(void **state) {
  (void)state;
  uint8_t bytes[200];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * i);
  for (size_t size = 0; size <= sizeof bytes; size++)
    for (size_t piece = 1; piece < 70; piece++) {
      FovDigest digest = FOV_DIGEST_START;
      for (size_t at = 0; at < size; at += piece)
        fov_digest_add(&digest, bytes + at, size - at < piece ? size - at : piece);
      assert_true(fov_digest_value(&digest) == digest_of(bytes, size));
    }
}

static void pcg32_gives_the_published_numbers(void **state) {
  (void)state;
  static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                       0x83d2f293, 0xbfa4784b, 0xcbed606e};
  FovRng rng = {.state = 0, .increment = 54 << 1 | 1}; // as pcg32_srandom(42, 54)
  fov_rng_u32(&rng);
  rng.state += 42;
  fov_rng_u32(&rng);
  for (int i = 0; i < 6; i++) assert_int_equal(fov_rng_u32(&rng), published[i]);
}

enum { LANES = 96, DRAWS = 4096 };

/** Draws `rng`'s uniforms, shifted and scaled to mean 0 and length 1. */
static void draw_lane(float lane[DRAWS], FovRng rng) {
  double sum = 0, squares = 0;
  for (int i = 0; i < DRAWS; i++) sum += lane[i] = fov_rng_uniform(&rng);
  for (int i = 0; i < DRAWS; i++) lane[i] -= (float)(sum / DRAWS);
  for (int i = 0; i < DRAWS; i++) squares += lane[i] * lane[i];
  for (int i = 0; i < DRAWS; i++) lane[i] /= (float)sqrt(squares);
}

static void assert_uncorrelated(float lanes[LANES][DRAWS], const char *what) {
  for (int a = 0; a < LANES; a++)
    for (int b = 0; b < a; b++) {
      float r = 0;
      for (int i = 0; i < DRAWS; i++) r += lanes[a][i] * lanes[b][i];
      assert_near(r, 0, 5 / sqrt(DRAWS), "correlation of %s %d and %d", what, a, b);
    }
}

static void neighbouring_streams_are_uncorrelated(void **state) {
  (void)state;
  static float lanes[LANES][DRAWS];
  for (int i = 0; i < LANES; i++)
    draw_lane(lanes[i], fov_rng_stream(7, FOV_STREAM_POLICY, (uint64_t)i));
  assert_uncorrelated(lanes, "indices");
  for (int i = 0; i < LANES; i++)
    draw_lane(lanes[i], fov_rng_stream((uint64_t)i, FOV_STREAM_POLICY, 7));
  assert_uncorrelated(lanes, "seeds");
  // All four purposes, for all pairs of a few seeds and indices.
  for (int i = 0; i < LANES; i++)
    draw_lane(lanes[i], fov_rng_stream((uint64_t)(i / 4 % 5), (FovStream)(i % 4), i / 20u));
  assert_uncorrelated(lanes, "purposes");
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void no_two_streams_start_with_the_same_numbers(void **state) {
  (void)state;
  enum { SIDE = 64, COUNT = 4 * SIDE * SIDE };
  static uint64_t starts[COUNT];
  for (unsigned i = 0; i < COUNT; i++) {
    FovRng rng = fov_rng_stream(i / 4 % SIDE, (FovStream)(i % 4), i / 4 / SIDE);
    assert_int_equal(rng.increment & 1, 1);
    starts[i] = (uint64_t)fov_rng_u32(&rng) << 32;
    starts[i] |= fov_rng_u32(&rng);
  }
  qsort(starts, COUNT, sizeof *starts, by_value);
  for (int i = 1; i < COUNT; i++) assert_true(starts[i] != starts[i - 1]);
}

static void a_stream_is_a_function_of_its_arguments(void **state) {
  (void)state;
  FovRng a = fov_rng_stream(3, FOV_STREAM_ENV, 1ull << 40), b = a;
  fov_rng_u32(&b);
  FovRng again = fov_rng_stream(3, FOV_STREAM_ENV, 1ull << 40);
  assert_memory_equal(&again, &a, sizeof a);
}

/** Fails if `count` draws are spread over `cells` equally likely cells too unevenly, or too evenly:
 * ten standard deviations of the statistic. */
static void assert_even(const int *seen, int cells, int count, const char *what) {
  double chi_square = 0, expected = (double)count / cells, freedom = cells - 1;
  for (int i = 0; i < cells; i++)
    chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
  assert_near(chi_square, freedom, 10 * sqrt(2 * freedom), "chi square of %s %d", what, cells);
}

static void below_is_uniform_and_in_range(void **state) {
  (void)state;
  static const uint32_t bounds[] = {2, 3, 10, 97, 1000};
  enum { COUNT = 100000 };
  FovRng rng = fov_rng_stream(1, FOV_STREAM_DATA, 0);
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    int seen[1000] = {0};
    for (int n = 0; n < COUNT; n++) {
      uint32_t drawn = fov_rng_below(&rng, bounds[i]);
      assert_in_range(drawn, 0, bounds[i] - 1);
      seen[drawn]++;
    }
    assert_even(seen, (int)bounds[i], COUNT, "numbers below");
  }
  for (int n = 0; n < 100; n++) assert_int_equal(fov_rng_below(&rng, 1), 0);
}

static void below_is_unbiased_at_its_worst_range(void **state) {
  (void)state;
  // 2^32 numbers onto 3 · 2^30 places: without rejection every third place is hit twice.
  enum { COUNT = 30000 };
  FovRng rng = fov_rng_stream(1, FOV_STREAM_DATA, 1);
  int remainders[3] = {0}, thirds[3] = {0};
  for (int n = 0; n < COUNT; n++) {
    uint32_t drawn = fov_rng_below(&rng, 3u << 30);
    remainders[drawn % 3]++;
    thirds[drawn >> 30]++;
  }
  assert_even(remainders, 3, COUNT, "remainders by");
  assert_even(thirds, 3, COUNT, "thirds,");
}

static void draw_below_nothing(void) {
  fov_rng_below(&(FovRng){1, 1}, 0);
}

static void an_empty_range_aborts(void **state) {
  (void)state;
  assert_true(aborts(draw_below_nothing));
}

static void uniform_fills_its_range(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  FovRng rng = fov_rng_stream(2, FOV_STREAM_ENV, 0);
  double sum = 0, squares = 0;
  int halves[24] = {0};
  for (int i = 0; i < COUNT; i++) {
    float u = fov_rng_uniform(&rng), steps = u * 0x1p24f;
    assert_true(u >= 0 && u < 1 && steps == floorf(steps));
    for (int bit = 0; bit < 24; bit++) halves[bit] += (int)steps >> bit & 1;
    sum += u, squares += u * u;
  }
  assert_near(sum / COUNT, 0.5, 5 * sqrt(1 / 12.0 / COUNT), "mean");
  assert_near(squares / COUNT, 1 / 3.0, 5 * sqrt(4 / 45.0 / COUNT), "mean square");
  for (int bit = 0; bit < 24; bit++)
    assert_near(halves[bit], COUNT / 2, 5 * sqrt(COUNT / 4), "ones in bit %d", bit);
}

static void normal_has_the_moments_of_a_normal(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  FovRng rng = fov_rng_stream(2, FOV_STREAM_POLICY, 0);
  double moments[5] = {0}, lag = 0, previous = 0;
  for (int i = 0; i < COUNT; i++) {
    double z = fov_rng_normal(&rng), power = 1;
    for (int m = 0; m < 5; m++, power *= z) moments[m] += power / COUNT;
    lag += z * previous / COUNT;
    previous = z;
  }
  // The variances of the sample moments are 1, 2, 15 and 96 over the count.
  assert_near(moments[1], 0, 5 * sqrt(1.0 / COUNT), "mean");
  assert_near(moments[2], 1, 5 * sqrt(2.0 / COUNT), "variance");
  assert_near(moments[3], 0, 5 * sqrt(15.0 / COUNT), "third moment");
  assert_near(moments[4], 3, 5 * sqrt(96.0 / COUNT), "fourth moment");
  assert_near(lag, 0, 5 * sqrt(1.0 / COUNT), "correlation with the one before");
}

/** Noise given the largest index, which is drawn from the softmax, is independent Gumbel noise. */
static void gumbel_noise_given_its_argmax_is_gumbel_noise(void **state) {
  (void)state;
  enum { COUNT = 100000, N = 3 };
  const real e[N] = {(real)-1.5, 2, (real)0.25};
  const double euler = 0.5772156649015329, variance = M_PI * M_PI / 6;
  FovRng rng = fov_rng_stream(3, FOV_STREAM_POLICY, 0);
  double sum = 0, mean[N] = {0}, square[N] = {0}, product = 0;
  for (int i = 0; i < N; i++) sum += exp((double)e[i]);
  for (int k = 0; k < COUNT; k++) {
    double u = (double)fov_rng_uniform(&rng) * sum;
    int index = u < exp((double)e[0]) ? 0 : u < exp((double)e[0]) + exp((double)e[1]) ? 1 : 2;
    real g[N];
    fov_gumbel_given_argmax(g, e, N, index, &rng);
    for (int i = 0; i < N; i++) {
      assert_true(e[i] + g[i] <= e[index] + g[index]);
      mean[i] += (double)g[i] / COUNT;
      square[i] += ((double)g[i] - euler) * ((double)g[i] - euler) / COUNT;
    }
    product += ((double)g[0] - euler) * ((double)g[1] - euler) / COUNT;
  }
  for (int i = 0; i < N; i++) {
    assert_near(mean[i], euler, 5 * sqrt(variance / COUNT), "mean %d", i);
    // The fourth central moment of a Gumbel variable is 5.4 times the squared variance.
    assert_near(square[i], variance, 5 * variance * sqrt(4.4 / COUNT), "variance %d", i);
  }
  assert_near(product, 0, 5 * variance / sqrt(COUNT), "covariance");
}

/** The largest logit with independent noise is drawn as often as the softmax says. */
static void the_argmax_with_gumbel_noise_is_a_sample_of_the_softmax(void **state) {
  (void)state;
  enum { COUNT = 100000, N = 4 };
  const real e[N] = {(real)-1.5, 2, (real)0.25, 1};
  FovRng rng = fov_rng_stream(4, FOV_STREAM_POLICY, 0);
  double drawn[N] = {0}, sum = 0;
  for (int k = 0; k < COUNT; k++) {
    int index = 0;
    real g[N];
    // With a single logit the condition always holds: the noise is independent.
    for (int i = 0; i < N; i++) fov_gumbel_given_argmax(&g[i], &e[i], 1, 0, &rng);
    for (int i = 1; i < N; i++)
      if (e[i] + g[i] > e[index] + g[index]) index = i;
    drawn[index]++;
  }
  for (int i = 0; i < N; i++) sum += exp((double)e[i]);
  for (int i = 0; i < N; i++) {
    double p = exp((double)e[i]) / sum;
    assert_near(drawn[i] / COUNT, p, 5 * sqrt(p * (1 - p) / COUNT), "logit %d", i);
  }
}

static void normal_always_takes_two_draws(void **state) {
  (void)state;
  FovRng a = fov_rng_stream(5, FOV_STREAM_POLICY, 9), b = a;
  for (int i = 0; i < 1000; i++) {
    fov_rng_normal(&a);
    fov_rng_u32(&b), fov_rng_u32(&b);
    assert_true(a.state == b.state);
  }
}

static void permute_gives_every_index_once(void **state) {
  (void)state;
  static const uint64_t sizes[] = {1, 2, 3, 4, 5, 10, 97, 1000, 50000};
  static char seen[50000];
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (uint64_t key = 0; key < 3; key++) {
      memset(seen, 0, sizeof seen);
      for (uint64_t i = 0; i < sizes[s]; i++) {
        uint64_t place = fov_rng_permute(i, sizes[s], key);
        assert_true(place < sizes[s]);
        assert_int_equal(seen[place]++, 0);
      }
    }
}

static void permute_differs_for_every_key(void **state) {
  (void)state;
  enum { SIZE = 1000, KEYS = 20, COUNT = 20000 };
  for (uint64_t key = 0; key < KEYS; key++) {
    int in_place = 0, as_before = 0, in_order = 0;
    for (uint64_t i = 0; i < SIZE; i++) {
      uint64_t place = fov_rng_permute(i, SIZE, key);
      in_place += place == i;
      as_before += place == fov_rng_permute(i, SIZE, key + 1);
      in_order += place + 1 == fov_rng_permute((i + 1) % SIZE, SIZE, key);
    }
    // Each is Poisson of mean 1 for random permutations.
    assert_in_range(in_place, 0, 9);
    assert_in_range(as_before, 0, 9);
    assert_in_range(in_order, 0, 9);
  }
  for (uint64_t size = 2; size <= 10; size++) {
    int seen[10] = {0};
    for (uint64_t key = 0; key < COUNT; key++) seen[fov_rng_permute(size - 1, size, key)]++;
    assert_even(seen, (int)size, COUNT, "places of");
  }
}

/** Sizes around the alignment and the block's size, and two far beyond it. */
static const size_t sizes[] = {1,        64, 0,       63,      65,      3 << 20,
                               20 << 20, 7,  6 << 20, 3 << 20, 9 << 20, 100};

enum { SIZES = sizeof sizes / sizeof *sizes };

/** Allocates every size, filling each with its own byte. */
static void fill(FovArena *arena, char *pieces[SIZES]) {
  for (int i = 0; i < SIZES; i++) {
    pieces[i] = fov_arena_alloc(arena, sizes[i]);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 64, 0);
    memset(pieces[i], i + 1, sizes[i]);
  }
}

static void arena_pieces_do_not_overlap(void **state) {
  (void)state;
  FovArena arena = {0};
  char *pieces[SIZES];
  fill(&arena, pieces);
  for (int i = 0; i < SIZES; i++)
    for (size_t j = 0; j < sizes[i]; j++) {
      if (pieces[i][j] != i + 1) fail_msg("byte %zu of piece %d was overwritten", j, i);
    }
  fov_arena_finish(&arena);
}

static void arena_repeats_without_growing(void **state) {
  (void)state;
  FovArena arena = {0};
  char *pieces[SIZES], *again[SIZES];
  fill(&arena, pieces);
  size_t blocks = arena.blocks;
  assert_in_range(blocks, 3, SIZES);
  // A smaller allocation in between fits into the blocks and leaves the addresses as they were.
  fov_arena_rewind(&arena);
  assert_non_null(fov_arena_alloc(&arena, 1000));
  for (int round = 0; round < 3; round++) {
    fov_arena_rewind(&arena);
    fill(&arena, again);
    assert_memory_equal(again, pieces, sizeof pieces);
  }
  assert_int_equal(arena.blocks, blocks);
  fov_arena_finish(&arena);
  assert_int_equal(arena.blocks, 0);
  fov_arena_finish(&arena);
}

static void arena_reserves_one_block(void **state) {
  (void)state;
  enum { SIZE = 40 << 20 };
  FovArena arena = {0};
  assert_true(fov_arena_reserve(&arena, SIZE));
  for (int i = 0; i < 4; i++) assert_non_null(fov_arena_alloc(&arena, SIZE / 4));
  assert_int_equal(arena.blocks, 1);
  fov_arena_alloc(&arena, 1);
  assert_int_equal(arena.blocks, 2);
  fov_arena_finish(&arena);
}

static jmp_buf refused;

static void jump(void) {
  longjmp(refused, 1);
}

static void an_arena_takes_no_more_than_its_limit(void **state) {
  (void)state;
  static FovArena arena = {.most = 2000};
  fov_on_no_memory(jump);
  if (setjmp(refused) == 0) {
    assert_non_null(fov_arena_alloc(&arena, 1500));
    fov_arena_alloc(&arena, 600);
    fail_msg("2100 bytes of 2000");
  }
  fov_on_no_memory(NULL);
  assert_string_equal(fov_error_message(),
                      "no memory for another 600 bytes; make images, tiles or network smaller");
  fov_arena_finish(&arena);
}

static void arena_grows_by_blocks(void **state) {
  (void)state;
  FovArena arena = {0};
  for (int i = 0; i < 10000; i++) {
    int *numbers = FOV_NEW(&arena, int, 16);
    numbers[15] = i;
  }
  assert_int_equal(arena.blocks, 1);
  fov_arena_finish(&arena);
}

/** One product, of matrices as fov_gemm takes them. */
typedef struct Product {
  int m, n, k;
  bool a_transposed, b_transposed;
  real beta;
  int pad; /**< numbers between rows, which no product may write */
} Product;

/** Random numbers, and NaN between the rows, which would spread if they were read. */
static FovMatrix random_matrix(int rows, int cols, int pad, FovRng *rng) {
  FovMatrix matrix = {.rows = rows, .cols = cols, .stride = cols + pad};
  size_t count = (size_t)rows * (size_t)matrix.stride;
  matrix.at = malloc(count * sizeof *matrix.at);
  assert_non_null(matrix.at);
  for (size_t i = 0; i < count; i++)
    matrix.at[i] = i % (size_t)matrix.stride < (size_t)cols ? 2 * fov_rng_uniform(rng) - 1 : NAN;
  return matrix;
}

static size_t bytes_of(FovMatrix x) {
  return (size_t)x.rows * (size_t)x.stride * sizeof *x.at;
}

static FovMatrix copy_matrix(FovMatrix x) {
  FovMatrix copy = x;
  copy.at = malloc(bytes_of(x));
  assert_non_null(copy.at);
  memcpy(copy.at, x.at, bytes_of(x));
  return copy;
}

static double number_at(FovMatrix x, bool transposed, int row, int col) {
  return transposed ? x.at[(size_t)col * (size_t)x.stride + (size_t)row]
                    : x.at[(size_t)row * (size_t)x.stride + (size_t)col];
}

/** Row i, column j of op(A) · op(B), by the definition. */
static double product_at(const Product *p, FovMatrix a, FovMatrix b, int i, int j) {
  double sum = 0;
  for (int l = 0; l < p->k; l++)
    sum += number_at(a, p->a_transposed, i, l) * number_at(b, p->b_transposed, l, j);
  return sum;
}

static void assert_product(Product p) {
  FovRng rng = fov_rng_stream(1, FOV_STREAM_DATA, (uint64_t)(p.m * 1000000 + p.n * 1000 + p.k));
  FovMatrix a = random_matrix(p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.pad, &rng);
  FovMatrix b = random_matrix(p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, p.pad, &rng);
  FovMatrix before = random_matrix(p.m, p.n, p.pad, &rng);
  for (size_t i = 0; i < bytes_of(before) / sizeof(real) && p.beta == 0; i++) before.at[i] = NAN;
  FovMatrix c = copy_matrix(before), again = copy_matrix(before);
  fov_gemm(c, a, p.a_transposed, b, p.b_transposed, p.beta);
  fov_gemm(again, a, p.a_transposed, b, p.b_transposed, p.beta);
  assert_memory_equal(again.at, c.at, bytes_of(c));
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < c.stride; j++) {
      double is = number_at(c, false, i, j), was = number_at(before, false, i, j);
      if (j >= p.n && isnan(is)) continue;
      double expected = j >= p.n ? was : product_at(&p, a, b, i, j);
      if (j < p.n && p.beta != 0) expected += p.beta * was;
      assert_near(is, expected, 1e-6 * (1 + p.k / 8), "[%d, %d]%s x [%d, %d]%s, pad %d, at %d, %d",
                  p.m, p.k, p.a_transposed ? "T" : "", p.k, p.n, p.b_transposed ? "T" : "", p.pad,
                  i, j);
    }
  free(a.at), free(b.at), free(before.at), free(c.at), free(again.at);
}

static void gemm_follows_the_definition(void **state) {
  (void)state;
  static const int shapes[][3] = {{1, 1, 1},    {1, 3, 17},   {3, 1, 2},   {17, 65, 3},
                                  {64, 64, 64}, {65, 17, 64}, {20, 1, 65}, {2, 33, 432},
                                  {1, 64, 65},  {33, 2, 432}};
  static const real betas[] = {0, 1, 0.5f};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int beta = 0; beta < 3; beta++)
      for (int transposed = 0; transposed < 3; transposed++)
        for (int pad = 0; pad <= 16; pad += 16)
          assert_product((Product){.m = shapes[s][0],
                                   .n = shapes[s][1],
                                   .k = shapes[s][2],
                                   .a_transposed = transposed == 1,
                                   .b_transposed = transposed == 2,
                                   .beta = betas[beta],
                                   .pad = pad});
  assert_true(*fov_gemm_library());
}

static void rows_of_operands_use_different_cache_sets(void **state) {
  (void)state;
  for (int cols = 1; cols <= 2048; cols++) {
    int stride = fov_gemm_stride(cols);
    assert_true(stride >= cols && stride <= cols + 16);
    assert_true((size_t)stride * sizeof(real) % 512 != 0);
    if (cols < 64) assert_int_equal(stride, cols);
  }
}

static void wait_a_while(void) {
  usleep(3000);
}

/** Two phases, one inside the other, and a matrix product. */
static void do_phases(void *context, int task, int worker) {
  (void)context, (void)task, (void)worker;
  real numbers[6] = {0};
  FovMatrix a = {numbers, 1, 2, 2}, b = {numbers + 2, 2, 1, 1}, c = {numbers + 4, 1, 1, 1};
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  wait_a_while();
  FovPhase outer = fov_profile_enter(FOV_PHASE_SENSOR);
  wait_a_while();
  fov_profile_enter(outer);
  fov_gemm(c, a, false, b, false, 0);
  fov_profile_enter(before);
}

static void a_profile_counts_phases_and_products(void **state) {
  (void)state;
  FovProfile *profiles = aligned_alloc(64, FOV_MAX_THREADS * sizeof *profiles);
  assert_non_null(profiles);
  memset(profiles, 0, FOV_MAX_THREADS * sizeof *profiles);
  fov_team_run(1, 1, do_phases, NULL); // while off
  fov_profile_into(profiles);
  double start = fov_now();
  fov_team_run(1, 2, do_phases, NULL);
  double wall = fov_now() - start, sum = 0;
  fov_profile_into(NULL);
  const FovProfile *p = &profiles[0];
  for (int phase = 0; phase < FOV_PHASES; phase++) sum += p->seconds[phase];
  assert_true(p->seconds[FOV_PHASE_ENV] >= 0.006 && p->seconds[FOV_PHASE_SENSOR] >= 0.006);
  assert_true(p->seconds[FOV_PHASE_PRODUCTS] > 0 && sum <= wall);
  // It slept in most of this time.
  assert_true(p->processor > 0 && p->processor < 0.5 * sum);
  assert_true(p->shapes == 1 && p->calls[0] == 2 && p->flops == 8);
  assert_true(p->products[0].m == 1 && p->products[0].n == 1 && p->products[0].k == 2);
  free(profiles);
}

enum { CHUNK = 1000, CHUNKS = 2000 };

/** exp, sigmoid and tanh as the kernels of the program compute them. */
FOV_KERNEL static void apply_all(real *exps, real *sigmoids, real *tanhs, const real *x,
                                 int count) {
  for (int i = 0; i < count; i++) exps[i] = fov_exp(x[i]);
  for (int i = 0; i < count; i++) sigmoids[i] = fov_sigmoid(x[i]);
  for (int i = 0; i < count; i++) tanhs[i] = fov_tanh(x[i]);
}

/** Sweeps −limit … limit densely and keeps the largest errors: relative for exp, else absolute. */
static void measure_errors(double worst[3], double limit) {
  real x[CHUNK], y[3][CHUNK];
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    for (int i = 0; i < CHUNK; i++)
      x[i] = (real)(limit * (2.0 * (chunk * CHUNK + i) / (CHUNK * CHUNKS - 1) - 1));
    apply_all(y[0], y[1], y[2], x, CHUNK);
    for (int i = 0; i < CHUNK; i++) {
      double e = exp(x[i]);
      worst[0] = fmax(worst[0], fabs(y[0][i] / e - 1));
      worst[1] = fmax(worst[1], fabs(y[1][i] - e / (1 + e)));
      worst[2] = fmax(worst[2], fabs(y[2][i] - tanh(x[i])));
      assert_false(isnan(y[0][i]) || isnan(y[1][i]) || isnan(y[2][i]));
    }
  }
}

static void exp_sigmoid_and_tanh_are_within_their_error_bounds(void **state) {
  (void)state;
  double worst[3] = {0};
  measure_errors(worst, 87);
  measure_errors(worst, 2);
  assert_near(worst[0], 0, 2e-7, "relative error of exp");
  assert_near(worst[1], 0, 2e-7, "absolute error of sigmoid");
  assert_near(worst[2], 0, 3e-7, "absolute error of tanh");
  assert_true(fov_exp(0) == 1 && fov_sigmoid(0) == 0.5f && fov_tanh(0) == 0);
}

static void softplus_is_exact_at_both_ends(void **state) {
  (void)state;
  for (int i = -8600; i <= 8600; i++) {
    real x = (real)i / 100;
    double expected = fmax(x, 0) + log1p(exp(-fabs((double)x)));
    assert_near(fov_softplus(x) / expected, 1, 3e-7, "softplus of %g", (double)x);
  }
  assert_true(fov_softplus((real)1e30) == (real)1e30 && isnan(fov_softplus((real)NAN)));
  assert_true(fov_softplus(-INFINITY) < 1e-37 && fov_softplus(INFINITY) == INFINITY);
}

static void large_arguments_are_clamped_and_nan_is_kept(void **state) {
  (void)state;
  real x[] = {87, 88, 1e30f, INFINITY, -87, -88, -1e30f, -INFINITY, NAN}, y[3][9];
  apply_all(y[0], y[1], y[2], x, 9);
  for (int i = 0; i < 4; i++) {
    assert_near(y[0][i] / exp(87), 1, 2e-7, "exp of %g", (double)x[i]);
    assert_near(y[0][4 + i] / exp(-87), 1, 2e-7, "exp of %g", (double)x[4 + i]);
    assert_true(y[1][i] == 1 && y[2][i] == 1 && y[2][4 + i] == -1);
    assert_near(y[1][4 + i], 0, 2e-38, "sigmoid of %g", (double)x[4 + i]);
  }
  assert_true(isnan(y[0][8]) && isnan(y[1][8]) && isnan(y[2][8]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_have_no_control_characters),
      cmocka_unit_test(text_is_printable_utf8),
      cmocka_unit_test(separators_and_bidirectional_controls_are_not_printable),
      cmocka_unit_test(columns_are_counted_as_they_are_printed),
      cmocka_unit_test(words_of_a_shell_are_quoted_where_they_need_it),
      cmocka_unit_test(a_limit_of_addresses_counts),
      cmocka_unit_test_setup_teardown(the_least_limit_of_all_control_groups_counts, make_groups,
                                      remove_tree),
      cmocka_unit_test(more_memory_than_there_is_is_refused),
      cmocka_unit_test(a_long_message_loses_its_middle),
      cmocka_unit_test(digest_gives_the_published_values),
      cmocka_unit_test(digest_does_not_depend_on_the_pieces),
      cmocka_unit_test(pcg32_gives_the_published_numbers),
      cmocka_unit_test(neighbouring_streams_are_uncorrelated),
      cmocka_unit_test(no_two_streams_start_with_the_same_numbers),
      cmocka_unit_test(a_stream_is_a_function_of_its_arguments),
      cmocka_unit_test(below_is_uniform_and_in_range),
      cmocka_unit_test(below_is_unbiased_at_its_worst_range),
      cmocka_unit_test(an_empty_range_aborts),
      cmocka_unit_test(uniform_fills_its_range),
      cmocka_unit_test(normal_has_the_moments_of_a_normal),
      cmocka_unit_test(gumbel_noise_given_its_argmax_is_gumbel_noise),
      cmocka_unit_test(the_argmax_with_gumbel_noise_is_a_sample_of_the_softmax),
      cmocka_unit_test(normal_always_takes_two_draws),
      cmocka_unit_test(permute_gives_every_index_once),
      cmocka_unit_test(permute_differs_for_every_key),
      cmocka_unit_test(arena_pieces_do_not_overlap),
      cmocka_unit_test(arena_repeats_without_growing),
      cmocka_unit_test(arena_reserves_one_block),
      cmocka_unit_test(arena_grows_by_blocks),
      cmocka_unit_test(an_arena_takes_no_more_than_its_limit),
      cmocka_unit_test(gemm_follows_the_definition),
      cmocka_unit_test(rows_of_operands_use_different_cache_sets),
      cmocka_unit_test(a_profile_counts_phases_and_products),
      cmocka_unit_test(exp_sigmoid_and_tanh_are_within_their_error_bounds),
      cmocka_unit_test(softplus_is_exact_at_both_ends),
      cmocka_unit_test(large_arguments_are_clamped_and_nan_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
