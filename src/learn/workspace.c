#include "learn/workspace.h"

#include <stdlib.h>
#include <unistd.h>

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

/** Numbers a lane takes at each glimpse for what is no layer: rewards, returns, samples, losses,
 * seeds, events, and its share of the tape's own. */
enum { SMALL = 48 };

double fov_shard_bytes(const FovTask *task) {
  const FovAgent *agent = task->agent;
  const FovEnvSpec *spec = &task->env->spec;
  const FovEncoderLayout *encoder = &agent->encoder_layout;
  double numbers = SMALL + (double)fov_gemm_stride(fov_glimpse_features(agent->glimpse));
  // A weight's rows are its layer's outputs: value, gradient and up to two kept for the way back.
  for (int i = 0; i < agent->params.count; i++) numbers += 4.0 * agent->params.list[i].rows;
  // But a filter has as many as it has places.
  numbers += encoder->lane;
  double once = agent->coarse ? fov_gemm_stride(agent->coarse) : 0;
  double image = (double)fov_env_lane_bytes(spec);
  double time_steps = 1.0 + fov_task_glimpses(task), answers = (double)spec->steps * spec->actions;
  return FOV_SHARD * (image + (answers + once) * sizeof(real)) +
         (FOV_SHARD * numbers + encoder->scratch) * time_steps * sizeof(real);
}

FovStatus fov_memory_check(double bytes, const char *what) {
  double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= all) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY,
                  "%s would take %.1f GiB of memory, and this machine has %.1f; make train.batch, "
                  "env.size or the network smaller",
                  what, bytes / 0x1p30, all / 0x1p30);
}

FovPlan fov_plan_cases(FovArena *arena, int64_t first, int lanes, uint64_t seed, FovSplit split,
                       int repeat) {
  FOV_CHECK(first + lanes <= 1ll << 40 && repeat >= 0 && repeat < 1024, "case %lld, repeat %d",
            (long long)first + lanes, repeat);
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    cases[b] = first + b;
    uint64_t index = (uint64_t)split << 50 | (uint64_t)cases[b];
    env_rng[b] = fov_rng_stream(seed, FOV_STREAM_FIXED_ENV, index);
    policy_rng[b] = fov_rng_stream(seed, FOV_STREAM_FIXED_POLICY, index | (uint64_t)repeat << 40);
  }
  return (FovPlan){.lanes = lanes, .cases = cases, .env_rng = env_rng, .policy_rng = policy_rng};
}
