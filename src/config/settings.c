#include "config/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "base/file.h"
#include "base/text.h"

enum { MAX_TEXT = 1 << 20 }; // bytes of a file

static FovStatus no_memory(void) {
  return fov_fail(FOV_ERR_MEMORY, "no memory for the settings");
}

FovStatus fov_settings_create(FovSettings **settings) {
  *settings = calloc(1, sizeof **settings);
  return *settings ? FOV_OK : no_memory();
}

static void free_setting(FovSetting *setting) {
  free(setting->key);
  free(setting->value);
  free(setting->where);
  free(setting->old_key);
}

void fov_settings_destroy(FovSettings *settings) {
  if (!settings) return;
  for (size_t i = 0; i < settings->count; i++) free_setting(&settings->list[i]);
  free(settings);
}

/** The text without the blanks at both ends; its new length. */
static const char *inner(size_t *length, const char *text) {
  while (isspace((unsigned char)*text)) text++;
  *length = strlen(text);
  while (*length > 0 && isspace((unsigned char)text[*length - 1])) (*length)--;
  return text;
}

/** Cuts the blanks at both ends, in place. */
static char *trim(char *text) {
  size_t length;
  text += inner(&length, text) - text;
  text[length] = '\0';
  return text;
}

/** A copy without the blanks at both ends. */
static char *copy_trimmed(const char *text) {
  size_t length;
  text = inner(&length, text);
  return strndup(text, length);
}

static bool is_plain(const char *text) {
  while (*text == '\t' || (*text && !iscntrl((unsigned char)*text))) text++;
  return *text == '\0';
}

/** A key that a file sets twice is a mistake; on a command line the last one counts. others: the
 * settings to compare with. */
static FovStatus check_once(const FovSetting *others, size_t count, const FovSetting *setting) {
  for (size_t i = 0; i < count && setting->origin != FOV_ORIGIN_COMMAND; i++)
    if (others[i].source == setting->source && strcmp(others[i].key, setting->key) == 0)
      return fov_fail(FOV_ERR_USAGE, "%s: '%.80s' is set twice, first at %s; remove one of them",
                      setting->where, setting->key, others[i].where);
  return FOV_OK;
}

static FovStatus check_setting(const FovSettings *settings, const FovSetting *setting) {
  if (!setting->key || !setting->value || !setting->where) return no_memory();
  if (settings->count == FOV_MAX_SETTINGS)
    return fov_fail(FOV_ERR_USAGE, "%s: expected at most %d settings", setting->where,
                    FOV_MAX_SETTINGS);
  if (!is_plain(setting->key) || !is_plain(setting->value))
    return fov_fail(setting->origin == FOV_ORIGIN_COMMAND ? FOV_ERR_USAGE : FOV_ERR_FORMAT,
                    "%s: '%.80s': expected one line of text, found a control character",
                    setting->where, setting->key);
  return check_once(settings->list, settings->count, setting);
}

/** Adds a setting at a place of the list, which is in the order of the sources. like: has its
 * origin and source. */
static FovStatus add(FovSettings *settings, size_t place, FovSetting like, const char *key,
                     const char *value, const char *where) {
  FovSetting setting = {.key = copy_trimmed(key),
                        .value = copy_trimmed(value),
                        .where = strdup(where),
                        .origin = like.origin,
                        .source = like.source};
  FovStatus status = check_setting(settings, &setting);
  if (status != FOV_OK) return free_setting(&setting), status;
  FovSetting *list = settings->list;
  memmove(&list[place + 1], &list[place], (settings->count++ - place) * sizeof *list);
  list[place] = setting;
  return FOV_OK;
}

static FovStatus append(FovSettings *settings, const char *key, const char *value,
                        const char *where) {
  FovSetting like = {.origin = settings->origin, .source = settings->source};
  return add(settings, settings->count, like, key, value, where);
}

FovStatus fov_settings_insert(FovSettings *settings, const FovSetting *behind, const char *key,
                              const char *value, const char *where) {
  return add(settings, (size_t)(behind - settings->list) + 1, *behind, key, value, where);
}

FovStatus fov_settings_put(FovSettings *settings, const char *key, const char *value,
                           const char *where) {
  if (settings->origin != FOV_ORIGIN_COMMAND) settings->source++;
  settings->origin = FOV_ORIGIN_COMMAND;
  return append(settings, key, value, where);
}

FovStatus fov_settings_add(FovSettings *settings, const char *argument) {
  const char *value = strchr(argument, '=');
  if (!value) return fov_fail(FOV_ERR_USAGE, "command line: '%.80s': expected key=value", argument);
  char *key = strndup(argument, (size_t)(value - argument));
  if (!key) return no_memory();
  FovStatus status = fov_settings_put(settings, key, value + 1, "command line");
  free(key);
  return status;
}

/**
 * What inih's callbacks share.
 *
 * Builds of inih differ in how long a line may be, and in whether a value ends at a semicolon or
 * continues in the next line. So inih gets each line without indentation and only up to the
 * separator, and the value is taken from here.
 */
typedef struct Reading {
  FovSettings *settings;
  const char *path;
  char *rest;  // of the text
  char *value; // of the line
  int line;
  FovStatus status;
} Reading;

static FovStatus refuse_line(const Reading *reading, int line) {
  return fov_fail(FOV_ERR_FORMAT, "%s:%d: expected 'key = value', '[section]' or '# comment'",
                  reading->path, line);
}

/** inih's fgets. A line that is cut here has lost its separator or bracket, and inih refuses it. */
static char *read_line(char *out, int size, void *data) {
  Reading *reading = data;
  if (!reading->rest || reading->status != FOV_OK) return NULL;
  char *line = trim(strsep(&reading->rest, "\n"));
  reading->line++;
  // inih would ignore what follows the bracket.
  if (*line == '[' && strcspn(line, "]") + 1 != strlen(line))
    reading->status = refuse_line(reading, reading->line);
  reading->value = line + (*line == '[' ? strlen(line) : strcspn(line, "=:"));
  if (*reading->value) reading->value++;
  // One byte less than would fit: a full buffer makes inih read on.
  size_t most = (size_t)size - 1, seen = (size_t)(reading->value - line) + 1;
  snprintf(out, seen < most ? seen : most, "%s", line);
  return out;
}

/** inih's handler. */
static int take_setting(void *data, const char *section, const char *name, const char *unused) {
  (void)unused;
  Reading *reading = data;
  char key[512], where[600];
  snprintf(key, sizeof key, "%s%s%s", section, *section ? "." : "", name);
  snprintf(where, sizeof where, "%.512s:%d", reading->path, reading->line);
  reading->status = append(reading->settings, key, reading->value, where);
  return reading->status == FOV_OK;
}

static FovStatus parse(FovSettings *settings, const char *text, const char *path,
                       FovOrigin origin) {
  if (strlen(text) > MAX_TEXT)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected at most %d bytes of settings, found %zu", path,
                    MAX_TEXT, strlen(text));
  text += fov_text_mark(text);
  char *copy = strdup(text);
  if (!copy) return no_memory();
  settings->source++;
  settings->origin = origin;
  Reading reading = {.settings = settings, .path = path, .rest = copy};
  int bad_line = ini_parse_stream(read_line, &reading, take_setting, &reading);
  free(copy);
  if (bad_line < 0) return no_memory();
  // inih reads on after a line that it refuses, so that a later one may have failed too.
  if (bad_line > 0 && (reading.status == FOV_OK || bad_line < reading.line))
    return refuse_line(&reading, bad_line);
  return reading.status;
}

FovStatus fov_settings_parse(FovSettings *settings, const char *text, const char *where) {
  return parse(settings, text, where, FOV_ORIGIN_DUMP);
}

FovStatus fov_settings_read(FovSettings *settings, const char *path) {
  char *text;
  size_t size;
  FOV_TRY(fov_file_read(&text, &size, path, MAX_TEXT));
  FovStatus status =
      strlen(text) == size
          ? parse(settings, text, path, FOV_ORIGIN_FILE)
          : fov_fail(FOV_ERR_FORMAT, "%s: expected an INI text, found a zero byte", path);
  free(text);
  return status;
}

const FovSetting *fov_settings_list(size_t *count, const FovSettings *settings) {
  *count = settings->count;
  return settings->list;
}

const FovSetting *fov_settings_choice(const FovSettings *settings, const char *key, size_t source) {
  const FovSetting *choice = NULL;
  size_t count;
  const FovSetting *list = fov_settings_list(&count, settings);
  for (size_t i = 0; i < count && list[i].source <= source; i++)
    if (strcmp(list[i].key, key) == 0) choice = &list[i];
  return choice;
}

/* ---- renamed keys ---- */

/** The key's new name, malloc'd; NULL if memory is short. */
static char *new_name(const char *key, const FovRename *rename) {
  size_t size = strlen(key) + strlen(rename->new_key) + 1;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s%s", rename->new_key, key + strlen(rename->old_key));
  return name;
}

static bool matches(const char *key, const FovRename *rename) {
  size_t length = strlen(rename->old_key);
  bool prefix = length > 0 && rename->old_key[length - 1] == '.';
  return prefix ? strncmp(key, rename->old_key, length) == 0 : strcmp(key, rename->old_key) == 0;
}

static FovStatus rename_setting(FovSetting *setting, const FovRename *renames) {
  for (; renames && renames->old_key; renames++) {
    if (!matches(setting->key, renames)) continue;
    char *name = new_name(setting->key, renames);
    if (!name) return no_memory();
    setting->old_key = setting->key;
    setting->key = name;
    return FOV_OK;
  }
  return FOV_OK;
}

FovStatus fov_settings_rename(FovSettings *settings, const FovRename *renames) {
  for (size_t i = 0; i < settings->count; i++) {
    FovSetting *setting = &settings->list[i];
    if (!setting->old_key) FOV_TRY(rename_setting(setting, renames));
  }
  // Only now: the second of the two may be the one with the old name.
  for (size_t i = 0; i < settings->count; i++)
    FOV_TRY(check_once(settings->list, i, &settings->list[i]));
  return FOV_OK;
}

void fov_settings_notes(const FovSettings *settings, void (*note)(void *context, const char *line),
                        void *context) {
  for (size_t i = 0; i < settings->count; i++) {
    const FovSetting *setting = &settings->list[i];
    char line[FOV_PHRASE_SIZE];
    if (setting->origin == FOV_ORIGIN_DUMP) continue;
    if (setting->old_key) {
      snprintf(line, sizeof line, "%s: '%.80s' is now called '%.80s'", setting->where,
               setting->old_key, setting->key);
      note(context, line);
    }
    if (setting->unread && setting->origin == FOV_ORIGIN_COMMAND) {
      snprintf(line, sizeof line, "%s: %s = %.80s has no effect: %s", setting->where, setting->key,
               setting->value, setting->unread);
      note(context, line);
    }
  }
}
