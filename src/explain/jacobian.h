/**
 * The sequential Jacobian (Graves 2012): how much what is computed after glimpse t depends on what
 * was read at glimpse s.
 */
#ifndef FOV_EXPLAIN_JACOBIAN_H
#define FOV_EXPLAIN_JACOBIAN_H

#include "explain/each.h"

/** The numerator. */
typedef enum FovJacobianOf {
  FOV_JACOBIAN_LOGITS, /**< y_t: the logits, which are read after every glimpse */
  FOV_JACOBIAN_STATE,  /**< h_t */
} FovJacobianOf;

/**
 * norms [E, T, T], written: the Frobenius norms ‖∂y_t/∂g_s‖ or ‖∂h_t/∂g_s‖, 0 where s > t, NaN
 * where an episode had no glimpse t or s. g_s is the read-out of time step s, t, s = 1 … T. The
 * request's target is not used.
 *
 * Takes a backward pass for each number of y_t or h_t, for every t.
 */
FovStatus fov_jacobian(float *norms, const FovExplainRequest *request, FovJacobianOf of);

/** mean [T, T] of the norms over the episodes that have both glimpses; NaN where none has. */
void fov_jacobian_mean(double *mean, const float *norms, int64_t episodes, int T);

#endif
