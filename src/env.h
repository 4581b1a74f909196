/**
 * The environment contract.
 *
 * An environment type is one const struct in one file of envs/ and one line in envs/table.c. What
 * it loads (a data set) is read-only once created; what an episode changes lives in a lane that the
 * caller owns, so any number of threads may run lanes of one environment at once. An environment
 * never draws on a screen, has no generator of its own and never resets itself.
 */
#ifndef FOV_ENV_H
#define FOV_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/option.h"
#include "base/rng.h"

typedef enum FovSplit { FOV_SPLIT_TRAIN, FOV_SPLIT_VALID, FOV_SPLIT_TEST } FovSplit;

/** Names of FovSplit, NULL-terminated: "train", "valid", "test". */
extern const char *const fov_split_names[];

enum {
  FOV_MAX_ACTIONS = 1 << 20,
  FOV_MAX_STEPS = 65536,
  FOV_MAX_IMAGE_SIDE = 65536, /**< of an image, pixels */
  FOV_MAX_CHANNELS = 64,      /**< of an image of floats */
  FOV_MAX_LENGTH = 1 << 20,   /**< of tokens or of a vector, and of a vocabulary */
};

/* ---- what a lane shows, and what it is answered ---- */

typedef enum FovObservationKind {
  FOV_OBSERVATION_NONE,  /**< nothing: only a cue may be of this kind */
  FOV_OBSERVATION_IMAGE, /**< [H, W, C], of bytes (0 black … 255 white) or of floats */
  FOV_OBSERVATION_TOKENS, /**< int32 [L], each 0 … V−1; −1 after the end of a shorter sequence */
  FOV_OBSERVATION_VECTOR, /**< float [D] */
} FovObservationKind;

/** Kind and shape of an observation. Fields of other kinds are 0. */
typedef struct FovObservation {
  FovObservationKind kind;
  int height, width; /**< of an image, in pixels: 1 … FOV_MAX_IMAGE_SIDE */
  int channels;      /**< of an image: 1 or 3 of bytes, 1 … FOV_MAX_CHANNELS of floats */
  bool floats;       /**< an image of finite floats: 0 black … 1 white, and beyond */
  int length;        /**< L tokens, or D numbers of a vector: 1 … FOV_MAX_LENGTH */
  int vocabulary;    /**< V, of tokens: 1 … FOV_MAX_LENGTH */
} FovObservation;

/** An image of bytes: [height, width, channels], channels 1 or 3. */
static inline FovObservation fov_byte_image(int height, int width, int channels) {
  return (FovObservation){
      .kind = FOV_OBSERVATION_IMAGE, .height = height, .width = width, .channels = channels};
}

/** Bytes of the array that holds such an observation; 0 for FOV_OBSERVATION_NONE. */
size_t fov_observation_bytes(const FovObservation *observation);

enum { FOV_DESCRIPTION = 96 };

/** Describes kind and shape for a message, such as "an image of 60 x 60 x 1 bytes". */
void fov_observation_describe(char text[FOV_DESCRIPTION], const FovObservation *observation);

typedef enum FovAnswerKind {
  FOV_ANSWER_CLASS,  /**< one of A classes; lane->label is the right one */
  FOV_ANSWER_MOVE,   /**< one of A actions of a control task, which has no right answer */
  FOV_ANSWER_VECTOR, /**< float [A]; lane->target is the right one; the environment judges it */
} FovAnswerKind;

/** What an agent answers in one step. */
typedef struct FovAnswer {
  int action;          /**< class or move, 0 … A−1; −1 for a vector */
  const float *vector; /**< [A], finite; NULL for a class or a move */
} FovAnswer;

enum { FOV_VECTOR_LOSS = 3 };

/** The loss of an answered vector y, 3/A · ‖y − target‖², three times the mean squared error: what
 * an agent learns from, and what an environment may subtract from the reward. Answering 0 to
 * targets that are uniform in [−1, 1]^A costs 1 on average (as in ap_gym, Schneider et al. 2026).
 * y, target: [A]
 */
float fov_vector_loss(const float *y, const float *target, int A);

/* ---- an environment ---- */

/**
 * What an environment promises for its whole life.
 *
 * An episode is up to N steps, and a step is one answer. The environment ends an episode of classes
 * or vectors itself, after N answers at the latest; an episode of moves may also be cut after N.
 */
typedef struct FovEnvSpec {
  FovObservation observation; /**< what a lane shows all the time */
  FovObservation cue;         /**< what a lane shows besides, such as a patch to find; or NONE */
  FovAnswerKind answer;
  const char *const *symbols; /**< [V]: names of the symbols of a sequence; NULL: their numbers */
  int actions;              /**< A: classes, moves or numbers of a vector: 1 … FOV_MAX_ACTIONS */
  const char *const *names; /**< [A]: names of the actions; NULL: their numbers */
  int steps;                /**< N: 1 … FOV_MAX_STEPS */
  bool last;                /**< of classes: an episode is right if its last answer is; else all */
  bool ends;                /**< of classes: the last one is the end of a sequence of answers */
  float goal;               /**< of moves and vectors: a return below counts as an error */
  bool located;             /**< lanes have a place `where` */
  bool changes;             /**< a step or a look changes the observation; else only a reset does */
  int64_t cases;            /**< distinct cases of this split (digits); an epoch */
  int64_t division[3];      /**< pictures or lines in each FovSplit, for printing; 0: none known */
  uint64_t digest;          /**< of the data behind the cases: another digest is other data */
  size_t state_size;        /**< bytes of private state a lane needs; may be 0 */

  /** A vector [2] that is a place: the location in the image of the answer (1, 1), 0 … 1; (0, 0):
   * the vector is no place. */
  float place[2];
} FovEnvSpec;

/** Where an answer comes from, where that is known: columns of pixels, or symbols, from 0 on; −1:
 * not known. Tools measure alignment by it; agents are not shown it. */
typedef struct FovAlignment {
  int sure;        /**< the one place that it comes from */
  int first, last; /**< the part that it belongs to, such as the year of a date */
} FovAlignment;

/** That of an answer whose source is not known. */
static inline FovAlignment fov_aligned_nowhere(void) {
  return (FovAlignment){.sure = -1, .first = -1, .last = -1};
}

/** One lane's memory, owned by the caller; the environment writes through it. */
typedef struct FovEnvLane {
  void *observation; /**< fov_observation_bytes(&spec.observation) bytes, aligned for any type */
  void *cue;         /**< likewise for spec.cue; a step never changes it */
  void *state;       /**< spec.state_size bytes, aligned for any type */
  float *target;     /**< [A], finite: the right answer of the next step, if it is a vector */
  int label; /**< 0 … A−1: the right answer of the next step, if it is a class; else −1 */
  FovAlignment from; /**< of the right answer of the next step; all −1 unless the env sets it */
  float where[2]; /**< (x, y) in [−1, 1]: the middle of what is asked for, such as a digit, if the
                       spec is `located`; NaN, which it is before a reset sets it: not known.
                       Tools map gazes relative to it; agents do not see it */
  float reward;   /**< of the last step; 0 after a reset */
  bool terminated; /**< the task ended the episode; observation and state stay as they ended */
  bool truncated;  /**< N steps were made without an end */
  int taken;       /**< steps since the reset; counted by fov_env_step */
} FovEnvLane;

typedef struct FovEnvType {
  FovPlugin plugin;
  bool standardise; /**< agents are shown standardised images, unless sensor.standardise = no */
  /** Loads what the split needs. On failure *env is NULL and nothing is left open. */
  FovStatus (*create)(void **env, FovEnvSpec *spec, const void *options, FovSplit split);
  /** Accepts NULL. */
  void (*destroy)(void *env);
  /** Starts case `index` (0 … cases−1), a pure function of its arguments and `rng`: writes
   * observation, cue, state and label or target; reward and ends are already cleared, and the label
   * is −1. */
  void (*reset)(const void *env, FovEnvLane *lane, int64_t index, FovRng *rng);
  /** Judges `answer`, which is in range, and moves on: writes reward, terminated and the next label
   * or target. */
  void (*step)(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng);
  /** Writes what is seen at `place`, (x, y) in [−1, 1], at which the next glimpse is taken:
   * observation and target. The episode has not ended; after its first step it may end here. NULL:
   * what is shown does not depend on the place. */
  void (*look)(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng);
} FovEnvType;

/** An environment of some type, with its promise. */
typedef struct FovEnv {
  const FovEnvType *type;
  void *impl;
  FovEnvSpec spec;
} FovEnv;

/** All environment types, NULL-terminated; defined in envs/table.c. */
extern const FovEnvType *const fov_envs[];

/** Creates an environment of some type and checks its spec; `options` is the struct that the type's
 * table describes. Fails as the type's `create` does, or if the spec is out of range, which names
 * the environment and the field. On failure `env` may be finished, but not used. */
FovStatus fov_env_create(FovEnv *env, const FovEnvType *type, const void *options, FovSplit split);

/** Safe on a zeroed one and twice. */
void fov_env_finish(FovEnv *env);

/** Digest of the names of the symbols and answers of sequences; 0: other observations. */
uint64_t fov_env_symbols(const FovEnvSpec *spec);

/* ---- lanes ---- */

/** Bytes of all arrays of a lane, without alignment. */
size_t fov_env_lane_bytes(const FovEnvSpec *spec);

/** A lane whose arrays are the arena's, uninitialised; arrays that the spec does not need are NULL.
 */
FovEnvLane fov_env_lane(FovArena *arena, const FovEnvSpec *spec);

/** The lane's image of bytes, [H, W, C]. */
static inline uint8_t *fov_lane_pixels(const FovEnvLane *lane) {
  return lane->observation;
}

/** Starts case `index`: clears reward and ends, and resets the lane. Aborts if `index` is out of
 * range, or if the environment breaks its contract (see fov_env_try_reset). */
void fov_env_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng);

/** Steps a lane whose episode has not ended, and truncates after N steps. Aborts if it has ended,
 * if `answer` is of another kind, out of range or not finite, or if the environment breaks its
 * contract (see fov_env_try_step). */
void fov_env_step(const FovEnv *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng);

/** Shows a lane whose episode has not ended what is at a place, of an environment that has `look`.
 * Aborts if it has ended, if the place is not in [−1, 1], or if the environment breaks its contract
 * (see fov_env_try_look). */
void fov_env_look(const FovEnv *env, FovEnvLane *lane, const float place[2], FovRng *rng);

/** The same, but an environment that breaks its contract is a status, FOV_ERR_NUMBER, whose message
 * names the environment: a label, token or alignment out of range, a reward, target or observation
 * that is not finite, a `where` out of range or not `located`, or an episode that a look ends
 * before its first step. */
FovStatus fov_env_try_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng);
FovStatus fov_env_try_step(const FovEnv *env, FovEnvLane *lane, const FovAnswer *answer,
                           FovRng *rng);
FovStatus fov_env_try_look(const FovEnv *env, FovEnvLane *lane, const float place[2], FovRng *rng);

/** The location, in [−1, 1], of the middle of `count` pixels from `first` on, of `size`. */
static inline float fov_location_of(int first, int count, int size) {
  return (float)(2 * first + count) / (float)size - 1;
}

/** Whether the lane's episode is over. */
static inline bool fov_env_over(const FovEnvLane *lane) {
  return lane->terminated || lane->truncated;
}

#endif
