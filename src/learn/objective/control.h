/** The control variate of relaxed choices; see model/attention/rebar.c. */
#ifndef FOV_LEARN_OBJECTIVE_CONTROL_H
#define FOV_LEARN_OBJECTIVE_CONTROL_H

#include "learn/objective.h"

/**
 * Adds the control variate to the weights of the choices of place, dL/d log π [M, B], and its own
 * gradients; nothing where no choice was relaxed. policy: the weight of the policy's loss.
 *
 * c(ζ̃) is centred, and η = Cov(R, c) / Var(c); both are computed from the other lanes of the time
 * step, which do not depend on the lane's choice: the gradient stays unbiased.
 */
void fov_control_add(FovTape *tape, real *choices, const FovObjectiveInput *input, double policy);

#endif
