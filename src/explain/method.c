#include "explain/method.h"

#include <string.h>

#include "base/team.h"

FovStatus fov_method_check(const FovMethod *method, const FovTask *task, bool through) {
  if (task->env->spec.observation.kind == FOV_OBSERVATION_TOKENS)
    return fov_fail(FOV_ERR_USAGE,
                    "a map of pixels: expected an environment of images or vectors, found env = "
                    "%s, which shows symbols; use --jacobian logits",
                    task->env->type->plugin.name);
  return method->check ? method->check(task, through) : FOV_OK;
}

size_t fov_explained_pixels(const FovExplained *explained) {
  return (size_t)explained->held->lanes * fov_held_pixels(explained->held);
}

bool fov_explained_stops(const FovExplained *explained) {
  fov_team_admit_signals();
  return explained->stop && atomic_load(explained->stop);
}

/** y of the lanes whose target is read at time step t. slopes: [n, count], or NULL. */
static void read_step(double *y, real *slopes, const FovExplained *explained, const FovVar *x,
                      int t) {
  const FovHeld *held = explained->held;
  const FovTimeStep *step = &held->rollout.at[t];
  for (int i = 0; i < step->count; i++) {
    int b = step->lanes[i];
    if (fov_target_step(&explained->target, held, b) != t) continue;
    real *slope = slopes ? slopes + (size_t)i * x->cols : NULL;
    y[b] = fov_target_value(slope, &explained->target, held, b, fov_value_row(x, i), x->cols);
  }
}

void fov_explained_seed(double *y, FovReplay *replay, const FovExplained *explained) {
  for (int t = 0; t < explained->held->rollout.time_steps; t++) {
    FovVar *x = replay->outputs[t];
    real *slopes = FOV_NEW_ZEROS(replay->tape.arena, real, (size_t)x->rows * x->cols);
    read_step(y, slopes, explained, x, t);
    fov_tape_add_grad(&replay->tape, x, slopes);
  }
}

void fov_explained_values(double *y, const FovExplained *explained, const float *pixels) {
  FovReplay replay;
  memset(y, 0, (size_t)explained->held->lanes * sizeof *y);
  if (fov_explained_stops(explained)) return;
  const FovReplayRequest request = {.pixels = pixels,
                                    .reader = fov_target_reader(&explained->target)};
  fov_arena_rewind(explained->scratch);
  fov_replay_run(&replay, explained->scratch, explained->held, &request);
  for (int t = 0; t < explained->held->rollout.time_steps; t++)
    read_step(y, NULL, explained, replay.outputs[t], t);
}

const real *fov_explained_gradient(double *y, const FovExplained *explained, const float *pixels) {
  FovReplay replay;
  const FovReplayRequest request = {
      .pixels = pixels, .reader = fov_target_reader(&explained->target), .gradient = true};
  fov_arena_rewind(explained->scratch);
  if (fov_explained_stops(explained))
    return FOV_NEW_ZEROS(explained->scratch, real, fov_explained_pixels(explained));
  fov_replay_run(&replay, explained->scratch, explained->held, &request);
  fov_explained_seed(y, &replay, explained);
  fov_replay_backward(&replay, explained->held);
  return replay.gradient;
}
