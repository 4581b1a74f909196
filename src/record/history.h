/** Snapshots of a training: traces of the same episodes, recorded at several evaluations. */
#ifndef FOV_RECORD_HISTORY_H
#define FOV_RECORD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/trace.h"

/** RUN/traces/<update>.safetensors; RUN/trace.safetensors is from the newest evaluation. */
#define FOV_HISTORY "traces"

enum { FOV_HISTORY_SNAPSHOTS = 32, FOV_HISTORY_BYTES = 1 << 20 };

/** Whether evaluation `index` (from 1) of `count` is kept: the first, the last, and others evenly
 * spaced, at most FOV_HISTORY_SNAPSHOTS + 1 in all; those of a shorter plan, which a run was
 * resumed from with more episodes, stay besides. It depends on nothing else, so an
 * interrupted run keeps the same ones. */
bool fov_history_keeps(int64_t index, int64_t count);

/** Writes the first episodes of a trace: as many as have arrays of at most FOV_HISTORY_BYTES, at
 * least one. */
FovStatus fov_history_add(const char *run, const FovTrace *trace);

/** Makes the folder, and removes from it the traces of updates after `update` and the partial files
 * of a killed process. */
FovStatus fov_history_begin(const char *run, int64_t update);

/** Lists the updates of a run's snapshots, ascending, in malloc'd memory; none without such a
 * folder. Files with other names are ignored. */
FovStatus fov_history_list(int64_t **updates, size_t *count, const char *run);

/** Writes the path of one of them into path [FOV_PATH_SIZE]. */
void fov_history_path(char *path, const char *run, int64_t update);

#endif
