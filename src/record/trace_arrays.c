/** The arrays of a trace: their memory, how they are stored, and which values are valid. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/trace_parts.h"

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
enum { FIELDS = sizeof fields / sizeof fields[0] };
_Static_assert(FIELDS + FOV_TRACE_COLUMNS == FOV_TRACE_ARRAYS, "an array without room for it");

/** The values of a column; each column is a blob of its name. */
static const Field column_field = {"column", "ET", FOV_DTYPE_F32, 0, -FLT_MAX, FLT_MAX, true, '0'};

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

size_t fov_trace_episode_bytes(const FovTrace *trace) {
  FovTrace one = *trace;
  size_t bytes = 0;
  one.episodes = 1;
  for (int i = 0; i < FIELDS; i++) {
    FovBlob blob = describe(&one, &fields[i]);
    if (has(&one, &fields[i])) bytes += fov_blob_size(&blob);
  }
  for (int i = 0; i < one.columns; i++) {
    FovBlob blob = describe_column(&one, &one.column[i]);
    bytes += fov_blob_size(&blob);
  }
  return bytes;
}

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

void fov_trace_finish(FovTrace *trace) {
  for (int i = 0; i < FIELDS; i++) free(get(trace, &fields[i]));
  for (int i = 0; i < trace->columns; i++) free(trace->column[i].values);
  free(trace->names);
  free(trace->symbol_names);
  *trace = (FovTrace){0};
}

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

FovStatus fov_trace_describe(FovBlob *blobs, size_t *count, const FovTrace *trace,
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

FovStatus fov_trace_require_arrays(const FovBlob *arrays[], const FovTrace *trace,
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

FovStatus fov_trace_copy_arrays(FovTrace *trace, const FovBlob *const arrays[], const char *path) {
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
