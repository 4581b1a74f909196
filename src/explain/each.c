#include "explain/each.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/team.h"
#include "base/text.h"
#include "learn/workspace.h"

typedef struct Each {
  const FovExplainRequest *request;
  FovExplainWork *work;
  void *context;
  size_t maps;             // that the work makes of a shard, in a method and around it
  int lanes;               // of a shard
  FovWorkspace *workspace; // two arenas a thread
} Each;

FovStatus fov_explain_check(const FovExplainRequest *request) {
  const FovAttention *attention = request->task->agent->attention;
  const FovEnv *env = request->task->env;
  if (env->spec.observation.kind == FOV_OBSERVATION_TOKENS && env->spec.changes)
    return fov_fail(FOV_ERR_USAGE,
                    "explanations: expected symbols that stay the same during an episode, found "
                    "env = %s, which changes them",
                    env->type->plugin.name);
  if (env->type->look && request->task->agent->context.side > 0)
    return fov_fail(FOV_ERR_USAGE,
                    "explanations: expected context.side = 0, since env = %s shows another picture "
                    "before the first glimpse",
                    env->type->plugin.name);
  FOV_TRY(fov_target_check(&request->target, request->task));
  if (!request->through || attention->without_policy) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "--through: attention = %s chooses places that have no gradient; leave it out",
                  attention->plugin.name);
}

/** Numbers of one episode's pictures. */
static size_t pixels_of(const FovTask *task) {
  FovImage image = fov_observed(&task->env->spec.observation, NULL);
  return (size_t)fov_held_frames(task) * image.height * image.width * image.channels;
}

/** Lanes of a shard: fewer where pictures are large, or episodes few. */
static int lanes_of(const FovExplainRequest *request) {
  enum { MOST = 1 << 24 }; // pixels
  int lanes = FOV_SHARD;
  while (lanes > 1 && (size_t)lanes * pixels_of(request->task) > MOST) lanes /= 2;
  return request->count < lanes ? (int)request->count : lanes;
}

static void play(FovExplained *explained, const FovExplainRequest *request, FovHeld *held,
                 const int64_t *cases, int lanes) {
  const FovHeldRequest what = {.task = request->task,
                               .values = request->values,
                               .cases = cases,
                               .lanes = lanes,
                               .seed = request->seed,
                               .split = request->split,
                               .progress = request->progress,
                               .through = request->through};
  fov_held_play(held, explained->arena, &what);
  explained->held = held;
  explained->target = request->target;
  explained->seed = request->seed;
  explained->stop = request->stop;
  explained->completeness = FOV_NEW(explained->arena, double, lanes);
  for (int b = 0; b < lanes; b++) explained->completeness[b] = NAN;
}

static void do_shard(void *context, int shard, int worker) {
  const Each *each = context;
  const FovExplainRequest *request = each->request;
  FovExplained explained = {.arena = &each->workspace->arenas[2 * worker],
                            .scratch = &each->workspace->arenas[2 * worker + 1]};
  int64_t first = (int64_t)shard * each->lanes, left = request->count - first;
  FovHeld held;
  fov_arena_rewind(explained.arena);
  play(&explained, request, &held, request->cases + first,
       left < each->lanes ? (int)left : each->lanes);
  each->work(each->context, &explained, first);
}

/** What a shard takes: episodes that are played and repeated with a gradient, and maps. */
static void measure(void *context, FovArena *arena, int lanes) {
  const Each *each = context;
  const FovExplainRequest *request = each->request;
  FovArena scratch = {0};
  FovExplained explained = {.arena = arena, .scratch = &scratch};
  FovHeld held;
  play(&explained, request, &held, request->cases, lanes);
  fov_explained_gradient(FOV_NEW(arena, double, lanes), &explained, NULL);
  fov_arena_alloc(arena,
                  scratch.total + each->maps * fov_explained_pixels(&explained) * sizeof(real));
  fov_arena_finish(&scratch);
}

FovStatus fov_explain_each(const FovExplainRequest *request, FovExplainWork *work, void *context,
                           size_t maps, double room) {
  FovWorkspace workspace;
  FOV_TRY(fov_explain_check(request));
  Each each = {.request = request, .work = work, .context = context, .maps = maps};
  each.lanes = lanes_of(request);
  int shards = (int)((request->count + each.lanes - 1) / each.lanes);
  int threads = request->threads < shards ? request->threads : shards;
  double shard = fov_shard_measure(request->task, 1, each.lanes, measure, &each);
  FOV_TRY(fov_memory_check(threads * shard + room, "this explanation", ""));
  FOV_TRY(fov_workspace_create(&workspace, 2 * threads));
  each.workspace = &workspace;
  fov_team_run(threads, shards, do_shard, &each);
  fov_workspace_finish(&workspace);
  return FOV_OK;
}

/* ---- selecting ---- */

typedef struct Selection {
  const FovExplainFilter *filter;
  bool *wanted; // [count]
} Selection;

static void judge(void *context, const FovExplained *explained, int64_t first) {
  const Selection *selection = context;
  const FovHeld *held = explained->held;
  const FovExplainFilter *filter = selection->filter;
  for (int b = 0; b < held->lanes; b++) {
    int label = fov_target_label(&explained->target, held, b);
    selection->wanted[first + b] =
        (!filter->wrong || held->rollout.wrong[b]) && (filter->label < 0 || label == filter->label);
  }
}

/** Keeps the wanted ones of cases 0, 1 … in their order. */
static FovStatus keep_wanted(int64_t *cases, int64_t *found, const FovExplainRequest *request,
                             const FovExplainFilter *filter) {
  Selection selection = {.filter = filter, .wanted = calloc((size_t)filter->count, sizeof(bool))};
  FovExplainRequest all = *request;
  all.cases = cases, all.count = filter->count;
  FovStatus status = selection.wanted ? fov_explain_each(&all, judge, &selection, 0, 0)
                                      : fov_fail(FOV_ERR_MEMORY, "no memory for a selection");
  *found = 0;
  for (int64_t i = 0; status == FOV_OK && i < filter->count; i++)
    if (selection.wanted[i]) cases[(*found)++] = i;
  free(selection.wanted);
  if (status == FOV_OK && *found == 0)
    status = fov_fail(FOV_ERR_USAGE, "no episode of that kind in the first %lld case%s",
                      (long long)filter->count, fov_plural(filter->count));
  return status;
}

FovStatus fov_explain_select(int64_t **cases, int64_t *found, const FovExplainRequest *request,
                             const FovExplainFilter *filter) {
  *cases = calloc((size_t)filter->count, sizeof **cases);
  if (!*cases)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %lld episodes", (long long)filter->count);
  for (int64_t i = 0; i < filter->count; i++) (*cases)[i] = i;
  *found = filter->count;
  if (!filter->wrong && filter->label < 0) return FOV_OK;
  FovStatus status = keep_wanted(*cases, found, request, filter);
  if (status == FOV_OK) return FOV_OK;
  free(*cases);
  *cases = NULL;
  return status;
}
