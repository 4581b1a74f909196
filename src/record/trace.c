#include "record/trace.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/safetensors.h"

/** One array of a trace: how it is stored and which values are valid. */
typedef struct Field {
  const char *name;
  const char *shape; /**< a letter per dimension, see `extent` */
  FovDtype dtype;
  size_t offset; /**< of its pointer in FovTrace */
  float min, max;
  bool absent; /**< NaN is allowed: no value */
  char extent; /**< integers: the letter whose extent is added to `max` */
} Field;

#define FIELD(field, shape, dtype, ...)                                                            \
  { #field, shape, dtype, offsetof(FovTrace, field), __VA_ARGS__ }

// Bytes come last, so that every array is aligned in the file.
static const Field fields[] = {
    FIELD(locations, "ET2", FOV_DTYPE_F32, -1, 1, false, '0'),
    FIELD(probabilities, "ETA", FOV_DTYPE_F32, 0, 1, false, '0'),
    FIELD(baselines, "ET", FOV_DTYPE_F32, -FLT_MAX, FLT_MAX, true, '0'),
    FIELD(rewards, "ET", FOV_DTYPE_F32, -FLT_MAX, FLT_MAX, false, '0'),
    FIELD(labels, "ET", FOV_DTYPE_I32, -1, -1, false, 'A'),
    FIELD(answers, "ET", FOV_DTYPE_I32, -1, -1, false, 'A'),
    FIELD(lengths, "E", FOV_DTYPE_I32, 1, 0, false, 'T'),
    FIELD(wrong, "E", FOV_DTYPE_I32, 0, 1, false, '0'),
    FIELD(symbols, "EW", FOV_DTYPE_I32, -1, -1, false, 'V'),
    FIELD(images, "EFHWC", FOV_DTYPE_U8, 0, 0, false, '0'),
    FIELD(retina, "ETSGGC", FOV_DTYPE_U8, 0, 0, false, '0'),
};
enum { FIELDS = sizeof fields / sizeof fields[0], BLOBS = FIELDS + FOV_TRACE_COLUMNS };

/** The values of a column; each column is a blob of its name. */
static const Field column_field = {"column", "ET", FOV_DTYPE_F32, 0, -FLT_MAX, FLT_MAX, true, '0'};

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

#define FORMAT "fovea-trace"
#define VERSION "3"
#define VERSION_OF_MEANS "2" // has the arrays means and sigmas instead of columns

static int64_t extent(const FovTrace *trace, char letter) {
  static const char letters[] = "ETFHWCAGSV";
  const int extents[] = {trace->episodes, trace->glimpses,  trace->frames,  trace->height,
                         trace->width,    trace->channels,  trace->actions, trace->side,
                         trace->scales,   trace->vocabulary};
  const char *found = strchr(letters, letter);
  return found ? extents[found - letters] : letter - '0';
}

/** Whether a trace has this array: symbols are only of sequences. */
static bool has(const FovTrace *trace, const Field *field) {
  return trace->vocabulary > 0 || strcmp(field->name, "symbols") != 0;
}

// Copied, not cast: a `float *` may not be read through a `void **`.
static void *get(const FovTrace *trace, const Field *field) {
  void *data;
  memcpy(&data, (const char *)trace + field->offset, sizeof data);
  return data;
}

static void set(FovTrace *trace, const Field *field, void *data) {
  memcpy((char *)trace + field->offset, &data, sizeof data);
}

static FovBlob describe(const FovTrace *trace, const Field *field) {
  FovBlob blob = {.dtype = field->dtype, .data = get(trace, field)};
  snprintf(blob.name, sizeof blob.name, "%s", field->name);
  for (const char *letter = field->shape; *letter; letter++)
    blob.shape[blob.dims++] = extent(trace, *letter);
  return blob;
}

static FovBlob describe_column(const FovTrace *trace, const FovTraceColumn *column) {
  FovBlob blob = {.dtype = FOV_DTYPE_F32,
                  .dims = 3,
                  .shape = {trace->episodes, trace->glimpses, column->width},
                  .data = column->values};
  snprintf(blob.name, sizeof blob.name, "%s", column->name);
  return blob;
}

/* ---- columns ---- */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** What follows "policy.", "attention." or "answer."; NULL if the name has another form. */
static const char *after_prefix(const char *name) {
  static const char *const prefixes[] = {"policy.", "attention.", "answer."};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return name + strlen(prefixes[i]);
  return NULL;
}

static bool is_column_name(const char *name) {
  const char *own = after_prefix(name);
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
  FOV_CHECK(is_column_name(name) && !fov_trace_find_column(trace, name),
            "'%s': a bad name of a trace's column, or one that is taken", name);
  FOV_CHECK(width >= 1 && width <= FOV_COLUMN_WIDTH, "column '%s': width %d, expected 1 to %d",
            name, width, FOV_COLUMN_WIDTH);
  FovTraceColumn *column = &trace->column[trace->columns++];
  *column = (FovTraceColumn){.width = width};
  snprintf(column->name, sizeof column->name, "%s", name);
}

/* ---- memory ---- */

/** Fills an array with its empty value. */
static void fill(const FovBlob *blob, const Field *field) {
  size_t count = fov_blob_size(blob) / fov_dtype_size(blob->dtype);
  for (size_t i = 0; i < count && field->dtype == FOV_DTYPE_I32; i++)
    ((int32_t *)blob->data)[i] = (int32_t)field->min;
  for (size_t i = 0; i < count && field->absent; i++) ((float *)blob->data)[i] = NAN;
}

/** An array of the blob's shape, filled with its empty value; NULL if there is no memory. */
static void *allocate(FovBlob blob, const Field *field) {
  size_t size = fov_blob_size(&blob);
  FOV_CHECK(size > 0, "a trace without %s: set all sizes first", blob.name);
  blob.data = calloc(1, size);
  if (blob.data) fill(&blob, field);
  return blob.data;
}

FovStatus fov_trace_allocate(FovTrace *trace) {
  bool failed = false;
  FOV_CHECK(trace->columns >= 0 && trace->columns <= FOV_TRACE_COLUMNS, "a trace of %d columns",
            trace->columns);
  for (int i = 0; i < FIELDS; i++) {
    if (!has(trace, &fields[i])) continue;
    void *data = failed ? NULL : allocate(describe(trace, &fields[i]), &fields[i]);
    set(trace, &fields[i], data);
    failed = !data;
  }
  for (int i = 0; i < trace->columns; i++) {
    FovTraceColumn *column = &trace->column[i];
    column->values = failed ? NULL : allocate(describe_column(trace, column), &column_field);
    failed = !column->values;
  }
  if (!failed) return FOV_OK;
  int episodes = trace->episodes, glimpses = trace->glimpses;
  fov_trace_finish(trace);
  return fov_fail(FOV_ERR_MEMORY, "no memory for a trace of %d episodes of %d glimpses", episodes,
                  glimpses);
}

/** The names one per line, malloc'd; NULL if there are none or one cannot be a line. */
static FovStatus join_names(char **joined, const char *const *names, int count) {
  size_t size = 1;
  *joined = NULL;
  for (int a = 0; names && a < count; a++) {
    size += strlen(names[a]) + 1;
    if (!fov_text_is_printable(names[a])) return FOV_OK;
  }
  if (!names) return FOV_OK;
  char *end = *joined = malloc(size);
  if (!end) return fov_fail(FOV_ERR_MEMORY, "no memory for %d names", count);
  for (int a = 0; a < count; a++) end += sprintf(end, "%s%s", a ? "\n" : "", names[a]);
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

int fov_trace_length(const FovTrace *trace, int episode) {
  int length = 0;
  const int32_t *symbols = trace->symbols + (size_t)episode * (size_t)trace->width;
  while (trace->vocabulary > 0 && length < trace->width && symbols[length] >= 0) length++;
  return length;
}

void fov_trace_finish(FovTrace *trace) {
  for (int i = 0; i < FIELDS; i++) free(get(trace, &fields[i]));
  for (int i = 0; i < trace->columns; i++) free(trace->column[i].values);
  free(trace->names);
  free(trace->symbol_names);
  *trace = (FovTrace){0};
}

/* ---- checks and writing ---- */

static FovStatus check_reals(const FovBlob *blob, const Field *field, const char *path) {
  const float *values = blob->data;
  size_t count = fov_blob_size(blob) / sizeof *values;
  for (size_t i = 0; i < count; i++) {
    bool good =
        isnan(values[i]) ? field->absent : values[i] >= field->min && values[i] <= field->max;
    if (!good)
      return fov_fail(FOV_ERR_FORMAT, "%s: '%s': number %zu is %g, expected %g to %g%s", path,
                      blob->name, i, (double)values[i], (double)field->min, (double)field->max,
                      field->absent ? " or NaN" : "");
  }
  return FOV_OK;
}

static FovStatus check_integers(const FovBlob *blob, const Field *field, int max,
                                const char *path) {
  const int32_t *values = blob->data;
  size_t count = fov_blob_size(blob) / sizeof *values;
  for (size_t i = 0; i < count; i++)
    if (values[i] < (int32_t)field->min || values[i] > max)
      return fov_fail(FOV_ERR_FORMAT, "%s: '%s': number %zu is %d, expected %d to %d", path,
                      field->name, i, (int)values[i], (int)field->min, max);
  return FOV_OK;
}

static FovStatus check_values(const FovTrace *trace, const Field *field, const char *path) {
  FovBlob blob = describe(trace, field);
  if (field->dtype == FOV_DTYPE_F32) return check_reals(&blob, field, path);
  if (field->dtype == FOV_DTYPE_U8) return FOV_OK; // every byte is a brightness
  return check_integers(&blob, field, (int)(extent(trace, field->extent) + (int64_t)field->max),
                        path);
}

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

/** Checks all arrays and describes them, columns first: bytes come last. blobs: [BLOBS] */
static FovStatus describe_all(FovBlob *blobs, size_t *count, const FovTrace *trace,
                              const char *path) {
  *count = 0;
  for (int i = 0; i < trace->columns; i++) {
    FovBlob blob = blobs[(*count)++] = describe_column(trace, &trace->column[i]);
    FOV_TRY(check_reals(&blob, &column_field, path));
  }
  for (int i = 0; i < FIELDS; i++) {
    if (!has(trace, &fields[i])) continue;
    blobs[(*count)++] = describe(trace, &fields[i]);
    FOV_TRY(check_values(trace, &fields[i], path));
  }
  return FOV_OK;
}

FovStatus fov_trace_write(const FovTrace *trace, const char *path) {
  FovBlob blobs[BLOBS];
  size_t count;
  FOV_TRY(check_notes(trace, path));
  FOV_TRY(describe_all(blobs, &count, trace, path));
  char side[16], scales[16], update[24], vocabulary[16], across[16];
  snprintf(side, sizeof side, "%d", trace->side);
  snprintf(scales, sizeof scales, "%d", trace->scales);
  snprintf(update, sizeof update, "%" PRId64, trace->update);
  snprintf(vocabulary, sizeof vocabulary, "%d", trace->vocabulary);
  FovText texts[11 + NOTES] = {{"format", FORMAT},
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
  for (int i = 0; i < NOTES; i++)
    if (note_of(trace, &notes[i])[0])
      texts[used++] = (FovText){notes[i].key, note_of(trace, &notes[i])};
  return fov_safetensors_write(path, blobs, count, texts, used);
}

/* ---- reading ---- */

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
  FOV_TRY(read_flag(&trace->whole, file, path, "whole"));
  FOV_TRY(read_flag(&trace->control, file, path, "control"));
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
  if (!after_prefix(blob->name)) return FOV_OK;
  if (!is_column_name(blob->name))
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

/** Every array must have the shape that the sizes give, so the size of the file bounds what is
 * allocated. means: columns have the names of version 2. arrays: [BLOBS], NULL; what the trace does
 * not have stays so */
static FovStatus require_arrays(const FovBlob *arrays[], const FovTrace *trace,
                                const FovSafetensors *file, bool means) {
  for (int i = 0; i < FIELDS + trace->columns; i++) {
    FovBlob want = i < FIELDS ? describe(trace, &fields[i])
                              : describe_column(trace, &trace->column[i - FIELDS]);
    if (i < FIELDS && !has(trace, &fields[i])) continue;
    if (means && i >= FIELDS) strcpy(want.name, i == FIELDS ? "means" : "sigmas");
    FOV_TRY(
        fov_safetensors_require(&arrays[i], file, want.name, want.dtype, want.dims, want.shape));
  }
  return FOV_OK;
}

static FovStatus copy_arrays(FovTrace *trace, const FovBlob *const arrays[], const char *path) {
  for (int i = 0; i < FIELDS; i++) {
    if (!arrays[i]) continue;
    memcpy(get(trace, &fields[i]), arrays[i]->data, fov_blob_size(arrays[i]));
    FOV_TRY(check_values(trace, &fields[i], path));
  }
  for (int i = 0; i < trace->columns; i++) {
    const FovBlob *array = arrays[FIELDS + i];
    memcpy(trace->column[i].values, array->data, fov_blob_size(array));
    FOV_TRY(check_reals(array, &column_field, path));
  }
  return FOV_OK;
}

static FovStatus load(FovTrace *trace, const FovSafetensors *file, const char *path) {
  const FovBlob *arrays[BLOBS] = {NULL};
  FOV_TRY(require_text(file, path, "format", FORMAT));
  const char *version = fov_safetensors_text(file, "version");
  bool means = version && strcmp(version, VERSION_OF_MEANS) == 0;
  if (!means) FOV_TRY(require_text(file, path, "version", VERSION));
  FOV_TRY(read_sizes(trace, file, path));
  FOV_TRY(read_notes(trace, file, path));
  FOV_TRY(declare_columns(trace, file, path, means));
  FOV_TRY(check_grid(trace, path));
  FOV_TRY(require_arrays(arrays, trace, file, means));
  FOV_TRY(fov_trace_allocate(trace));
  FOV_TRY(read_names(trace, file, path));
  return copy_arrays(trace, arrays, path);
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

/** Whether an episode of two traces of the same sizes begins with the same image or sequence. */
static bool same_start(const FovTrace *a, const FovTrace *b, int episode) {
  size_t e = (size_t)episode, width = (size_t)a->width;
  size_t image = (size_t)a->height * width * (size_t)a->channels;
  if (a->vocabulary > 0)
    return memcmp(a->symbols + e * width, b->symbols + e * width, width * sizeof *a->symbols) == 0;
  return memcmp(a->images + e * (size_t)a->frames * image,
                b->images + e * (size_t)b->frames * image, image) == 0;
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
                      "both with the same --split and eval.seed",
                      a_path, b_path, e, a->vocabulary > 0 ? "sequence" : "image");
  return FOV_OK;
}
