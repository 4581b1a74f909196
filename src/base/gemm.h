/** Matrix products behind one function: by oneDNN, OpenBLAS or portable C (meson -Dgemm=...). */
#ifndef FOV_BASE_GEMM_H
#define FOV_BASE_GEMM_H

#include <stdbool.h>

#include "base/real.h"

/** A matrix in memory, row by row; it does not own its numbers. */
typedef struct FovMatrix {
  real *at; /**< [rows, cols] */
  int rows, cols;
  int stride; /**< numbers from one row to the next; at least cols */
} FovMatrix;

/**
 * Numbers from one row to the next of a matrix that will be multiplied: `cols`, plus a cache line
 * where rows would otherwise compete for a few sets of the cache. Measured on an AMD EPYC
 * 7003: [1024, 64] x [64, 256] runs at 40 GFLOP/s from rows of 4096 bytes, at 93 from these.
 */
int fov_gemm_stride(int cols);

/**
 * C = op(A) · op(B) + beta · C, on the calling thread only; A and B are only read.
 *
 * op(X) is X, or Xᵀ if it is transposed; never both. beta 0 overwrites C without reading it. C
 * overlaps neither A nor B. Aborts if the shapes do not fit. The same arguments give the same bits
 * on one machine.
 *
 * A signal handler that interrupts it must have a stack of its own (SA_ONSTACK), as fov_team_run
 * arranges: oneDNN's kernels use the stack pointer as a general register, so a handler's frame
 * would overwrite the memory that it points to.
 */
void fov_gemm(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
              real beta);

/** Name of the back end: "oneDNN 2.6.0", "OpenBLAS" or "portable". */
const char *fov_gemm_library(void);

#endif
