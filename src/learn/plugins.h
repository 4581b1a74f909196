/**
 * The contracts of what can be swapped in learning, one const struct in one file and one line in
 * tables.c each: policies, stop rules, rewards, baselines, estimators and optimisers.
 *
 * M time_steps, B lanes, K copies of an image side by side in a batch, A actions.
 */
#ifndef FOV_LEARN_PLUGINS_H
#define FOV_LEARN_PLUGINS_H

#include "base/option.h"
#include "base/rng.h"
#include "learn/categorical.h"
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

/** What is known when a lane may stop looking; n lanes. */
typedef struct FovStopInput {
  FovVar *logits;                /**< [n, 2], of looking on and of stopping; NULL unless learned */
  const real *log_probabilities; /**< [n, A], of the answer; NULL unless the rule reads them */
  int actions;                   /**< A */
  bool deterministic;            /**< the likelier of both instead of a sample */
  FovRng *rng;                   /**< [n] */
  int lanes;                     /**< n */
} FovStopInput;

/** Whether to answer now or to look once more; asked after each glimpse but the last before an
 * answer is due anyway. */
typedef struct FovStopRule {
  FovPlugin plugin;
  bool learned;      /**< it has a head in the agent */
  bool reads_answer; /**< it is told the answer's log-probabilities */
  /** What a glimpse costs, subtracted from the reward; NULL: nothing. */
  double (*cost)(const void *options);
  /** stop: [n], written. Returns log π of the decisions, [n, 1]; NULL if nothing is learned or was
   * sampled. NULL: never stops. */
  FovVar *(*decide)(bool *stop, FovTape *tape, const FovStopInput *input, const void *options);
} FovStopRule;

/** What an answer earns. */
typedef struct FovReward {
  FovPlugin plugin;
  bool labelled; /**< it asks for labels, which a control task has not */
  /** earned: what the environment gave. log_probabilities: [A], the agent's. */
  real (*value)(real earned, const real *log_probabilities, int label);
} FovReward;

/** What a baseline may know; nothing here depends on the action it is subtracted for, but for
 * leave-one-out's own returns, which it leaves out. */
typedef struct FovBaselineInput {
  const real *returns;           /**< [M, B]: R_t, what is earned from step t on */
  const real *predicted;         /**< [M, B]: the head's; the return where nothing was chosen */
  real average;                  /**< moving average of the mean return over earlier updates */
  int time_steps, lanes, copies; /**< M, B, K */
} FovBaselineInput;

/** b_t, subtracted from the return. */
typedef struct FovBaseline {
  FovPlugin plugin;
  bool learned;     /**< trains the baseline head, which predicts R_t from h_t */
  int least_copies; /**< K it needs */
  void (*values)(real *b /* [M, B] */, const FovBaselineInput *input);
} FovBaseline;

/** From returns and baselines, [M, B] both, to the gradient: dL/d log π of each choice, [M, B]. */
typedef struct FovEstimator {
  FovPlugin plugin;
  bool predicts; /**< it takes the baseline for a prediction, which only a learned one is */
  void (*weights)(real *dlog_prob, const real *returns, const real *b, int time_steps, int lanes,
                  const void *options);
} FovEstimator;

/** What an optimiser reads and writes: a range of the blocks, or a whole parameter. */
typedef struct FovOptimiserStep {
  real *value, *first, *second; /**< [count]: parameters and two time_steps */
  const real *gradient;         /**< [count] */
  size_t count;
  int rows, cols; /**< of a whole parameter; else 1 and count */
  real *scratch;  /**< as much as was asked for */
  real scale;     /**< the gradient's factor: clipping */
  real rate;      /**< learning rate of this update */
  int64_t update; /**< 1 for the first */
} FovOptimiserStep;

typedef struct FovOptimiser {
  FovPlugin plugin;
  /** Numbers that the step of a whole parameter needs meanwhile; NULL: steps any range alike. */
  size_t (*scratch)(int rows, int cols);
  void (*step)(const FovOptimiserStep *step, const void *options);
} FovOptimiser;

extern const FovPolicy *const fov_policies[];
extern const FovStopRule *const fov_stop_rules[];
extern const FovReward *const fov_rewards[];
extern const FovBaseline *const fov_baselines[];
extern const FovEstimator *const fov_estimators[];
extern const FovOptimiser *const fov_optimisers[];

#endif
