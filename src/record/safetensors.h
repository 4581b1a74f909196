/** The safetensors format (checkpoints, traces): strict reader, canonical writer. Little-endian. */
#ifndef FOV_RECORD_SAFETENSORS_H
#define FOV_RECORD_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { FOV_BLOB_NAME = 96, FOV_BLOB_DIMS = 6 };

typedef enum FovDtype {
  FOV_DTYPE_U8,
  FOV_DTYPE_I32,
  FOV_DTYPE_I64,
  FOV_DTYPE_F32,
  FOV_DTYPE_F64
} FovDtype;

/** One named array in C order. */
typedef struct FovBlob {
  char name[FOV_BLOB_NAME];
  FovDtype dtype;
  int dims;                     /**< 0 … FOV_BLOB_DIMS; 0 is a scalar */
  int64_t shape[FOV_BLOB_DIMS]; /**< each >= 0 */
  void *data;                   /**< bytes = product of shape × size of dtype */
} FovBlob;

/** One text of `__metadata__`. */
typedef struct FovText {
  const char *key;
  const char *value;
} FovText;

size_t fov_dtype_size(FovDtype dtype);

/** Bytes of a blob's data. */
size_t fov_blob_size(const FovBlob *blob);

/** Replaces `path` whole. Blobs are written in the order given, texts sorted by key, after a text
 * "digest" of this module's own; the header is padded with spaces to 8 bytes, so the same content
 * is always the same bytes. A header of more than 1 MiB is refused. */
FovStatus fov_safetensors_write(const char *path, const FovBlob *blobs, size_t blob_count,
                                const FovText *texts, size_t text_count);

typedef struct FovSafetensors FovSafetensors;

/**
 * Opens and checks a file: header length against the file's, JSON, dtypes, shapes against offsets,
 * no holes, no overlaps, data that ends where the file ends, no name twice, and the digest of all
 * bytes where there is one. A header of more than 1 MiB is refused.
 *
 * The file is mapped, so its size bounds the memory. Errors name the path, the entry, what was
 * expected and what was found. The result is destroyed with fov_safetensors_close.
 */
FovStatus fov_safetensors_open(FovSafetensors **file, const char *path);
void fov_safetensors_close(FovSafetensors *file);

/** The path that it was opened by, for messages. */
const char *fov_safetensors_path(const FovSafetensors *file);

/** Whether the file has a digest, which was right. False for a file of an older version or of
 * another program: then damage to its data goes unnoticed. */
bool fov_safetensors_is_checked(const FovSafetensors *file);

/** NULL if there is none of that name. The data is the file's, read-only, valid until close. */
const FovBlob *fov_safetensors_find(const FovSafetensors *file, const char *name);

/** Like find, but fails if it is missing or of another dtype or shape; `dims` < 0 accepts any
 * shape, and a shape entry of −1 any extent. */
FovStatus fov_safetensors_require(const FovBlob **blob, const FovSafetensors *file,
                                  const char *name, FovDtype dtype, int dims, const int64_t *shape);

/** NULL if there is no such text. */
const char *fov_safetensors_text(const FovSafetensors *file, const char *key);

/** Blobs in file order. */
size_t fov_safetensors_count(const FovSafetensors *file);
const FovBlob *fov_safetensors_at(const FovSafetensors *file, size_t i);

#endif
