/** Activations on one row, forward and backward, for use inside a FOV_KERNEL. */
#ifndef FOV_TENSOR_ACTIVATION_H
#define FOV_TENSOR_ACTIVATION_H

#include "tensor/ops.h"

/** y = act(y + bias). y: [cols]; bias: [cols] or NULL. */
FOV_INLINE void fov_activate_row(real *y, const real *bias, FovActivation activation, int cols) {
  if (bias)
    for (int j = 0; j < cols; j++) y[j] += bias[j];
  if (activation == FOV_RELU)
    for (int j = 0; j < cols; j++) y[j] = y[j] > 0 ? y[j] : 0;
  if (activation == FOV_TANH)
    for (int j = 0; j < cols; j++) y[j] = fov_tanh(y[j]);
  if (activation == FOV_SIGMOID)
    for (int j = 0; j < cols; j++) y[j] = fov_sigmoid(y[j]);
  if (activation == FOV_SOFTPLUS)
    for (int j = 0; j < cols; j++) y[j] = fov_softplus(y[j]);
}

/** dy *= act'(y) and dbias += dy, [cols] each; dbias may be NULL. */
FOV_INLINE void fov_deactivate_row(real *dy, real *dbias, const real *y, FovActivation activation,
                                   int cols) {
  if (activation == FOV_RELU)
    for (int j = 0; j < cols; j++) dy[j] = y[j] > 0 ? dy[j] : 0;
  if (activation == FOV_TANH)
    for (int j = 0; j < cols; j++) dy[j] *= 1 - y[j] * y[j];
  if (activation == FOV_SIGMOID)
    for (int j = 0; j < cols; j++) dy[j] *= y[j] * (1 - y[j]);
  if (activation == FOV_SOFTPLUS) // sigmoid(x) = 1 − e^−y
    for (int j = 0; j < cols; j++) dy[j] *= (real)-expm1((double)-y[j]);
  if (dbias)
    for (int j = 0; j < cols; j++) dbias[j] += dy[j];
}

#endif
