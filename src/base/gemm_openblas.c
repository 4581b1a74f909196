/** Matrix products by OpenBLAS. */
#include <cblas.h>
#include <pthread.h>

#include "base/gemm_backend.h"

static pthread_once_t single_threaded = PTHREAD_ONCE_INIT;

/** A setting of the whole process, which two threads must not write at once. */
static void use_one_thread(void) {
  openblas_set_num_threads(1);
}

void fov_gemm_multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                       int k, real beta) {
  // Where there is no memory for a thread's buffer, OpenBLAS would try again for ever; 0.3.21 takes
  // 128 MiB.
  fov_gemm_check_first(136 << 20);
  pthread_once(&single_threaded, use_one_thread);
  cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
              b_transposed ? CblasTrans : CblasNoTrans, c.rows, c.cols, k, 1, a.at, a.stride, b.at,
              b.stride, beta, c.at, c.stride);
}

const char *fov_gemm_library(void) {
  return "OpenBLAS";
}
