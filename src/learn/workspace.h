/** The unit of work, a shard of lanes, and the memory it is done in. */
#ifndef FOV_LEARN_WORKSPACE_H
#define FOV_LEARN_WORKSPACE_H

#include "learn/rollout/rollout.h"

/** Lanes of a shard of an evaluation or a recording, and the most of a training (train.shard). None
 * depends on the number of threads, so that sums have one order. */
enum { FOV_SHARD = 64, FOV_MAX_SHARD = 256 };

/** Arenas of the shards or workers of one process, kept from use to use. */
typedef struct FovWorkspace {
  FovArena *arenas;
  int count;
} FovWorkspace;

/** Makes `count` empty arenas. Finished also after a failure. */
FovStatus fov_workspace_create(FovWorkspace *workspace, int count);
void fov_workspace_finish(FovWorkspace *workspace);

/** Work on a shard of `lanes` lanes, in an arena. */
typedef void FovShardWork(void *context, FovArena *arena, int lanes);

/**
 * Bytes that the arena of `work` on a shard of `lanes` lanes will hold, extrapolated linearly from
 * fewer lanes. Where memory grows more slowly, as with scratch of a bounded size, the estimate is
 * too high. least: divides `lanes`; numbers of lanes that are tried are multiples of it. If few
 * lanes might not fit into memory, `least` are measured; if these do not fit, it ends in
 * fov_no_memory.
 */
double fov_shard_measure(const FovTask *task, int least, int lanes, FovShardWork *work,
                         void *context);

/** Whether the first `count` arenas hold memory of earlier work. */
bool fov_workspace_is_used(const FovWorkspace *workspace, int count);

/** Bytes of an arena in which FOV_SHARD lanes of `task` are played without gradients: the measured
 * need of full rollouts. values: the parameters, or NULL if there are none yet. */
FovStatus fov_shard_bytes(double *bytes, const FovTask *task, const real *values);

#endif
