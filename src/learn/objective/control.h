/** The control variate of relaxed choices; see model/attention/rebar.c. */
#ifndef FOV_LEARN_OBJECTIVE_CONTROL_H
#define FOV_LEARN_OBJECTIVE_CONTROL_H

#include "learn/objective/policy_gradient.h"

/**
 * Adds the control variate of relaxed choices (model/relaxed.h) to the weights of the choices of
 * place, dL/d log π [M, B], and its own gradients; nothing where no choice was relaxed. A c that is
 * learned is fitted to −dL/d log π, what the baseline leaves of the return.
 *
 * c(ζ̃) is centred, and η = Cov(R − b, c) / Var(c); both are computed from the lanes of other cases
 * in the time step, which do not depend on the lane's choice: the gradient stays unbiased.
 */
void fov_control_add(FovTape *tape, real *choices, const FovObjectiveInput *input,
                     const FovPolicyGradientOptions *options);

#endif
