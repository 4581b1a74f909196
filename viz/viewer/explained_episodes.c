#include "viz/viewer/explained_episodes.h"

#include <stdlib.h>

static const atomic_bool never; // stops

static void drop_episode(FovExplainedEpisodes *e) {
  free(e->glimpses);
  free(e->numbers);
  e->glimpses = NULL;
  e->numbers = NULL;
}

void fov_explained_episodes_finish(FovExplainedEpisodes *e) {
  drop_episode(e);
  fov_opened_agent_finish(&e->agent);
}

/** Makes the map of a glimpse. numbers: as many as fov_explained_numbers, and [H, W] */
static FovStatus make_glimpse(FovExplainedEpisodes *e, FovRecorded *recorded, int glimpse,
                              float *numbers) {
  FovExplainedPart what = {e->method, glimpse};
  FovExplanation *explanation = &e->glimpses[glimpse];
  float *room = numbers + fov_explained_numbers(recorded, what);
  FOV_TRY(fov_explained_make(numbers, &e->agent, recorded, e->how, what, &never));
  explanation->map = numbers;
  explanation->scale = fov_explained_keep_picture(numbers, room, recorded, glimpse);
  return FOV_OK;
}

/** Makes the Jacobian, then the maps behind it. */
static FovStatus make_episode(FovExplainedEpisodes *e, FovRecorded *recorded, int first) {
  FovExplainedPart norms = {.method = FOV_EXPLAINED_JACOBIAN};
  bool maps = e->method != FOV_EXPLAINED_JACOBIAN;
  size_t pixels = (size_t)recorded->height * recorded->width;
  size_t jacobian = fov_explained_numbers(recorded, norms), T = (size_t)recorded->length;
  // The last map needs room for its other pictures and its scale.
  size_t all = jacobian + (maps ? (T + (size_t)recorded->frames) * pixels : 0);
  e->glimpses = calloc(T, sizeof *e->glimpses);
  e->numbers = malloc(all * sizeof *e->numbers);
  if (!e->glimpses || !e->numbers) return fov_fail(FOV_ERR_MEMORY, "no memory for explanations");
  for (int t = maps ? first : recorded->length; t < recorded->length; t++)
    FOV_TRY(make_glimpse(e, recorded, t, e->numbers + jacobian + (size_t)t * pixels));
  FOV_TRY(fov_explained_make(e->numbers, &e->agent, recorded, e->how, norms, &never));
  for (size_t t = 0; t < T; t++) {
    e->glimpses[t].method = fov_explained_name(e->how, e->method);
    e->glimpses[t].jacobian = e->numbers;
  }
  return FOV_OK;
}

FovStatus fov_explained_episode(const FovExplanation **glimpses, FovExplainedEpisodes *e,
                                int episode, int first) {
  FovRecorded recorded;
  drop_episode(e);
  FOV_TRY(fov_recorded_copy(&recorded, e->opened, episode, e->picture));
  FovStatus status = make_episode(e, &recorded, first);
  fov_recorded_finish(&recorded);
  *glimpses = e->glimpses;
  return status;
}
