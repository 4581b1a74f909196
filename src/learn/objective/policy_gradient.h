/** What the objectives share: the losses of answer, baseline and choices. */
#ifndef FOV_LEARN_OBJECTIVE_POLICY_GRADIENT_H
#define FOV_LEARN_OBJECTIVE_POLICY_GRADIENT_H

#include "learn/objective.h"

/** First in the options of every objective that has such losses. */
typedef struct FovPolicyGradientOptions {
  double policy;   /**< weight of the policy's loss */
  double entropy;  /**< weight of the entropy of moves and of stopping, which is raised */
  double baseline; /**< weight of half the squared error of a learned baseline or control variate */
} FovPolicyGradientOptions;

/** First in the options of objectives with generalised advantages. */
typedef struct FovAdvantageOptions {
  FovPolicyGradientOptions gradient;
  double lambda; /**< λ, 0 … 1 */
} FovAdvantageOptions;

#define FOV_POLICY_WEIGHT                                                                          \
  FOV_REAL(FovPolicyGradientOptions, policy, "1", 0, 1e6, "weight of the policy's loss")

#define FOV_POLICY_GRADIENT_OPTIONS                                                                \
  FOV_POLICY_WEIGHT,                                                                               \
      FOV_REAL(FovPolicyGradientOptions, entropy, "0", 0, 1000,                                    \
               "weight of an entropy bonus for moves and stop decisions"),                         \
      FOV_REAL(FovPolicyGradientOptions, baseline, "1", 0, 1e6,                                    \
               "weight of the loss of a learned baseline or control variate")

/** The losses that the functions below add to, first in the losses of an objective. */
enum { FOV_LOSS_ANSWER, FOV_LOSS_BASELINE, FOV_LOSS_POLICY, FOV_LOSSES };

/** Their names: answer, baseline, policy. */
extern const char *const fov_policy_gradient_losses[];

/** From returns and baselines, [M, B] both, to the weight of log π of each choice in the loss of
 * its episode, −A_t: [M, B]. */
typedef void FovChoiceWeights(real *weights, const real *returns, const real *b, int time_steps,
                              int lanes, const void *options);

/** Time step t of the rollout that is repeated; an empty one if nothing is. */
const FovTimeStep *fov_step_before(const FovObjectiveInput *input, int t);

/* In the functions below, losses has FOV_LOSSES numbers, to which the sums over the episodes are
 * added, and options is a FovPolicyGradientOptions, or a struct that begins with one. */

/** Adds the gradients of the three losses. weigh: what distinguishes the objectives. */
void fov_policy_gradient_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             FovChoiceWeights *weigh, const void *options);

/** Adds the gradient of the baseline's loss, and returns the weights of the choices, [M, B]. */
real *fov_baseline_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                       FovChoiceWeights *weigh, const void *options);

/** A FovChoiceWeights with A_t = δ_t + λ A_{t+1}, δ_t = r_t + b_{t+1} − b_t (Schulman et al. 2016,
 * eq. 16, without discount). options: begin with a FovAdvantageOptions. */
void fov_weigh_advantages(real *weights, const real *returns, const real *b, int time_steps,
                          int lanes, const void *options);

/** Weights of the parts of a loss, [M, B] each. */
typedef struct FovLossWeights {
  const real *answers; /**< of each answer's cross-entropy; NULL: 1 */
  const real *prior; /**< of each lane, in means under π: of the policy's entropy and of the loss of
                          answers that is logged; NULL: 1 */
  /** dL/d log π of each place, move and decision to stop, before it is multiplied by the policy's
   * weight and divided by the batch; NULL: such choices have no loss */
  const real *looks, *acts, *stops;
} FovLossWeights;

/** Adds the gradients of answers, entropies and choices. */
void fov_weighted_losses_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             const FovLossWeights *weights, const void *options);

#endif
