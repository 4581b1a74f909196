/**
 * The contracts of what can be swapped in learning, one const struct in one file and one line in
 * tables.c each: policies, rewards, baselines, estimators and optimisers.
 *
 * T glimpses, B lanes, K copies of an image side by side in a batch, A actions.
 */
#ifndef FOV_LEARN_PLUGINS_H
#define FOV_LEARN_PLUGINS_H

#include "base/option.h"
#include "base/rng.h"
#include "tensor/tape.h"

/** How a policy is to choose now. */
typedef struct FovChoice {
  real sigma[2];      /**< standard deviation in x and y, in units of location */
  bool deterministic; /**< its most likely choice instead of a sample */
} FovChoice;

/** π(l_t | s_t): chooses where to look. */
typedef struct FovPolicy {
  FovPlugin plugin;
  bool learned; /**< it has a log-probability, and uses `mean` */
  /** The standard deviation in pixels when `progress` (0 … 1) of the training is done; NULL if the
   * policy has none. */
  double (*sigma)(const void *options, double progress);
  /**
   * location: [B, 2], the raw sample. mean: [B, 2], NULL unless learned. rng: [B].
   * Returns log π of the raw sample, [B, 1]; NULL if nothing is learned or nothing was sampled.
   */
  FovVar *(*choose)(real *location, FovTape *tape, FovVar *mean, const FovChoice *choice,
                    FovRng *rng, int lanes);
} FovPolicy;

/** What an answer earns. */
typedef struct FovReward {
  FovPlugin plugin;
  /** earned: what the environment gave. log_probabilities: [A], the agent's. */
  real (*value)(real earned, const real *log_probabilities, int label);
} FovReward;

/** What a baseline may know; nothing here depends on the action it is subtracted for, but for
 * leave-one-out's own returns, which it leaves out. */
typedef struct FovBaselineInput {
  const real *returns;   /**< [T, B]: R_t */
  const real *predicted; /**< [T, B]: the baseline head's; zeros unless `learned` */
  real average;          /**< moving average of the mean return over earlier updates */
  int glimpses, lanes, copies;
} FovBaselineInput;

/** b_t, subtracted from the return. */
typedef struct FovBaseline {
  FovPlugin plugin;
  bool learned;     /**< trains the baseline head, which predicts R_t from h_t */
  int least_copies; /**< K it needs */
  void (*values)(real *b /* [T, B] */, const FovBaselineInput *input);
} FovBaseline;

/** From returns and baselines to the gradient: dL/d log π of each choice. */
typedef struct FovEstimator {
  FovPlugin plugin;
  void (*weights)(real *dlog_prob /* [T, B] */, const real *returns, const real *b, int glimpses,
                  int lanes);
} FovEstimator;

/** What an optimiser reads and writes: a range of the blocks. */
typedef struct FovOptimiserStep {
  real *value, *first, *second; /**< [count]: parameters and two moments */
  const real *gradient;         /**< [count] */
  size_t count;
  real scale;     /**< the gradient's factor: clipping */
  real rate;      /**< learning rate of this update */
  int64_t update; /**< 1 for the first */
} FovOptimiserStep;

typedef struct FovOptimiser {
  FovPlugin plugin;
  void (*step)(const FovOptimiserStep *step, const void *options);
} FovOptimiser;

extern const FovPolicy *const fov_policies[];
extern const FovReward *const fov_rewards[];
extern const FovBaseline *const fov_baselines[];
extern const FovEstimator *const fov_estimators[];
extern const FovOptimiser *const fov_optimisers[];

#endif
