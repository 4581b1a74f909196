#include "base/gemm.h"

#include <stdio.h>

#include "base/error.h"
#include "base/profile.h"

/** Rows that lie a multiple of this many bytes apart fall on the same few sets of a cache. */
enum { CRITICAL = 512, LINE = 64 };

int fov_gemm_stride(int cols) {
  bool critical = (size_t)cols * sizeof(real) % CRITICAL == 0;
  return cols + (critical ? LINE / (int)sizeof(real) : 0);
}

/** One product of a library: op(A) [m, k] · op(B) [k, n]. */
static void multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                     int k, real beta);

void fov_gemm(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
              real beta) {
  int m = a_transposed ? a.cols : a.rows, k = a_transposed ? a.rows : a.cols;
  int n = b_transposed ? b.rows : b.cols, k_b = b_transposed ? b.cols : b.rows;
  FOV_CHECK(!(a_transposed && b_transposed), "no product of two transposed matrices is needed");
  FOV_CHECK(k == k_b && c.rows == m && c.cols == n, "[%d, %d] x [%d, %d] into [%d, %d]", m, k, k_b,
            n, c.rows, c.cols);
  FOV_CHECK(a.stride >= a.cols && b.stride >= b.cols && c.stride >= c.cols, "rows overlap");
  FovPhase before = fov_profile_enter(FOV_PHASE_PRODUCTS);
  multiply(c, a, a_transposed, b, b_transposed, k, beta);
  fov_profile_product(
      &(FovProduct){m, n, k, a.stride, b.stride, c.stride, a_transposed, b_transposed});
  fov_profile_enter(before);
}

#if defined(FOV_GEMM_DNNL) && !defined(FOV_DOUBLE)

#include <dnnl.h>
#include <omp.h>

static void multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                     int k, real beta) {
  // Outside a team's task oneDNN would start a team of its own.
  omp_set_num_threads(1);
  dnnl_status_t status =
      dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', c.rows, c.cols, k, 1, a.at,
                 a.stride, b.at, b.stride, beta, c.at, c.stride);
  FOV_CHECK(status == dnnl_success, "oneDNN refused [%d, %d] x [%d, %d]: %d", c.rows, k, k, c.cols,
            status);
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

static void multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                     int k, real beta) {
  pthread_once(&single_threaded, use_one_thread);
  cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
              b_transposed ? CblasTrans : CblasNoTrans, c.rows, c.cols, k, 1, a.at, a.stride, b.at,
              b.stride, beta, c.at, c.stride);
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

// A function of its own, since a FOV_KERNEL cannot be declared before.
static void multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                     int k, real beta) {
  multiply_rows(c, a, a_transposed, b, b_transposed, k, beta);
}

const char *fov_gemm_library(void) {
  return "portable";
}

#endif
