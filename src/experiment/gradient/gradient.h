/**
 * Estimators of a gradient, compared at a checkpoint.
 *
 * All estimate the gradient of the same loss on the same images, of a fixed number of cases: for
 * classes E[−log p(y | l)] over the choices l of the policy, for games −E[R], for vectors −E[R] and
 * the loss of the answers. The reference is its exact value where all sequences of choices can be
 * enumerated, of random first places a mean over many of them, and otherwise the mean of many
 * samples of REINFORCE. For objectives of the likelihood it is the exact gradient of
 * −log E[p(y | l)]; they have no reference where nothing can be enumerated.
 *
 * With own_reward the loss is that of the training: −E[R] over the choices, R being the agent's own
 * reward of every step and a constant in the gradient even if it depends on the parameters (as a
 * probability does), and the loss of the answers that it is trained on. Estimators of the last
 * answer's loss or likelihood are then not defined.
 */
#ifndef FOV_EXPERIMENT_GRADIENT_GRADIENT_H
#define FOV_EXPERIMENT_GRADIENT_GRADIENT_H

#include "experiment/trained.h"

enum {
  FOV_PROJECTIONS = 32,      /**< random directions on which means are compared */
  FOV_GRADIENT_GROUPS = 16,  /**< of parameters, at most */
  FOV_GRADIENT_REASON = 256, /**< bytes */
};

/** What to measure. */
typedef struct FovGradientRequest {
  const char *source;         /**< a run or a checkpoint */
  const char *const *changes; /**< [change_count] key=value on top of its configuration */
  int change_count;
  int cases;       /**< images: 1 … 64 */
  int64_t samples; /**< of each estimator: 2 or more */
  int threads;
  uint64_t seed;
  bool own_reward; /**< use the training's own loss */
} FovGradientRequest;

/** Of all parameters, or of one group. NaN: not defined. */
typedef struct FovGradientFigures {
  double norm;     /**< |g| of the reference g */
  double variance; /**< of one episode's gradient: the trace of its covariance */
  double bias;   /**< |E[ĝ] − g| / |g|, less what the finite number of samples explains; >= 0 */
  double cosine; /**< of the angle between E[ĝ] and g, likewise */
  double snr;    /**< |g| / √variance: of one episode */
  double p;      /**< of the hypothesis that the estimator is unbiased, over all projections
                      (Bonferroni) */
} FovGradientFigures;

typedef struct FovEstimator {
  const char *name;
  bool likelihood;                  /**< its reference is that of the likelihood */
  char reason[FOV_GRADIENT_REASON]; /**< why it is not defined for this agent; "": it is */
  int lanes;                        /**< episodes of a sample */
  int64_t samples;
  double seconds; /**< of one episode, on one thread */
  FovGradientFigures all, groups[FOV_GRADIENT_GROUPS];
} FovEstimator;

typedef struct FovGradientResult {
  char path[FOV_PATH_SIZE]; /**< of the checkpoint */
  int64_t update;
  bool checked;     /**< the file has a digest */
  const char *loss; /**< a description */
  int sequences; /**< of choices of an episode that were enumerated; 0: the reference is sampled */
  int64_t reference_samples;                        /**< of the reference; 1: it is exact */
  char groups[FOV_GRADIENT_GROUPS][FOV_PARAM_NAME]; /**< [group_count] */
  int group_count;
  FovEstimator *estimators; /**< [count] */
  int count;
} FovGradientResult;

/** Measures every estimator of the table that fits the agent. The result is released by
 * fov_gradient_finish, also after a failure. */
FovStatus fov_gradient_measure(FovGradientResult *result, const FovGradientRequest *request);
void fov_gradient_finish(FovGradientResult *result);

#endif
