/**
 * The sequential Jacobian (Graves 2012): how much what is computed after glimpse t depends on what
 * was read at glimpse s, or on symbol s of a sequence.
 */
#ifndef FOV_EXPLAIN_JACOBIAN_H
#define FOV_EXPLAIN_JACOBIAN_H

#include "explain/each.h"

/** The numerator. */
typedef enum FovJacobianOf {
  FOV_JACOBIAN_LOGITS, /**< y_t: the logits, which are read after every glimpse */
  FOV_JACOBIAN_STATE,  /**< h_t */
} FovJacobianOf;

/** Of E episodes. */
typedef struct FovJacobian {
  int64_t episodes; /**< E */
  int T;            /**< glimpses */
  int S;            /**< inputs: T read-outs, or symbols of the longest sequence */
  /** [E, T, S]: ‖∂y_t/∂g_s‖ or ‖∂h_t/∂g_s‖, the Frobenius norm, t = 1 … T, s = 1 … S. g_s is the
   * read-out of time step s: the norm is 0 where s > t, and NaN where an episode had no glimpse t
   * or s. For a sequence, g_s is the vector of symbol s; NaN after its end. */
  float *norms;
  double *mean;     /**< [T, S]: of the norms that are not NaN; NaN where all are */
  float *places;    /**< [E, T, 2]: x, y of each glimpse; NaN: none */
  int32_t *answers; /**< [E, T]: the class or action after glimpse t; −1: none */
  int32_t *symbols; /**< [E, S]: the source, as observed; NULL: there is none */
} FovJacobian;

/**
 * Computes a Jacobian, with a backward pass for each number of y_t or h_t, for every t. The
 * request's target is not used. Fails (FOV_ERR_NUMBER) if a norm is not finite. Finished by
 * fov_jacobian_finish, also after a failure.
 */
FovStatus fov_jacobian_make(FovJacobian *jacobian, const FovExplainRequest *request,
                            FovJacobianOf of);
void fov_jacobian_finish(FovJacobian *jacobian);

#endif
