/**
 * Episodes that have been played, with their choices held: a differentiable function of the pixels.
 *
 * The number of glimpses, their places, the answers and, unless `through`, the weights and windows
 * of soft readings stay what they were. What the agent computes then depends on the pixels through
 * its glimpses alone, and can be evaluated with any other pixels.
 */
#ifndef FOV_EXPLAIN_HELD_H
#define FOV_EXPLAIN_HELD_H

#include "learn/rollout/rollout.h"
#include "model/watch.h"

/** Which episodes to play, and how. */
typedef struct FovHeldRequest {
  const FovTask *task;
  const real *values;   /**< parameters */
  const int64_t *cases; /**< [lanes] */
  int lanes;
  uint64_t seed; /**< of the cases, as in an evaluation */
  FovSplit split;
  double progress; /**< share of the training that is done, for the policy's schedules */
  bool through;    /**< soft weights and windows follow the state instead of being held */
} FovHeldRequest;

/** B episodes; memory is an arena's. It stays where it was played: `task` points to `agent`, a copy
 * that is not to be finished. */
typedef struct FovHeld {
  FovTask task;   /**< with `agent` */
  FovAgent agent; /**< as it was trained, but stop_gradient is none */
  const real *values;
  const int64_t *cases; /**< [B] */
  FovRollout rollout;
  bool through;
  int lanes;                   /**< B */
  int frames;                  /**< F: pictures of an episode: 1, or one for each of its possible
                                    glimpses if the environment changes them */
  int height, width, channels; /**< H, W, C; a vector of D numbers is 1 × 1 × D, a sequence of L
                                    symbols 1 × L × 1 */
  float *pixels;               /**< [B, F, H, W, C]: brightness, before it is standardised; NULL:
                                    symbols have none */
  int32_t *tokens;             /**< [B, L]: symbols, as observed; NULL: there are none */
  int *last;                   /**< [B]: time step of the last answer or action */
  int *turns;                  /**< [B, M]: number, from 0, of the answer at a time step or the
                                    next one; of the last answer if none follows */
} FovHeld;

/** Plays the episodes, with deterministic choices, in an arena that must live as long as *held. */
void fov_held_play(FovHeld *held, FovArena *arena, const FovHeldRequest *request);

/** F: pictures of an episode of a task. */
int fov_held_frames(const FovTask *task);

/** F·H·W·C: pixels of an episode. */
size_t fov_held_pixels(const FovHeld *held);

/** places: [B, T, 2], x and y of each glimpse; NaN where there was none. */
void fov_held_places(float *places, const FovHeld *held);

/** What to compute when the episodes are repeated. */
typedef struct FovReplayRequest {
  const float *pixels; /**< [B, F, H, W, C]; NULL: as they were */
  FovReader reader;    /**< which head reads the states: policy, answer or baseline */
  bool gradient;       /**< with respect to the pixels */
  FovWatch watching;   /**< results whose gradients are wanted */
} FovReplayRequest;

/** Episodes that have been repeated, on a tape that waits for a backward pass. */
typedef struct FovReplay {
  FovTape tape;
  FovVar **outputs;  /**< [M]: of the head at each time step: logits [n, A], the prediction [n, 1],
                          or the mean of the next place [n, 2] */
  FovVar **states;   /**< [M]: h_t [n, D], which the head reads */
  FovVar **glimpses; /**< [M]: rho [n, S·G·G·C]; NULL before the first */
  real *gradient;    /**< [B, F, H, W, C]; NULL: not wanted */
} FovReplay;

/** Repeats the episodes in an arena. The lanes of time step t are those of rollout.at[t]. */
void fov_replay_run(FovReplay *replay, FovArena *arena, const FovHeld *held,
                    const FovReplayRequest *request);

/** Runs the backward pass, and scales the gradient to that of the brightness. */
void fov_replay_backward(FovReplay *replay, const FovHeld *held);

/** Forgets all gradients, so that another backward pass may follow. */
void fov_replay_clear(FovReplay *replay, const FovHeld *held);

#endif
