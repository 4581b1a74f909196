/** Matrix products behind one function: oneDNN, OpenBLAS or a portable loop (meson -Dgemm=...). */
#ifndef FOV_BASE_GEMM_H
#define FOV_BASE_GEMM_H

#include <stdbool.h>

#include "base/real.h"

/**
 * C = op(A) · op(B) + beta · C, all row-major and dense, on the calling thread only.
 *
 * c: [m, n]. a: [m, k], or [k, m] if `a_transposed`. b: [k, n], or [n, k] if `b_transposed`; never
 * both transposed. beta 0 overwrites C without reading it. The same arguments give the same bits on
 * one machine.
 */
void fov_gemm(real *c, const real *a, const real *b, bool a_transposed, bool b_transposed, int m,
              int n, int k, real beta);

/** What does the products: "oneDNN 2.6.0", "OpenBLAS", "portable". */
const char *fov_gemm_library(void);

#endif
