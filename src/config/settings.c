#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "base/file.h"
#include "config/internal.h"

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
}

void fov_settings_destroy(FovSettings *settings) {
  if (!settings) return;
  for (size_t i = 0; i < settings->count; i++) free_setting(&settings->list[i]);
  free(settings);
}

/** Cuts the blanks at both ends, in place. */
static char *trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t length = strlen(text);
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  text[length] = '\0';
  return text;
}

static bool is_plain(const char *text) {
  while (*text == '\t' || (*text && !iscntrl((unsigned char)*text))) text++;
  return *text == '\0';
}

/** A key set twice in a file is a slip; on a command line the last word counts. */
static FovStatus check_setting(const FovSettings *settings, const FovSetting *setting) {
  if (!setting->key || !setting->value || !setting->where) return no_memory();
  if (settings->count == FOV_MAX_SETTINGS)
    return fov_fail(FOV_ERR_USAGE, "%s: expected at most %d settings", setting->where,
                    FOV_MAX_SETTINGS);
  if (!is_plain(setting->key) || !is_plain(setting->value))
    return fov_fail(FOV_ERR_FORMAT, "%s: expected one line of text, found a control character",
                    setting->where);
  for (size_t i = 0; i < settings->count && !settings->command_line; i++) {
    const FovSetting *other = &settings->list[i];
    if (other->source == setting->source && strcmp(other->key, setting->key) == 0)
      return fov_fail(FOV_ERR_USAGE, "%s: '%.80s' is set twice, first at %s; remove one of them",
                      setting->where, setting->key, other->where);
  }
  return FOV_OK;
}

static FovStatus append(FovSettings *settings, char *key, char *value, const char *where) {
  FovSetting setting = {strdup(trim(key)), strdup(trim(value)), strdup(where), settings->source};
  FovStatus status = check_setting(settings, &setting);
  if (status == FOV_OK)
    settings->list[settings->count++] = setting;
  else
    free_setting(&setting);
  return status;
}

FovStatus fov_settings_add(FovSettings *settings, const char *argument) {
  char *copy = strdup(argument), *value = copy;
  if (!copy) return no_memory();
  const char *key = strsep(&value, "=");
  FovStatus status;
  if (value) {
    if (!settings->command_line) settings->source++;
    settings->command_line = true;
    status = append(settings, copy, value, "command line");
  } else {
    status = fov_fail(FOV_ERR_USAGE, "command line: '%.80s': expected key=value", key);
  }
  free(copy);
  return status;
}

/**
 * A text on its way through inih.
 *
 * Builds of inih differ in how long a line may be, and in whether a value ends at a semicolon or
 * goes on in the next line. So it sees each line without indentation and only up to the separator,
 * and the value is taken from here.
 */
typedef struct Reading {
  FovSettings *settings;
  const char *origin;
  char *rest;  // of the text
  char *value; // of the line
  int line;
  FovStatus status;
} Reading;

static FovStatus refuse_line(const Reading *reading, int line) {
  return fov_fail(FOV_ERR_FORMAT, "%s:%d: expected 'key = value', '[section]' or '# comment'",
                  reading->origin, line);
}

/** inih's fgets. A line cut here has lost its separator or bracket, so inih refuses it. */
static char *read_line(char *out, int size, void *data) {
  Reading *reading = data;
  if (!reading->rest || reading->status != FOV_OK) return NULL;
  char *line = trim(strsep(&reading->rest, "\n"));
  reading->line++;
  // inih would ignore what follows the bracket.
  if (*line == '[' && strcspn(line, "]") + 1 != strlen(line))
    reading->status = refuse_line(reading, reading->line);
  reading->value = line + strcspn(line, "=:");
  if (*reading->value) reading->value++;
  // One byte less than would fit, because a full buffer makes inih read on.
  size_t room = (size_t)size - 1, seen = (size_t)(reading->value - line) + 1;
  snprintf(out, seen < room ? seen : room, "%s", line);
  return out;
}

/** inih's handler. */
static int take_setting(void *data, const char *section, const char *name, const char *unused) {
  (void)unused;
  Reading *reading = data;
  char key[512], where[600];
  snprintf(key, sizeof key, "%s%s%s", section, *section ? "." : "", name);
  snprintf(where, sizeof where, "%.512s:%d", reading->origin, reading->line);
  reading->status = append(reading->settings, key, reading->value, where);
  return reading->status == FOV_OK;
}

FovStatus fov_settings_parse(FovSettings *settings, const char *text, const char *origin) {
  if (strlen(text) > MAX_TEXT)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected at most %d bytes of settings, found %zu", origin,
                    MAX_TEXT, strlen(text));
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  if (strncmp(text, byte_order_mark, 3) == 0) text += 3;
  char *copy = strdup(text);
  if (!copy) return no_memory();
  settings->source++;
  settings->command_line = false;
  Reading reading = {.settings = settings, .origin = origin, .rest = copy};
  int bad_line = ini_parse_stream(read_line, &reading, take_setting, &reading);
  free(copy);
  if (reading.status != FOV_OK) return reading.status;
  if (bad_line < 0) return no_memory();
  return bad_line ? refuse_line(&reading, bad_line) : FOV_OK;
}

FovStatus fov_settings_read(FovSettings *settings, const char *path) {
  char *text;
  size_t size;
  FOV_TRY(fov_file_read(&text, &size, path, MAX_TEXT));
  FovStatus status =
      strlen(text) == size
          ? fov_settings_parse(settings, text, path)
          : fov_fail(FOV_ERR_FORMAT, "%s: expected an INI text, found a zero byte", path);
  free(text);
  return status;
}
