#include "record/safetensors.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are stored as in memory");

enum {
  PREFIX = 8,
  ALIGNMENT = 8,
  HEADER_LIMIT = 1 << 20, /**< fovea's are 2 to 10 KiB; the format allows 100 MB */
};

#define METADATA "__metadata__"
#define DIGEST "digest"

/**
 * The digest stands at a fixed place, in the first text of the header:
 *
 *     {"__metadata__":{"digest":"xxh64:0123456789abcdef", ...
 *                     | KEY    || NAME|| DIGEST_AT
 *
 * It covers every byte of the file, with zeros in the place of its own digits. Key and algorithm
 * both mark a file that has one, so that damage to either does not make it a file without.
 */
#define DIGEST_START "{\"" METADATA "\":{"
#define DIGEST_KEY "\"" DIGEST "\":\""
#define DIGEST_NAME "xxh64:"
#define DIGEST_ZEROS "0000000000000000"

enum {
  KEY_AT = sizeof DIGEST_START - 1,
  NAME_AT = KEY_AT + sizeof DIGEST_KEY - 1,
  DIGEST_AT = NAME_AT + sizeof DIGEST_NAME - 1, /**< from the start of the header */
  DIGEST_END = DIGEST_AT + FOV_DIGEST_SIZE,
};

static const struct {
  const char *name;
  size_t size;
} dtypes[] = {
    [FOV_DTYPE_U8] = {"U8", 1},   [FOV_DTYPE_I32] = {"I32", 4}, [FOV_DTYPE_I64] = {"I64", 8},
    [FOV_DTYPE_F32] = {"F32", 4}, [FOV_DTYPE_F64] = {"F64", 8},
};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

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

size_t fov_dtype_size(FovDtype dtype) {
  FOV_CHECK((unsigned)dtype < DTYPES, "dtype %d", (int)dtype);
  return dtypes[dtype].size;
}

/** False if a shape is negative or its bytes do not fit 63 bits. */
static bool measure(size_t *size, const FovBlob *blob) {
  int64_t bytes = (int64_t)fov_dtype_size(blob->dtype);
  for (int i = 0; i < blob->dims; i++)
    if (blob->shape[i] < 0 || __builtin_mul_overflow(bytes, blob->shape[i], &bytes)) return false;
  *size = (size_t)bytes;
  return true;
}

size_t fov_blob_size(const FovBlob *blob) {
  FOV_CHECK(blob->dims >= 0 && blob->dims <= FOV_BLOB_DIMS, "%s: %d dims", blob->name, blob->dims);
  size_t size = 0;
  FOV_CHECK(measure(&size, blob), "%s: a shape of negative or too many elements", blob->name);
  return size;
}

/* ---- writer ---- */

static json_t *describe(const FovBlob *blob, size_t begin) {
  json_t *shape = json_array();
  int failed = 0;
  for (int i = 0; i < blob->dims; i++)
    failed |= json_array_append_new(shape, json_integer(blob->shape[i]));
  if (failed) {
    json_decref(shape);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtypes[blob->dtype].name, "shape", shape,
                   "data_offsets", (json_int_t)begin, (json_int_t)(begin + fov_blob_size(blob)));
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const FovText *)a)->key, ((const FovText *)b)->key);
}

/** Adds the texts in the order of their keys, after a digest of zeros. */
static FovStatus add_texts(json_t *header, const char *path, const FovText *texts, size_t count) {
  FovText *sorted = calloc(count + 1, sizeof *sorted);
  json_t *object = json_pack("{s:s}", DIGEST, DIGEST_NAME DIGEST_ZEROS);
  if (json_object_set_new(header, METADATA, object) != 0 || !sorted) {
    free(sorted);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its header", path);
  }
  if (count > 0) memcpy(sorted, texts, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_key);
  FovStatus status = FOV_OK;
  for (size_t i = 0; i < count && status == FOV_OK; i++) {
    FOV_CHECK(strcmp(sorted[i].key, DIGEST) != 0, "%s: a text '" DIGEST "' of the caller", path);
    if (json_object_set_new(object, sorted[i].key, json_string(sorted[i].value)) != 0)
      status = fov_fail(FOV_ERR_FORMAT, "%s: the text '%s' is not UTF-8, or no memory is left",
                        path, sorted[i].key);
  }
  free(sorted);
  return status;
}

static FovStatus add_blobs(json_t *header, const char *path, const FovBlob *blobs, size_t count) {
  size_t begin = 0;
  for (size_t i = 0; i < count; i++) {
    const FovBlob *blob = &blobs[i];
    FOV_CHECK(memchr(blob->name, '\0', FOV_BLOB_NAME), "blob %zu: an endless name", i);
    FOV_CHECK(strcmp(blob->name, METADATA) != 0, "%s: the name of the texts", blob->name);
    FOV_CHECK(!json_object_get(header, blob->name), "%s: two blobs of one name", blob->name);
    if (json_object_set_new(header, blob->name, describe(blob, begin)) != 0)
      return fov_fail(FOV_ERR_FORMAT, "%s: the name '%s' is not UTF-8, or no memory is left", path,
                      blob->name);
    begin += fov_blob_size(blob);
  }
  return FOV_OK;
}

/** Puts the digest of the whole file into its header. */
static void set_digest(char *header, uint64_t prefix, const FovBlob *blobs, size_t count) {
  FOV_CHECK(memcmp(header + KEY_AT, DIGEST_KEY DIGEST_NAME DIGEST_ZEROS, DIGEST_END - KEY_AT) == 0,
            "a header that starts otherwise: %.64s", header);
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, &prefix, PREFIX);
  fov_digest_add(&digest, header, prefix);
  for (size_t i = 0; i < count; i++)
    fov_digest_add(&digest, blobs[i].data, fov_blob_size(&blobs[i]));
  char text[FOV_DIGEST_SIZE + 1];
  memcpy(header + DIGEST_AT, fov_digest_print(text, fov_digest_value(&digest)), FOV_DIGEST_SIZE);
}

/** header: `size` bytes, padding included. */
static FovStatus write_file(const char *path, const char *header, uint64_t size,
                            const FovBlob *blobs, size_t count) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  // Results of writes are not checked: the commit fails if any of these did.
  fwrite(&size, PREFIX, 1, replace.stream);
  fwrite(header, 1, size, replace.stream);
  for (size_t i = 0; i < count; i++) {
    size_t bytes = fov_blob_size(&blobs[i]);
    if (bytes > 0) fwrite(blobs[i].data, 1, bytes, replace.stream);
  }
  return fov_replace_commit(&replace);
}

static FovStatus print_and_write(const char *path, const json_t *header, const FovBlob *blobs,
                                 size_t count) {
  size_t length = json_dumpb(header, NULL, 0, JSON_COMPACT), padding = -length % ALIGNMENT;
  if (length + padding > HEADER_LIMIT)
    return fov_fail(FOV_ERR_FORMAT, "%s: a header of %zu bytes, expected at most %d", path, length,
                    HEADER_LIMIT);
  char *text = malloc(length + padding + 1);
  if (length == 0 || !text || json_dumpb(header, text, length, JSON_COMPACT) != length) {
    free(text);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its header", path);
  }
  memset(text + length, ' ', padding);
  set_digest(text, length + padding, blobs, count);
  FovStatus status = write_file(path, text, length + padding, blobs, count);
  free(text);
  return status;
}

FovStatus fov_safetensors_write(const char *path, const FovBlob *blobs, size_t blob_count,
                                const FovText *texts, size_t text_count) {
  json_t *header = json_object();
  FovStatus status = add_texts(header, path, texts, text_count);
  if (status == FOV_OK) status = add_blobs(header, path, blobs, blob_count);
  if (status == FOV_OK) status = print_and_write(path, header, blobs, blob_count);
  json_decref(header);
  return status;
}

/* ---- reader ---- */

static FovStatus map_open(FovSafetensors *file, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", file->path, strerror(errno));
  if (info.st_size < PREFIX)
    return fov_fail(FOV_ERR_FORMAT, "%s: not a safetensors file: %jd bytes, expected %d or more",
                    file->path, (intmax_t)info.st_size, PREFIX + 2);
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

/** Finds the header's text, within the limit and the file. */
static FovStatus find_header(const char **text, size_t *size, const FovSafetensors *file) {
  uint64_t length, rest = file->map_size - PREFIX;
  memcpy(&length, file->map, PREFIX);
  *text = (const char *)file->map + PREFIX;
  *size = length;
  if (length > HEADER_LIMIT || length > rest)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: truncated or not a safetensors file: a header of %ju bytes, expected at "
                    "most %d and the %ju that follow",
                    file->path, (uintmax_t)length, HEADER_LIMIT, (uintmax_t)rest);
  if (length == 0 || **text != '{')
    return fov_fail(FOV_ERR_FORMAT, "%s: not a safetensors file: its header starts without '{'",
                    file->path);
  return FOV_OK;
}

/** The digest of the file, with zeros in the place of the header's digits. */
static uint64_t compute_digest(const FovSafetensors *file) {
  const size_t at = PREFIX + DIGEST_AT, end = PREFIX + DIGEST_END;
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, file->map, at);
  fov_digest_add(&digest, DIGEST_ZEROS, FOV_DIGEST_SIZE);
  fov_digest_add(&digest, file->map + end, file->map_size - end);
  return fov_digest_value(&digest);
}

/** Checks the digest, if the header has one. */
static FovStatus check_digest(FovSafetensors *file, const char *text, size_t length) {
  if (length < DIGEST_END) return FOV_OK;
  bool key = memcmp(text + KEY_AT, DIGEST_KEY, NAME_AT - KEY_AT) == 0;
  bool name = memcmp(text + NAME_AT, DIGEST_NAME, DIGEST_AT - NAME_AT) == 0;
  if (!key && !name) return FOV_OK;
  char expected[FOV_DIGEST_SIZE + 1];
  fov_digest_print(expected, compute_digest(file));
  file->checked = memcmp(text + DIGEST_AT, expected, FOV_DIGEST_SIZE) == 0;
  if (file->checked) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: its digest is %.16s, but its bytes have %s: the file is damaged; restore it "
                  "from a copy",
                  file->path, text + DIGEST_AT, expected);
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
  FOV_TRY(check_digest(file, text, length));
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
  file->data = file->map + PREFIX + length;
  file->data_size = file->map_size - PREFIX - length;
  return FOV_OK;
}

static FovStatus check_texts(const FovSafetensors *file, json_t *texts) {
  if (!json_is_object(texts))
    return fov_fail(FOV_ERR_FORMAT, "%s: %s is not an object", file->path, METADATA);
  const char *key;
  json_t *value;
  json_object_foreach(texts, key, value) {
    if (!json_is_string(value))
      return fov_fail(FOV_ERR_FORMAT, "%s: %s: '%s' is not a string", file->path, METADATA, key);
  }
  if (json_object_get(texts, DIGEST) && !file->checked)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: its digest is not where fovea writes it, so another program changed the "
                    "file; remove '" DIGEST "' from its %s to accept it unchecked",
                    file->path, METADATA);
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
  for (int i = 0; i < DTYPES; i++) {
    if (strcmp(dtype, dtypes[i].name) != 0) continue;
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
  if (!measure(&size, &entry->blob) || size != (size_t)(end - begin))
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
    if (strcmp(name, METADATA) == 0) {
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
  FOV_CHECK(dims <= FOV_BLOB_DIMS && (unsigned)dtype < DTYPES, "%s: %d dims of dtype %d", name,
            dims, (int)dtype);
  *result = NULL;
  const FovBlob *blob = fov_safetensors_find(file, name);
  if (!blob) return fov_fail(FOV_ERR_FORMAT, "%s: has no '%s'", file->path, name);
  if (blob->dtype != dtype)
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s' is of %s, expected %s", file->path, name,
                    dtypes[blob->dtype].name, dtypes[dtype].name);
  if (!shape_fits(blob, dims, shape))
    return fov_fail(FOV_ERR_FORMAT, "%s: '%s' has shape %s, expected %s", file->path, name,
                    print_shape(blob->dims, blob->shape).text, print_shape(dims, shape).text);
  *result = blob;
  return FOV_OK;
}

const char *fov_safetensors_text(const FovSafetensors *file, const char *key) {
  return json_string_value(json_object_get(json_object_get(file->header, METADATA), key));
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
