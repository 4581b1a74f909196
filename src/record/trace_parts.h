/** What the files of a trace share. */
#ifndef FOV_RECORD_TRACE_PARTS_H
#define FOV_RECORD_TRACE_PARTS_H

#include "record/safetensors.h"
#include "record/trace.h"

enum { FOV_TRACE_ARRAYS = 11 + FOV_TRACE_COLUMNS }; /**< with all columns */

/** What follows "policy.", "attention." or "answer."; NULL if the name has another form. */
const char *fov_trace_after_prefix(const char *name);

/** Whether fov_trace_add_column accepts it. */
bool fov_trace_is_column_name(const char *name);

/** Checks all arrays and describes them, columns first: bytes come last. blobs: [FOV_TRACE_ARRAYS]
 */
FovStatus fov_trace_describe(FovBlob *blobs, size_t *count, const FovTrace *trace,
                             const char *path);

/** Bytes of its arrays per episode. */
size_t fov_trace_episode_bytes(const FovTrace *trace);

/** Every array must have the shape that the sizes give, so the size of the file bounds what is
 * allocated. means: columns have the names of version 2. arrays: [FOV_TRACE_ARRAYS], NULL; what the
 * trace does not have stays so */
FovStatus fov_trace_require_arrays(const FovBlob *arrays[], const FovTrace *trace,
                                   const FovSafetensors *file, bool means);

/** Copies the arrays that were found into a trace that is allocated, and checks their values. */
FovStatus fov_trace_copy_arrays(FovTrace *trace, const FovBlob *const arrays[], const char *path);

#endif
