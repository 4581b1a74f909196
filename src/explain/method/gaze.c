/**
 * The gaze itself: how many cells of the sensor saw a pixel, each divided among the pixels that it
 * covers, summed over all glimpses; times gain^s of its patch, or a window's intensity. It depends
 * on the parameters only through the places.
 */
#include <string.h>

#include "explain/method.h"

static FovStatus check(const FovTask *task, bool through) {
  const FovAttention *attention = task->agent->attention;
  if (through) return fov_fail(FOV_ERR_USAGE, "gaze: not defined with --through; leave it out");
  if (attention->reach == FOV_REACH_GLIMPSE) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "gaze: attention = %s reads several tiles at once; expected one glimpse",
                  attention->plugin.name);
}

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  const FovHeld *held = explained->held;
  FovReplay replay;
  const FovReplayRequest request = {.reader = FOV_READER_ANSWER, .gradient = true};
  if (fov_explained_stops(explained)) return;
  fov_arena_rewind(explained->scratch);
  fov_replay_run(&replay, explained->scratch, held, &request);
  for (int t = 1; t < held->rollout.time_steps; t++) {
    FovVar *rho = replay.glimpses[t];
    size_t count = (size_t)rho->rows * rho->cols;
    real *ones = FOV_NEW(explained->arena, real, count);
    for (size_t i = 0; i < count; i++) ones[i] = 1;
    fov_tape_add_grad(&replay.tape, rho, ones);
  }
  fov_tape_backward(&replay.tape);
  memcpy(map, replay.gradient, fov_explained_pixels(explained) * sizeof *map);
}

const FovMethod fov_method_gaze = {
    .plugin = {.name = "gaze", .help = "how often, and how sharply, each pixel was seen"},
    .ignores_target = true,
    .check = check,
    .map = map,
};
