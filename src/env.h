/**
 * The environment contract.
 *
 * An environment type is one const struct in one file of envs/ and one line in envs/table.c. What
 * it loads (a data set) is read-only once created; what an episode changes lives in a lane that the
 * caller owns, so any number of threads may run lanes of one environment at once. An environment
 * never draws, keeps no generator of its own and never resets itself.
 */
#ifndef FOV_ENV_H
#define FOV_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "base/rng.h"

typedef enum FovSplit { FOV_SPLIT_TRAIN, FOV_SPLIT_VALID, FOV_SPLIT_TEST } FovSplit;

enum { FOV_MAX_ACTIONS = 1 << 20, FOV_MAX_STEPS = 65536 };

/**
 * What an environment promises for its whole life.
 *
 * An episode is up to N actions. Each is an answer, judged by the label that was due, or, in a
 * control task, a move that changes what happens next.
 */
typedef struct FovEnvSpec {
  int height, width, channels; /**< of the image, in pixels; channels 1 or 3 */
  int actions;                 /**< A: classes of a label, or moves: 1 … FOV_MAX_ACTIONS */
  const char *const *names;    /**< [A]: what the actions are called; NULL: their numbers */
  int steps;                   /**< N, after which an episode is cut: 1 … FOV_MAX_STEPS */
  bool control;                /**< a control task: there are no labels */
  float goal;                  /**< of a control task: a return below counts as an error */
  bool changes;                /**< a step changes the image too; otherwise only a reset does */
  int64_t cases;               /**< distinct cases of this split (digits); an epoch */
  uint64_t digest;             /**< of the data behind the cases: another digest is other data */
  size_t state_size;           /**< bytes of private state a lane needs; may be 0 */
} FovEnvSpec;

/** One lane's memory, owned by the caller; the environment writes through it. */
typedef struct FovEnvLane {
  uint8_t *image;  /**< [H, W, C], 0 black … 255 white; the caller shows it to the sensor only */
  void *state;     /**< spec.state_size bytes, aligned for any type */
  int label;       /**< 0 … A−1: the right answer of the next step; −1 in a control task */
  float reward;    /**< of the last step; 0 after a reset */
  bool terminated; /**< the task ended the episode; image and state stay as they ended */
  bool truncated;  /**< N steps were made without an end */
  int taken;       /**< steps since the reset; counted by fov_env_step */
} FovEnvLane;

typedef struct FovEnvType {
  FovPlugin plugin;
  /** Loads what the split needs. On failure *env is NULL and nothing is left open. */
  FovStatus (*create)(void **env, FovEnvSpec *spec, const void *options, FovSplit split);
  /** Accepts NULL. */
  void (*destroy)(void *env);
  /** Starts case `index` (0 … cases−1), a pure function of its arguments and `rng`: writes image,
   * state and label; reward and ends are already cleared, and the label is −1. */
  void (*reset)(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng);
  /** Judges `action` (0 … A−1) and moves on: writes reward, terminated and the next label. */
  void (*step)(const void *env, FovEnvLane *lane, int action, FovRng *rng);
} FovEnvType;

/** An environment of some type, with its promise. */
typedef struct FovEnv {
  const FovEnvType *type;
  void *impl;
  FovEnvSpec spec;
} FovEnv;

/** All environment types, NULL-terminated; defined in envs/table.c. */
extern const FovEnvType *const fov_envs[];

/** Creates an environment of some type and checks what it promises; `options` is the struct that
 * the type's table describes. On failure `env` may be finished, but not used. */
FovStatus fov_env_create(FovEnv *env, const FovEnvType *type, const void *options, FovSplit split);

/** Safe on a zeroed one and twice. */
void fov_env_finish(FovEnv *env);

/** Starts case `index`: checks its range, clears reward and ends, and resets the lane. */
void fov_env_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng);

/** Steps a lane whose episode has not ended; checks the range of `action`, and truncates after N
 * steps. */
void fov_env_step(const FovEnv *env, FovEnvLane *lane, int action, FovRng *rng);

/** Whether the lane's episode is over. */
static inline bool fov_env_over(const FovEnvLane *lane) {
  return lane->terminated || lane->truncated;
}

#endif
