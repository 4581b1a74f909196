#include "base/profile.h"
#include "learn/rollout/play.h"

static float *new_floats(const Play *play, const FovImage *image) {
  return FOV_NEW(play->tape->arena, float,
                 (size_t)image->height *(size_t)image->width *(size_t)image->channels);
}

/** Whether agents are shown other images than the environment draws. */
static bool changes_images(const Play *play) {
  return play->augmentations || fov_is_standardised(play->task->standard);
}

/** Draws how the images of all lanes are augmented, before the environments draw. */
static void draw_augmentations(Play *play) {
  const FovSensor *sensor = &play->task->agent->sensor;
  if (!play->plan->augment || !fov_is_augmented(sensor)) return;
  play->augmentations = FOV_NEW(play->tape->arena, FovAugmentation, play->count);
  for (int b = 0; b < play->count; b++)
    play->augmentations[b] = fov_augmentation_draw(sensor, &play->env_rng[b]);
}

/** Gives lane b an image to be shown: its environment's, or room for a changed one. */
static void make_image(Play *play, int b) {
  FovImage *image = &play->images[b];
  *image = fov_lane_image(&play->env[b], &play->task->env->spec);
  if (!changes_images(play)) return;
  image->bytes = NULL;
  image->floats = new_floats(play, image);
}

/** Shows lane i its image as it is now. */
static void show(Play *play, int i) {
  const FovStandard *standard = play->task->standard;
  FovImage image = fov_lane_image(&play->env[i], &play->task->env->spec);
  float *shown = (float *)play->images[i].floats;
  bool standardised = fov_is_standardised(standard);
  if (play->augmentations) {
    float *augmented = standardised ? play->augmented : shown;
    fov_augment(augmented, &image, play->augmentations[i]);
    image.bytes = NULL;
    image.floats = augmented;
  }
  if (standardised) fov_standardise(shown, &image, standard);
}

/** The cue as the agent is shown it: standardised if the images are, and it has their channels. */
static FovImage show_cue(const Play *play, int b) {
  const FovEnvSpec *spec = &play->task->env->spec;
  const FovStandard *standard = play->task->standard;
  FovImage cue = fov_observed(&spec->cue, play->env[b].cue);
  bool image = spec->cue.kind == FOV_OBSERVATION_IMAGE && cue.channels == standard->channels;
  if (!fov_is_standardised(standard) || !image) return cue;
  size_t numbers = (size_t)cue.height * (size_t)cue.width * (size_t)cue.channels;
  float *floats = FOV_NEW(play->tape->arena, float, numbers);
  fov_standardise(floats, &cue, standard);
  cue.floats = floats, cue.bytes = NULL;
  return cue;
}

void fov_play_show(Play *play) {
  if (!changes_images(play)) return;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < play->count; i++) show(play, i);
  fov_profile_enter(before);
}

void fov_play_start(Play *play) {
  const FovEnv *env = play->task->env;
  FovArena *arena = play->tape->arena;
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  draw_augmentations(play);
  for (int b = 0; b < play->count; b++) {
    play->lanes[b] = b;
    play->env[b] = fov_env_lane(arena, &env->spec);
    make_image(play, b);
    fov_env_reset(env, &play->env[b], play->plan->cases[b], &play->env_rng[b]);
    play->cues[b] = show_cue(play, b);
  }
  if (play->augmentations) play->augmented = new_floats(play, &play->images[0]);
  fov_profile_enter(before);
  fov_play_show(play);
}

void fov_play_look(Play *play) {
  const FovEnv *env = play->task->env;
  if (!env->type->look) return;
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  for (int i = 0; i < play->count; i++) {
    const float place[2] = {(float)play->places[2 * i], (float)play->places[2 * i + 1]};
    if (!fov_env_over(&play->env[i])) fov_env_look(env, &play->env[i], place, &play->env_rng[i]);
  }
  fov_profile_enter(before);
  fov_play_show(play);
}

/** Whether lane i has nothing left to do; a full rollout lasts until all glimpses are taken. */
static bool is_done(const Play *play, int i) {
  if (play->plan->full) return play->rollout->time_steps > fov_task_glimpses(play->task);
  return fov_env_over(&play->env[i]);
}

bool fov_play_goes_on(const Play *play) {
  for (int i = 0; i < play->count; i++)
    if (!is_done(play, i)) return true;
  return false;
}

/** Starts the episode of lane i again: where an episode ends, a full rollout starts another. */
static void reset(Play *play, int i) {
  int64_t index = play->plan->cases[play->lanes[i]];
  fov_env_reset(play->task->env, &play->env[i], index, &play->env_rng[i]);
}

/** Moves the lane at place `from` to place `to`. */
static void move_lane(Play *play, int to, int from) {
  play->lanes[to] = play->lanes[from];
  play->env[to] = play->env[from];
  play->images[to] = play->images[from];
  if (play->augmentations) play->augmentations[to] = play->augmentations[from];
  play->env_rng[to] = play->env_rng[from];
  play->policy_rng[to] = play->policy_rng[from];
  play->looked[to] = play->looked[from];
  play->previous[to] = play->previous[from];
  play->earned[to] = play->earned[from];
  memcpy(play->places + 2 * to, play->places + 2 * from, 2 * sizeof *play->places);
}

/** Whether some lanes may be done before others. */
static bool may_leave(const FovTask *task) {
  return task->stop->decide || task->env->spec.steps > 1;
}

void fov_play_drop(Play *play) {
  int n = 0, *rows = FOV_NEW(play->tape->arena, int, play->count);
  for (int i = 0; i < play->count; i++) {
    if (is_done(play, i)) continue;
    if (fov_env_over(&play->env[i])) reset(play, i);
    if (n < i) move_lane(play, n, i);
    rows[n++] = i;
  }
  bool left = n < play->count || (play->plan->full && may_leave(play->task));
  if (n > 0 && left) fov_agent_keep(&play->state, play->task->agent, play->tape, rows, n);
  play->count = n;
}
