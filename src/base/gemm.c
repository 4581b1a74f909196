#include "base/gemm.h"

#include <stdio.h>

#include "base/error.h"

#if defined(FOV_GEMM_DNNL) && !defined(FOV_DOUBLE)

#include <dnnl.h>
#include <omp.h>

void fov_gemm(real *c, const real *a, const real *b, bool a_transposed, bool b_transposed, int m,
              int n, int k, real beta) {
  // Outside a team's task oneDNN would start a team of its own.
  omp_set_num_threads(1);
  dnnl_status_t status = dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1,
                                    a, a_transposed ? m : k, b, b_transposed ? k : n, beta, c, n);
  FOV_CHECK(status == dnnl_success, "oneDNN refused [%d, %d] x [%d, %d]: %d", m, k, k, n, status);
}

const char *fov_gemm_library(void) {
  static char name[32];
  const dnnl_version_t *version = dnnl_version();
  snprintf(name, sizeof name, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
  return name;
}

#elif defined(FOV_GEMM_OPENBLAS) && !defined(FOV_DOUBLE)

#include <cblas.h>
#include <pthread.h>

static pthread_once_t single_threaded = PTHREAD_ONCE_INIT;

/** A setting of the whole process, which two threads must not write at once. */
static void use_one_thread(void) {
  openblas_set_num_threads(1);
}

void fov_gemm(real *c, const real *a, const real *b, bool a_transposed, bool b_transposed, int m,
              int n, int k, real beta) {
  pthread_once(&single_threaded, use_one_thread);
  cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
              b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a, a_transposed ? m : k, b,
              b_transposed ? k : n, beta, c, n);
}

const char *fov_gemm_library(void) {
  return "OpenBLAS";
}

#else

/** y += s · x over n contiguous numbers. */
FOV_INLINE void add_scaled(real *y, const real *x, real s, int n) {
  for (int j = 0; j < n; j++) y[j] += s * x[j];
}

FOV_INLINE real dot(const real *x, const real *y, int n) {
  real sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

FOV_KERNEL static void multiply(real *c, const real *a, const real *b, bool a_transposed,
                                bool b_transposed, int m, int n, int k, real beta) {
  for (int i = 0; i < m; i++) {
    real *row = c + (size_t)i * n;
    if (beta == 0)
      memset(row, 0, (size_t)n * sizeof *row);
    else if (beta != 1)
      for (int j = 0; j < n; j++) row[j] *= beta;
    if (b_transposed)
      for (int j = 0; j < n; j++) row[j] += dot(a + (size_t)i * k, b + (size_t)j * k, k);
    else
      for (int p = 0; p < k; p++)
        add_scaled(row, b + (size_t)p * n,
                   a_transposed ? a[(size_t)p * m + i] : a[(size_t)i * k + p], n);
  }
}

// A function of its own, since clang 14 gives a FOV_KERNEL another name for other files.
void fov_gemm(real *c, const real *a, const real *b, bool a_transposed, bool b_transposed, int m,
              int n, int k, real beta) {
  FOV_CHECK(!(a_transposed && b_transposed), "no product of two transposed matrices is needed");
  multiply(c, a, b, a_transposed, b_transposed, m, n, k, beta);
}

const char *fov_gemm_library(void) {
  return "portable";
}

#endif
