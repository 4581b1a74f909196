#include "experiment/sweep/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "config/names.h"
#include "experiment/sweep/plan.h"

enum { MAX_FILE = 1 << 20 };

/** What may follow the word `row`: a name; of no name, the end of the section or a key. */
bool fov_sweep_is_of_row(const char *key) {
  return strncmp(key, "row", 3) == 0 && (isspace((unsigned char)key[3]) || key[3] == '.');
}

static FovStatus no_memory(void) {
  return fov_fail(FOV_ERR_MEMORY, "no memory for the rows of a sweep");
}

/* ---- sections ---- */

static const char *after_blanks(const char *text) {
  return text + strspn(text, " \t\r");
}

/** The text after the word of a row's section, "[row NAME]"; NULL: the line is something else. */
static const char *section_name(const char *line) {
  line = after_blanks(line);
  if (*line != '[') return NULL;
  line = after_blanks(line + 1);
  if (strncmp(line, "row", 3) != 0 || !strchr(" \t].", line[3])) return NULL;
  return after_blanks(line + 3);
}

/** Whether a line sets a key that would be a row's, as `row NAME.core = gru` does. */
static bool sets_row_key(const char *line) {
  line = after_blanks(line);
  size_t length = strcspn(line, "=:\n");
  while (length > 0 && isspace((unsigned char)line[length - 1])) length--;
  return length > 3 && fov_sweep_is_of_row(line);
}

/** Blanks all lines but those after section line `header`, so that lines keep their numbers. */
static void keep_section(char *text, int header) {
  bool inside = false;
  char *line = text;
  for (int number = 1; *line; number++) {
    size_t length = strcspn(line, "\n");
    bool section = *after_blanks(line) == '[';
    if (section) inside = number == header;
    if (section || !inside) memset(line, ' ', length);
    line += length + (line[length] == '\n');
  }
}

/* ---- one row ---- */

static FovStatus read_name(FovSweepRow *row, const FovSweepRows *rows, const char *name) {
  size_t length = strcspn(name, "]\n");
  while (length > 0 && isspace((unsigned char)name[length - 1])) length--;
  bool fits = length > 0 && length < FOV_SWEEP_ROW_NAME;
  if (!fits || *name == '.' || memchr(name, ',', length))
    return fov_fail(
        FOV_ERR_USAGE,
        "%s: '%.*s': expected a row's name of 1 to %d bytes, without commas: [row NAME]",
        row->where, length < 80 ? (int)length : 80, name, FOV_SWEEP_ROW_NAME - 1);
  snprintf(row->name, sizeof row->name, "%.*s", (int)length, name);
  for (const FovSweepRow *other = rows->list; other < row; other++)
    if (strcmp(other->name, row->name) == 0)
      return fov_fail(FOV_ERR_USAGE, "%s: two rows with the name '%s', the first at %s", row->where,
                      row->name, other->where);
  return FOV_OK;
}

/** The last value that the command line gives a key; NULL: none. */
static const char *find_change(const FovSettings *all, const char *key) {
  size_t count;
  const char *value = NULL;
  const FovSetting *list = fov_settings_list(&count, all);
  for (size_t i = 0; i < count; i++)
    if (list[i].origin == FOV_ORIGIN_COMMAND && strcmp(list[i].key, key) == 0)
      value = list[i].value;
  return value;
}

static FovStatus take_setting(FovSweepRow *row, const FovSetting *setting, const FovSettings *all) {
  const char *change = find_change(all, setting->key), *value = change ? change : setting->value;
  char where[FOV_PHRASE_SIZE];
  snprintf(where, sizeof where, "%.800s: row '%s'", setting->where, row->name);
  if (strcmp(setting->key, "seed") == 0)
    return fov_fail(FOV_ERR_USAGE,
                    "%s: seed: a row cannot set it; set the seeds of the sweep with --seeds",
                    where);
  if (strncmp(setting->key, "sweep.", strlen("sweep.")) == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: %s: a row cannot set it; set it in the section [sweep]",
                    where, setting->key);
  if (change && fov_sweep_varies(change)) return FOV_OK; // every row tries its values
  if (fov_sweep_varies(value))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: %s = %.200s: expected one value; a list that no row sets is tried with "
                    "every row",
                    where, setting->key, value);
  if (strcmp(setting->key, "experiment") != 0)
    return fov_settings_put(row->settings, setting->key, value, where);
  if (snprintf(row->experiment, FOV_STRING_SIZE, "%s", value) < FOV_STRING_SIZE) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: experiment: expected a path of at most %d bytes", where,
                  FOV_STRING_SIZE - 1);
}

static FovStatus take_settings(FovSweepRow *row, const FovSettings *own, const FovSettings *all) {
  size_t count, taken;
  const FovSetting *list = fov_settings_list(&count, own);
  FOV_TRY(fov_settings_create(&row->settings));
  for (size_t i = 0; i < count; i++) FOV_TRY(take_setting(row, &list[i], all));
  fov_settings_list(&taken, row->settings);
  if (taken > 0 || *row->experiment) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: row '%s': expected settings%s, found none", row->where,
                  row->name, count > 0 ? " besides those that the command line varies" : "");
}

/** own: the settings of its section. */
static FovStatus read_settings(FovSettings *own, const char *text, int line, const char *file) {
  char *section = strdup(text);
  if (!section) return no_memory();
  keep_section(section, line);
  FovStatus status = fov_settings_parse(own, section, file);
  free(section);
  return status;
}

/* ---- all rows ---- */

/** name: what follows the word `row` in the section's line. */
static FovStatus add_row(FovSweepRows *rows, const char *name, const char *text, int line,
                         const char *file, const FovSettings *all) {
  FovSweepRow *row = &rows->list[rows->count];
  FovSettings *own = NULL;
  if (rows->count == FOV_SWEEP_ROWS)
    return fov_fail(FOV_ERR_USAGE, "%s:%d: expected at most %d rows", file, line, FOV_SWEEP_ROWS);
  rows->count++; // first: finish frees what a row has after a failure, too
  if (asprintf(&row->where, "%s:%d", file, line) < 0) return row->where = NULL, no_memory();
  FOV_TRY(read_name(row, rows, name));
  FovStatus status = fov_settings_create(&own);
  if (status == FOV_OK) status = read_settings(own, text, line, file);
  if (status == FOV_OK) status = take_settings(row, own, all);
  fov_settings_destroy(own);
  return status;
}

static FovStatus read_rows(FovSweepRows *rows, const char *text, const char *file,
                           const FovSettings *all) {
  rows->list = calloc(FOV_SWEEP_ROWS, sizeof *rows->list);
  if (!rows->list) return no_memory();
  const char *line = text;
  for (int number = 1; *line; number++) {
    const char *name = section_name(line);
    if (name) FOV_TRY(add_row(rows, name, text, number, file, all));
    if (sets_row_key(line))
      return fov_fail(FOV_ERR_USAGE, "%s:%d: expected a row as a section: [row NAME]", file,
                      number);
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return FOV_OK;
}

FovStatus fov_sweep_rows_read(FovSweepRows *rows, const char *file, const FovSettings *all) {
  char *text;
  size_t size;
  *rows = (FovSweepRows){.count = 0};
  FOV_TRY(fov_file_read(&text, &size, file, MAX_FILE));
  memset(text, ' ', fov_text_mark(text)); // which inih skips, too
  FovStatus status = read_rows(rows, text, file, all);
  free(text);
  return status;
}

void fov_sweep_rows_finish(FovSweepRows *rows) {
  for (int i = 0; i < rows->count; i++) {
    free(rows->list[i].where);
    fov_settings_destroy(rows->list[i].settings);
  }
  free(rows->list);
  *rows = (FovSweepRows){.count = 0};
}

/* ---- names ---- */

static FovStatus refuse_name(const char *const *names, int count, const char *name) {
  const char *different[FOV_SWEEP_ROWS];
  char subject[FOV_PHRASE_SIZE];
  size_t found = 0;
  snprintf(subject, sizeof subject, "--rows: '%s'", name);
  if (count == 0)
    return fov_fail(FOV_ERR_USAGE, "%s: expected a sweep with rows, found none", subject);
  for (int i = 0; i < count && found < FOV_SWEEP_ROWS; i++) {
    size_t j = 0;
    while (j < found && strcmp(different[j], names[i]) != 0) j++;
    if (j == found) different[found++] = names[i];
  }
  return fov_name_refuse(subject, name, different, found);
}

static FovStatus choose_name(bool *chosen, const char *const *names, int count, const char *name) {
  bool found = false;
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) chosen[i] = found = true;
  return found ? FOV_OK : refuse_name(names, count, name);
}

FovStatus fov_sweep_rows_choose(bool *chosen, const char *const *names, int count,
                                const char *list) {
  for (int i = 0; i < count; i++) chosen[i] = !list;
  while (list) {
    char name[2 * FOV_SWEEP_ROW_NAME];
    list += strspn(list, " ");
    size_t length = strcspn(list, ","), end = length;
    while (length > 0 && list[length - 1] == ' ') length--;
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name,
             list);
    FOV_TRY(choose_name(chosen, names, count, name));
    list = list[end] ? list + end + 1 : NULL;
  }
  return FOV_OK;
}

void fov_sweep_rows_print(FILE *stream, const FovSweepRows *rows, const char *const *experiments) {
  for (int i = 0; i < rows->count; i++) {
    size_t count;
    const FovSetting *list = fov_settings_list(&count, rows->list[i].settings);
    fprintf(stream, "[row %s]\n", rows->list[i].name);
    if (*experiments[i]) fprintf(stream, "experiment = %s\n", experiments[i]);
    for (size_t k = 0; k < count; k++) fprintf(stream, "%s = %s\n", list[k].key, list[k].value);
  }
}
