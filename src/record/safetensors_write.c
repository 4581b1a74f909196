/** Writing a file: the same content is always the same bytes. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/safetensors_parts.h"

enum { ALIGNMENT = 8 };

static json_t *describe(const FovBlob *blob, size_t begin) {
  json_t *shape = json_array();
  int failed = 0;
  for (int i = 0; i < blob->dims; i++)
    failed |= json_array_append_new(shape, json_integer(blob->shape[i]));
  if (failed) {
    json_decref(shape);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:[I, I]}", "dtype", fov_dtype_name(blob->dtype), "shape", shape,
                   "data_offsets", (json_int_t)begin, (json_int_t)(begin + fov_blob_size(blob)));
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const FovText *)a)->key, ((const FovText *)b)->key);
}

/** Adds the texts in the order of their keys, after a digest of zeros. */
static FovStatus add_texts(json_t *header, const char *path, const FovText *texts, size_t count) {
  FovText *sorted = calloc(count + 1, sizeof *sorted);
  json_t *object = json_pack("{s:s}", FOV_DIGEST_TEXT, FOV_DIGEST_NAME FOV_DIGEST_ZEROS);
  if (json_object_set_new(header, FOV_METADATA, object) != 0 || !sorted) {
    free(sorted);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its header", path);
  }
  if (count > 0) memcpy(sorted, texts, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_key);
  FovStatus status = FOV_OK;
  for (size_t i = 0; i < count && status == FOV_OK; i++) {
    FOV_CHECK(strcmp(sorted[i].key, FOV_DIGEST_TEXT) != 0,
              "%s: a text '" FOV_DIGEST_TEXT "' of the caller", path);
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
    FOV_CHECK(strcmp(blob->name, FOV_METADATA) != 0, "%s: the name of the texts", blob->name);
    FOV_CHECK(!json_object_get(header, blob->name), "%s: two blobs of one name", blob->name);
    if (json_object_set_new(header, blob->name, describe(blob, begin)) != 0)
      return fov_fail(FOV_ERR_FORMAT, "%s: the name '%s' is not UTF-8, or no memory is left", path,
                      blob->name);
    begin += fov_blob_size(blob);
  }
  return FOV_OK;
}

/** header: `size` bytes, padding included. */
static FovStatus write_file(const char *path, const char *header, uint64_t size,
                            const FovBlob *blobs, size_t count) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  // Results of writes are not checked: the commit fails if any of these did.
  fwrite(&size, FOV_HEADER_PREFIX, 1, replace.stream);
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
  if (length + padding > FOV_HEADER_LIMIT)
    return fov_fail(FOV_ERR_FORMAT, "%s: a header of %zu bytes, expected at most %d", path, length,
                    FOV_HEADER_LIMIT);
  char *text = malloc(length + padding + 1);
  if (length == 0 || !text || json_dumpb(header, text, length, JSON_COMPACT) != length) {
    free(text);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its header", path);
  }
  memset(text + length, ' ', padding);
  fov_safetensors_set_digest(text, length + padding, blobs, count);
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
