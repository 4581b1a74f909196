#include "viz/viewer/rerun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/recorder.h"
#include "viz/scene/scene.h"
#include "viz/viewer/origin.h"
#include "viz/viewer/picture.h"

enum { MOST_WORDS = 32 };

/** The words of the settings. */
typedef struct Changes {
  char *text; // of the words
  const char *words[MOST_WORDS];
  int count;
  bool sampled;
} Changes;

static FovStatus cut(Changes *changes, const char *settings) {
  char *rest;
  changes->text = strdup(settings);
  if (!changes->text) return fov_fail(FOV_ERR_MEMORY, "no memory for settings");
  for (char *word = strtok_r(changes->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (strcmp(word, "sampled") == 0)
      changes->sampled = true;
    else if (changes->count < MOST_WORDS)
      changes->words[changes->count++] = word;
    else
      return fov_fail(FOV_ERR_USAGE, "expected at most %d settings, found more", MOST_WORDS);
  }
  return FOV_OK;
}

static FovStatus record(FovTrace *trace, const FovTrained *trained, const FovTask *task,
                        const FovTrace *like, int episodes, bool sampled, int repeat) {
  FovWorkspace workspace;
  FovRecordRequest request = {.task = task,
                              .values = trained->values,
                              .update = trained->update,
                              .episodes = episodes,
                              .progress = trained->progress,
                              .sampled = sampled,
                              .repeat = repeat,
                              .seed = fov_origin_seed(like->seed, trained),
                              .split = trained->split};
  FOV_TRY(fov_workspace_create(&workspace, 1));
  FovStatus status = fov_record_trace(trace, &request, &workspace);
  fov_workspace_finish(&workspace);
  FOV_TRY(status);
  status = fov_scene_check(trace, trained->path);
  if (status != FOV_OK) fov_trace_finish(trace);
  return status;
}

/** The label of the picture is unknown, and so is whether the answer is right and what it earns. */
static void forget_label(FovTrace *trace, const FovBaseline *baseline) {
  for (int t = 0; t < trace->glimpses; t++) {
    trace->labels[t] = -1;
    trace->rewards[t] = NAN;
    if (baseline->from_answer) trace->baselines[t] = NAN; // it adds what the answer earns
  }
  trace->wrong[0] = 0;
  trace->split[0] = '\0';
}

static FovStatus look_at(FovTrace *trace, const FovTrained *trained, const FovTrace *like,
                         bool sampled, const char *picture) {
  FovEnv env;
  FovTask task = trained->task;
  const FovEnvSpec *spec = &trained->env.spec;
  const FovObservation *seen = &spec->observation;
  uint8_t *pixels = malloc(fov_observation_bytes(seen));
  if (!pixels) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for it", picture);
  FovStatus status = fov_picture_env(&env, spec, pixels);
  if (status == FOV_OK) {
    task.env = &env;
    status = fov_picture_read(pixels, seen->height, seen->width, seen->channels, picture);
    if (status == FOV_OK) status = record(trace, trained, &task, like, 1, sampled, 0);
    if (status == FOV_OK) forget_label(trace, task.baseline);
    fov_env_finish(&env);
  }
  free(pixels);
  return status;
}

static FovStatus play(FovTrace *trace, const FovOpenedRun *opened, int episodes,
                      const Changes *changes, const char *picture) {
  FovTrained trained;
  FovStatus status = fov_trained_load(&trained, opened->path, changes->words, changes->count,
                                      fov_origin_split(&opened->trace));
  if (status == FOV_OK && picture)
    status = look_at(trace, &trained, &opened->trace, changes->sampled, picture);
  else if (status == FOV_OK)
    status = record(trace, &trained, &trained.task, &opened->trace, episodes, changes->sampled, 0);
  fov_trained_finish(&trained);
  return status;
}

/** Of `episodes`, those that are the first cases. */
static int fewer(int episodes, const FovOpenedRun *opened) {
  int first = fov_trace_first(&opened->trace);
  return episodes < first ? episodes : first;
}

static FovStatus no_agent(const FovOpenedRun *opened) {
  return fov_fail(FOV_ERR_USAGE, "%s: a trace has no agent: open its run", opened->name);
}

FovStatus fov_rerun(FovOpenedRun *made, const FovOpenedRun *opened, int episodes,
                    const char *settings, const char *picture) {
  Changes changes = {.count = 0};
  *made = (FovOpenedRun){.snapshots = 1};
  if (!opened->is_run) return no_agent(opened);
  episodes = fewer(episodes, opened);
  FovStatus status = cut(&changes, settings);
  if (status == FOV_OK) status = play(&made->trace, opened, episodes, &changes, picture);
  free(changes.text);
  FOV_TRY(status);
  made->path = strdup(""); // no file, which a poll would read again
  made->updates = malloc(sizeof *made->updates);
  if (!made->path || !made->updates) {
    fov_opened_run_finish(made);
    return fov_fail(FOV_ERR_MEMORY, "no memory for settings");
  }
  made->updates[0] = made->trace.update;
  snprintf(made->name, sizeof made->name, "%s", settings);
  return FOV_OK;
}

/** Rollout after rollout. */
static FovStatus sample(FovGazes *gazes, const FovTrained *trained, const FovTrace *like) {
  FovTrace trace;
  for (int k = 0; k < gazes->count; k++) {
    FOV_TRY(record(&trace, trained, &trained->task, like, gazes->episodes, true, k));
    bool same = trace.glimpses == gazes->glimpses && trace.episodes == gazes->episodes;
    if (same) fov_gazes_set(gazes, k, &trace);
    fov_trace_finish(&trace);
    if (!same)
      return fov_fail(
          FOV_ERR_USAGE,
          "%s: the trace was recorded with other settings; record another one with fovea trace",
          trained->path);
  }
  return FOV_OK;
}

FovStatus fov_rerun_gazes(FovGazes *gazes, const FovOpenedRun *opened, int episodes, int count) {
  char path[FOV_PATH_SIZE];
  FovTrained trained;
  const FovTrace *trace = &opened->trace;
  FovProvenance weights = fov_origin_weights(trace);
  if (!opened->is_run) return no_agent(opened);
  FOV_TRY(fov_origin_checkpoint(path, opened->path, &weights));
  FOV_TRY(fov_gazes_begin(gazes, count, fewer(episodes, opened), trace->glimpses));
  FovStatus status = fov_trained_load(&trained, path, NULL, 0, fov_origin_split(trace));
  if (status == FOV_OK) status = sample(gazes, &trained, trace);
  fov_trained_finish(&trained);
  if (status != FOV_OK) fov_gazes_finish(gazes);
  return status;
}
