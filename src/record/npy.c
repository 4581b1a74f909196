#include "record/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { PREFIX = 10, ALIGNMENT = 64, HEADER = 256 };

static const char *const types[] = {[FOV_DTYPE_U8] = "|u1",
                                    [FOV_DTYPE_I32] = "<i4",
                                    [FOV_DTYPE_I64] = "<i8",
                                    [FOV_DTYPE_F32] = "<f4",
                                    [FOV_DTYPE_F64] = "<f8"};

/** Writes magic number, length and dictionary, padded so that the data is aligned. Returns their
 * bytes. */
static size_t make_header(char header[HEADER], const FovBlob *blob) {
  int length = PREFIX;
  length += snprintf(header + length, (size_t)(HEADER - length),
                     "{'descr': '%s', 'fortran_order': False, 'shape': (", types[blob->dtype]);
  for (int d = 0; d < blob->dims; d++)
    length +=
        snprintf(header + length, (size_t)(HEADER - length), "%lld,", (long long)blob->shape[d]);
  length += snprintf(header + length, (size_t)(HEADER - length), "), }");
  int total = (length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, text = total - PREFIX;
  FOV_CHECK(total <= HEADER, "a header of %d bytes", total);
  memset(header + length, ' ', (size_t)(total - length));
  header[total - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)(text & 255), header[9] = (char)(text >> 8);
  return (size_t)total;
}

FovStatus fov_npy_write(const char *path, const FovBlob *blob) {
  char header[HEADER];
  FovReplace replace = {0};
  FOV_TRY(fov_replace_begin(&replace, path));
  size_t length = make_header(header, blob);
  fwrite(header, 1, length, replace.stream);
  fwrite(blob->data, 1, fov_blob_size(blob), replace.stream);
  return fov_replace_commit(&replace);
}
