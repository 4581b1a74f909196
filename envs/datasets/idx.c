#include "envs/datasets/idx.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum {
  TYPE_U8 = 0x08,
  MAX_DIM = 65536,
  MAX_SIZE = 1 << 30,
  MAX_RATIO = 1032, /**< bytes that deflate makes of one, at most */
};

/** Reads up to `size` bytes; fails if the file cannot be read or its compression is damaged. */
static FovStatus read_some(size_t *got, void *out, size_t size, gzFile file, const char *path) {
  int count = gzread(file, out, (unsigned)size), code;
  const char *reason = gzerror(file, &code), *colon = strstr(reason, ": ");
  if (colon) reason = colon + 2; // before it stands zlib's own name of the file
  // zlib returns the bytes before a premature end and only then reports it, as Z_BUF_ERROR.
  if (code == Z_ERRNO) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, reason);
  if (count < 0 || code != Z_OK)
    return fov_fail(FOV_ERR_FORMAT, "%s: damaged gzip file (%s); fetch it again", path, reason);
  *got = (size_t)count;
  return FOV_OK;
}

static FovStatus fail_short(const char *path, size_t size, const char *what, size_t got) {
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: cut short: expected %zu bytes of %s, found %zu; fetch it again", path, size,
                  what, got);
}

static FovStatus read_exactly(void *out, size_t size, gzFile file, const char *path,
                              const char *what) {
  size_t got = 0;
  FOV_TRY(read_some(&got, out, size, file, path));
  return got == size ? FOV_OK : fail_short(path, size, what, got);
}

static uint32_t big_endian(const uint8_t b[4]) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static FovStatus read_magic(gzFile file, const char *path, int ndim) {
  uint8_t magic[4];
  FOV_TRY(read_exactly(magic, sizeof magic, file, path, "magic number"));
  uint32_t expected = TYPE_U8 << 8 | (uint32_t)ndim, found = big_endian(magic);
  if (found == expected) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: not an IDX file of bytes in %d dimension%s: expected the magic number "
                  "0x%08x, found 0x%08x",
                  path, ndim, fov_plural(ndim), expected, found);
}

static FovStatus read_shape(FovIdx *idx, gzFile file, const char *path, int ndim) {
  uint8_t dims[FOV_IDX_MAX_NDIM][4];
  FOV_TRY(read_exactly(dims, (size_t)ndim * 4, file, path, "dimensions"));
  uint64_t size = 1; // At most 2^62: each dimension is bounded before it multiplies.
  for (int i = 0; i < ndim; i++) {
    uint32_t dim = big_endian(dims[i]), most = i == 0 ? MAX_SIZE : MAX_DIM;
    if (dim < 1 || dim > most)
      return fov_fail(FOV_ERR_FORMAT, "%s: dimension %d: expected 1 to %u, found %u", path, i, most,
                      dim);
    idx->dims[i] = (int)dim;
    size *= dim;
  }
  if (size > MAX_SIZE)
    return fov_fail(FOV_ERR_FORMAT,
                    "%s: expected at most %d bytes of data, found a header for %llu", path,
                    MAX_SIZE, (unsigned long long)size);
  idx->size = (size_t)size;
  return FOV_OK;
}

/** bytes: of the file. */
static FovStatus read_data(FovIdx *idx, gzFile file, size_t bytes, const char *path) {
  if (idx->size / MAX_RATIO > bytes)
    return fov_fail(
        FOV_ERR_FORMAT,
        "%s: cut short: expected %zu bytes of data, found a file of %zu; fetch it again", path,
        idx->size, bytes);
  idx->data = fov_memory_calloc(idx->size + 1, 1);
  if (!idx->data) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %zu bytes", path, idx->size);
  // Asking for one byte more, in the same call, also makes zlib compare the checksum at the end,
  // and report that it is missing.
  size_t got = 0;
  FOV_TRY(read_some(&got, idx->data, idx->size + 1, file, path));
  if (got < idx->size) return fail_short(path, idx->size, "data", got);
  if (got == idx->size) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT, "%s: too long: expected %zu bytes of data, found more", path,
                  idx->size);
}

/** bytes: its size. */
static FovStatus open_file(gzFile *file, size_t *bytes, const char *path) {
  int fd;
  struct stat found;
  FOV_TRY(fov_file_open(&fd, path));
  *file = fstat(fd, &found) == 0 ? gzdopen(fd, "rb") : NULL;
  *bytes = *file ? (size_t)found.st_size : 0;
  if (*file) return FOV_OK;
  close(fd);
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory to read it", path);
}

/** Reads the header and, if `whole`, the data. */
static FovStatus read_file(FovIdx *idx, const char *path, int ndim, bool whole) {
  FOV_CHECK(ndim >= 1 && ndim <= FOV_IDX_MAX_NDIM, "%d dimensions", ndim);
  *idx = (FovIdx){0};
  gzFile file;
  size_t bytes;
  FOV_TRY(open_file(&file, &bytes, path));
  FovStatus status = read_magic(file, path, ndim);
  if (status == FOV_OK) status = read_shape(idx, file, path, ndim);
  if (status == FOV_OK && whole) status = read_data(idx, file, bytes, path);
  gzclose_r(file); // read_some has already reported what this could report.
  if (status != FOV_OK) fov_idx_finish(idx);
  return status;
}

FovStatus fov_idx_read(FovIdx *idx, const char *path, int ndim) {
  return read_file(idx, path, ndim, true);
}

FovStatus fov_idx_count(int *count, const char *path, int ndim) {
  FovIdx idx;
  FovStatus status = read_file(&idx, path, ndim, false);
  *count = idx.dims[0];
  return status;
}

void fov_idx_keep(FovIdx *idx, int first, int count) {
  FOV_CHECK(first >= 0 && count > 0 && count <= idx->dims[0] - first, "%d from %d on of %d", count,
            first, idx->dims[0]);
  size_t entry = idx->size / (size_t)idx->dims[0];
  idx->dims[0] = count;
  idx->size = (size_t)count * entry;
  memmove(idx->data, idx->data + (size_t)first * entry, idx->size);
  // If realloc fails, the block stays as large as it was.
  uint8_t *shrunk = realloc(idx->data, idx->size);
  if (shrunk) idx->data = shrunk;
}

void fov_idx_finish(FovIdx *idx) {
  free(idx->data);
  *idx = (FovIdx){0};
}
