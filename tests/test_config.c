#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "notes.h"

typedef struct Task {
  int glimpses, mode;
  int64_t episodes;
  double rate;
  bool quiet;
  char name[FOV_STRING_SIZE];
} Task;

typedef struct Cell {
  int width;
  double forget;
} Cell;

typedef struct Normal {
  double sigma;
} Normal;

static const char *const modes[] = {"fast", "slow", NULL};

static const FovOption task_options[] = {
    FOV_INT(Task, glimpses, "6", 1, 64, "glimpses an image"),
    FOV_CHOICE(Task, mode, "fast", modes, "how to go about it"),
    FOV_BOOL(Task, quiet, "no", "print nothing"),
    FOV_STRING(Task, name, "a b", "of the run"),
    FOV_OPTIONS_END,
};
static const FovOption train_options[] = {
    FOV_LONG(Task, episodes, "1e6", 0, 0x1p63, "episodes in all"),
    FOV_REAL(Task, rate, "0.001", 0, 1, "learning rate"),
    FOV_OPTIONS_END,
};
static const FovOption rnn_options[] = {
    FOV_INT(Cell, width, "256", 1, 4096,
            "units of the state, which the core carries from one "
            "glimpse to the next, and which every head reads"),
    FOV_OPTIONS_END,
};
static const FovOption lstm_options[] = {
    FOV_INT(Cell, width, "128", 1, 1024, "units of the state"),
    FOV_REAL(Cell, forget, "1", -INFINITY, INFINITY, "bias of the forget gate at the start"),
    FOV_OPTIONS_END,
};
static const FovOption normal_options[] = {
    FOV_REAL(Normal, sigma, "0.1", 0, 9, "standard deviation, in half images"),
    FOV_OPTIONS_END,
};

static const FovPlugin rnn = {"rnn", "plain recurrence", rnn_options, sizeof(Cell)};
static const FovPlugin lstm = {"lstm", "long short-term memory", lstm_options, sizeof(Cell)};
static const FovPlugin gaussian = {"gaussian", "normal", normal_options, sizeof(Normal)};
static const FovPlugin uniform = {"random", "uniform", NULL, 0};
static const FovPlugin *const cores[] = {&rnn, &lstm, NULL};
static const FovPlugin *const policies[] = {&gaussian, &uniform, NULL};

enum { CORE, POLICY };

static const FovRename renames[] = {
    {"memory", "core"},        {"memory.units", "core.width"}, {"memory.", "core."},
    {"sigma", "policy.sigma"}, {"pace", "train.rate"},         {NULL, NULL},
};

/** A configuration of two groups and two slots, with the settings for it. */
typedef struct Fixture {
  Task task;
  FovGroup groups[2];
  FovSlot slots[2];
  FovConfig config;
  FovSettings *settings;
} Fixture;

static int enter(void **state) {
  Fixture *f = calloc(1, sizeof *f);
  if (!f || fov_settings_create(&f->settings) != FOV_OK) return -1;
  f->groups[0] = (FovGroup){"", task_options, &f->task};
  f->groups[1] = (FovGroup){"train", train_options, &f->task};
  f->slots[CORE] = (FovSlot){"core", "the memory", cores, "rnn", NULL, NULL};
  f->slots[POLICY] = (FovSlot){"policy", "where to look", policies, "gaussian", NULL, NULL};
  f->config = (FovConfig){f->groups, 2, f->slots, 2, renames, NULL, NULL};
  *state = f;
  return 0;
}

static int leave(void **state) {
  Fixture *f = *state;
  fov_config_finish(&f->config);
  fov_config_finish(&f->config);
  fov_settings_destroy(f->settings);
  free(f);
  return 0;
}

static void parse(Fixture *f, const char *text) {
  if (fov_settings_parse(f->settings, text, "x.ini") != FOV_OK) fail_msg("%s", fov_error_message());
}

static void add(Fixture *f, const char *argument) {
  if (fov_settings_add(f->settings, argument) != FOV_OK) fail_msg("%s", fov_error_message());
}

static void resolve(Fixture *f) {
  if (fov_config_resolve(&f->config, f->settings) != FOV_OK) fail_msg("%s", fov_error_message());
}

static void assert_refused(FovStatus found, FovStatus expected, const char *message) {
  assert_int_equal(found, expected);
  assert_string_equal(fov_error_message(), message);
}

/** Fails unless the settings so far are refused with this message and nothing is allocated. */
static void assert_unresolved(Fixture *f, const char *message) {
  assert_refused(fov_config_resolve(&f->config, f->settings), FOV_ERR_USAGE, message);
  assert_null(f->slots[CORE].values);
  assert_null(f->slots[CORE].plugin);
}

static void assert_unparsed(Fixture *f, const char *text, FovStatus expected, const char *message) {
  assert_refused(fov_settings_parse(f->settings, text, "x.ini"), expected, message);
}

static const Cell *core_of(const Fixture *f) {
  return f->slots[CORE].values;
}

static void test_defaults(void **state) {
  Fixture *f = *state;
  resolve(f);
  assert_int_equal(f->task.glimpses, 6);
  assert_int_equal(f->task.mode, 0);
  assert_false(f->task.quiet);
  assert_string_equal(f->task.name, "a b");
  assert_int_equal(f->task.episodes, 1000000);
  assert_true(f->task.rate == 0.001);
  assert_ptr_equal(f->slots[CORE].plugin, &rnn);
  assert_int_equal(core_of(f)->width, 256);
  assert_ptr_equal(f->slots[POLICY].plugin, &gaussian);
}

static void test_reads_ini(void **state) {
  Fixture *f = *state;
  parse(f, "\xEF\xBB\xBF#!/usr/bin/env -S fovea train\r\n"
           "; a comment = none\r\n"
           "  glimpses = 8\r\n"
           "\tquiet=YES\n"
           "name = data; a=b # c : d ;e\t \n"
           "core = lstm\n"
           "\n"
           "[core]\n"
           "  width = 3\n"
           "  forget: -2.5e0\n"
           "[train]\n"
           "episodes = 9007199254740993");
  resolve(f);
  assert_int_equal(f->task.glimpses, 8);
  assert_true(f->task.quiet);
  assert_string_equal(f->task.name, "data; a=b # c : d ;e");
  assert_ptr_equal(f->slots[CORE].plugin, &lstm);
  assert_int_equal(core_of(f)->width, 3);
  assert_true(core_of(f)->forget == -2.5);
  assert_int_equal(f->task.episodes, 9007199254740993);
}

static void test_refuses_what_is_not_ini(void **state) {
  Fixture *f = *state;
  const char *expected = "x.ini:2: expected 'key = value', '[section]' or '# comment'";
  assert_unparsed(f, "glimpses = 3\nquiet\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\n[core\nwidth = 3\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\n[core] width = 3\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\xEF\xBB\xBF[core] width = 3\n", FOV_ERR_FORMAT,
                  "x.ini:1: expected 'key = value', '[section]' or '# comment'");
  assert_unparsed(f, "\n[core] # cell\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\nna ;me = 3\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\nname = \x1b[2J\n", FOV_ERR_FORMAT,
                  "x.ini:2: 'name': expected one line of text, found a control character");
  // The first of two mistakes is reported.
  assert_unparsed(f, "\nquiet\n[core] # cell\n", FOV_ERR_FORMAT, expected);
  assert_unparsed(f, "\nquiet\nname = \x1b[2J\n", FOV_ERR_FORMAT, expected);
}

/** inih alone would cut lines of 200 bytes and take the rest for the next line. */
static void test_long_lines(void **state) {
  Fixture *f = *state;
  char value[FOV_STRING_SIZE], text[1500];
  memset(value, 'v', sizeof value - 1);
  value[sizeof value - 1] = '\0';
  snprintf(text, sizeof text, "# %s\nname = %s\nglimpses = 7\n", value, value);
  parse(f, text);
  resolve(f);
  assert_string_equal(f->task.name, value);
  assert_int_equal(f->task.glimpses, 7);
  for (size_t length = 190; length < 205; length++) {
    snprintf(text, sizeof text, "%.*s=quiet=1\n", (int)length, value);
    FovStatus status = fov_settings_parse(f->settings, text, "x.ini");
    assert_true(status == FOV_ERR_FORMAT || fov_config_resolve(&f->config, f->settings) != FOV_OK);
  }
}

static void test_string_too_long(void **state) {
  Fixture *f = *state;
  char argument[5 + FOV_STRING_SIZE + 1] = "name=";
  memset(argument + 5, 'v', FOV_STRING_SIZE);
  add(f, argument);
  assert_int_equal(fov_config_resolve(&f->config, f->settings), FOV_ERR_USAGE);
  assert_non_null(strstr(fov_error_message(), "expected text of at most 511 bytes"));
}

static void test_same_key_twice(void **state) {
  Fixture *f = *state;
  assert_unparsed(f, "core.width = 1\n[core]\nwidth = 2\n", FOV_ERR_USAGE,
                  "x.ini:3: 'core.width' is set twice, first at x.ini:1; remove one of them");
}

static void test_later_sources_override(void **state) {
  Fixture *f = *state;
  parse(f, "glimpses = 2\ncore.width = 2\n");
  parse(f, "glimpses = 3\n");
  add(f, " core.width = 4 ");
  add(f, "core.width=5");
  resolve(f);
  assert_int_equal(f->task.glimpses, 3);
  assert_int_equal(core_of(f)->width, 5);
}

static void test_bad_argument(void **state) {
  Fixture *f = *state;
  assert_refused(fov_settings_add(f->settings, "glimpses"), FOV_ERR_USAGE,
                 "command line: 'glimpses': expected key=value");
  assert_refused(fov_settings_add(f->settings, "name=a\nb"), FOV_ERR_USAGE,
                 "command line: 'name': expected one line of text, found a control character");
  resolve(f); // neither was added
  assert_string_equal(f->task.name, "a b");
}

static void test_unknown_keys(void **state) {
  static const char *const cases[][2] = {
      {"core.widht=3", "unknown key 'core.widht'; did you mean 'core.width'?"},
      {"Glimpses=3", "unknown key 'Glimpses'; did you mean 'glimpses'?"},
      {"glimpses.x=3", "unknown key 'glimpses.x'; did you mean 'glimpses'?"},
      {"core.glimpses=3", "unknown key 'core.glimpses'; did you mean 'glimpses'?"},
      {"episodes=3", "unknown key 'episodes'; did you mean 'train.episodes'?"},
      {"cores=rnn", "unknown key 'cores'; did you mean 'core'?"},
      {"temperature=3", "unknown key 'temperature'; fovea list settings shows all"},
      {"core.episodes=3", "unknown key 'core.episodes'; did you mean 'train.episodes'?"},
      {"core.temperature=3", "unknown key 'core.temperature': expected core.width"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Fixture *f;
    assert_int_equal(enter((void **)&f), 0);
    char message[256];
    snprintf(message, sizeof message, "command line: %s", cases[i][1]);
    add(f, cases[i][0]);
    assert_unresolved(f, message);
    leave((void **)&f);
  }
  Fixture *f = *state;
  parse(f, "\n[core]\nwidht = 3\n");
  assert_unresolved(f, "x.ini:3: unknown key 'core.widht'; did you mean 'core.width'?");
}

/** Values given on a command line: the message after "command line: ", or NULL if it is accepted.
 */
static void test_values(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"glimpses=1", NULL},
      {"glimpses=64", NULL},
      {"glimpses=6.4e1", NULL},
      {"glimpses=0", "glimpses = 0: expected an integer from 1 to 64"},
      {"glimpses=65", "glimpses = 65: expected an integer from 1 to 64"},
      {"glimpses=2.5", "glimpses = 2.5: expected an integer from 1 to 64"},
      {"glimpses=0x10", "glimpses = 0x10: expected an integer from 1 to 64"},
      {"glimpses=", "glimpses = : expected an integer from 1 to 64"},
      {"glimpses=6 # six", "glimpses = 6 # six: expected an integer from 1 to 64"},
      {"glimpses=4294967297", "glimpses = 4294967297: expected an integer from 1 to 64"},
      {"train.episodes=9223372036854775807", NULL},
      {"train.episodes=9223372036854775808",
       "train.episodes = 9223372036854775808: expected an integer of at least 0"},
      {"train.episodes=1e17", "train.episodes = 1e17: expected an integer of at least 0"},
      {"train.episodes=-1", "train.episodes = -1: expected an integer of at least 0"},
      {"train.rate=1", NULL},
      {"train.rate=.5e-3", NULL},
      {"train.rate=1.0000001", "train.rate = 1.0000001: expected a number from 0 to 1"},
      {"train.rate=nan", "train.rate = nan: expected a number from 0 to 1"},
      {"train.rate=0x1p-2", "train.rate = 0x1p-2: expected a number from 0 to 1"},
      {"train.rate=0.1.2", "train.rate = 0.1.2: expected a number from 0 to 1"},
      {"quiet=On", NULL},
      {"quiet=2", "quiet = 2: expected true or false"},
      {"mode=slow", NULL},
      {"mode=SLOW", "mode = SLOW: expected one of fast, slow; did you mean 'slow'?"},
      {"mode=1", "mode = 1: expected one of fast, slow"},
      {"name=", NULL},
      {"core=lstn", "core = lstn: expected one of rnn, lstm; did you mean 'lstm'?"},
      {"core=transformer", "core = transformer: expected one of rnn, lstm"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Fixture *f;
    assert_int_equal(enter((void **)&f), 0);
    char message[256];
    snprintf(message, sizeof message, "command line: %s", cases[i][1] ? cases[i][1] : "");
    add(f, cases[i][0]);
    if (cases[i][1])
      assert_unresolved(f, message);
    else
      resolve(f);
    leave((void **)&f);
  }
}

static void test_unbounded_real_is_finite(void **state) {
  Fixture *f = *state;
  add(f, "core=lstm");
  add(f, "core.forget=1e999");
  assert_unresolved(f, "command line: core.forget = 1e999: expected a number");
}

static void test_option_of_another_plugin(void **state) {
  Fixture *f = *state;
  parse(f, "policy.sigma = 4\npolicy = random\n");
  assert_unresolved(f,
                    "x.ini:1: policy.sigma belongs to policy = gaussian, but policy = random here");
}

static void test_option_of_another_plugin_later(void **state) {
  Fixture *f = *state;
  parse(f, "policy = random\n");
  add(f, "policy.sigma=4");
  assert_unresolved(
      f, "command line: policy.sigma belongs to policy = gaussian, but policy = random here");
}

/** A later setting may choose another plug-in than the one that a file sets options of, by name or
 * by default. */
static void test_switch_drops_earlier_options(void **state) {
  Fixture *f = *state;
  parse(f, "policy.sigma = 4\ncore = lstm\ncore.forget = 2\ncore.width = 77\n");
  add(f, "policy=random");
  add(f, "core=rnn");
  resolve(f);
  assert_ptr_equal(f->slots[POLICY].plugin, &uniform);
  assert_null(f->slots[POLICY].values);
  assert_ptr_equal(f->slots[CORE].plugin, &rnn);
  assert_int_equal(core_of(f)->width, 77); // both cores have it
}

static void test_switch_does_not_hide_an_option_of_another_plugin(void **state) {
  Fixture *f = *state;
  parse(f, "core = rnn\ncore.forget = 2\n");
  add(f, "core=lstm");
  assert_unresolved(f, "x.ini:2: core.forget belongs to core = lstm, but core = rnn here");
}

static void test_switch_checks_the_new_range(void **state) {
  Fixture *f = *state;
  parse(f, "core.width = 4096\n");
  resolve(f);
  add(f, "core=lstm");
  assert_unresolved(f, "x.ini:1: core.width = 4096: expected an integer from 1 to 1024");
}

static void test_dump_text(void **state) {
  Fixture *f = *state;
  parse(f, "train.rate = 0.1\ncore = lstm\npolicy = random\n");
  resolve(f);
  char *text;
  assert_int_equal(fov_config_dump(&text, &f->config), FOV_OK);
  assert_string_equal(text, "glimpses = 6\nmode = fast\nquiet = false\nname = a b\n\n"
                            "train.episodes = 1000000\ntrain.rate = 0.1\n\n"
                            "core = lstm\ncore.width = 128\ncore.forget = 1\n\n"
                            "policy = random\n");
  free(text);
}

static void test_dump_reads_back(void **state) {
  static const double rates[] = {1.0 / 3, 0.1 + 0.2, 5e-324, 1e-5, 0x1.fffffffffffffp-1};
  static const char *const names[] = {"", "a ; b", "# c", "[d]", "e = f : g", "\"h\"", "\xC3\xA9"};
  for (size_t i = 0; i < 5 * 7; i++) {
    char *first, *second;
    Fixture *f = *state;
    resolve(f);
    f->task.rate = rates[i % 5];
    f->task.episodes = INT64_MAX - (int64_t)i;
    strcpy(f->task.name, names[i % 7]);
    assert_int_equal(fov_config_dump(&first, &f->config), FOV_OK);
    Fixture *again;
    assert_int_equal(enter((void **)&again), 0);
    parse(again, first);
    resolve(again);
    assert_true(again->task.rate == rates[i % 5]);
    assert_true(again->task.episodes == INT64_MAX - (int64_t)i);
    assert_string_equal(again->task.name, names[i % 7]);
    assert_int_equal(fov_config_dump(&second, &again->config), FOV_OK);
    assert_string_equal(second, first);
    leave((void **)&again);
    free(first);
    free(second);
  }
}

static void write_file(const char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void test_reads_files(void **state) {
  Fixture *f = *state;
  char folder[256], path[300], message[400];
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.200s/fovea-config-XXXXXX", tmp ? tmp : "/tmp");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/x.ini", folder);
  assert_int_equal(fov_settings_read(f->settings, path), FOV_ERR_IO);
  write_file(path, "glimpses\0 = 3\n", 14);
  snprintf(message, sizeof message, "%s: expected an INI text, found a zero byte", path);
  assert_refused(fov_settings_read(f->settings, path), FOV_ERR_FORMAT, message);
  write_file(path, "glimpses = 99", 13);
  assert_int_equal(fov_settings_read(f->settings, path), FOV_OK);
  snprintf(message, sizeof message, "%s:1: glimpses = 99: expected an integer from 1 to 64", path);
  assert_unresolved(f, message);
  unlink(path);
  rmdir(folder);
}

static void test_bounds(void **state) {
  Fixture *f = *state;
  size_t size = (1 << 20) + 2;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, '\n', size - 1);
  text[size - 1] = '\0';
  assert_unparsed(f, text, FOV_ERR_FORMAT,
                  "x.ini: expected at most 1048576 bytes of settings, found 1048577");
  text[size - 2] = '\0';
  parse(f, text);
  for (int i = 0; i < 4097; i++) sprintf(text + (size_t)i * 11, "a%05d = 1\n", i);
  assert_unparsed(f, text, FOV_ERR_USAGE, "x.ini:4097: expected at most 4096 settings");
  free(text);
}

static void test_old_keys_are_accepted(void **state) {
  Fixture *f = *state;
  parse(f, "memory = lstm\n[memory]\nunits = 7\nforget = 3\n");
  add(f, "pace=0.5");
  resolve(f);
  resolve(f); // a second resolve renames nothing
  assert_ptr_equal(f->slots[CORE].plugin, &lstm);
  assert_int_equal(core_of(f)->width, 7);
  assert_true(core_of(f)->forget == 3);
  assert_true(f->task.rate == 0.5);
  // Keys that a program wrote are not noted.
  assert_notes(f->settings, "command line: 'pace' is now called 'train.rate'\n");
  size_t count;
  const FovSetting *list = fov_settings_list(&count, f->settings);
  assert_int_equal(count, 4);
  assert_string_equal(list[1].key, "core.width");
  assert_string_equal(list[1].old_key, "memory.units");
  assert_int_equal(list[3].origin, FOV_ORIGIN_COMMAND);
}

static void test_old_keys_in_a_file_are_noted(void **state) {
  Fixture *f = *state;
  char path[] = "/tmp/fovea-config-XXXXXX", notes[256];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  const char text[] = "glimpses = 3\n[memory]\nunits = 7\n";
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
  assert_int_equal(fov_settings_read(f->settings, path), FOV_OK);
  unlink(path);
  resolve(f);
  snprintf(notes, sizeof notes, "%s:3: 'memory.units' is now called 'core.width'\n", path);
  assert_notes(f->settings, notes);
}

/** The LSTM has no use for a rate, nor for a policy. */
static const char *unread(const FovConfig *config, const char *key) {
  if (config->slots[CORE].plugin != &lstm) return NULL;
  bool use = strcmp(key, "train.rate") != 0 && strcmp(key, "policy") != 0;
  return use ? NULL : "it is an LSTM";
}

static void test_unread_settings_are_noted(void **state) {
  Fixture *f = *state;
  f->config.unread = unread;
  parse(f, "train.rate = 0.5\n"); // by a program
  add(f, "glimpses=3");
  add(f, "policy=random");
  resolve(f);
  assert_notes(f->settings, "");
  add(f, "pace=0.5");
  add(f, "core=lstm");
  resolve(f);
  assert_notes(f->settings, "command line: policy = random has no effect: it is an LSTM\n"
                            "command line: 'pace' is now called 'train.rate'\n"
                            "command line: train.rate = 0.5 has no effect: it is an LSTM\n");
}

static void test_old_and_new_key_are_one(void **state) {
  Fixture *f = *state;
  parse(f, "core.width = 3\nmemory.units = 4\n");
  assert_unresolved(f, "x.ini:2: 'core.width' is set twice, first at x.ini:1; remove one of them");
}

static void test_later_new_key_overrides_old(void **state) {
  Fixture *f = *state;
  parse(f, "memory.units = 4\n");
  add(f, "core.width=5");
  resolve(f);
  assert_int_equal(core_of(f)->width, 5);
}

/** An option that used to be allowed with every plug-in. */
static void test_old_key_of_another_plugin_is_dropped(void **state) {
  Fixture *f = *state;
  parse(f, "policy = random\nsigma = 4\n");
  resolve(f);
  assert_ptr_equal(f->slots[POLICY].plugin, &uniform);
}

static void test_old_key_without_an_owner_is_unknown(void **state) {
  Fixture *f = *state;
  parse(f, "memory.depth = 4\n");
  assert_unresolved(f, "x.ini:1: unknown key 'core.depth': expected core.width");
}

static char *print_help(const Fixture *f) {
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  fov_config_help(&f->config, stream);
  fputc('\n', stream);
  fov_plugin_help(cores, stream);
  fclose(stream);
  return text;
}

static void test_help(void **state) {
  char *text = print_help(*state);
  assert_string_equal(
      text, "glimpses = 6                      glimpses an image (an integer from 1 to 64)\n"
            "mode = fast                       how to go about it (one of fast, slow)\n"
            "quiet = no                        print nothing (true or false)\n"
            "name = a b                        of the run\n"
            "\n"
            "train.episodes = 1e6              episodes in all (an integer of at least 0)\n"
            "train.rate = 0.001                learning rate (a number from 0 to 1)\n"
            "\n"
            "core = rnn                        the memory\n"
            "  rnn                             plain recurrence\n"
            "    core.width = 256              units of the state, which the core carries from one "
            "glimpse to the\n"
            "                                  next, and which every head reads (an integer "
            "from 1 to 4096)\n"
            "  lstm                            long short-term memory\n"
            "    core.width = 128              units of the state (an integer from 1 to 1024)\n"
            "    core.forget = 1               bias of the forget gate at the start (a number)\n"
            "\n"
            "policy = gaussian                 where to look\n"
            "  gaussian                        normal\n"
            "    policy.sigma = 0.1            standard deviation, in half images (a number from 0 "
            "to 9)\n"
            "  random                          uniform\n"
            "\n"
            "rnn                               plain recurrence\n"
            "  width = 256                     units of the state, which the core carries from one "
            "glimpse to the\n"
            "                                  next, and which every head reads (an integer "
            "from 1 to 4096)\n"
            "lstm                              long short-term memory\n"
            "  width = 128                     units of the state (an integer from 1 to 1024)\n"
            "  forget = 1                      bias of the forget gate at the start (a number)\n");
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    assert_in_range(strlen(line), 1, 100);
  free(text);
}

static void test_help_lines_fit(void **state) {
  (void)state;
  static const FovPlugin words = {"a-name-that-fills-all-of-its-column",
                                  "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x "
                                  "x x x x",
                                  NULL, 0};
  static const FovPlugin *const table[] = {&words, NULL};
  char text[512], *line = text;
  FILE *stream = fmemopen(text, sizeof text, "w");
  assert_non_null(stream);
  fov_plugin_help(table, stream);
  fclose(stream);
  assert_string_equal(strsep(&line, "\n"), words.name);
  assert_int_equal(strlen(strsep(&line, "\n")), 34 + 65); // 33 words; one more would need 101
  assert_int_equal(strlen(strsep(&line, "\n")), 34 + 3);
  assert_string_equal(line, "");
}

static void test_help_prints_shared_options_once(void **state) {
  (void)state;
  static const FovOption few[] = {
      FOV_INT(Cell, width, "8", 1, 64, "units"),
      FOV_REAL(Cell, forget, "1", 0, 9, "bias"),
      FOV_OPTIONS_END,
  };
  static const FovOption other_range[] = {
      FOV_INT(Cell, width, "8", 1, 65, "units"),
      FOV_REAL(Cell, forget, "1", 0, 9, "bias"), // alone, in full
      FOV_OPTIONS_END,
  };
  static const FovPlugin first = {"first", "one", few, sizeof(Cell)};
  static const FovPlugin second = {"second", "two", few, sizeof(Cell)};
  static const FovPlugin third = {"third", "three", other_range, sizeof(Cell)};
  static const FovPlugin *const table[] = {&first, &second, &third, NULL};
  char text[1024];
  FILE *stream = fmemopen(text, sizeof text, "w");
  assert_non_null(stream);
  fov_plugin_help(table, stream);
  fclose(stream);
  assert_string_equal(text, "first                             one\n"
                            "  width = 8                       units (an integer from 1 to 64)\n"
                            "  forget = 1                      bias (a number from 0 to 9)\n"
                            "second                            two\n"
                            "  width, forget                   the same as for first\n"
                            "third                             three\n"
                            "  width = 8                       units (an integer from 1 to 65)\n"
                            "  forget = 1                      bias (a number from 0 to 9)\n");
}

/** Options of commands: texts of any length, and a number with one bound. */
static void test_options_of_a_command(void **state) {
  (void)state;
  typedef struct Command {
    const char *file;
    double below;
  } Command;
  static const FovOption file = FOV_TEXT(Command, file, "to write");
  static const FovOption below = FOV_REAL(Command, below, "0", -INFINITY, 1, "a number");
  Command command;
  char phrase[FOV_PHRASE_SIZE], printed[32] = "";
  assert_int_equal(fov_value_set(&command, &file, "any text", "--file"), FOV_OK);
  assert_string_equal(command.file, "any text");
  FILE *stream = fmemopen(printed, sizeof printed, "w");
  assert_non_null(stream);
  fov_value_print(stream, &file, &command);
  fclose(stream);
  assert_string_equal(printed, "any text");
  fov_value_describe(phrase, &file);
  assert_string_equal(phrase, "text");
  assert_int_equal(fov_value_set(&command, &below, "1.5", "--below 1.5"), FOV_ERR_USAGE);
  assert_string_equal(fov_error_message(), "--below 1.5: expected a number of at most 1");
}

static void test_nearest(void **state) {
  (void)state;
  static const char *const names[] = {"rnn", "lstm", "gru", "estimator"};
  assert_string_equal(fov_nearest("lsmt", names, 4), "lstm"); // 2 of at least 2
  assert_string_equal(fov_nearest("gr", names, 4), "gru");
  assert_string_equal(fov_nearest("estimation", names, 4), "estimator"); // 2 of 10 / 3
  assert_string_equal(fov_nearest("ESTIM_ator", names, 4), "estimator");
  assert_string_equal(fov_nearest("esteemmtor", names, 4), "estimator"); // 3 of 3
  assert_null(fov_nearest("esteemmtxr", names, 4));                      // 4 of 3
  assert_string_equal(fov_nearest("estimat", names, 4), "estimator");    // 2 to insert
  assert_string_equal(fov_nearest("xru", names, 4), "gru");
  static const char *const equals[] = {"gate", "date", "rate"};
  assert_string_equal(fov_nearest("late", equals, 3), "gate"); // the first of equals
  assert_null(fov_nearest("gradient", names, 4));
  assert_null(fov_nearest("lstm", names, 0));
  char word[100] = {0};
  memset(word, 'r', sizeof word - 1);
  assert_null(fov_nearest(word, names, 4));
}

static void test_find(void **state) {
  (void)state;
  assert_ptr_equal(fov_plugin_find(cores, "lstm"), &lstm);
  assert_null(fov_plugin_find(cores, "LSTM"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_defaults),
      TEST(test_reads_ini),
      TEST(test_refuses_what_is_not_ini),
      TEST(test_long_lines),
      TEST(test_string_too_long),
      TEST(test_same_key_twice),
      TEST(test_later_sources_override),
      TEST(test_bad_argument),
      TEST(test_unknown_keys),
      TEST(test_values),
      TEST(test_unbounded_real_is_finite),
      TEST(test_option_of_another_plugin),
      TEST(test_option_of_another_plugin_later),
      TEST(test_switch_drops_earlier_options),
      TEST(test_switch_does_not_hide_an_option_of_another_plugin),
      TEST(test_switch_checks_the_new_range),
      TEST(test_old_keys_are_accepted),
      TEST(test_old_keys_in_a_file_are_noted),
      TEST(test_unread_settings_are_noted),
      TEST(test_old_and_new_key_are_one),
      TEST(test_later_new_key_overrides_old),
      TEST(test_old_key_of_another_plugin_is_dropped),
      TEST(test_old_key_without_an_owner_is_unknown),
      TEST(test_dump_text),
      TEST(test_dump_reads_back),
      TEST(test_reads_files),
      TEST(test_bounds),
      TEST(test_help),
      TEST(test_help_lines_fit),
      TEST(test_help_prints_shared_options_once),
      TEST(test_options_of_a_command),
      TEST(test_nearest),
      TEST(test_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
