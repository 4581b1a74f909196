/** What may follow a sum in an operation, on one row at a time, and its way back. */
#ifndef FOV_TENSOR_ACTIVATION_H
#define FOV_TENSOR_ACTIVATION_H

#include "tensor/ops.h"

/** y = act(y + bias). y: [cols]; bias: [cols] or NULL. */
FOV_INLINE void fov_activate(real *y, const real *bias, FovActivation activation, int cols) {
  if (bias)
    for (int j = 0; j < cols; j++) y[j] += bias[j];
  if (activation == FOV_RELU)
    for (int j = 0; j < cols; j++) y[j] = y[j] > 0 ? y[j] : 0;
  if (activation == FOV_TANH)
    for (int j = 0; j < cols; j++) y[j] = fov_tanh(y[j]);
}

/** dy *= act'(y) and dbias += dy, [cols] each; dbias may be NULL. */
FOV_INLINE void fov_deactivate(real *dy, real *dbias, const real *y, FovActivation activation,
                               int cols) {
  if (activation == FOV_RELU)
    for (int j = 0; j < cols; j++) dy[j] = y[j] > 0 ? dy[j] : 0;
  if (activation == FOV_TANH)
    for (int j = 0; j < cols; j++) dy[j] *= 1 - y[j] * y[j];
  if (dbias)
    for (int j = 0; j < cols; j++) dbias[j] += dy[j];
}

#endif
