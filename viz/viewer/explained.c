#include "viz/viewer/explained.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "viz/scene/explanation.h"
#include "viz/viewer/picture.h"

/* ---- the copy ---- */

FovStatus fov_recorded_copy(FovRecorded *recorded, const FovOpenedRun *opened, int episode,
                            const char *picture) {
  const FovTrace *trace = &opened->trace;
  size_t image = (size_t)trace->height * trace->width * trace->channels;
  size_t places = 2 * (size_t)trace->glimpses, W = (size_t)trace->width;
  *recorded = (FovRecorded){.run = strdup(opened->path),
                            .picture = picture ? strdup(picture) : NULL,
                            .weights = fov_origin_weights(trace),
                            .split = fov_origin_split(trace),
                            .episode = episode,
                            .first = fov_trace_first(trace),
                            .index = -1,
                            .frames = trace->frames,
                            .height = trace->height,
                            .width = trace->width,
                            .channels = trace->channels,
                            .glimpses = trace->glimpses,
                            .length = trace->lengths[episode],
                            .image = malloc(image),
                            .symbols = trace->symbols ? malloc(W * sizeof(int32_t)) : NULL,
                            .places = malloc(places * sizeof *recorded->places)};
  if (!recorded->run || (picture && !recorded->picture) || !recorded->image ||
      (trace->symbols && !recorded->symbols) || !recorded->places) {
    fov_recorded_finish(recorded);
    return fov_fail(FOV_ERR_MEMORY, "no memory for an episode");
  }
  strcpy(recorded->seed, trace->seed);
  memcpy(recorded->image, trace->images + (size_t)episode * (size_t)trace->frames * image, image);
  memcpy(recorded->places, trace->locations + (size_t)episode * places,
         places * sizeof *recorded->places);
  if (trace->symbols)
    memcpy(recorded->symbols, trace->symbols + (size_t)episode * W, W * sizeof(int32_t));
  return FOV_OK;
}

void fov_recorded_finish(FovRecorded *recorded) {
  free(recorded->run);
  free(recorded->picture);
  free(recorded->image);
  free(recorded->symbols);
  free(recorded->places);
  *recorded = (FovRecorded){0};
}

/* ---- the agent ---- */

void fov_opened_agent_finish(FovOpenedAgent *agent) {
  if (agent->run) fov_trained_finish(&agent->trained);
  free(agent->run);
  agent->run = NULL;
}

static FovStatus load(FovOpenedAgent *agent, const FovRecorded *recorded) {
  char path[FOV_PATH_SIZE];
  if (agent->run && strcmp(agent->run, recorded->run) == 0 && agent->split == recorded->split &&
      fov_provenance_same(&agent->weights, &recorded->weights))
    return FOV_OK;
  fov_opened_agent_finish(agent);
  FOV_TRY(fov_origin_checkpoint(path, recorded->run, &recorded->weights));
  FovStatus status = fov_trained_load(&agent->trained, path, NULL, 0, recorded->split);
  if (status == FOV_OK) agent->run = strdup(recorded->run);
  if (!agent->run) fov_trained_finish(&agent->trained);
  FOV_TRY(status);
  if (!agent->run) return fov_fail(FOV_ERR_MEMORY, "no memory for an agent");
  agent->weights = recorded->weights;
  agent->split = recorded->split;
  return FOV_OK;
}

/* ---- the case ---- */

static FovStatus unlike(const FovRecorded *recorded) {
  return fov_fail(
      FOV_ERR_USAGE,
      "%s: the agent no longer sees episode %d as it was recorded: with other settings, "
      "sampled choices or other data",
      recorded->run, recorded->episode);
}

static FovStatus check_sizes(const FovTask *task, const FovRecorded *r) {
  const FovEnvSpec *spec = &task->env->spec;
  FovImage seen = fov_observed(&spec->observation, NULL);
  int T = fov_task_glimpses(task);
  bool same = seen.height == r->height && seen.width == r->width && seen.channels == r->channels &&
              T == r->glimpses && (spec->changes ? T : 1) == r->frames &&
              (spec->observation.kind == FOV_OBSERVATION_TOKENS) == (r->symbols != NULL);
  return same ? FOV_OK : unlike(r);
}

/** Whether the case begins with the first image or the sequence of the episode. */
static bool shows(FovEnvLane *lane, const FovDrawCase *one, const FovRecorded *r) {
  FovRng rng = fov_case_rng(one->seed, r->split, one->index);
  fov_env_reset(one->task->env, lane, one->index, &rng);
  FovImage image = fov_lane_image(lane, &one->task->env->spec);
  size_t count = (size_t)r->height * r->width * r->channels;
  if (r->symbols) return memcmp(image.tokens, r->symbols, count * sizeof *r->symbols) == 0;
  if (!image.floats) return memcmp(image.bytes, r->image, count) == 0;
  for (size_t i = 0; i < count; i++)
    if (fabs(255 * fmin(1, fmax(0, (double)image.floats[i])) - r->image[i]) > 0.5) return false;
  return true;
}

/** Whether the agent looked where it was recorded to look. */
static bool same_places(const float *places, const FovRecorded *r) {
  const float near = 0.01f; // half image widths: sums of a smaller batch are rounded differently
  for (int t = 0; t < r->glimpses; t++)
    for (int i = 2 * t; i < 2 * t + 2; i++)
      if (t < r->length ? !(fabsf(places[i] - r->places[i]) < near) : !isnan(places[i]))
        return false;
  return true;
}

/** Explains a case; fails if the agent looks elsewhere than recorded. */
static FovStatus make(float *numbers, const FovDrawExplain *how, const FovDrawCase *one,
                      const FovRecorded *r, int method) {
  float *places = malloc(2 * (size_t)r->glimpses * sizeof *places);
  if (!places) return fov_fail(FOV_ERR_MEMORY, "no memory for an explanation");
  FovStatus status = method == FOV_EXPLAINED_JACOBIAN ? how->jacobian(numbers, places, one)
                                                      : how->map(numbers, places, one, method);
  if (status == FOV_OK && !same_places(places, r)) status = unlike(r);
  free(places);
  return status;
}

/** The case with the sequence of the episode, which has the number of its case if that is one of
 * the first; or the first later case with the first image and the gaze. −1: there is none. room:
 * for a map, [F, H, W] */
static int64_t search(const FovRecorded *r, const FovDrawExplain *how, FovDrawCase one,
                      float *room) {
  bool known = r->episode < r->first;
  int64_t found = -1, cases = one.task->env->spec.cases, until = known ? r->episode + 1 : cases;
  FovArena arena = {0};
  FovEnvLane lane = fov_env_lane(&arena, &one.task->env->spec);
  one.index = known ? r->episode : r->first;
  for (; found < 0 && one.index < until && one.index < cases && !atomic_load(one.stop); one.index++)
    if (shows(&lane, &one, r) && (r->symbols || make(room, how, &one, r, 0) == FOV_OK))
      found = one.index;
  fov_arena_finish(&arena);
  return found;
}

static FovStatus find_case(FovRecorded *r, const FovDrawExplain *how, const FovDrawCase *one,
                           float *room) {
  if (r->index >= 0) return FOV_OK;
  int64_t index = r->picture ? 0 : r->episode;
  if (!r->picture && (r->episode >= r->first || r->symbols)) index = search(r, how, *one, room);
  if (index < 0 || index >= one->task->env->spec.cases) return unlike(r);
  r->index = index;
  return FOV_OK;
}

/* ---- the explanation ---- */

size_t fov_explained_numbers(const FovRecorded *r, FovExplainedPart what) {
  if (what.method != FOV_EXPLAINED_JACOBIAN) return (size_t)r->frames * r->height * r->width;
  return (size_t)r->glimpses * (r->symbols ? r->width : r->glimpses);
}

static FovStatus explain(float *numbers, const FovTask *task, const FovTrained *trained,
                         FovRecorded *r, const FovDrawExplain *how, FovExplainedPart what,
                         const atomic_bool *stop) {
  FovDrawCase one = {.task = task,
                     .values = trained->values,
                     .seed = fov_origin_seed(r->seed, trained),
                     .split = r->split,
                     .progress = trained->progress,
                     .time = what.glimpse + 1,
                     .stop = stop};
  FOV_TRY(check_sizes(task, r));
  FOV_TRY(find_case(r, how, &one, numbers));
  one.index = r->index;
  return make(numbers, how, &one, r, what.method);
}

/** Explains what the agent makes of a picture. */
static FovStatus explain_picture(float *numbers, const FovTrained *trained, FovRecorded *r,
                                 const FovDrawExplain *how, FovExplainedPart what,
                                 const atomic_bool *stop) {
  FovEnv env;
  FovTask task = trained->task;
  FOV_TRY(fov_picture_env(&env, &trained->env.spec, r->image));
  task.env = &env;
  FovStatus status = explain(numbers, &task, trained, r, how, what, stop);
  fov_env_finish(&env);
  return status;
}

FovStatus fov_explained_make(float *numbers, FovOpenedAgent *agent, FovRecorded *recorded,
                             const FovDrawExplain *how, FovExplainedPart what,
                             const atomic_bool *stop) {
  FOV_TRY(load(agent, recorded));
  const FovTrained *trained = &agent->trained;
  if (recorded->picture) return explain_picture(numbers, trained, recorded, how, what, stop);
  return explain(numbers, &trained->task, trained, recorded, how, what, stop);
}

const char *fov_explained_name(const FovDrawExplain *how, int method) {
  return method == FOV_EXPLAINED_JACOBIAN ? "sequential Jacobian" : how->method(method);
}

double fov_explained_keep_picture(float *map, float *room, const FovRecorded *recorded,
                                  int glimpse) {
  size_t pixels = (size_t)recorded->height * recorded->width;
  size_t picture = recorded->frames > 1 ? (size_t)glimpse : 0;
  memmove(map, map + picture * pixels, pixels * sizeof *map);
  return fov_map_scale(map, room, pixels);
}
