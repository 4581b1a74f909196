#include "learn/workspace.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/team.h"

FovStatus fov_workspace_create(FovWorkspace *workspace, int count) {
  workspace->arenas = calloc((size_t)count, sizeof *workspace->arenas);
  workspace->count = count;
  return workspace->arenas ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %d workers", count);
}

void fov_workspace_finish(FovWorkspace *workspace) {
  for (int i = 0; workspace->arenas && i < workspace->count; i++)
    fov_arena_finish(&workspace->arenas[i]);
  free(workspace->arenas);
  *workspace = (FovWorkspace){0};
}

bool fov_workspace_is_used(const FovWorkspace *workspace, int count) {
  for (int i = 0; i < count; i++)
    if (workspace->arenas[i].blocks == 0) return false;
  return true;
}

/** Lanes that are played to measure with: enough for the scratch memory of an operation, which
 * stops growing at a few lanes, unless images are large. */
static int lanes_to_measure(const FovTask *task, int least) {
  enum { MANY = 16, LARGE = 1 << 20 };
  const FovEnvSpec *spec = &task->env->spec;
  bool large = fov_env_lane_bytes(spec) > LARGE;
  int lanes = large ? 1 : MANY;
  return (lanes + least - 1) / least * least;
}

/** One measurement; done by a team, so that no signal reaches a matrix product. */
typedef struct Measurement {
  FovShardWork *work;
  void *context;
  int lanes;
  double bytes;
} Measurement;

/** Bytes that a measurement may take now. */
static double most_bytes(void) {
  return fmin(fov_memory_available(), fov_memory_limit());
}

static void measure(void *context, int task, int worker) {
  (void)task, (void)worker;
  Measurement *measurement = context;
  FovArena arena = {.most = most_bytes()};
  measurement->work(measurement->context, &arena, measurement->lanes);
  measurement->bytes = (double)arena.total;
  fov_arena_finish(&arena);
}

static double bytes_of(FovShardWork *work, void *context, int lanes) {
  Measurement measurement = {.work = work, .context = context, .lanes = lanes};
  fov_team_run(1, 1, measure, &measurement);
  return measurement.bytes;
}

/** `some` lanes, or the largest smaller multiple of `least` that takes 64 MB, at least one: to play
 * more takes long. bytes: of the least. */
static int fewer_lanes(int some, int least, double bytes) {
  double most = (64 << 20) / bytes;
  return most < some / least ? (int)fmax(most, 1) * least : some;
}

static double measure_growth(FovShardWork *work, void *context, int least, int some, int lanes) {
  double few = 0;
  if (some > least && lanes > least) {
    few = bytes_of(work, context, least);
    some = fewer_lanes(some, least, few);
  }
  int twice = 2 * some < lanes ? 2 * some : lanes;
  if (few / least * twice > most_bytes()) return few / least * lanes;
  double more = bytes_of(work, context, twice);
  if (twice == lanes) return more;
  if (some > least || few == 0) few = bytes_of(work, context, some);
  return more + (more - few) / (twice - some) * (lanes - twice);
}

double fov_shard_measure(const FovTask *task, int least, int lanes, FovShardWork *work,
                         void *context) {
  FovProfile *profile = fov_profile_into(NULL); // not part of what is profiled
  double bytes = measure_growth(work, context, least, lanes_to_measure(task, least), lanes);
  fov_profile_into(profile);
  return bytes;
}

/** A rollout without gradients. */
typedef struct Playing {
  const FovTask *task;
  const real *values;
} Playing;

static void play(void *context, FovArena *arena, int lanes) {
  const Playing *playing = context;
  const FovTask *task = playing->task;
  FovTape tape;
  FovRollout rollout;
  fov_tape_begin(&tape, arena, &task->agent->params, playing->values, NULL);
  FovPlan plan = fov_plan_full(arena, task, lanes);
  plan.every = true;
  fov_rollout_run(&rollout, &tape, task, &plan);
}

FovStatus fov_shard_bytes(double *bytes, const FovTask *task, const real *values) {
  const FovParams *params = &task->agent->params;
  real *zeros = values ? NULL : fov_params_block(params);
  if (!values && !zeros)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %zu parameters", params->size);
  Playing playing = {.task = task, .values = values ? values : zeros};
  *bytes = fov_shard_measure(task, 1, FOV_SHARD, play, &playing);
  free(zeros);
  return FOV_OK;
}
