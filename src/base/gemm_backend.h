/** What a back end of fov_gemm provides: one of gemm_dnnl.c, gemm_openblas.c and gemm_portable.c,
 * chosen in meson.build. */
#ifndef FOV_BASE_GEMM_BACKEND_H
#define FOV_BASE_GEMM_BACKEND_H

#include <stddef.h>

#include "base/gemm.h"

/** C = op(A) [m, k] · op(B) [k, n] + beta · C [m, n]; shapes are checked and never both are
 * transposed. Provides fov_gemm_library, too. */
void fov_gemm_multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                       int k, real beta);

/** Ends in fov_no_memory unless the system would give the process so many new bytes. To be called
 * before a library that cannot report a failed allocation. */
void fov_gemm_check_room(size_t bytes);

/** The same, once in each thread: for what a library takes at a thread's first product. */
void fov_gemm_check_first(size_t bytes);

#endif
