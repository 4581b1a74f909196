#include "record/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/trace_parts.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const char *fov_trace_after_prefix(const char *name) {
  static const char *const prefixes[] = {"policy.", "attention.", "answer."};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return name + strlen(prefixes[i]);
  return NULL;
}

bool fov_trace_is_column_name(const char *name) {
  const char *own = fov_trace_after_prefix(name);
  return own && strlen(own) < FOV_TRACE_TEXT && strspn(own, LETTERS) > 0 &&
         strspn(own, LETTERS "0123456789_") == strlen(own);
}

const FovTraceColumn *fov_trace_find_column(const FovTrace *trace, const char *name) {
  for (int i = 0; i < trace->columns; i++)
    if (strcmp(trace->column[i].name, name) == 0) return &trace->column[i];
  return NULL;
}

const float *fov_trace_column(const FovTrace *trace, const char *name, int width) {
  const FovTraceColumn *column = fov_trace_find_column(trace, name);
  return column && column->width == width ? column->values : NULL;
}

FovGrid fov_trace_grid(const FovTrace *trace, int tiles) {
  int across = trace->vocabulary > 0 ? tiles : trace->tiles_across;
  FovGrid grid = {across, across > 0 ? tiles / across : 0};
  if (across == 0) grid.across = grid.down = (int)lround(sqrt(tiles));
  return grid.across * grid.down == tiles ? grid : (FovGrid){0};
}

void fov_trace_add_column(FovTrace *trace, const char *name, int width) {
  FOV_CHECK(trace->columns < FOV_TRACE_COLUMNS, "a trace of more than %d columns",
            FOV_TRACE_COLUMNS);
  FOV_CHECK(fov_trace_is_column_name(name) && !fov_trace_find_column(trace, name),
            "'%s': a bad name of a trace's column, or one that is taken", name);
  FOV_CHECK(width >= 1 && width <= FOV_COLUMN_WIDTH, "column '%s': width %d, expected 1 to %d",
            name, width, FOV_COLUMN_WIDTH);
  FovTraceColumn *column = &trace->column[trace->columns++];
  *column = (FovTraceColumn){.width = width};
  snprintf(column->name, sizeof column->name, "%s", name);
}

/** The names one per line, with '?' for what is not printable, malloc'd; NULL: none, or too many.
 */
static FovStatus join_names(char **joined, const char *const *names, int count) {
  size_t size = 1;
  *joined = NULL;
  if (!names) return FOV_OK;
  for (int a = 0; a < count; a++) size += strlen(names[a]) + 1;
  if (size > FOV_TRACE_NAMES) return FOV_OK;
  char *end = *joined = malloc(size);
  if (!end) return fov_fail(FOV_ERR_MEMORY, "no memory for %d names", count);
  for (int a = 0; a < count; a++) {
    if (a > 0) *end++ = '\n';
    strcpy(end, names[a]);
    fov_text_clean(end);
    end += strlen(end);
  }
  return FOV_OK;
}

FovStatus fov_trace_set_names(FovTrace *trace, const char *const *names,
                              const char *const *symbols) {
  FOV_TRY(join_names(&trace->names, names, trace->actions));
  return join_names(&trace->symbol_names, symbols, trace->vocabulary);
}

/** Line `number` of the names, or the number itself. */
static void write_name(char *text, size_t size, const char *name, int number) {
  for (int a = 0; name && a < number; a++) name = strchr(name, '\n') + 1;
  if (name)
    snprintf(text, size, "%.*s", (int)strcspn(name, "\n"), name);
  else
    snprintf(text, size, "%d", number);
}

void fov_trace_name(char *text, size_t size, const FovTrace *trace, int action) {
  write_name(text, size, trace->names, action);
}

void fov_trace_symbol(char *text, size_t size, const FovTrace *trace, int symbol) {
  *text = 0;
  if (symbol >= 0) write_name(text, size, trace->symbol_names, symbol);
}

double fov_trace_aspect(const FovTrace *trace) {
  return (double)trace->height / trace->width;
}

int fov_trace_length(const FovTrace *trace, int episode) {
  int length = 0;
  const int32_t *symbols = trace->symbols + (size_t)episode * (size_t)trace->width;
  while (trace->vocabulary > 0 && length < trace->width && symbols[length] >= 0) length++;
  return length;
}

/** Whether an episode of two traces of the same sizes begins with the same image or sequence. */
static bool same_start(const FovTrace *a, const FovTrace *b, int episode) {
  size_t e = (size_t)episode, width = (size_t)a->width;
  size_t image = (size_t)a->height * width * (size_t)a->channels;
  if (a->vocabulary > 0)
    return memcmp(a->symbols + e * width, b->symbols + e * width, width * sizeof *a->symbols) == 0;
  return memcmp(a->images + e * (size_t)a->frames * image,
                b->images + e * (size_t)b->frames * image, image) == 0;
}

int fov_trace_first(const FovTrace *trace) {
  int first;
  bool some = sscanf(trace->subset, "first %9d,", &first) == 1;
  return some && first > 0 && first < trace->episodes ? first : trace->episodes;
}

FovStatus fov_trace_check_pair(const FovTrace *a, const char *a_path, const FovTrace *b,
                               const char *b_path) {
  if (a->vocabulary != b->vocabulary)
    return fov_fail(FOV_ERR_USAGE, "%s, %s: not the same task: %d and %d symbols", a_path, b_path,
                    a->vocabulary, b->vocabulary);
  if (a->control != b->control)
    return fov_fail(FOV_ERR_USAGE, "%s, %s: not the same task: only one of them has classes",
                    a_path, b_path);
  if (a->actions != b->actions)
    return fov_fail(FOV_ERR_USAGE, "%s, %s: not the same task: %d and %d answers", a_path, b_path,
                    a->actions, b->actions);
  if (a->height != b->height || a->width != b->width || a->channels != b->channels)
    return fov_fail(
        FOV_ERR_USAGE, "%s, %s: not the same episodes: images of %d × %d × %d and %d × %d × %d",
        a_path, b_path, a->height, a->width, a->channels, b->height, b->width, b->channels);
  for (int e = 0; e < a->episodes && e < b->episodes; e++)
    if (!same_start(a, b, e))
      return fov_fail(FOV_ERR_USAGE,
                      "%s, %s: not the same episodes: episode %d begins with another %s; record "
                      "both with the same --split and eval.seed, and without --wrong",
                      a_path, b_path, e, a->vocabulary > 0 ? "sequence" : "image");
  return FOV_OK;
}
