/** Types and sizes of arrays. */
#include "record/safetensors_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are stored as in memory");

static const struct {
  const char *name;
  size_t size;
} dtypes[FOV_DTYPES] = {
    [FOV_DTYPE_U8] = {"U8", 1},   [FOV_DTYPE_I32] = {"I32", 4}, [FOV_DTYPE_I64] = {"I64", 8},
    [FOV_DTYPE_F32] = {"F32", 4}, [FOV_DTYPE_F64] = {"F64", 8},
};

size_t fov_dtype_size(FovDtype dtype) {
  FOV_CHECK((unsigned)dtype < FOV_DTYPES, "dtype %d", (int)dtype);
  return dtypes[dtype].size;
}

const char *fov_dtype_name(FovDtype dtype) {
  return dtypes[dtype].name;
}

bool fov_blob_measure(size_t *size, const FovBlob *blob) {
  int64_t bytes = (int64_t)fov_dtype_size(blob->dtype);
  for (int i = 0; i < blob->dims; i++)
    if (blob->shape[i] < 0 || __builtin_mul_overflow(bytes, blob->shape[i], &bytes)) return false;
  *size = (size_t)bytes;
  return true;
}

size_t fov_blob_size(const FovBlob *blob) {
  FOV_CHECK(blob->dims >= 0 && blob->dims <= FOV_BLOB_DIMS, "%s: %d dims", blob->name, blob->dims);
  size_t size = 0;
  FOV_CHECK(fov_blob_measure(&size, blob), "%s: a shape of negative or too many elements",
            blob->name);
  return size;
}
