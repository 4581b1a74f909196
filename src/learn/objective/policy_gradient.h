/** What the objectives that weigh log π share: the losses of answer, baseline and choices. */
#ifndef FOV_LEARN_OBJECTIVE_POLICY_GRADIENT_H
#define FOV_LEARN_OBJECTIVE_POLICY_GRADIENT_H

#include "learn/objective.h"

/** First in the options of every such objective. */
typedef struct FovPolicyGradientOptions {
  double policy;   /**< weight of the policy's loss */
  double entropy;  /**< weight of the entropy of moves and of stopping, which is raised */
  double baseline; /**< weight of the baseline's loss */
} FovPolicyGradientOptions;

#define FOV_POLICY_GRADIENT_OPTIONS                                                                \
  FOV_REAL(FovPolicyGradientOptions, policy, "1", 0, 1e6, "weight of the policy's loss"),          \
      FOV_REAL(FovPolicyGradientOptions, entropy, "0", 0, 1000,                                    \
               "weight of an entropy bonus for moves and stop decisions"),                         \
      FOV_REAL(FovPolicyGradientOptions, baseline, "1", 0, 1e6, "weight of the baseline's loss")

/** The losses that fov_policy_gradient_add logs: answer, baseline, policy. */
extern const char *const fov_policy_gradient_losses[];

/** From returns and baselines, [M, B] both, to dL/d log π of each choice, [M, B]. */
typedef void FovChoiceWeights(real *weights, const real *returns, const real *b, int time_steps,
                              int lanes, const void *options);

/** Adds the gradients of the three losses. weights: what distinguishes the objectives. */
void fov_policy_gradient_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                             FovChoiceWeights *weights, const void *options);

#endif
