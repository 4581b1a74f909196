#include "envs/datasets/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"

enum { MOST_BYTES = 64 << 20 };

/** A symbol where it stands in the text. */
typedef struct Symbol {
  const char *at;
  size_t size;
} Symbol;

/* ---- bytes to symbols ---- */

/** Bytes of the character at `text`, which ends with a zero byte; 0: it is no UTF-8, or a control
 * character other than a tab. */
static size_t character_size(const char *text) {
  return *text == '\t' ? 1 : fov_text_printable(text);
}

static bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/** The next symbol of a line, from *at on; size 0: the line has no more. */
static Symbol next_symbol(const char **at, const char *end, FovLinesUnit unit) {
  while (unit == FOV_LINES_WORD && *at < end && is_space(**at)) ++*at;
  Symbol symbol = {.at = *at};
  if (unit == FOV_LINES_CHARACTER)
    symbol.size = *at < end ? character_size(*at) : 0;
  else
    while (*at + symbol.size < end && !is_space((*at)[symbol.size])) symbol.size++;
  *at += symbol.size;
  return symbol;
}

/** Where the line that starts at `at` ends, before \n or \r\n. */
static const char *end_of_line(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  if (newline) end = newline;
  return newline && end > at && end[-1] == '\r' ? end - 1 : end;
}

static FovStatus check_line(const char *at, const char *end, const char *path, int64_t number) {
  while (at < end) {
    size_t size = character_size(at);
    if (size == 0)
      return fov_fail(FOV_ERR_FORMAT,
                      "%s:%lld: expected UTF-8 without control characters, found byte 0x%02X", path,
                      (long long)number, (unsigned char)*at);
    at += size;
  }
  return FOV_OK;
}

/* ---- symbols to numbers ---- */

/** All symbols of a file in turn, with those of each line. */
typedef struct Reading {
  const char *path;
  FovLinesUnit unit;
  int longest;
  Symbol *symbols;
  size_t count, room;
} Reading;

static FovStatus no_memory(const char *path) {
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its symbols", path);
}

static FovStatus add_symbol(Reading *reading, Symbol symbol) {
  if (reading->count == reading->room) {
    size_t room = reading->room ? 2 * reading->room : 4096;
    Symbol *more = realloc(reading->symbols, room * sizeof *more);
    if (!more) return no_memory(reading->path);
    reading->symbols = more;
    reading->room = room;
  }
  reading->symbols[reading->count++] = symbol;
  return FOV_OK;
}

static FovStatus add_line(FovLines *lines, Reading *reading, const char *at, const char *end) {
  FOV_TRY(check_line(at, end, reading->path, lines->count + 1));
  size_t before = reading->count;
  for (Symbol symbol; (symbol = next_symbol(&at, end, reading->unit)).size > 0;)
    FOV_TRY(add_symbol(reading, symbol));
  size_t length = reading->count - before;
  if (length > (size_t)reading->longest)
    return fov_fail(FOV_ERR_FORMAT, "%s:%lld: expected at most %d symbols (env.longest), found %zu",
                    reading->path, (long long)(lines->count + 1), reading->longest, length);
  if ((int)length > lines->longest) lines->longest = (int)length;
  lines->starts[++lines->count] = reading->count;
  return FOV_OK;
}

static FovStatus add_lines(FovLines *lines, Reading *reading, const char *text, size_t size) {
  const char *end = text + size;
  size_t most = 1;
  for (size_t i = 0; i < size; i++) most += text[i] == '\n';
  lines->starts = calloc(most + 1, sizeof *lines->starts);
  if (!lines->starts) return no_memory(reading->path);
  for (const char *at = text; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    FOV_TRY(add_line(lines, reading, at, end_of_line(at, end)));
    at = newline ? newline + 1 : end;
  }
  return FOV_OK;
}

static int compare(const void *a, const void *b) {
  const Symbol *x = a, *y = b;
  size_t size = x->size < y->size ? x->size : y->size;
  int order = memcmp(x->at, y->at, size);
  return order ? order : (x->size > y->size) - (x->size < y->size);
}

/** Sorts symbols and removes duplicates. Returns how many are left. */
static size_t make_unique(Symbol *symbols, size_t count) {
  size_t left = 0;
  qsort(symbols, count, sizeof *symbols, compare);
  for (size_t i = 0; i < count; i++)
    if (left == 0 || compare(&symbols[left - 1], &symbols[i]) != 0) symbols[left++] = symbols[i];
  return left;
}

/** Gives the different symbols numbers and names. */
static FovStatus make_vocabulary(FovLines *lines, const Symbol *different, const char *path) {
  size_t bytes = 0, count = (size_t)lines->vocabulary;
  for (size_t i = 0; i < count; i++) bytes += different[i].size + 1;
  char *to = lines->text = malloc(bytes);
  lines->names = malloc(count * sizeof *lines->names);
  if (!lines->text || !lines->names) return no_memory(path);
  for (size_t i = 0; i < count; i++) {
    lines->names[i] = to;
    memcpy(to, different[i].at, different[i].size);
    to[different[i].size] = 0;
    to += different[i].size + 1;
  }
  return FOV_OK;
}

static FovStatus number_symbols(FovLines *lines, const Reading *reading, Symbol *different) {
  size_t count = reading->count;
  memcpy(different, reading->symbols, count * sizeof *different);
  size_t unique = make_unique(different, count);
  if (unique > FOV_LINES_VOCABULARY)
    return fov_fail(
        FOV_ERR_FORMAT,
        "%s: expected at most %d different symbols, found %zu; set env.unit = character",
        reading->path, FOV_LINES_VOCABULARY, unique);
  lines->vocabulary = (int)unique;
  FOV_TRY(make_vocabulary(lines, different, reading->path));
  for (size_t i = 0; i < count; i++) {
    const Symbol *found =
        bsearch(&reading->symbols[i], different, unique, sizeof *different, compare);
    lines->tokens[i] = (int32_t)(found - different);
  }
  return FOV_OK;
}

static FovStatus read_text(FovLines *lines, Reading *reading, const char *text, size_t size) {
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, text, size);
  lines->digest = fov_digest_value(&digest);
  FOV_TRY(add_lines(lines, reading, text, size));
  if (reading->count == 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: expected lines of text, found none", reading->path);
  Symbol *different = malloc(reading->count * sizeof *different);
  lines->tokens = malloc(reading->count * sizeof *lines->tokens);
  FovStatus status = different && lines->tokens ? number_symbols(lines, reading, different)
                                                : no_memory(reading->path);
  free(different);
  return status;
}

FovStatus fov_lines_read(FovLines *lines, const char *path, FovLinesUnit unit, int longest) {
  char *text;
  size_t size;
  *lines = (FovLines){.count = 0};
  FOV_TRY(fov_file_read(&text, &size, path, MOST_BYTES));
  Reading reading = {.path = path, .unit = unit, .longest = longest};
  FovStatus status = read_text(lines, &reading, text, size);
  free(reading.symbols);
  free(text);
  if (status != FOV_OK) fov_lines_finish(lines);
  return status;
}

void fov_lines_finish(FovLines *lines) {
  free(lines->starts);
  free(lines->tokens);
  free(lines->names);
  free(lines->text);
  *lines = (FovLines){.count = 0};
}
