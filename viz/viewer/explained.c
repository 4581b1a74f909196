#include "viz/viewer/explained.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "viz/viewer/picture.h"

/* ---- the copy ---- */

FovStatus fov_recorded_copy(FovRecorded *recorded, const FovOpenedRun *opened, int episode,
                            const char *picture) {
  const FovTrace *trace = &opened->trace;
  size_t image = (size_t)trace->height * trace->width * trace->channels;
  size_t places = 2 * (size_t)trace->glimpses;
  *recorded = (FovRecorded){.run = strdup(opened->path),
                            .picture = picture ? strdup(picture) : NULL,
                            .weights = fov_origin_weights(trace),
                            .split = fov_origin_split(trace),
                            .episode = episode,
                            .first = fov_origin_first(trace),
                            .index = -1,
                            .frames = trace->frames,
                            .height = trace->height,
                            .width = trace->width,
                            .channels = trace->channels,
                            .glimpses = trace->glimpses,
                            .length = trace->lengths[episode],
                            .image = malloc(image),
                            .places = malloc(places * sizeof *recorded->places)};
  if (!recorded->run || (picture && !recorded->picture) || !recorded->image || !recorded->places) {
    fov_recorded_finish(recorded);
    return fov_fail(FOV_ERR_MEMORY, "no memory for an episode");
  }
  strcpy(recorded->seed, trace->seed);
  memcpy(recorded->image, trace->images + (size_t)episode * (size_t)trace->frames * image, image);
  memcpy(recorded->places, trace->locations + (size_t)episode * places,
         places * sizeof *recorded->places);
  return FOV_OK;
}

void fov_recorded_finish(FovRecorded *recorded) {
  free(recorded->run);
  free(recorded->picture);
  free(recorded->image);
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
              T == r->glimpses && (spec->changes ? T : 1) == r->frames;
  return same ? FOV_OK : unlike(r);
}

/** Whether a lane shows the first image of the episode. */
static bool shows(const FovEnvLane *lane, const FovEnvSpec *spec, const FovRecorded *r) {
  FovImage image = fov_lane_image(lane, spec);
  size_t count = (size_t)r->height * r->width * r->channels;
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

/** A map of a case, which fails if the agent looks elsewhere than recorded. */
static FovStatus make_map(float *map, const FovDrawExplain *how, const FovDrawCase *one,
                          const FovRecorded *r, int method) {
  float *places = malloc(2 * (size_t)r->glimpses * sizeof *places);
  if (!places) return fov_fail(FOV_ERR_MEMORY, "no memory for a map");
  FovStatus status = how->map(map, places, one, method);
  if (status == FOV_OK && !same_places(places, r)) status = unlike(r);
  free(places);
  return status;
}

/** The first later case with the first image and the gaze of an episode that was recorded because
 * it is wrong. room: [F, H, W] */
static FovStatus search(FovRecorded *r, const FovDrawExplain *how, FovDrawCase one, float *room) {
  const FovEnvSpec *spec = &one.task->env->spec;
  FovArena arena = {0};
  FovEnvLane lane = fov_env_lane(&arena, spec);
  for (one.index = r->first; r->index < 0 && one.index < spec->cases && !atomic_load(one.stop);
       one.index++) {
    FovRng rng = fov_case_rng(one.seed, r->split, one.index);
    fov_env_reset(one.task->env, &lane, one.index, &rng);
    if (shows(&lane, spec, r) && make_map(room, how, &one, r, 0) == FOV_OK) r->index = one.index;
  }
  fov_arena_finish(&arena);
  return r->index < 0 ? unlike(r) : FOV_OK;
}

static FovStatus find_case(FovRecorded *r, const FovDrawExplain *how, const FovDrawCase *one,
                           float *room) {
  if (r->index >= 0) return FOV_OK;
  if (!r->picture && r->episode >= r->first) return search(r, how, *one, room);
  r->index = r->picture ? 0 : r->episode;
  return r->index < one->task->env->spec.cases ? FOV_OK : unlike(r);
}

/* ---- the explanation ---- */

size_t fov_explained_numbers(const FovRecorded *r, int what) {
  return what == FOV_EXPLAINED_JACOBIAN ? (size_t)r->glimpses * r->glimpses
                                        : (size_t)r->frames * r->height * r->width;
}

static FovStatus explain(float *numbers, const FovTask *task, const FovTrained *trained,
                         FovRecorded *r, const FovDrawExplain *how, int what,
                         const atomic_bool *stop) {
  FovDrawCase one = {.task = task,
                     .values = trained->values,
                     .seed = fov_origin_seed(r->seed, trained),
                     .split = r->split,
                     .progress = trained->progress,
                     .stop = stop};
  FOV_TRY(check_sizes(task, r));
  FOV_TRY(find_case(r, how, &one, numbers));
  one.index = r->index;
  if (what == FOV_EXPLAINED_JACOBIAN) return how->jacobian(numbers, &one);
  return make_map(numbers, how, &one, r, what);
}

/** Explains what the agent makes of a picture. */
static FovStatus explain_picture(float *numbers, const FovTrained *trained, FovRecorded *r,
                                 const FovDrawExplain *how, int what, const atomic_bool *stop) {
  FovEnv env;
  FovTask task = trained->task;
  FOV_TRY(fov_picture_env(&env, &trained->env.spec, r->image));
  task.env = &env;
  FovStatus status = explain(numbers, &task, trained, r, how, what, stop);
  fov_env_finish(&env);
  return status;
}

FovStatus fov_explained_make(float *numbers, FovOpenedAgent *agent, FovRecorded *recorded,
                             const FovDrawExplain *how, int what, const atomic_bool *stop) {
  FOV_TRY(load(agent, recorded));
  const FovTrained *trained = &agent->trained;
  if (recorded->picture) return explain_picture(numbers, trained, recorded, how, what, stop);
  return explain(numbers, &trained->task, trained, recorded, how, what, stop);
}
