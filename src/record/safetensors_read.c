/** Reading a file: it is mapped, and all of its header is checked. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "record/safetensors_parts.h"

typedef struct Entry {
  FovBlob blob;
  size_t begin, end; /**< bytes from the start of the data */
  size_t order;      /**< place in the header: separates empty blobs at one offset */
  void *copy;        /**< the data, where the file has it misaligned for its type; else NULL */
} Entry;

struct FovSafetensors {
  char *path;
  uint8_t *map; /**< the whole file */
  size_t map_size;
  uint8_t *data; /**< what follows the header */
  size_t data_size;
  json_t *header;
  bool checked;   /**< it has a digest, which is right */
  Entry *entries; /**< in the order of their data */
  size_t count;
};

static FovStatus map_open(FovSafetensors *file, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", file->path, strerror(errno));
  if (info.st_size < FOV_HEADER_PREFIX)
    return fov_fail(FOV_ERR_FORMAT, "%s: not a safetensors file: %jd bytes, expected %d or more",
                    file->path, (intmax_t)info.st_size, FOV_HEADER_PREFIX + 2);
  void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED)
    return fov_fail(FOV_ERR_IO, "%s: cannot map: %s", file->path, strerror(errno));
  file->map = map;
  file->map_size = (size_t)info.st_size;
  return FOV_OK;
}

static FovStatus map_file(FovSafetensors *file) {
  int fd;
  FOV_TRY(fov_file_open(&fd, file->path));
  FovStatus status = map_open(file, fd);
  close(fd);
  return status;
}

/** Whether all bytes are those of printed text: the length of a header within the limit has zeros.
 */
static bool is_text(const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isprint(bytes[i]) && !isspace(bytes[i])) return false;
  return true;
}

/** Finds the header's text, within the limit and the file. */
static FovStatus find_header(const char **text, size_t *size, const FovSafetensors *file) {
  uint64_t length, rest = file->map_size - FOV_HEADER_PREFIX;
  memcpy(&length, file->map, FOV_HEADER_PREFIX);
  *text = (const char *)file->map + FOV_HEADER_PREFIX;
  *size = length;
  if (is_text(file->map, FOV_HEADER_PREFIX))
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected a run or a safetensors file, found text; fovea train makes a run "
                    "of an experiment",
                    file->path);
  if (length > rest)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: truncated or not a safetensors file: a header of %ju bytes, expected at "
                    "most the %ju that follow",
                    file->path, (uintmax_t)length, (uintmax_t)rest);
  if (length > FOV_HEADER_LIMIT)
    return fov_fail(FOV_ERR_FORMAT, "%s: a header of %ju bytes, expected at most %d (1 MiB)",
                    file->path, (uintmax_t)length, FOV_HEADER_LIMIT);
  if (length == 0 || **text != '{')
    return fov_fail(FOV_ERR_FORMAT, "%s: not a safetensors file: its header starts without '{'",
                    file->path);
  return FOV_OK;
}

/**
 * Whether a header can be one of arrays, judged before it is parsed: a parser needs up to 80 times
 * a text's size for one of many small arrays. An entry nests three deep and has at most 12 values
 * in its 60 bytes or more.
 */
static bool is_plausible(const char *text, size_t length) {
  size_t values = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < length; i++) {
    if (quoted && text[i] == '\\')
      i++;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && strchr("{[,", text[i]))
      values++;
    if (!quoted && (text[i] == '{' || text[i] == '[')) depth++;
    if (!quoted && (text[i] == '}' || text[i] == ']')) depth--;
    if (depth > 3 || values > length / 4 + 1) return false;
  }
  return true;
}

static FovStatus parse_header(FovSafetensors *file) {
  const char *text;
  size_t length;
  FOV_TRY(find_header(&text, &length, file));
  FOV_TRY(
      fov_safetensors_check_digest(&file->checked, file->path, file->map, file->map_size, length));
  if (!is_plausible(text, length))
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: not a safetensors file: its header nests deeper than three levels or has "
                    "too many values for its %zu bytes",
                    file->path, length);
  json_error_t error;
  file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (!file->header && !*error.text)
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its header", file->path);
  if (!file->header)
    return fov_fail(FOV_ERR_FORMAT, "%s: header, byte %d: %s", file->path, error.position,
                    error.text);
  file->data = file->map + FOV_HEADER_PREFIX + length;
  file->data_size = file->map_size - FOV_HEADER_PREFIX - length;
  return FOV_OK;
}

static FovStatus check_texts(const FovSafetensors *file, json_t *texts) {
  if (!json_is_object(texts))
    return fov_fail(FOV_ERR_FORMAT, "%s: %s is not an object", file->path, FOV_METADATA);
  const char *key;
  json_t *value;
  json_object_foreach(texts, key, value) {
    if (!json_is_string(value))
      return fov_fail(FOV_ERR_FORMAT, "%s: %s: '%s' is not a string", file->path, FOV_METADATA,
                      key);
  }
  if (json_object_get(texts, FOV_DIGEST_TEXT) && !file->checked)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: its digest is not where fovea writes it, so another program changed the "
                    "file; remove '" FOV_DIGEST_TEXT "' from its %s to accept it unchecked",
                    file->path, FOV_METADATA);
  return FOV_OK;
}

static FovStatus parse_name(FovBlob *blob, const FovSafetensors *file, const char *name) {
  size_t length = strlen(name);
  if (length >= FOV_BLOB_NAME)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%.32s…': a name of %zu bytes, expected at most %d",
                    file->path, name, length, FOV_BLOB_NAME - 1);
  memcpy(blob->name, name, length + 1);
  return FOV_OK;
}

static FovStatus parse_dtype(FovBlob *blob, const FovSafetensors *file, const char *dtype) {
  for (int i = 0; i < FOV_DTYPES; i++) {
    if (strcmp(dtype, fov_dtype_name((FovDtype)i)) != 0) continue;
    blob->dtype = (FovDtype)i;
    return FOV_OK;
  }
  return fov_fail(FOV_ERR_FORMAT, "%s: '%s': dtype '%.16s', expected U8, I32, I64, F32 or F64",
                  file->path, blob->name, dtype);
}

static FovStatus parse_shape(FovBlob *blob, const FovSafetensors *file, const json_t *shape) {
  if (!json_is_array(shape) || json_array_size(shape) > FOV_BLOB_DIMS)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s': a shape of %zu extents, expected a list of 0 to %d",
                    file->path, blob->name, json_array_size(shape), FOV_BLOB_DIMS);
  blob->dims = (int)json_array_size(shape);
  for (int i = 0; i < blob->dims; i++) {
    const json_t *extent = json_array_get(shape, (size_t)i);
    if (!json_is_integer(extent) || json_integer_value(extent) < 0)
      return fov_fail(FOV_ERR_FORMAT, "%s: '%s': extent %d of the shape is not a whole number >= 0",
                      file->path, blob->name, i);
    blob->shape[i] = json_integer_value(extent);
  }
  return FOV_OK;
}

static FovStatus parse_offsets(Entry *entry, const FovSafetensors *file, json_int_t begin,
                               json_int_t end) {
  if (begin < 0 || end < begin || (uintmax_t)end > file->data_size)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: '%s': offsets %lld to %lld, expected a range within the %zu bytes of data",
                    file->path, entry->blob.name, (long long)begin, (long long)end,
                    file->data_size);
  size_t size;
  if (!fov_blob_measure(&size, &entry->blob) || size != (size_t)(end - begin))
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s': %lld bytes of data do not fill its shape exactly",
                    file->path, entry->blob.name, (long long)(end - begin));
  entry->begin = (size_t)begin;
  entry->end = (size_t)end;
  return FOV_OK;
}

static FovStatus parse_entry(Entry *entry, const FovSafetensors *file, const char *name,
                             json_t *value) {
  FOV_TRY(parse_name(&entry->blob, file, name));
  json_error_t error;
  const char *dtype;
  json_t *shape;
  json_int_t begin, end;
  if (json_unpack_ex(value, &error, JSON_STRICT, "{s:s, s:o, s:[I, I]}", "dtype", &dtype, "shape",
                     &shape, "data_offsets", &begin, &end) != 0)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s': %s", file->path, name, error.text);
  FOV_TRY(parse_dtype(&entry->blob, file, dtype));
  FOV_TRY(parse_shape(&entry->blob, file, shape));
  return parse_offsets(entry, file, begin, end);
}

static FovStatus parse_entries(FovSafetensors *file) {
  file->entries = calloc(json_object_size(file->header) + 1, sizeof *file->entries);
  if (!file->entries) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its entries", file->path);
  const char *name;
  json_t *value;
  json_object_foreach(file->header, name, value) {
    if (strcmp(name, FOV_METADATA) == 0) {
      FOV_TRY(check_texts(file, value));
      continue;
    }
    Entry *entry = &file->entries[file->count];
    entry->order = file->count++;
    FOV_TRY(parse_entry(entry, file, name, value));
  }
  return FOV_OK;
}

static int compare(size_t a, size_t b) {
  return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  int begin = compare(x->begin, y->begin), end = compare(x->end, y->end);
  return begin ? begin : end ? end : compare(x->order, y->order);
}

/** The entries must tile the data: each begins where the one before ends. */
static FovStatus check_layout(FovSafetensors *file) {
  qsort(file->entries, file->count, sizeof *file->entries, by_place);
  size_t end = 0;
  for (size_t i = 0; i < file->count; i++) {
    const Entry *entry = &file->entries[i];
    if (entry->begin != end)
      return fov_fail(FOV_ERR_FORMAT, "%s: '%s' begins at byte %zu of the data, expected %zu: %s",
                      file->path, entry->blob.name, entry->begin, end,
                      entry->begin < end ? "an overlap" : "a hole");
    end = entry->end;
  }
  if (end != file->data_size)
    return fov_fail(FOV_ERR_FORMAT, "%s: %zu bytes of data, but the entries end at %zu", file->path,
                    file->data_size, end);
  return FOV_OK;
}

/** Points the blob to its data: in place where a pointer of its type may point there. */
static FovStatus place(FovSafetensors *file, Entry *entry) {
  entry->blob.data = file->data + entry->begin;
  size_t size = entry->end - entry->begin;
  if (size == 0 || (uintptr_t)entry->blob.data % fov_dtype_size(entry->blob.dtype) == 0)
    return FOV_OK;
  entry->copy = malloc(size);
  if (!entry->copy)
    return fov_fail(FOV_ERR_MEMORY, "%s: '%s': no memory for its %zu bytes", file->path,
                    entry->blob.name, size);
  entry->blob.data = memcpy(entry->copy, entry->blob.data, size);
  return FOV_OK;
}

static FovStatus load(FovSafetensors *file) {
  FOV_TRY(map_file(file));
  FOV_TRY(parse_header(file));
  FOV_TRY(parse_entries(file));
  FOV_TRY(check_layout(file));
  for (size_t i = 0; i < file->count; i++) FOV_TRY(place(file, &file->entries[i]));
  return FOV_OK;
}

FovStatus fov_safetensors_open(FovSafetensors **result, const char *path) {
  *result = NULL;
  FovSafetensors *file = calloc(1, sizeof *file);
  if (file) file->path = strdup(path);
  FovStatus status =
      file && file->path ? load(file) : fov_fail(FOV_ERR_MEMORY, "%s: no memory to open", path);
  if (status == FOV_OK)
    *result = file;
  else
    fov_safetensors_close(file);
  return status;
}

void fov_safetensors_close(FovSafetensors *file) {
  if (!file) return;
  for (size_t i = 0; i < file->count; i++) free(file->entries[i].copy);
  free(file->entries);
  json_decref(file->header);
  if (file->map) munmap(file->map, file->map_size);
  free(file->path);
  free(file);
}

const FovBlob *fov_safetensors_find(const FovSafetensors *file, const char *name) {
  for (size_t i = 0; i < file->count; i++)
    if (strcmp(file->entries[i].blob.name, name) == 0) return &file->entries[i].blob;
  return NULL;
}

typedef struct ShapeText {
  char text[FOV_BLOB_DIMS * 22 + 3];
} ShapeText;

static ShapeText print_shape(int dims, const int64_t *shape) {
  ShapeText out = {"["};
  size_t n = 1;
  for (int i = 0; i < dims; i++) {
    size_t left = sizeof out.text - n;
    const char *comma = i ? ", " : "";
    int length = shape[i] < 0 ? snprintf(out.text + n, left, "%sany", comma)
                              : snprintf(out.text + n, left, "%s%jd", comma, (intmax_t)shape[i]);
    n += (size_t)length;
  }
  snprintf(out.text + n, sizeof out.text - n, "]");
  return out;
}

static bool shape_fits(const FovBlob *blob, int dims, const int64_t *shape) {
  if (dims < 0) return true;
  if (dims != blob->dims) return false;
  for (int i = 0; i < dims; i++)
    if (shape[i] != -1 && shape[i] != blob->shape[i]) return false;
  return true;
}

FovStatus fov_safetensors_require(const FovBlob **result, const FovSafetensors *file,
                                  const char *name, FovDtype dtype, int dims,
                                  const int64_t *shape) {
  FOV_CHECK(dims <= FOV_BLOB_DIMS && (unsigned)dtype < FOV_DTYPES, "%s: %d dims of dtype %d", name,
            dims, (int)dtype);
  *result = NULL;
  const FovBlob *blob = fov_safetensors_find(file, name);
  if (!blob) return fov_fail(FOV_ERR_FORMAT, "%s: has no '%s'", file->path, name);
  if (blob->dtype != dtype)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s' is of %s, expected %s", file->path, name,
                    fov_dtype_name(blob->dtype), fov_dtype_name(dtype));
  if (!shape_fits(blob, dims, shape))
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s' has shape %s, expected %s", file->path, name,
                    print_shape(blob->dims, blob->shape).text, print_shape(dims, shape).text);
  *result = blob;
  return FOV_OK;
}

const char *fov_safetensors_text(const FovSafetensors *file, const char *key) {
  return json_string_value(json_object_get(json_object_get(file->header, FOV_METADATA), key));
}

const char *fov_safetensors_path(const FovSafetensors *file) {
  return file->path;
}

bool fov_safetensors_is_checked(const FovSafetensors *file) {
  return file->checked;
}

size_t fov_safetensors_count(const FovSafetensors *file) {
  return file->count;
}

const FovBlob *fov_safetensors_at(const FovSafetensors *file, size_t i) {
  FOV_CHECK(i < file->count, "blob %zu of %zu", i, file->count);
  return &file->entries[i].blob;
}
