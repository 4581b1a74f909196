#include "learn/categorical.h"
#include "learn/rollout/play.h"
#include "model/sites.h"

/** Keeps the images as they are now, before an action changes them. */
static void keep_frames(FovTimeStep *step, const Play *play) {
  size_t size = fov_observation_bytes(&play->task->env->spec.observation);
  for (int i = 0; i < step->count; i++)
    step->frames[i] = memcpy(fov_arena_alloc(play->tape->arena, size), step->frames[i], size);
}

void fov_play_see(FovTimeStep *step, Play *play) {
  int n = step->count, taken = play->rollout->time_steps - 2; // glimpses, before this one
  FovView view = fov_task_view(play->task, taken);
  view.images = play->images, view.lanes = n;
  view.copies = play->plan->copies;
  view.rng = play->policy_rng;
  view.progress = play->plan->progress;
  view.deterministic = play->plan->deterministic;
  view.previous = play->previous, view.labels = step->labels;
  FovReadout readout = {.g = NULL};
  view.location = step->location = fov_rows(play->tape, play->locations, play->row, n);
  memcpy(view.location->value, play->places, 2 * (size_t)n * sizeof *play->places);
  play->row += n;
  if (play->plan->frames && play->task->env->spec.changes) keep_frames(step, play);
  step->previous = memcpy(FOV_NEW(play->tape->arena, int, n), play->previous, n * sizeof(int));
  fov_agent_see(&readout, &play->state, play->task->agent, play->tape, &view);
  step->rho = readout.rho;
  memcpy(step->read, readout.columns, sizeof step->read);
  memcpy(step->relaxed, readout.relaxed, sizeof step->relaxed);
  step->fitted = readout.fitted;
  for (int i = 0; i < n; i++) {
    play->looked[i]++;
    play->rollout->glimpses[step->lanes[i]]++;
  }
}

/** Which of the parts of the width the middle of a column of pixels is in. */
static int part_of(int column, int width, int count) {
  return fov_part_of((2 * column + 1.) / width - 1, count);
}

uint8_t fov_play_align(const FovTimeStep *step, const Play *play, int i) {
  const FovAgent *agent = play->task->agent;
  const FovAttention *attention = agent->attention;
  FovAlignment from = play->env[i].from;
  const FovObservation *shown = &play->task->env->spec.observation;
  int extent = fov_observed(shown, NULL).width;
  // An attention over sites reads one of them; others read around a column of an image, or all.
  FovGrid grid = {.across = extent, .down = 1};
  bool anywhere = shown->kind == FOV_OBSERVATION_TOKENS || attention->reach == FOV_REACH_ALL;
  if (from.first < 0 || (anywhere && !attention->sites)) return 0;
  if (attention->sites) grid = attention->sites(agent->attention_layout);
  int read = fov_part_of((double)fov_value_row(step->location, i)[0], grid.across);
  if (attention->sites && attention->without_policy)
    read = fov_likeliest(fov_value_row(step->read[FOV_SITES_WEIGHTS], i), grid.across * grid.down) %
           grid.across;
  int first = part_of(from.first, extent, grid.across);
  int last = part_of(from.last, extent, grid.across);
  bool sure = from.sure >= 0;
  bool at_sure = sure && read == part_of(from.sure, extent, grid.across);
  return (uint8_t)(FOV_ALIGNED_PART | (sure ? FOV_ALIGNED_SURE : 0) |
                   (read >= first && read <= last ? FOV_ALIGNED_IN_PART : 0) |
                   (at_sure ? FOV_ALIGNED_IN_SURE : 0));
}
