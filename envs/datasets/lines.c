#include "envs/datasets/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
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

/** Whether a character stands between symbols: the end of a line or, between words, a space. */
static bool separates(char c, FovLinesUnit unit) {
  return c == '\n' || c == '\r' || (unit == FOV_LINES_WORD && (c == ' ' || c == '\t'));
}

/** The next symbol of a text, from *at on; size 0: there is none before `end`. */
static Symbol next_symbol(const char **at, const char *end, FovLinesUnit unit) {
  while (*at < end && separates(**at, unit)) ++*at;
  Symbol symbol = {.at = *at};
  if (unit == FOV_LINES_CHARACTER)
    symbol.size = *at < end ? character_size(*at) : 0;
  else
    while (*at + symbol.size < end && !separates((*at)[symbol.size], unit)) symbol.size++;
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

enum { ROOM = 2 * FOV_LINES_VOCABULARY };

/** What is known of a file while it is read. */
typedef struct Reading {
  const char *path;
  FovLinesUnit unit;
  int longest;
  const FovLines *known; // whose symbols are the only ones; NULL: none is known
  size_t count;          // symbols so far
  Symbol *different;     // [at most ROOM]: the first `sorted` are in order, none of them twice,
  size_t sorted, used;   // the others up to `used` are not among these
} Reading;

static FovStatus no_memory(const char *path) {
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its symbols", path);
}

static int compare(const void *a, const void *b) {
  const Symbol *x = a, *y = b;
  size_t size = x->size < y->size ? x->size : y->size;
  int order = memcmp(x->at, y->at, size);
  return order ? order : (x->size > y->size) - (x->size < y->size);
}

/** Sorts the different symbols and removes duplicates. */
static FovStatus sort_symbols(Reading *reading) {
  Symbol *symbols = reading->different;
  size_t left = 0;
  qsort(symbols, reading->used, sizeof *symbols, compare);
  for (size_t i = 0; i < reading->used; i++)
    if (left == 0 || compare(&symbols[left - 1], &symbols[i]) != 0) symbols[left++] = symbols[i];
  reading->sorted = reading->used = left;
  if (left <= FOV_LINES_VOCABULARY) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: expected at most %d different symbols, found more; set env.unit = character",
                  reading->path, FOV_LINES_VOCABULARY);
}

/** Begins with the symbols of the known text, which are in order. */
static void begin_with_known(Reading *reading) {
  const FovLines *known = reading->known;
  for (int i = 0; i < known->vocabulary; i++)
    reading->different[i] = (Symbol){.at = known->names[i], .size = strlen(known->names[i])};
  reading->sorted = reading->used = (size_t)known->vocabulary;
}

/** The symbol among those that are sorted; NULL: it is not there. */
static const Symbol *find_symbol(const Reading *reading, const Symbol *symbol) {
  return bsearch(symbol, reading->different, reading->sorted, sizeof *symbol, compare);
}

static FovStatus add_symbol(Reading *reading, Symbol symbol, int64_t line) {
  reading->count++;
  if (find_symbol(reading, &symbol)) return FOV_OK;
  if (reading->known)
    return fov_fail(
        FOV_ERR_FORMAT, "%s:%lld: expected only symbols of the training text, found \"%.*s\"",
        reading->path, (long long)line, (int)(symbol.size < 80 ? symbol.size : 80), symbol.at);
  if (reading->used == ROOM) FOV_TRY(sort_symbols(reading));
  reading->different[reading->used++] = symbol;
  return FOV_OK;
}

static FovStatus add_line(FovLines *lines, Reading *reading, const char *at, const char *end) {
  FOV_TRY(check_line(at, end, reading->path, lines->count + 1));
  size_t before = reading->count;
  for (Symbol symbol; (symbol = next_symbol(&at, end, reading->unit)).size > 0;)
    FOV_TRY(add_symbol(reading, symbol, lines->count + 1));
  size_t length = reading->count - before;
  if (length > (size_t)reading->longest)
    return fov_fail(FOV_ERR_FORMAT, "%s:%lld: expected at most %d symbols (env.longest), found %zu",
                    reading->path, (long long)(lines->count + 1), reading->longest, length);
  if ((int)length > lines->longest) lines->longest = (int)length;
  lines->starts[++lines->count] = reading->count;
  return FOV_OK;
}

static FovStatus add_lines(FovLines *lines, Reading *reading, const char *text, const char *end) {
  while (text < end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    FOV_TRY(add_line(lines, reading, text, end_of_line(text, end)));
    text = newline ? newline + 1 : end;
  }
  if (reading->count > 0) return sort_symbols(reading);
  return fov_fail(FOV_ERR_FORMAT, "%s: expected lines of text, found none", reading->path);
}

/** Gives the different symbols numbers and names. */
static FovStatus make_vocabulary(FovLines *lines, const Reading *reading) {
  size_t bytes = 0, count = reading->sorted;
  for (size_t i = 0; i < count; i++) bytes += reading->different[i].size + 1;
  char *to = lines->text = malloc(bytes);
  lines->names = malloc(count * sizeof *lines->names);
  if (!lines->text || !lines->names) return no_memory(reading->path);
  lines->vocabulary = (int)count;
  for (size_t i = 0; i < count; i++) {
    Symbol symbol = reading->different[i];
    lines->names[i] = to;
    memcpy(to, symbol.at, symbol.size);
    to[symbol.size] = 0;
    to += symbol.size + 1;
  }
  return FOV_OK;
}

static void number_symbols(int32_t *tokens, const Reading *reading, const char *at,
                           const char *end) {
  for (Symbol symbol; (symbol = next_symbol(&at, end, reading->unit)).size > 0;)
    *tokens++ = (int32_t)(find_symbol(reading, &symbol) - reading->different);
}

static FovStatus read_text(FovLines *lines, Reading *reading, const char *text, size_t size) {
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, text, size);
  lines->digest = fov_digest_value(&digest);
  size_t most = 1;
  for (size_t i = 0; i < size; i++) most += text[i] == '\n';
  lines->starts = fov_memory_calloc(most + 1, sizeof *lines->starts);
  // A symbol has a byte or more: short texts need less room.
  size_t room = size + (reading->known ? (size_t)reading->known->vocabulary : 0) + 1;
  reading->different = malloc((room < ROOM ? room : ROOM) * sizeof *reading->different);
  if (!lines->starts || !reading->different) return no_memory(reading->path);
  if (reading->known) begin_with_known(reading);
  FOV_TRY(add_lines(lines, reading, text, text + size));
  FOV_TRY(make_vocabulary(lines, reading));
  lines->tokens = fov_memory_calloc(reading->count, sizeof *lines->tokens);
  if (!lines->tokens) return no_memory(reading->path);
  number_symbols(lines->tokens, reading, text, text + size);
  return FOV_OK;
}

FovStatus fov_lines_read(FovLines *lines, const char *path, FovLinesUnit unit, int longest,
                         const FovLines *known) {
  char *text;
  size_t size;
  *lines = (FovLines){.count = 0};
  FOV_TRY(fov_file_read(&text, &size, path, MOST_BYTES));
  Reading reading = {.path = path, .unit = unit, .longest = longest, .known = known};
  size_t mark = fov_text_mark(text);
  FovStatus status = read_text(lines, &reading, text + mark, size - mark);
  free(reading.different);
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
