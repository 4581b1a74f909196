#include "explain/held.h"

#include <math.h>
#include <string.h>

size_t fov_held_pixels(const FovHeld *held) {
  return (size_t)held->frames * held->height * held->width * held->channels;
}

int fov_held_frames(const FovTask *task) {
  return task->env->spec.changes ? fov_task_glimpses(task) : 1;
}

/** to = the brightness of an observation. */
static void copy_brightness(float *to, const FovImage *image, size_t count) {
  if (image->floats)
    memcpy(to, image->floats, count * sizeof *to);
  else
    for (size_t i = 0; i < count; i++) to[i] = (float)image->bytes[i] / 255;
}

/** Copies the pictures that the lanes have seen. */
static void keep_pixels(FovHeld *held, FovArena *arena) {
  const FovObservation *shown = &held->task.env->spec.observation;
  size_t all = fov_held_pixels(held), count = all / (size_t)held->frames;
  held->pixels = fov_arena_zeros(arena, (size_t)held->lanes * all * sizeof *held->pixels);
  for (int t = 1; t < held->rollout.time_steps && t <= held->frames; t++) {
    const FovTimeStep *step = &held->rollout.at[t];
    for (int i = 0; i < step->count; i++) {
      FovImage image = fov_observed(shown, step->frames[i]);
      float *to = held->pixels + (size_t)step->lanes[i] * all + (size_t)(t - 1) * count;
      copy_brightness(to, &image, count);
    }
  }
}

/** Copies the sequences that the lanes have seen. */
static void keep_tokens(FovHeld *held, FovArena *arena) {
  const FovTimeStep *step = &held->rollout.at[1];
  size_t L = (size_t)held->width;
  held->tokens = FOV_NEW(arena, int32_t, (size_t)held->lanes * L);
  for (int i = 0; i < step->count; i++)
    memcpy(held->tokens + (size_t)step->lanes[i] * L, step->frames[i], L * sizeof *held->tokens);
}

/** Finds when each lane answers. */
static void find_turns(FovHeld *held, FovArena *arena) {
  const FovRollout *rollout = &held->rollout;
  int B = held->lanes, M = rollout->time_steps;
  held->last = FOV_NEW_ZEROS(arena, int, B);
  held->turns = FOV_NEW_ZEROS(arena, int, B *M);
  int *given = FOV_NEW_ZEROS(arena, int, B);
  for (int t = 1; t < M; t++) {
    const FovTimeStep *step = &rollout->at[t];
    for (int i = 0; i < step->count; i++) {
      int b = step->lanes[i], left = rollout->taken[b] - given[b];
      held->turns[b * M + t] = left > 0 ? given[b] : given[b] - 1;
      if (!(step->events[i] & FOV_EVENT_ACT)) continue;
      held->last[b] = t;
      given[b]++;
    }
  }
}

void fov_held_play(FovHeld *held, FovArena *arena, const FovHeldRequest *request) {
  const FovTask *task = request->task;
  FovImage image = fov_observed(&task->env->spec.observation, NULL);
  FovTape tape;
  *held = (FovHeld){.task = *task,
                    .agent = *task->agent,
                    .values = request->values,
                    .through = request->through,
                    .lanes = request->lanes,
                    .height = image.height,
                    .width = image.width,
                    .channels = image.channels};
  held->agent.options.stop_gradient = FOV_STOP_GRADIENT_NONE;
  held->task.agent = &held->agent;
  fov_tape_begin(&tape, arena, &held->agent.params, request->values, NULL);
  FovPlan plan =
      fov_plan_list(arena, request->cases, request->lanes, request->seed, request->split, 0);
  plan.progress = request->progress;
  plan.deterministic = true;
  plan.frames = true;
  held->cases = plan.cases;
  fov_rollout_run(&held->rollout, &tape, &held->task, &plan);
  held->frames = fov_held_frames(task);
  if (task->env->spec.observation.kind == FOV_OBSERVATION_TOKENS)
    keep_tokens(held, arena);
  else
    keep_pixels(held, arena);
  find_turns(held, arena);
}

void fov_held_places(float *places, const FovHeld *held) {
  int glimpses = fov_task_glimpses(&held->task);
  for (int i = 0; i < held->lanes * glimpses * 2; i++) places[i] = NAN;
  for (int t = 1; t < held->rollout.time_steps; t++) {
    const FovTimeStep *step = &held->rollout.at[t];
    for (int i = 0; i < step->count; i++)
      for (int j = 0; j < 2; j++)
        places[((size_t)step->lanes[i] * glimpses + (size_t)t - 1) * 2 + (size_t)j] =
            (float)fov_value_row(step->location, i)[j];
  }
}
