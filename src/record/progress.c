#include "record/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

/** A fixed column: an int64_t or a double of the row. */
typedef struct Column {
  const char *name;
  bool real;
  size_t offset;
} Column;

#define INTEGER(field)                                                                             \
  { #field, false, offsetof(FovProgress, field) }
#define REAL(field)                                                                                \
  { #field, true, offsetof(FovProgress, field) }

static const Column columns[] = {
    INTEGER(update),   INTEGER(episodes),  REAL(epoch),          REAL(seconds),
    REAL(rate),        REAL(train_error),  REAL(train_reward),   REAL(gradient_norm),
    REAL(valid_error), REAL(valid_reward), REAL(valid_glimpses), REAL(glimpses_per_second),
};

/** Names of older versions. */
static const struct {
  const char *old, *name;
} renamed[] = {{"sigma", "policy_sigma"}, {"class_loss", "answer_loss"}};

enum {
  FIXED = sizeof columns / sizeof columns[0],
  RENAMED = sizeof renamed / sizeof renamed[0],
  COLUMNS = FIXED + FOV_PROGRESS_EXTRAS,
  LINE_SIZE = COLUMNS * FOV_FIGURE_NAME, /**< bytes of a header or a row, at most */
  FILE_LIMIT = 64 << 20,
  ROWS_LIMIT = 1 << 18, /**< eval.times is at most 100,000 */
};

/** The columns of a file, in its order. */
typedef struct Layout {
  int count;
  int fixed[COLUMNS];                   /**< number of a fixed column, or −1 for an extra one */
  char names[COLUMNS][FOV_FIGURE_NAME]; /**< as they are in memory */
  char shown[COLUMNS][FOV_FIGURE_NAME]; /**< as they are in the file */
} Layout;

/** The number of a fixed column, or −1. */
static int find_fixed(const char *name) {
  for (int i = 0; i < FIXED; i++)
    if (strcmp(columns[i].name, name) == 0) return i;
  return -1;
}

static int find_name(const Layout *layout, const char *name) {
  for (int i = 0; i < layout->count; i++)
    if (strcmp(layout->names[i], name) == 0) return i;
  return -1;
}

static bool is_name(const char *name, size_t length) {
  static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return length > 0 && length < FOV_FIGURE_NAME && strspn(name, valid) >= length;
}

/** Today's name of a column. */
static const char *current_name(const char *name) {
  for (int i = 0; i < RENAMED; i++)
    if (strcmp(renamed[i].old, name) == 0) return renamed[i].name;
  return name;
}

/** Adds a column under its name in the file. */
static void add_column(Layout *layout, const char *name) {
  FOV_CHECK(layout->count < COLUMNS, "column %d", layout->count);
  int i = layout->count++;
  snprintf(layout->shown[i], FOV_FIGURE_NAME, "%s", name);
  snprintf(layout->names[i], FOV_FIGURE_NAME, "%s", current_name(name));
  layout->fixed[i] = find_fixed(name);
}

static void add_fixed(Layout *layout) {
  for (int i = 0; i < FIXED; i++) add_column(layout, columns[i].name);
}

/** Adds the extra columns of a row that are not there yet. */
static FovStatus add_extras(Layout *layout, const FovProgress *row, const char *path) {
  for (int i = 0; i < row->extra_count; i++) {
    const char *name = row->extra[i].name;
    if (find_name(layout, name) >= 0) continue;
    if (layout->count == COLUMNS)
      return fov_fail(FOV_ERR_FORMAT, "%s: no column left for '%s': expected at most %d", path,
                      name, COLUMNS);
    add_column(layout, name);
  }
  return FOV_OK;
}

/* ---- extra columns of a row ---- */

static const FovFigure *find_extra(const FovProgress *row, const char *name) {
  for (int i = 0; i < row->extra_count; i++)
    if (strcmp(row->extra[i].name, name) == 0) return &row->extra[i];
  return NULL;
}

void fov_progress_add(FovProgress *row, const char *name, double value) {
  FOV_CHECK(is_name(name, strlen(name)) && find_fixed(name) < 0 && !find_extra(row, name),
            "'%s' is no name of a new column", name);
  FOV_CHECK(row->extra_count < FOV_PROGRESS_EXTRAS, "'%s': column %d", name, row->extra_count);
  FovFigure *figure = &row->extra[row->extra_count++];
  snprintf(figure->name, sizeof figure->name, "%s", name);
  figure->value = value;
}

double fov_progress_extra(const FovProgress *row, const char *name) {
  const FovFigure *figure = find_extra(row, name);
  return figure ? figure->value : NAN;
}

/* ---- columns by name ---- */

_Static_assert((int)COLUMNS == (int)FOV_PROGRESS_COLUMNS,
               "the number of fixed columns in the header");

int fov_progress_names(const char *names[FOV_PROGRESS_COLUMNS], const FovProgress *row) {
  int count = 0;
  for (int i = 0; i < FIXED && !row->table; i++) names[count++] = columns[i].name;
  for (int i = 0; i < row->extra_count; i++) names[count++] = row->extra[i].name;
  return count;
}

bool fov_progress_find(double *value, const FovProgress *row, const char *name) {
  int fixed = find_fixed(name);
  if (fixed >= 0 && !row->table) {
    const char *field = (const char *)row + columns[fixed].offset;
    *value = columns[fixed].real ? *(const double *)field : (double)*(const int64_t *)field;
    return true;
  }
  const FovFigure *figure = find_extra(row, current_name(name));
  if (figure) *value = figure->value;
  return figure != NULL;
}

/* ---- writer ---- */

static size_t print_header(char line[LINE_SIZE], const Layout *layout) {
  int n = 0;
  for (int i = 0; i < layout->count; i++)
    n += snprintf(line + n, (size_t)(LINE_SIZE - n), "%s%s", i ? "," : "", layout->shown[i]);
  line[n++] = '\n';
  return (size_t)n;
}

static int print_real(char *cell, size_t size, double value) {
  return isnan(value) ? 0 : snprintf(cell, size, "%.9g", value);
}

static int print_cell(char *cell, size_t size, const Layout *layout, int i,
                      const FovProgress *row) {
  if (layout->fixed[i] < 0)
    return print_real(cell, size, fov_progress_extra(row, layout->names[i]));
  const Column *column = &columns[layout->fixed[i]];
  const char *field = (const char *)row + column->offset;
  if (column->real) return print_real(cell, size, *(const double *)field);
  return snprintf(cell, size, "%" PRId64, *(const int64_t *)field);
}

static size_t print_row(char line[LINE_SIZE], const Layout *layout, const FovProgress *row) {
  int n = 0;
  for (int i = 0; i < layout->count; i++) {
    if (i > 0) line[n++] = ',';
    n += print_cell(line + n, (size_t)(LINE_SIZE - n), layout, i, row);
  }
  line[n++] = '\n';
  return (size_t)n;
}

/** Replaces the file by rows of at most `update` updates and, if it is not NULL, one more. */
static FovStatus rewrite(const char *path, const FovProgress *rows, size_t count, int64_t update,
                         const FovProgress *more) {
  Layout layout = {0};
  add_fixed(&layout);
  if (count > 0) FOV_TRY(add_extras(&layout, &rows[0], path)); // all rows of a file have the same
  if (more) FOV_TRY(add_extras(&layout, more, path));
  char line[LINE_SIZE];
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  fwrite(line, 1, print_header(line, &layout), replace.stream); // commit reports errors of writes
  for (size_t i = 0; i < count; i++)
    if (rows[i].update <= update)
      fwrite(line, 1, print_row(line, &layout, &rows[i]), replace.stream);
  if (more) fwrite(line, 1, print_row(line, &layout, more), replace.stream);
  return fov_replace_commit(&replace);
}

/* ---- reader ---- */

/** Where a file is being read: `at` is the start of the next line. */
typedef struct Reader {
  const char *path, *at, *end;
  int line;
  Layout layout;
  bool tables;   // other tables are read, too
  bool is_table; // it is one
} Reader;

/** Characters of a cell that an error message shows. */
static int shown(size_t length) {
  return length < 32 ? (int)length : 32;
}

static FovStatus refuse_name(const Reader *reader, size_t length, const char *why) {
  return fov_fail(FOV_ERR_FORMAT, "%s:1: column %d, '%.*s': %s", reader->path,
                  reader->layout.count + 1, shown(length), reader->at, why);
}

/** Reads the name of a column, of `length` characters. */
static FovStatus parse_name(Reader *reader, size_t length) {
  Layout *layout = &reader->layout;
  char name[FOV_FIGURE_NAME];
  if (!is_name(reader->at, length))
    return refuse_name(reader, length, "expected a name of 1 to 31 letters, digits, '_', '-', '.'");
  if (layout->count == COLUMNS) return refuse_name(reader, length, "expected at most 28 columns");
  snprintf(name, sizeof name, "%.*s", (int)length, reader->at);
  if (find_name(layout, current_name(name)) >= 0)
    return refuse_name(reader, length, "the name of an earlier column");
  add_column(layout, name);
  return FOV_OK;
}

/** Moves past a cell and the character after it; sets whether it was the line's last. */
static FovStatus end_cell(bool *last, Reader *reader, size_t length) {
  const char *end = reader->at + length;
  if (*end == '\0' && end != reader->end)
    return fov_fail(FOV_ERR_FORMAT, "%s:%d: a zero byte", reader->path, reader->line);
  *last = *end != ',';
  reader->at = end + (*end != '\0');
  reader->line += *last;
  return FOV_OK;
}

/** Fails unless all fixed columns are there; of a table, makes those extra ones that are. */
static FovStatus check_fixed(Reader *reader) {
  Layout *layout = &reader->layout;
  int missing = 0;
  while (missing < FIXED && find_name(layout, columns[missing].name) >= 0) missing++;
  if (missing == FIXED) return FOV_OK;
  if (!reader->tables)
    return fov_fail(FOV_ERR_FORMAT, "%s:1: has no column '%s'", reader->path,
                    columns[missing].name);
  if (layout->count > FOV_PROGRESS_EXTRAS)
    return fov_fail(FOV_ERR_FORMAT, "%s:1: expected at most %d columns, found %d", reader->path,
                    FOV_PROGRESS_EXTRAS, layout->count);
  for (int i = 0; i < layout->count; i++) layout->fixed[i] = -1;
  reader->is_table = true;
  return FOV_OK;
}

static FovStatus parse_header(Reader *reader) {
  for (bool last = false; !last;) {
    size_t length = strcspn(reader->at, ",\n");
    FOV_TRY(parse_name(reader, length));
    FOV_TRY(end_cell(&last, reader, length));
  }
  return check_fixed(reader);
}

/** Reads a number of `length` characters, NaN from none; false if it is not one. */
static bool parse_real(double *value, const char *cell, size_t length) {
  char *end = NULL;
  *value = length > 0 ? strtod(cell, &end) : NAN;
  return length == 0 || end == cell + length;
}

static bool parse_integer(int64_t *value, const char *cell, size_t length) {
  char *end;
  errno = 0;
  *value = strtoll(cell, &end, 10);
  return length > 0 && end == cell + length && errno == 0;
}

/** Reads cell i of a row; false if it is not a number of the column's type. */
static bool parse_cell(FovProgress *row, const Layout *layout, int i, const char *cell,
                       size_t length) {
  if (layout->fixed[i] < 0) {
    FovFigure *figure = &row->extra[row->extra_count++];
    memcpy(figure->name, layout->names[i], sizeof figure->name);
    return parse_real(&figure->value, cell, length);
  }
  const Column *column = &columns[layout->fixed[i]];
  void *field = (char *)row + column->offset;
  return column->real ? parse_real(field, cell, length) : parse_integer(field, cell, length);
}

static FovStatus parse_row(FovProgress *row, Reader *reader) {
  const Layout *layout = &reader->layout;
  const int line = reader->line, count = layout->count;
  bool last;
  row->table = reader->is_table;
  for (int i = 0; i < count; i++) {
    const char *cell = reader->at;
    size_t length = strcspn(cell, ",\n");
    if (cell[length] == (i < count - 1 ? '\n' : ','))
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s than %d cells", reader->path, line,
                      i < count - 1 ? "fewer" : "more", count);
    FOV_TRY(end_cell(&last, reader, length));
    if (!parse_cell(row, layout, i, cell, length))
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s '%.*s' is not a number", reader->path, line,
                      layout->shown[i], shown(length), cell);
  }
  return FOV_OK;
}

/** Whether the next line is complete: a killed run may leave a part of its last one. The last line
 * of another table needs no newline if it has all cells. */
static bool is_complete(const Reader *reader) {
  size_t left = (size_t)(reader->end - reader->at);
  int cells = 1;
  if (memchr(reader->at, '\n', left)) return true;
  for (size_t i = 0; i < left; i++) cells += reader->at[i] == ',';
  return reader->is_table && left > 0 && cells == reader->layout.count;
}

static FovStatus parse(FovProgress *rows, size_t *count, Reader *reader) {
  if (!is_complete(reader)) return FOV_OK; // no header yet
  FOV_TRY(parse_header(reader));
  while (is_complete(reader)) FOV_TRY(parse_row(&rows[(*count)++], reader));
  return FOV_OK;
}

static size_t count_lines(const char *text, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++) count += text[i] == '\n';
  return count;
}

static FovStatus parse_text(FovProgress **result, size_t *result_count, const char *text,
                            size_t size, const char *path, bool tables) {
  size_t lines = count_lines(text, size), count = 0;
  if (lines > ROWS_LIMIT)
    return fov_fail(FOV_ERR_FORMAT, "%s: %zu lines, expected at most %d", path, lines, ROWS_LIMIT);
  FovProgress *rows = calloc(lines + 1, sizeof *rows);
  if (!rows) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its rows", path);
  Reader reader = {.path = path, .at = text, .end = text + size, .line = 1, .tables = tables};
  FovStatus status = parse(rows, &count, &reader);
  if (status != FOV_OK) {
    free(rows);
    return status;
  }
  *result = rows;
  *result_count = count;
  return FOV_OK;
}

/** Removes a byte order mark and the carriage returns that other programs end lines with. Returns
 * the new size. */
static size_t clean(char *text, size_t size) {
  size_t kept = 0;
  for (size_t i = fov_text_mark(text); i < size; i++)
    if (text[i] != '\r' || (i + 1 < size && text[i + 1] != '\n')) text[kept++] = text[i];
  text[kept] = '\0';
  return kept;
}

static FovStatus read_rows(FovProgress **rows, size_t *count, const char *path, bool tables) {
  *rows = NULL;
  *count = 0;
  char *text;
  size_t size;
  FOV_TRY(fov_file_read(&text, &size, path, FILE_LIMIT));
  size = clean(text, size);
  FovStatus status = parse_text(rows, count, text, size, path, tables);
  free(text);
  return status;
}

FovStatus fov_progress_read(FovProgress **rows, size_t *count, const char *path) {
  return read_rows(rows, count, path, false);
}

FovStatus fov_progress_read_table(FovProgress **rows, size_t *count, const char *path) {
  return read_rows(rows, count, path, true);
}

FovStatus fov_progress_truncate(const char *path, int64_t update) {
  if (!fov_file_exists(path)) return FOV_OK; // killed before its first row
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  FovStatus status = rewrite(path, rows, count, update, NULL);
  free(rows);
  return status;
}

/* ---- appending ---- */

/** Cuts the part of a line that a killed run left at the end of the file; sets what is left. */
static FovStatus cut_partial_line(off_t *size, int fd, const char *path) {
  off_t end = lseek(fd, 0, SEEK_END), whole = end;
  char last = 0;
  while (whole > 0 && pread(fd, &last, 1, whole - 1) == 1 && last != '\n') whole--;
  if (end < 0 || (whole > 0 && last != '\n'))
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if (whole < end && ftruncate(fd, whole) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot cut its partial last line: %s", path, strerror(errno));
  *size = whole;
  return FOV_OK;
}

/** Gives the columns of an open file: its header's or, if that is not written yet, the row's. */
static FovStatus read_layout(Layout *layout, int fd, const char *path, const FovProgress *row) {
  char start[LINE_SIZE + 1], header[LINE_SIZE];
  ssize_t n = TEMP_FAILURE_RETRY(pread(fd, start, LINE_SIZE, 0));
  if (n < 0) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  start[n] = '\0';
  Reader reader = {.path = path, .at = start, .end = start + n, .line = 1};
  if (strchr(start, '\n')) {
    FOV_TRY(parse_header(&reader));
  } else {
    add_fixed(&reader.layout);
    FOV_TRY(add_extras(&reader.layout, row, path));
    if ((size_t)n > print_header(header, &reader.layout) || memcmp(start, header, (size_t)n) != 0)
      return fov_fail(FOV_ERR_FORMAT, "%s:1: not a header that fovea writes; move the file away",
                      path);
  }
  *layout = reader.layout;
  return FOV_OK;
}

static bool has_all(const Layout *layout, const FovProgress *row) {
  for (int i = 0; i < row->extra_count; i++)
    if (find_name(layout, row->extra[i].name) < 0) return false;
  return true;
}

/** Replaces the file by one that has all columns of `row` too. */
static FovStatus widen(const char *path, const FovProgress *row) {
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  FovStatus status = rewrite(path, rows, count, INT64_MAX, row);
  free(rows);
  return status;
}

static FovStatus append(int fd, const char *path, const FovProgress *row) {
  Layout layout;
  off_t size = 0;
  FOV_TRY(read_layout(&layout, fd, path, row));
  FOV_TRY(cut_partial_line(&size, fd, path));
  if (!has_all(&layout, row)) return widen(path, row);
  char lines[2 * LINE_SIZE];
  size_t length = size == 0 ? print_header(lines, &layout) : 0;
  length += print_row(lines + length, &layout, row);
  if (fov_write_all(fd, lines, length) && TEMP_FAILURE_RETRY(fsync(fd)) == 0) return FOV_OK;
  int cause = errno;
  bool cut = ftruncate(fd, size) == 0;
  return fov_fail(FOV_ERR_IO, "%s: cannot append: %s%s", path, strerror(cause),
                  cut ? "" : "; its last line may be partial");
}

FovStatus fov_progress_append(const char *path, const FovProgress *row) {
  int fd;
  FOV_TRY(fov_file_open_append(&fd, path));
  FovStatus status = append(fd, path, row);
  close(fd); // its data is on the disk, or the error is known
  return status;
}
