/** Matrix products in plain C, in float or double. */
#include "base/gemm_backend.h"

/** y += s · x over n contiguous numbers. */
FOV_INLINE void add_scaled(real *y, const real *x, real s, int n) {
  for (int j = 0; j < n; j++) y[j] += s * x[j];
}

FOV_INLINE real dot(const real *x, const real *y, int n) {
  real sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

FOV_KERNEL static void multiply_rows(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b,
                                     bool b_transposed, int k, real beta) {
  for (int i = 0; i < c.rows; i++) {
    real *row = c.at + (size_t)i * c.stride;
    if (beta == 0)
      memset(row, 0, (size_t)c.cols * sizeof *row);
    else if (beta != 1)
      for (int j = 0; j < c.cols; j++) row[j] *= beta;
    if (b_transposed)
      for (int j = 0; j < c.cols; j++)
        row[j] += dot(a.at + (size_t)i * a.stride, b.at + (size_t)j * b.stride, k);
    else
      for (int p = 0; p < k; p++)
        add_scaled(row, b.at + (size_t)p * b.stride,
                   a_transposed ? a.at[(size_t)p * a.stride + i] : a.at[(size_t)i * a.stride + p],
                   c.cols);
  }
}

// A function of its own, since a FOV_KERNEL cannot be declared in a header.
void fov_gemm_multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                       int k, real beta) {
  multiply_rows(c, a, a_transposed, b, b_transposed, k, beta);
}

const char *fov_gemm_library(void) {
  return "portable";
}
