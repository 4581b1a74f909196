/** The control variate of relaxed choices; see model/relaxed.h. */
#ifndef FOV_LEARN_OBJECTIVE_CONTROL_H
#define FOV_LEARN_OBJECTIVE_CONTROL_H

#include "learn/objective/policy_gradient.h"

enum { FOV_CONTROL_LANES = 8 }; /**< of other cases, that a regression needs */

/**
 * Adds the control variate of relaxed choices to the weights of the choices of place, −A_t [M, B],
 * and its own gradients; nothing where no choice was relaxed. A learned c is fitted to A_t.
 *
 * c(ζ̃) is centred, and η = Cov(A, c) / Var(c); both are computed from the lanes of other cases
 * in the time step; with fewer than FOV_CONTROL_LANES of them η is 0. They do not depend on
 * the lane's choice, so the gradient stays unbiased where a choice does not decide whether its
 * glimpse is taken: not in environments that end an episode by `look`, none of which has sites.
 */
void fov_control_add(FovTape *tape, real *looks, const FovObjectiveInput *input,
                     const FovPolicyGradientOptions *options);

#endif
