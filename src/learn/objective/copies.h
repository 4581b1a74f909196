/** What objectives compute from the K lanes of a case, which stand side by side. */
#ifndef FOV_LEARN_OBJECTIVE_COPIES_H
#define FOV_LEARN_OBJECTIVE_COPIES_H

#include "learn/objective/policy_gradient.h"

/** log Σ_i exp(x_i) of n numbers. */
real fov_log_sum(const real *x, int n);

/** weights = K·softmax(log_p) over the lanes of each case, whose mean is 1; both [B]. */
void fov_copies_weigh(real *weights, const real *log_p, int lanes, int copies);

/** log π of each lane's sequence of choices: [B], in the tape's arena. No lane may end early. */
real *fov_log_prior(FovTape *tape, const FovRollout *rollout);

/** Repeats weights [B] for every time step: [M, B], in the tape's arena. */
real *fov_every_step(FovTape *tape, const real *weights, const FovRollout *rollout);

/** From log p(y | x, l^k), [K] of the lanes of a case, to what the choices of each lane earned. */
typedef void FovCopiesSignal(real *signal, const real *log_p, int copies);

/**
 * Adds the gradients of an objective that samples K sequences of choices l^k of a case and weights
 * them by the likelihood of the answer y:
 *
 *     dL/d log p(y | x, l^k) = −w_k,  w = softmax_k log p(y | x, l^k)
 *     dL/d log π(l^k) = −signal_k, with objective.policy as its weight
 *
 * L is the sum over the answers of an episode; the weight of a choice is the sum of the signals of
 * later answers. Rewards and costs do not count. losses: answer, policy, bound, which is
 * −log 1/K Σ_k p(y | x, l^k).
 */
void fov_copies_add(FovTape *tape, double *losses, const FovObjectiveInput *input,
                    FovCopiesSignal *signal, const void *options);

/** The names of these losses. */
extern const char *const fov_copies_losses[];

#endif
