/** Loops over one row of numbers that several operations share, for use inside a FOV_KERNEL. */
#ifndef FOV_TENSOR_ROWS_H
#define FOV_TENSOR_ROWS_H

#include "base/real.h"

/** Sums that are kept side by side: compilers may not reorder a sum, so one alone is not
 * vectorised. */
enum { FOV_SUMS = 16 };

/** Σ x_j y_j. */
FOV_INLINE real fov_row_dot(const real *x, const real *y, int cols) {
  real sums[FOV_SUMS] = {0}, total = 0;
  int j = 0;
  for (; j + FOV_SUMS <= cols; j += FOV_SUMS)
    for (int k = 0; k < FOV_SUMS; k++) sums[k] += x[j + k] * y[j + k];
  for (; j < cols; j++) total += x[j] * y[j];
  for (int k = 0; k < FOV_SUMS; k++) total += sums[k];
  return total;
}

/** Σ x_j. */
FOV_INLINE real fov_row_sum(const real *x, int cols) {
  real sums[FOV_SUMS] = {0}, total = 0;
  int j = 0;
  for (; j + FOV_SUMS <= cols; j += FOV_SUMS)
    for (int k = 0; k < FOV_SUMS; k++) sums[k] += x[j + k];
  for (; j < cols; j++) total += x[j];
  for (int k = 0; k < FOV_SUMS; k++) total += sums[k];
  return total;
}

/** y = softmax(scale · x): e^(scale (x_j − max x)), whose sum is at least 1; scale > 0. */
FOV_INLINE void fov_row_softmax(real *restrict y, const real *restrict x, real scale, int cols) {
  real top = x[0];
  for (int j = 1; j < cols; j++) top = x[j] > top ? x[j] : top;
  for (int j = 0; j < cols; j++) y[j] = fov_exp(scale * (x[j] - top));
  real sum = fov_row_sum(y, cols);
  for (int j = 0; j < cols; j++) y[j] /= sum;
}

/** y += x. */
FOV_INLINE void fov_row_add(real *restrict y, const real *restrict x, int cols) {
  for (int j = 0; j < cols; j++) y[j] += x[j];
}

/** y += s · x. */
FOV_INLINE void fov_row_add_scaled(real *restrict y, const real *restrict x, real s, int cols) {
  for (int j = 0; j < cols; j++) y[j] += s * x[j];
}

/** y += a ∘ b. */
FOV_INLINE void fov_row_add_product(real *restrict y, const real *restrict a,
                                    const real *restrict b, int cols) {
  for (int j = 0; j < cols; j++) y[j] += a[j] * b[j];
}

#endif
