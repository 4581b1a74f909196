/** NumPy's .npy files, which numpy.load reads (format 1.0). */
#ifndef FOV_RECORD_NPY_H
#define FOV_RECORD_NPY_H

#include "record/safetensors.h"

/** Replaces `path` whole by the array of a blob, in C order; its name is not written. */
FovStatus fov_npy_write(const char *path, const FovBlob *blob);

#endif
