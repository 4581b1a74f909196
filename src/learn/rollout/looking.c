#include "learn/rollout/play.h"

/** Keeps the images as they are now, before an action changes them. */
static void keep_frames(FovTimeStep *step, const Play *play) {
  size_t size = fov_observation_bytes(&play->task->env->spec.observation);
  for (int i = 0; i < step->count; i++)
    step->frames[i] = memcpy(fov_arena_alloc(play->tape->arena, size), step->frames[i], size);
}

void fov_play_see(FovTimeStep *step, Play *play) {
  int n = step->count, taken = play->rollout->time_steps - 2; // glimpses, before this one
  FovView view = {.images = play->images,
                  .changed = play->task->env->spec.changes,
                  .copies = play->plan->copies,
                  .rng = play->policy_rng,
                  .progress = play->plan->progress,
                  .deterministic = play->plan->deterministic,
                  .time = (real)(2.0 * taken / fov_task_glimpses(play->task) - 1),
                  .lanes = n};
  FovReadout readout = {.g = NULL};
  view.location = step->location = fov_rows(play->tape, play->locations, play->row, n);
  memcpy(view.location->value, play->places, 2 * (size_t)n * sizeof *play->places);
  play->row += n;
  if (play->plan->frames && play->task->env->spec.changes) keep_frames(step, play);
  fov_agent_see(&readout, &play->state, play->task->agent, play->tape, &view);
  step->rho = readout.rho;
  memcpy(step->read, readout.columns, sizeof step->read);
  memcpy(step->relaxed, readout.relaxed, sizeof step->relaxed);
  for (int i = 0; i < n; i++) {
    play->looked[i]++;
    play->rollout->glimpses[step->lanes[i]]++;
  }
}
