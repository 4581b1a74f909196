/** Environments of sequences: what is to be answered and where it comes from, which split a source
 * is of, dates in all formats, text files, and digits on a strip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/config.h"
#include "env.h"
#include "envs/datasets/lines.h"
#include "envs/dates.h"
#include "folder.h"

/* ---- an environment and a lane of it ---- */

typedef struct World {
  FovEnv env;
  FovArena arena;
  FovEnvLane lane;
  FovRng rng;
} World;

static FovStatus create(FovEnv *env, const char *settings, FovSplit split) {
  FovSlot slot = {.key = "env", .table = (const FovPlugin *const *)fov_envs, .fallback = "copy"};
  FovConfig config = {.slots = &slot, .slot_count = 1};
  FovSettings *parsed;
  *env = (FovEnv){0};
  FovStatus status = fov_settings_create(&parsed);
  if (status == FOV_OK) status = fov_settings_parse(parsed, settings, "the test");
  if (status == FOV_OK) status = fov_config_resolve(&config, parsed);
  if (status == FOV_OK)
    status = fov_env_create(env, (const FovEnvType *)slot.plugin, slot.values, split);
  fov_config_finish(&config);
  fov_settings_destroy(parsed);
  return status;
}

static void world_create(World *world, const char *settings, FovSplit split) {
  *world = (World){0};
  if (create(&world->env, settings, split) != FOV_OK) fail_msg("%s", fov_error_message());
  world->lane = fov_env_lane(&world->arena, &world->env.spec);
}

static void world_finish(World *world) {
  fov_env_finish(&world->env);
  fov_arena_finish(&world->arena);
}

static void start(World *world, int64_t number) {
  world->rng = fov_rng_stream(5, FOV_STREAM_ENV, (uint64_t)number);
  fov_env_reset(&world->env, &world->lane, number % world->env.spec.cases, &world->rng);
}

/** Gives the right answer. Returns it. */
static int answer(World *world) {
  int label = world->lane.label;
  fov_env_step(&world->env, &world->lane, &(FovAnswer){.action = label}, &world->rng);
  assert_true(world->lane.reward == 1);
  return label;
}

static int length_of(const World *world) {
  const int32_t *tokens = world->lane.observation;
  int length = 0, room = world->env.spec.observation.length;
  while (length < room && tokens[length] >= 0) length++;
  return length;
}

static void assert_refused(const char *settings, const char *message) {
  FovEnv env;
  assert_int_not_equal(create(&env, settings, FOV_SPLIT_TRAIN), FOV_OK);
  if (!strstr(fov_error_message(), message))
    fail_msg("'%s' lacks '%s'", fov_error_message(), message);
  fov_env_finish(&env);
}

/* ---- letters ---- */

enum { EPISODES = 2000, MOST = 20 };

static int compare_tokens(const void *a, const void *b) {
  return *(const int32_t *)a - *(const int32_t *)b;
}

/** The right answers of a source. */
static void expect(int32_t *to, const int32_t *source, int length, const char *world) {
  for (int i = 0; i < length; i++)
    to[i] = source[strcmp(world, "reverse") == 0 ? length - 1 - i : i];
  if (strcmp(world, "sort") == 0) qsort(to, (size_t)length, sizeof *to, compare_tokens);
}

static void check_letters(const char *name) {
  World world;
  char settings[64];
  int seen[MOST + 1] = {0};
  snprintf(settings, sizeof settings, "env = %s\nenv.room = 30\n", name);
  world_create(&world, settings, FOV_SPLIT_TRAIN);
  for (int e = 0; e < EPISODES; e++) {
    start(&world, e);
    const int32_t *source = world.lane.observation;
    int length = length_of(&world);
    int32_t expected[MOST];
    assert_in_range(length, 1, MOST);
    seen[length]++;
    expect(expected, source, length, name);
    for (int i = 0; i < length; i++) {
      FovAlignment from = world.lane.from;
      int found = 0;
      for (int j = 0; j < length; j++) found += source[j] == expected[i];
      assert_int_equal(world.lane.label, expected[i]);
      assert_int_equal(from.sure >= 0, found == 1);
      if (from.sure >= 0) assert_int_equal(source[from.sure], expected[i]);
      assert_true(from.first == from.sure && from.last == from.sure);
      answer(&world);
    }
    assert_string_equal(world.env.spec.names[world.lane.label], "end");
    answer(&world);
    assert_true(world.lane.terminated);
  }
  for (int length = 1; length <= MOST; length++) assert_in_range(seen[length], 50, 150);
  world_finish(&world);
}

static void test_letters_are_answered_in_their_order(void **state) {
  (void)state;
  check_letters("copy");
  check_letters("reverse");
  check_letters("sort");
}

/** Sources of at most three of ten symbols, as numbers. */
static int number_of(const World *world) {
  const int32_t *source = world->lane.observation;
  int number = 0;
  for (int i = 0; i < length_of(world); i++) number = 11 * number + source[i] + 1;
  return number;
}

static void test_splits_share_no_source(void **state) {
  (void)state;
  static char split_of[11 * 11 * 11];
  int counts[3] = {0};
  for (int split = 0; split < 3; split++) {
    World world;
    world_create(&world, "env = copy\nenv.alphabet = 10\nenv.longest = 3\n", (FovSplit)split);
    for (int e = 0; e < 20 * EPISODES; e++) {
      start(&world, e);
      char *is = &split_of[number_of(&world)];
      assert_true(*is == 0 || *is == 1 + split);
      counts[split] += *is == 0;
      *is = (char)(1 + split);
    }
    world_finish(&world);
  }
  // Of 1,110 sources almost all have been drawn: eight tenths, one and one.
  assert_in_range(counts[0], 850, 930);
  assert_in_range(counts[1], 80, 145);
  assert_in_range(counts[2], 80, 145);
}

static void test_letters_refuse_what_does_not_fit(void **state) {
  (void)state;
  assert_refused("env = copy\nenv.shortest = 21\n",
                 "env.shortest = 21: expected at most env.longest");
  assert_refused("env = sort\nenv.room = 19\n", "env.room = 19: expected 0, or at least");
  assert_refused("env = reverse\nenv.alphabet = 2\nenv.longest = 3\n", "1000 different sequences");
  assert_refused("env = reverse\nenv.alphabet = 1\n", "1000 different sequences");
}

/* ---- dates ---- */

/** September 27, 2017 was a Wednesday. */
static void test_dates_are_written_as_people_do(void **state) {
  (void)state;
  static const char *const texts[FOV_DATE_FORMATS] = {"27.9.2017",
                                                      "27.09.2017",
                                                      "27.09.17",
                                                      "9/27/2017",
                                                      "09/27/2017",
                                                      "9/27/17",
                                                      "2017/09/27",
                                                      "20170927",
                                                      "27 Sep 2017",
                                                      "27 September 2017",
                                                      "27-Sep-2017",
                                                      "27-Sep-17",
                                                      "Sep 27, 2017",
                                                      "September 27, 2017",
                                                      "September 27th, 2017",
                                                      "the 27th of September 2017",
                                                      "27th of September, 2017",
                                                      "Wednesday, 27 September 2017",
                                                      "Wednesday, September 27, 2017",
                                                      "Wed 27 Sep 2017",
                                                      "Wed, Sep 27 2017",
                                                      "Sep 27 '17",
                                                      "2017, September 27",
                                                      "27 september 2017",
                                                      "WEDNESDAY 27 SEPTEMBER 2017",
                                                      "27th September 2017"};
  for (int f = 0; f < FOV_DATE_FORMATS; f++) {
    FovDateText text;
    fov_date_write(&text, (FovDate){2017, 9, 27}, f);
    assert_string_equal(text.text, texts[f]);
  }
  const struct {
    int day;
    const char *text;
  } ordinals[] = {{1, "1st"},   {2, "2nd"},   {3, "3rd"},   {4, "4th"},
                  {11, "11th"}, {12, "12th"}, {13, "13th"}, {21, "21st"},
                  {22, "22nd"}, {23, "23rd"}, {30, "30th"}, {31, "31st"}};
  for (size_t i = 0; i < sizeof ordinals / sizeof *ordinals; i++) {
    FovDateText text;
    fov_date_write(&text, (FovDate){2000, 1, ordinals[i].day}, 16);
    assert_memory_equal(text.text, ordinals[i].text, strlen(ordinals[i].text));
  }
}

typedef struct Written {
  char text[FOV_DATE_ROOM + 1];
  FovDate date;
} Written;

static int compare_written(const void *a, const void *b) {
  return strcmp(((const Written *)a)->text, ((const Written *)b)->text);
}

static void test_no_text_is_two_dates(void **state) {
  (void)state;
  static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  enum { YEARS = 400 };
  Written *list = malloc(sizeof *list * FOV_DATE_FORMATS * (YEARS / 3 + 1) * 366);
  size_t count = 0;
  assert_non_null(list);
  for (int y = 1800; y < 1800 + YEARS; y += 3)
    for (int m = 1; m <= 12; m++)
      for (int d = 1; d <= days[m - 1] - (m == 2 && y % 4 != 0); d++)
        for (int f = 0; f < FOV_DATE_FORMATS; f++) {
          FovDateYears years = fov_date_years(f);
          if (y < years.first || y >= years.first + years.count) continue;
          FovDateText text;
          fov_date_write(&text, (FovDate){y, m, d}, f);
          strcpy(list[count].text, text.text);
          list[count++].date = (FovDate){y, m, d};
        }
  qsort(list, count, sizeof *list, compare_written);
  for (size_t i = 1; i < count; i++)
    if (compare_written(&list[i - 1], &list[i]) == 0 &&
        memcmp(&list[i - 1].date, &list[i].date, sizeof(FovDate)) != 0)
      fail_msg("'%s' is two dates", list[i].text);
  free(list);
}

static void test_the_digits_of_a_date_are_found_in_the_text(void **state) {
  (void)state;
  World world;
  int sure = 0, parts = 0;
  world_create(&world, "env = dates\n", FOV_SPLIT_TRAIN);
  const char *const *names = world.env.spec.names, *const *symbols = world.env.spec.symbols;
  for (int e = 0; e < EPISODES; e++) {
    start(&world, e);
    const int32_t *source = world.lane.observation;
    char iso[16] = "";
    for (int i = 0; !world.lane.terminated; i++) {
      FovAlignment from = world.lane.from;
      bool digit = i < 10 && i != 4 && i != 7;
      if (!digit) assert_int_equal(from.first, -1);
      assert_true(from.last >= from.first && from.last < length_of(&world));
      if (from.sure >= 0) {
        assert_in_range(from.sure, from.first, from.last);
        assert_string_equal(symbols[source[from.sure]], names[world.lane.label]);
      }
      sure += from.sure >= 0, parts += from.first >= 0;
      if (i < 10) strcat(iso, names[world.lane.label]);
      answer(&world);
    }
    int y, m, d, end = 0;
    assert_int_equal(sscanf(iso, "%4d-%2d-%2d%n", &y, &m, &d, &end), 3);
    assert_int_equal(end, 10);
    assert_in_range(y, 1800, 2199);
  }
  assert_in_range(parts, 7 * EPISODES, 8 * EPISODES - 1);
  assert_in_range(sure, parts / 2, parts - 1);
  world_finish(&world);
}

/* ---- text files ---- */

static char source[sizeof path], target[sizeof path];

static void write_text(const char *file, const char *text) {
  assert_int_equal(fov_file_write(file, text, strlen(text)), FOV_OK);
}

static const char *pairs(const char *more) {
  static char settings[3 * sizeof path];
  snprintf(settings, sizeof settings, "env = text_pairs\nenv.source = %s\nenv.target = %s\n%s",
           source, target, more);
  return settings;
}

static void test_lines_are_answered_with_lines(void **state) {
  (void)state;
  World world;
  write_text(source, "the cat\r\nthe  dog\r\na caf\xC3\xA9\n");
  write_text(target, "die Katze\nder Hund\n\n");
  int lines = 0;
  for (int split = 0; split < 3; split++) {
    FovEnv env;
    if (create(&env, pairs("env.unit = word\n"), (FovSplit)split) != FOV_OK) {
      assert_non_null(strstr(fov_error_message(), "found 3, of which none is in the "));
      continue;
    }
    world_create(&world, pairs("env.unit = word\n"), (FovSplit)split);
    assert_int_equal(env.spec.observation.vocabulary, 5);
    assert_int_equal(env.spec.observation.length, 2);
    assert_int_equal(env.spec.actions, 5);
    for (int64_t i = 0; i < env.spec.cases; i++, lines++) {
      start(&world, i);
      const int32_t *tokens = world.lane.observation;
      const char *const *symbols = world.env.spec.symbols;
      const char *last = symbols[tokens[1]], *first = world.env.spec.names[answer(&world)];
      if (strcmp(last, "cat") == 0) assert_string_equal(first, "die");
      if (strcmp(last, "dog") == 0) assert_string_equal(first, "der");
      if (strcmp(last, "caf\xC3\xA9") == 0) assert_string_equal(first, "end");
    }
    world_finish(&world);
    fov_env_finish(&env);
  }
  assert_int_equal(lines, 3);
}

/** Other texts are the test split, with the numbers of the training's symbols. */
static void test_texts_may_be_for_tests_alone(void **state) {
  (void)state;
  char text[4096] = "", answers[4096] = "", settings[3 * sizeof path];
  World world;
  for (int i = 0; i < 100; i++) {
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%c%c c\n", 'a' + i % 10, 'a' + i / 10);
    strcat(answers, i % 2 ? "x\n" : "y\n");
  }
  write_text(source, text);
  write_text(target, answers);
  snprintf(settings, sizeof settings, "env.test_source = %s2\nenv.test_target = %s2\n", source,
           target);
  char other_source[sizeof path + 1], other_target[sizeof path + 1];
  snprintf(other_source, sizeof other_source, "%s2", source);
  snprintf(other_target, sizeof other_target, "%s2", target);
  write_text(other_source, "jjjjjj\nb\n");
  write_text(other_target, "y\nyxyx\n");
  int64_t lines = 0;
  for (int split = 0; split < 3; split++) {
    world_create(&world, pairs(settings), (FovSplit)split);
    const FovEnvSpec *spec = &world.env.spec;
    assert_int_equal(spec->observation.length, 6);
    assert_int_equal(spec->observation.vocabulary, 11); // with the space
    assert_int_equal(spec->steps, 5);
    assert_int_equal(spec->division[FOV_SPLIT_TEST], 2);
    if (split != FOV_SPLIT_TEST) {
      lines += spec->cases;
    } else {
      assert_int_equal(spec->cases, 2);
      start(&world, 0);
      assert_string_equal(spec->symbols[((const int32_t *)world.lane.observation)[5]], "j");
      assert_string_equal(spec->names[answer(&world)], "y");
    }
    world_finish(&world);
  }
  assert_int_equal(lines, 100);
  write_text(other_source, "a\nbaz\n");
  assert_refused(pairs(settings),
                 "source2:2: expected only symbols of the training text, found \"z\"");
  write_text(other_source, "a\nb\nc\n");
  assert_refused(pairs(settings), "target2: expected as many lines as");
  assert_refused(pairs("env.test_source = x\n"), "env.test_source and env.test_target, or neither");
  assert_int_equal(remove(other_source) || remove(other_target), 0);
}

static void test_texts_that_are_none_are_refused(void **state) {
  (void)state;
  write_text(target, "x\ny\n");
  write_text(source, "");
  assert_refused(pairs(""), "expected lines of text, found none");
  write_text(source, "a\n");
  assert_refused(pairs(""), "expected as many lines as");
  write_text(source, "a\n\n");
  assert_refused(pairs(""), "source:2: expected some text, found an empty line");
  write_text(source, "a\nabcdef\n");
  assert_refused(pairs("env.longest = 5\n"),
                 "source:2: expected at most 5 symbols (env.longest), found 6");
  const char *const bad[] = {
      "a\xFF", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
      "\xC3",  "\x1B[2J",  "\x7F",         "\xC2\x85"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_text(source, bad[i]);
    assert_refused(pairs(""), "source:1: expected UTF-8 without control characters, found byte 0x");
  }
  assert_refused("env = text_pairs\n", "set env.source and env.target");
  assert_int_equal(remove(source), 0);
  assert_refused(pairs(""), "No such file");
}

/* ---- texts that are large ---- */

static double memory_limit = INFINITY;

double __wrap_fov_memory_limit(void);
double __wrap_fov_memory_limit(void) {
  return memory_limit;
}

/** A text of `words` different words of four bytes, 64 to a line, each of them `times`. */
static void write_words(const char *file, int words, int times) {
  size_t size = 0;
  char *text = malloc((size_t)words * (size_t)times * 5);
  assert_non_null(text);
  for (int i = 0; i < words * times; i++) {
    int n = i % words;
    for (int j = 0; j < 4; j++, n /= 26) text[size++] = (char)('a' + n % 26);
    text[size++] = i % 64 == 63 ? '\n' : ' ';
  }
  assert_int_equal(fov_file_write(file, text, size), FOV_OK);
  free(text);
}

static void test_a_byte_order_mark_is_no_symbol(void **state) {
  (void)state;
  static const char text[] = "\xEF\xBB\xBFxy\nyx\n";
  FovLines lines;
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
  assert_int_equal(fov_lines_read(&lines, path, FOV_LINES_CHARACTER, 64, NULL), FOV_OK);
  assert_int_equal(lines.vocabulary, 2);
  fov_lines_finish(&lines);
}

static void test_symbols_that_are_too_many_are_refused(void **state) {
  (void)state;
  FovLines lines;
  write_words(path, FOV_LINES_VOCABULARY, 3);
  assert_int_equal(fov_lines_read(&lines, path, FOV_LINES_WORD, 64, NULL), FOV_OK);
  assert_int_equal(lines.vocabulary, FOV_LINES_VOCABULARY);
  assert_int_equal(lines.count, FOV_LINES_VOCABULARY * 3 / 64);
  for (int i = 1; i < lines.vocabulary; i++)
    assert_true(strcmp(lines.names[i - 1], lines.names[i]) < 0);
  for (int i = 0; i < 3 * lines.vocabulary; i++) {
    const char *name = lines.names[lines.tokens[i]];
    int n = 0;
    for (int j = 3; j >= 0; j--) n = 26 * n + name[j] - 'a';
    assert_int_equal(n, i % FOV_LINES_VOCABULARY);
  }
  fov_lines_finish(&lines);
  for (int times = 1; times <= 3; times++) { // found at the end, and before it
    write_words(path, FOV_LINES_VOCABULARY + 1, times);
    assert_int_equal(fov_lines_read(&lines, path, FOV_LINES_WORD, 64, NULL), FOV_ERR_FORMAT);
    assert_message("expected at most 65536 different symbols, found more");
  }
}

/** 4 bytes a symbol and 8 a line, and the text itself: no more is asked for. */
static void test_a_text_that_memory_has_no_room_for_is_refused(void **state) {
  (void)state;
  enum { WORDS = 1000, TIMES = 64, COUNT = WORDS * TIMES };
  FovLines lines;
  write_words(path, WORDS, TIMES);
  memory_limit = 4 * COUNT;
  FovStatus enough = fov_lines_read(&lines, path, FOV_LINES_WORD, 64, NULL);
  fov_lines_finish(&lines);
  memory_limit--;
  FovStatus short_of_one = fov_lines_read(&lines, path, FOV_LINES_WORD, 64, NULL);
  memory_limit = INFINITY;
  assert_int_equal(enough, FOV_OK);
  assert_int_equal(short_of_one, FOV_ERR_MEMORY);
  assert_message(": no memory for its symbols");
  assert_null(lines.starts);
}

static int make_files(void **state) {
  (void)state;
  if (make_folder("source") != 0) return -1;
  snprintf(source, sizeof source, "%s/source", folder);
  snprintf(target, sizeof target, "%s/target", folder);
  return 0;
}

/* ---- digits on a strip ---- */

static void test_digits_of_a_strip_are_found_in_their_columns(void **state) {
  (void)state;
  World world;
  char settings[1024];
  const char *subset = getenv("FOVEA_SUBSET");
  snprintf(settings, sizeof settings,
           "env = sequence\nenv.size = 200\nenv.height = 28\nenv.length = 5\nenv.data = %s\n",
           subset ? subset : "envs/mnist-subset");
  world_create(&world, settings, FOV_SPLIT_TEST);
  assert_int_equal(world.env.spec.observation.height, 28);
  assert_int_equal(world.env.spec.observation.width, 200);
  for (int e = 0; e < 100; e++) {
    start(&world, e);
    int last = -1;
    for (int i = 0; i < 5; i++) {
      FovAlignment from = world.lane.from;
      const uint8_t *image = world.lane.observation;
      long bright = 0;
      assert_true(from.first > last && from.last == from.first + 27);
      assert_int_equal(from.sure, from.first + 14);
      for (int y = 0; y < 28; y++)
        for (int x = from.first; x <= from.last; x++) bright += image[y * 200 + x];
      assert_true(bright > 0);
      last = from.last;
      answer(&world);
    }
    assert_int_equal(world.lane.from.first, -1);
    answer(&world);
  }
  world_finish(&world);
  assert_refused("env = sequence\nenv.size = 280\nenv.height = 27\n", "env.height = 27: expected");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_letters_are_answered_in_their_order),
      cmocka_unit_test(test_splits_share_no_source),
      cmocka_unit_test(test_letters_refuse_what_does_not_fit),
      cmocka_unit_test(test_dates_are_written_as_people_do),
      cmocka_unit_test(test_no_text_is_two_dates),
      cmocka_unit_test(test_the_digits_of_a_date_are_found_in_the_text),
      cmocka_unit_test(test_lines_are_answered_with_lines),
      cmocka_unit_test(test_texts_may_be_for_tests_alone),
      cmocka_unit_test(test_texts_that_are_none_are_refused),
      cmocka_unit_test(test_a_byte_order_mark_is_no_symbol),
      cmocka_unit_test(test_symbols_that_are_too_many_are_refused),
      cmocka_unit_test(test_a_text_that_memory_has_no_room_for_is_refused),
      cmocka_unit_test(test_digits_of_a_strip_are_found_in_their_columns),
  };
  return cmocka_run_group_tests(tests, make_files, remove_tree);
}
