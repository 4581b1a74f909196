/** The unit of work, a shard of lanes, and the memory it is done in. */
#ifndef FOV_LEARN_WORKSPACE_H
#define FOV_LEARN_WORKSPACE_H

#include "learn/rollout/rollout.h"

/** Lanes of one shard: fixed, whatever the number of threads, so that sums have one order. */
enum { FOV_SHARD = 64 };

/** Arenas of the shards or workers of one process, kept from use to use. */
typedef struct FovWorkspace {
  FovArena *arenas;
  int count;
} FovWorkspace;

FovStatus fov_workspace_create(FovWorkspace *workspace, int count);
void fov_workspace_finish(FovWorkspace *workspace);

/** What a shard of `task` takes at most: images, coarse views and, for each glimpse, every layer's
 * output, what its way back keeps, and its gradient. The ends of an arena's blocks come on top. */
double fov_shard_bytes(const FovTask *task);

/** Fails if `bytes` for `what` are more than the machine has. */
FovStatus fov_memory_check(double bytes, const char *what);

/**
 * Plans lanes for cases first … first+lanes−1 of a fixed set, in the arena.
 *
 * seed, split and case name the draws of the environment; those of the policy depend on `repeat`
 * (0 … 1023) too. Nothing is shared with training, whatever its seed.
 */
FovPlan fov_plan_cases(FovArena *arena, int64_t first, int lanes, uint64_t seed, FovSplit split,
                       int repeat);

#endif
