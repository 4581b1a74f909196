#include "record/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

/** Where a file has been read to. */
typedef struct Reader {
  const char *path;
  char *at;
  int line;
} Reader;

/** Reads the rest of a cell in quotes, in place: what it means is never longer. */
static FovStatus read_quoted(const char **cell, Reader *reader) {
  char *to = reader->at, *from = reader->at + 1;
  int line = reader->line;
  *cell = to;
  for (; *from != '"' || from[1] == '"'; from++) {
    if (!*from)
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: expected a closing quote", reader->path, line);
    reader->line += *from == '\n';
    from += *from == '"';
    *to++ = *from;
  }
  reader->at = from + 1 + strspn(from + 1, " \t");
  *to = '\0';
  // A CR alone ends no row: room was made for as many rows as there are LFs.
  bool crlf = reader->at[0] == '\r' && (reader->at[1] == '\n' || !reader->at[1]);
  if (*reader->at && !strchr(",\n", *reader->at) && !crlf)
    return fov_fail(FOV_ERR_FORMAT, "%s:%d: text follows a closing quote", reader->path, line);
  return FOV_OK;
}

static void read_plain(const char **cell, Reader *reader, char **end) {
  *cell = reader->at;
  reader->at += strcspn(reader->at, ",\n");
  *end = reader->at;
  while (*end > *cell && strchr(" \t\r", (*end)[-1])) (*end)--;
}

/** Reads a cell and moves behind it; sets whether it was the row's last. */
static FovStatus read_cell(const char **cell, bool *last, Reader *reader) {
  char *end = NULL;
  reader->at += strspn(reader->at, " \t");
  if (*reader->at == '"')
    FOV_TRY(read_quoted(cell, reader));
  else
    read_plain(cell, reader, &end);
  if (*reader->at == '\r' && reader->at[1] == '\n') reader->at++;
  *last = *reader->at != ',';
  reader->line += *reader->at == '\n';
  if (*reader->at) reader->at++;
  if (end) *end = '\0'; // only now: it may be the separator
  return FOV_OK;
}

/** Moves behind lines that are empty; false at the end of the file. */
static bool skip_empty(Reader *reader) {
  for (;;) {
    char *start = reader->at;
    reader->at += strspn(reader->at, " \t\r");
    if (*reader->at != '\n') {
      bool more = *reader->at != '\0';
      reader->at = start;
      return more;
    }
    reader->at++;
    reader->line++;
  }
}

static FovStatus read_header(FovCsv *csv, Reader *reader) {
  if (!skip_empty(reader))
    return fov_fail(FOV_ERR_FORMAT, "%s: expected a CSV table, found an empty file", reader->path);
  for (bool last = false; !last; csv->columns++) {
    const char *name;
    int line = reader->line;
    if (csv->columns == FOV_CSV_COLUMNS)
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: expected at most %d columns", reader->path, line,
                      FOV_CSV_COLUMNS);
    FOV_TRY(read_cell(&name, &last, reader));
    if (!*name || fov_csv_find(csv, name) >= 0)
      return fov_fail(FOV_ERR_FORMAT,
                      "%s:%d: column %d: expected a name that no other column has, found '%.40s'",
                      reader->path, line, csv->columns + 1, name);
    csv->names[csv->columns] = name;
  }
  return FOV_OK;
}

static FovStatus read_row(FovCsv *csv, Reader *reader) {
  const char **row = csv->cells + (size_t)csv->rows * (size_t)csv->columns;
  int line = reader->line, count = 0;
  for (bool last = false; !last; count++) {
    if (count == csv->columns)
      return fov_fail(FOV_ERR_FORMAT, "%s:%d: more than %d cells", reader->path, line, count);
    FOV_TRY(read_cell(&row[count], &last, reader));
  }
  if (count < csv->columns)
    return fov_fail(FOV_ERR_FORMAT, "%s:%d: expected %d cells, found %d", reader->path, line,
                    csv->columns, count);
  csv->lines[csv->rows++] = line;
  return FOV_OK;
}

static size_t count_lines(const char *text) {
  size_t count = 1;
  for (; *text; text++) count += *text == '\n';
  return count;
}

/** A row has a separator for each of its cells, so the file's size bounds their number. */
static FovStatus make_room(FovCsv *csv, const Reader *reader) {
  size_t lines = count_lines(reader->at), separators = lines;
  for (const char *c = reader->at; *c; c++) separators += *c == ',';
  csv->cells = calloc(separators + (size_t)csv->columns, sizeof *csv->cells);
  csv->lines = calloc(lines, sizeof *csv->lines);
  if (csv->cells && csv->lines) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its rows", reader->path);
}

FovStatus fov_csv_read(FovCsv *csv, const char *path) {
  size_t size;
  *csv = (FovCsv){.text = NULL};
  FOV_TRY(fov_file_read(&csv->text, &size, path, FOV_CSV_BYTES));
  if (strlen(csv->text) != size)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected a CSV table, found a zero byte", path);
  Reader reader = {.path = path, .at = csv->text + fov_text_mark(csv->text), .line = 1};
  FOV_TRY(read_header(csv, &reader));
  FOV_TRY(make_room(csv, &reader));
  while (skip_empty(&reader)) FOV_TRY(read_row(csv, &reader));
  return FOV_OK;
}

void fov_csv_finish(FovCsv *csv) {
  free(csv->text);
  free(csv->cells);
  free(csv->lines);
  *csv = (FovCsv){.text = NULL};
}

void fov_csv_number(FILE *stream, const char *format, double number) {
  putc(',', stream);
  if (isfinite(number)) fprintf(stream, format, number);
}

int fov_csv_find(const FovCsv *csv, const char *name) {
  for (int i = 0; i < csv->columns; i++)
    if (strcmp(csv->names[i], name) == 0) return i;
  return -1;
}

void fov_csv_print(FILE *stream, const char *text) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) putc('"', stream);
  for (; *text; text++) fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
  if (quoted) putc('"', stream);
}
