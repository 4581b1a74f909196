/** IDX, the format of MNIST: bytes 0, 0, type, ndim; ndim big-endian u32; data in C order. */
#ifndef FOV_ENVS_DATASETS_IDX_H
#define FOV_ENVS_DATASETS_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { FOV_IDX_MAX_NDIM = 3 };

/** An array of bytes; zero-initialised it is empty. */
typedef struct FovIdx {
  int dims[FOV_IDX_MAX_NDIM]; /**< [N, H, W] of images, [N] of labels; N from 1 on, H and W to
                                 65,536 */
  uint8_t *data;              /**< owned */
  size_t size;                /**< bytes of data, at most 1 GiB */
} FovIdx;

/**
 * Reads an IDX file of `ndim` (1 … 3) dimensions of u8, plain or compressed with gzip.
 *
 * Fails, naming the file, what was expected and what was found, if it is no regular file, if the
 * header is not that of such an array, a dimension or the size is out of bounds, the data are
 * shorter or longer than in the header, or the compression is damaged. Nothing is allocated
 * before the size is known to be in bounds, and no more than that size is unpacked. On failure
 * `idx` is empty.
 */
FovStatus fov_idx_read(FovIdx *idx, const char *path, int ndim);

/** Reads the header alone; count: N, 0 on failure. Fails as fov_idx_read does for a bad header. */
FovStatus fov_idx_count(int *count, const char *path, int ndim);

/** Keeps entries first … first+count−1 of the first dimension and frees the others' memory. */
void fov_idx_keep(FovIdx *idx, int first, int count);

/** Frees the data; `idx` is empty then. */
void fov_idx_finish(FovIdx *idx);

#endif
