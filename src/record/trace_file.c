/** Reading and writing of traces. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/trace_parts.h"

/** A text of the metadata that is written if it is set. */
typedef struct Note {
  const char *key;
  size_t offset, size; /**< of its characters in FovTrace */
} Note;

#define NOTE(field)                                                                                \
  { #field, offsetof(FovTrace, field), sizeof((FovTrace *)0)->field }

static const Note notes[] = {NOTE(weights), NOTE(policy), NOTE(attention),
                             NOTE(split),   NOTE(seed),   NOTE(subset)};
enum { NOTES = sizeof notes / sizeof notes[0] };

/** Names of reaches; a file without one has glimpses. */
static const char *const reaches[FOV_REACHES] = {
    [FOV_REACH_GLIMPSE] = "glimpse", [FOV_REACH_NEAR] = "near", [FOV_REACH_ALL] = "all"};

#define VERSION "3"
#define VERSION_OF_MEANS "2" // has the arrays means and sigmas instead of columns

static const char *note_of(const FovTrace *trace, const Note *note) {
  return (const char *)trace + note->offset;
}

static FovStatus check_notes(const FovTrace *trace, const char *path) {
  for (int i = 0; i < NOTES; i++)
    if (!fov_text_is_printable(note_of(trace, &notes[i])))
      return fov_fail(FOV_ERR_FORMAT, "%s: %s: expected a text without control characters", path,
                      notes[i].key);
  size_t digits = strspn(trace->weights, "0123456789abcdef");
  if (!trace->weights[0] || digits == sizeof trace->weights - 1) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: weights '%s', expected 16 hexadecimal digits", path,
                  trace->weights);
}

FovStatus fov_trace_write(const FovTrace *trace, const char *path) {
  FovBlob blobs[FOV_TRACE_ARRAYS];
  size_t count;
  FOV_TRY(check_notes(trace, path));
  FOV_TRY(fov_trace_describe(blobs, &count, trace, path));
  char side[16], scales[16], update[24], vocabulary[16], across[16];
  snprintf(side, sizeof side, "%d", trace->side);
  snprintf(scales, sizeof scales, "%d", trace->scales);
  snprintf(update, sizeof update, "%" PRId64, trace->update);
  snprintf(vocabulary, sizeof vocabulary, "%d", trace->vocabulary);
  FovText texts[14 + NOTES] = {{"format", FOV_TRACE_FORMAT},
                               {"version", VERSION},
                               {"side", side},
                               {"scales", scales},
                               {"update", update},
                               {"whole", trace->whole ? "yes" : "no"},
                               {"control", trace->control ? "yes" : "no"},
                               {"names", trace->names ? trace->names : ""}};
  size_t used = 8;
  if (trace->vocabulary > 0) {
    texts[used++] = (FovText){"vocabulary", vocabulary};
    texts[used++] = (FovText){"symbol_names", trace->symbol_names ? trace->symbol_names : ""};
  }
  snprintf(across, sizeof across, "%d", trace->tiles_across);
  if (trace->tiles_across > 0) texts[used++] = (FovText){"tiles_across", across};
  if (trace->reach != FOV_REACH_GLIMPSE) texts[used++] = (FovText){"reach", reaches[trace->reach]};
  if (trace->bilinear) texts[used++] = (FovText){"bilinear", "yes"};
  if (trace->inside) texts[used++] = (FovText){"inside", "yes"};
  for (int i = 0; i < NOTES; i++)
    if (note_of(trace, &notes[i])[0])
      texts[used++] = (FovText){notes[i].key, note_of(trace, &notes[i])};
  return fov_safetensors_write(path, blobs, count, texts, used);
}

static FovStatus require_text(const FovSafetensors *file, const char *path, const char *key,
                              const char *expected) {
  const char *text = fov_safetensors_text(file, key);
  if (text && strcmp(text, expected) == 0) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: %s '%.32s', expected '%s', as 'fovea trace' writes it", path,
                  key, text ? text : "", expected);
}

static FovStatus read_number(int64_t *number, const FovSafetensors *file, const char *path,
                             const char *key, int64_t min, int64_t max) {
  const char *text = fov_safetensors_text(file, key);
  char *end = NULL;
  errno = 0;
  *number = text ? strtoll(text, &end, 10) : 0;
  if (text && end != text && *end == '\0' && errno == 0 && *number >= min && *number <= max)
    return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: %s '%.32s', expected a number from %jd to %jd", path, key,
                  text ? text : "", (intmax_t)min, (intmax_t)max);
}

static FovStatus read_flag(bool *flag, const FovSafetensors *file, const char *path,
                           const char *key) {
  const char *text = fov_safetensors_text(file, key);
  *flag = text && strcmp(text, "yes") == 0;
  if (text && (*flag || strcmp(text, "no") == 0)) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: %s '%.32s', expected yes or no", path, key,
                  text ? text : "");
}

/** A flag that a file need not have. */
static FovStatus read_mark(bool *flag, const FovSafetensors *file, const char *path,
                           const char *key) {
  return fov_safetensors_text(file, key) ? read_flag(flag, file, path, key) : FOV_OK;
}

static FovStatus read_reach(FovReach *reach, const FovSafetensors *file, const char *path) {
  const char *text = fov_safetensors_text(file, "reach");
  int found = 0;
  while (text && found < FOV_REACHES && strcmp(text, reaches[found]) != 0) found++;
  *reach = (FovReach)found;
  if (found < FOV_REACHES) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: reach '%.32s', expected glimpse, near or all", path, text);
}

/** Reads a positive extent of a blob. */
static FovStatus read_extent(int *size, const FovBlob *blob, int dim, const char *path) {
  if (blob->shape[dim] < 1 || blob->shape[dim] > INT_MAX)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s': extent %d is %jd, expected 1 to %d", path,
                    blob->name, dim, (intmax_t)blob->shape[dim], INT_MAX);
  *size = (int)blob->shape[dim];
  return FOV_OK;
}

static FovStatus read_sizes(FovTrace *trace, const FovSafetensors *file, const char *path) {
  int64_t side, scales;
  FOV_TRY(read_number(&side, file, path, "side", 1, INT_MAX));
  FOV_TRY(read_number(&scales, file, path, "scales", 1, INT_MAX));
  FOV_TRY(read_number(&trace->update, file, path, "update", 0, INT64_MAX));
  trace->side = (int)side;
  trace->scales = (int)scales;
  int64_t vocabulary = 0;
  if (fov_safetensors_text(file, "vocabulary"))
    FOV_TRY(read_number(&vocabulary, file, path, "vocabulary", 1, INT_MAX));
  trace->vocabulary = (int)vocabulary;
  int64_t across = 0;
  if (fov_safetensors_text(file, "tiles_across"))
    FOV_TRY(read_number(&across, file, path, "tiles_across", 1, FOV_COLUMN_WIDTH));
  trace->tiles_across = (int)across;
  FOV_TRY(read_reach(&trace->reach, file, path));
  FOV_TRY(read_flag(&trace->whole, file, path, "whole"));
  FOV_TRY(read_flag(&trace->control, file, path, "control"));
  FOV_TRY(read_mark(&trace->bilinear, file, path, "bilinear"));
  FOV_TRY(read_mark(&trace->inside, file, path, "inside"));
  const int64_t any[] = {-1, -1, -1, -1, -1};
  const FovBlob *images, *answers;
  FOV_TRY(fov_safetensors_require(&images, file, "images", FOV_DTYPE_U8, 5, any));
  FOV_TRY(read_extent(&trace->episodes, images, 0, path));
  FOV_TRY(read_extent(&trace->frames, images, 1, path));
  FOV_TRY(read_extent(&trace->height, images, 2, path));
  FOV_TRY(read_extent(&trace->width, images, 3, path));
  FOV_TRY(read_extent(&trace->channels, images, 4, path));
  FOV_TRY(fov_safetensors_require(&answers, file, "probabilities", FOV_DTYPE_F32, 3, any));
  FOV_TRY(read_extent(&trace->glimpses, answers, 1, path));
  FOV_TRY(read_extent(&trace->actions, answers, 2, path));
  if (trace->frames == 1 || trace->frames == trace->glimpses) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: 'images': %d frames an episode, expected 1 or %d", path,
                  trace->frames, trace->glimpses);
}

/** Names are one per line, as many as there are actions, or symbols. */
static FovStatus read_lines(char **lines, const FovSafetensors *file, const char *key, int count,
                            const char *what, const char *path) {
  const char *names = fov_safetensors_text(file, key);
  int found = 1;
  if (!names || !*names) return FOV_OK;
  for (const char *at = names; *at; at++) found += *at == '\n';
  if (found != count)
    return fov_fail(FOV_ERR_FORMAT, "%s: %d names, expected one for each of %d %s", path, found,
                    count, what);
  *lines = strdup(names);
  return *lines ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "%s: no memory for its names", path);
}

static FovStatus read_names(FovTrace *trace, const FovSafetensors *file, const char *path) {
  FOV_TRY(read_lines(&trace->names, file, "names", trace->actions, "actions", path));
  return read_lines(&trace->symbol_names, file, "symbol_names", trace->vocabulary, "symbols", path);
}

static FovStatus read_notes(FovTrace *trace, const FovSafetensors *file, const char *path) {
  for (int i = 0; i < NOTES; i++) {
    const char *text = fov_safetensors_text(file, notes[i].key);
    size_t length = text ? strlen(text) : 0;
    if (length >= notes[i].size)
      return fov_fail(FOV_ERR_FORMAT, "%s: %s '%.32s...': %zu bytes, expected at most %zu", path,
                      notes[i].key, text, length, notes[i].size - 1);
    if (text) memcpy((char *)trace + notes[i].offset, text, length + 1);
  }
  return check_notes(trace, path);
}

/** Declares the column of a blob if it is one. */
static FovStatus declare_column(FovTrace *trace, const FovBlob *blob, const char *path) {
  if (!fov_trace_after_prefix(blob->name)) return FOV_OK;
  if (!fov_trace_is_column_name(blob->name))
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s': a bad name of a column", path, blob->name);
  if (trace->columns == FOV_TRACE_COLUMNS)
    return fov_fail(FOV_ERR_FORMAT, "%s: more than %d columns policy.*, attention.* and answer.*",
                    path, FOV_TRACE_COLUMNS);
  int64_t width = blob->dims == 3 ? blob->shape[2] : 0;
  if (width < 1 || width > FOV_COLUMN_WIDTH)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: '%s': expected 3 extents, episodes, glimpses and 1 to %d numbers", path,
                    blob->name, FOV_COLUMN_WIDTH);
  fov_trace_add_column(trace, blob->name, (int)width);
  return FOV_OK;
}

/** Declares the columns that the file has. */
static FovStatus declare_columns(FovTrace *trace, const FovSafetensors *file, const char *path,
                                 bool means) {
  if (means) {
    fov_trace_add_column(trace, "policy.mean", 2);
    fov_trace_add_column(trace, "policy.sigma", 2);
    return FOV_OK;
  }
  for (size_t i = 0; i < fov_safetensors_count(file); i++)
    FOV_TRY(declare_column(trace, fov_safetensors_at(file, i), path));
  return FOV_OK;
}

/** Fails if the tiles of the attention do not fill rows of as many as the file names. */
static FovStatus check_grid(const FovTrace *trace, const char *path) {
  const FovTraceColumn *tiles = fov_trace_find_column(trace, "attention.tiles");
  if (!tiles || trace->tiles_across == 0 || tiles->width % trace->tiles_across == 0) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: 'attention.tiles': %d numbers, expected rows of %d", path,
                  tiles->width, trace->tiles_across);
}

static FovStatus load(FovTrace *trace, const FovSafetensors *file, const char *path) {
  const FovBlob *arrays[FOV_TRACE_ARRAYS] = {NULL};
  FOV_TRY(require_text(file, path, "format", FOV_TRACE_FORMAT));
  const char *version = fov_safetensors_text(file, "version");
  bool means = version && strcmp(version, VERSION_OF_MEANS) == 0;
  if (!means) FOV_TRY(require_text(file, path, "version", VERSION));
  FOV_TRY(read_sizes(trace, file, path));
  FOV_TRY(read_notes(trace, file, path));
  FOV_TRY(declare_columns(trace, file, path, means));
  FOV_TRY(check_grid(trace, path));
  FOV_TRY(fov_trace_require_arrays(arrays, trace, file, means));
  FOV_TRY(fov_trace_allocate(trace));
  FOV_TRY(read_names(trace, file, path));
  return fov_trace_copy_arrays(trace, arrays, path);
}

FovStatus fov_trace_read(FovTrace *trace, const char *path) {
  *trace = (FovTrace){0};
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status = load(trace, file, path);
  if (status != FOV_OK) fov_trace_finish(trace);
  fov_safetensors_close(file);
  return status;
}
