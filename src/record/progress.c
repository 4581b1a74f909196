#include "record/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/** One column: an int64_t or a double of the row. */
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
    INTEGER(update),     INTEGER(episodes),    REAL(epoch),
    REAL(seconds),       REAL(rate),           REAL(sigma),
    REAL(train_error),   REAL(train_reward),   REAL(class_loss),
    REAL(baseline_loss), REAL(gradient_norm),  REAL(valid_error),
    REAL(valid_reward),  REAL(valid_glimpses), REAL(glimpses_per_second),
};

enum {
  COLUMNS = sizeof columns / sizeof columns[0],
  LINE_SIZE = 32 * COLUMNS, /**< room for a header or a row */
  FILE_LIMIT = 64 << 20,
};

/* ---- writer ---- */

static size_t print_header(char line[LINE_SIZE]) {
  int n = 0;
  for (int i = 0; i < COLUMNS; i++)
    n += snprintf(line + n, (size_t)(LINE_SIZE - n), "%s%s", i ? "," : "", columns[i].name);
  line[n++] = '\n';
  return (size_t)n;
}

static int print_cell(char *cell, size_t size, const Column *column, const FovProgress *row) {
  const char *field = (const char *)row + column->offset;
  if (!column->real) return snprintf(cell, size, "%" PRId64, *(const int64_t *)field);
  double value = *(const double *)field;
  return isnan(value) ? 0 : snprintf(cell, size, "%.9g", value);
}

static size_t print_row(char line[LINE_SIZE], const FovProgress *row) {
  int n = 0;
  for (int i = 0; i < COLUMNS; i++) {
    if (i > 0) line[n++] = ',';
    n += print_cell(line + n, (size_t)(LINE_SIZE - n), &columns[i], row);
  }
  line[n++] = '\n';
  return (size_t)n;
}

/** The size of an open file that starts with our header or, if shorter, is a part of it. */
static FovStatus check_start(off_t *size, int fd, const char *path) {
  char header[LINE_SIZE], start[LINE_SIZE];
  struct stat info;
  size_t length = print_header(header);
  if (fstat(fd, &info) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  ssize_t n = pread(fd, start, length, 0);
  if (n < 0) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if (memcmp(start, header, (size_t)n) != 0)
    return fov_fail(FOV_ERR_FORMAT, "%s:1: other columns than fovea writes; move the file away",
                    path);
  *size = info.st_size;
  return FOV_OK;
}

/** Cuts the part of a line that a killed run left at the end of *size bytes. */
static FovStatus cut_partial_line(off_t *size, int fd, const char *path) {
  off_t whole = *size;
  char last = 0;
  while (whole > 0 && pread(fd, &last, 1, whole - 1) == 1 && last != '\n') whole--;
  if (whole > 0 && last != '\n')
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if (whole < *size && ftruncate(fd, whole) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot cut its partial last line: %s", path, strerror(errno));
  *size = whole;
  return FOV_OK;
}

static FovStatus append(int fd, const char *path, const FovProgress *row) {
  off_t size = 0;
  FOV_TRY(check_start(&size, fd, path));
  FOV_TRY(cut_partial_line(&size, fd, path));
  char lines[2 * LINE_SIZE];
  size_t length = size == 0 ? print_header(lines) : 0;
  length += print_row(lines + length, row);
  errno = ENOSPC; // a short write does not say why
  if (write(fd, lines, length) == (ssize_t)length && fsync(fd) == 0) return FOV_OK;
  int cause = errno;
  bool cut = ftruncate(fd, size) == 0;
  return fov_fail(FOV_ERR_IO, "%s: cannot append: %s%s", path, strerror(cause),
                  cut ? "" : "; its last line may be partial");
}

FovStatus fov_progress_append(const char *path, const FovProgress *row) {
  int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return fov_fail(FOV_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  FovStatus status = append(fd, path, row);
  close(fd); // its data is on the disk, or the error is known
  return status;
}

/* ---- reader ---- */

/** Where a file is being read: `at` is the start of the next line. */
typedef struct Reader {
  const char *path, *at;
  int line;
} Reader;

/** Checks the character after a cell: a newline after the last of a line, a comma after others. */
static FovStatus check_end(const Reader *reader, int column, char end) {
  if (end == (column == COLUMNS - 1 ? '\n' : ',')) return FOV_OK;
  if (end == '\0')
    return fov_fail(FOV_ERR_FORMAT, "%s:%d: a zero byte", reader->path, reader->line);
  return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s than %d cells", reader->path, reader->line,
                  end == ',' ? "more" : "fewer", COLUMNS);
}

/** Characters of a cell that an error message shows. */
static int shown(size_t length) {
  return length < 32 ? (int)length : 32;
}

static FovStatus check_header(Reader *reader) {
  for (int i = 0; i < COLUMNS; i++) {
    const char *name = columns[i].name;
    size_t length = strcspn(reader->at, ",\n");
    if (length != strlen(name) || memcmp(reader->at, name, length) != 0)
      return fov_fail(FOV_ERR_FORMAT, "%s:1: column %d of %d is '%.*s', expected '%s'",
                      reader->path, i + 1, COLUMNS, shown(length), reader->at, name);
    FOV_TRY(check_end(reader, i, reader->at[length]));
    reader->at += length + 1;
  }
  reader->line++;
  return FOV_OK;
}

/** Reads a cell of `length` characters; false if it is not a number of the column's type. */
static bool parse_cell(FovProgress *row, const Column *column, const char *cell, size_t length) {
  char *field = (char *)row + column->offset, *end = NULL;
  errno = 0;
  if (column->real && length == 0)
    *(double *)field = NAN;
  else if (column->real)
    *(double *)field = strtod(cell, &end);
  else
    *(int64_t *)field = strtoll(cell, &end, 10);
  // strtod sets ERANGE for subnormal numbers too, which are as good as any.
  return length == 0 ? column->real : end == cell + length && (column->real || errno == 0);
}

static FovStatus parse_row(FovProgress *row, Reader *reader) {
  for (int i = 0; i < COLUMNS; i++) {
    size_t length = strcspn(reader->at, ",\n");
    FOV_TRY(check_end(reader, i, reader->at[length]));
    if (!parse_cell(row, &columns[i], reader->at, length))
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: %s '%.*s' is not a number", reader->path,
                      reader->line, columns[i].name, shown(length), reader->at);
    reader->at += length + 1;
  }
  reader->line++;
  return FOV_OK;
}

static FovStatus parse(FovProgress *rows, size_t *count, Reader *reader, const char *end) {
  if (reader->at == end) return FOV_OK; // not a line yet
  FOV_TRY(check_header(reader));
  while (reader->at < end) FOV_TRY(parse_row(&rows[(*count)++], reader));
  return FOV_OK;
}

/** Parses `size` characters of whole lines. */
static FovStatus parse_text(FovProgress **result, size_t *result_count, const char *text,
                            size_t size, const char *path) {
  // A row has a character or more for each column, which bounds the rows before any is read.
  FovProgress *rows = calloc(size / COLUMNS + 1, sizeof *rows);
  if (!rows) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its rows", path);
  Reader reader = {.path = path, .at = text, .line = 1};
  size_t count = 0;
  FovStatus status = parse(rows, &count, &reader, text + size);
  if (status != FOV_OK) {
    free(rows);
    return status;
  }
  *result = rows;
  *result_count = count;
  return FOV_OK;
}

FovStatus fov_progress_read(FovProgress **rows, size_t *count, const char *path) {
  *rows = NULL;
  *count = 0;
  char *text;
  size_t size;
  FOV_TRY(fov_file_read(&text, &size, path, FILE_LIMIT));
  while (size > 0 && text[size - 1] != '\n') size--;
  text[size] = '\0';
  FovStatus status = parse_text(rows, count, text, size, path);
  free(text);
  return status;
}

static FovStatus rewrite(const char *path, const FovProgress *rows, size_t count, int64_t update) {
  char line[LINE_SIZE];
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  fwrite(line, 1, print_header(line), replace.stream); // commit sees the stream's errors
  for (size_t i = 0; i < count; i++)
    if (rows[i].update <= update) fwrite(line, 1, print_row(line, &rows[i]), replace.stream);
  return fov_replace_commit(&replace);
}

FovStatus fov_progress_truncate(const char *path, int64_t update) {
  if (!fov_file_exists(path)) return FOV_OK; // killed before its first row
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  FovStatus status = rewrite(path, rows, count, update);
  free(rows);
  return status;
}
