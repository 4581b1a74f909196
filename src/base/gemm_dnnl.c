/** Matrix products by oneDNN. */
#include <dnnl.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "base/gemm_backend.h"

/** A product of zeros for each kind of code that oneDNN generates: by transposition, by beta, for
 * few rows or columns and for many. */
static void generate_for(int m, int n, int k, float *zeros) {
  for (int i = 0; i < 6; i++) { // never both transposed
    bool a_transposed = i % 3 == 1, b_transposed = i % 3 == 2;
    dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1, zeros,
               a_transposed ? m : k, zeros, b_transposed ? k : n, (float)(i / 3), zeros, n);
  }
}

/**
 * Where oneDNN finds no memory for the code that it generates, it ends the process by a signal. So
 * it generates its code at the first product, after a check that there is enough memory for it.
 */
static void generate_code(void) {
  static const int sides[] = {1, 2, 64};
  static float zeros[64 * 64];
  fov_gemm_check_room(32 << 20);
  omp_set_num_threads(1);
  for (int i = 0; i < 27; i++) generate_for(sides[i / 9], sides[i / 3 % 3], sides[i % 3], zeros);
}

void fov_gemm_multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                       int k, real beta) {
  static pthread_once_t generated = PTHREAD_ONCE_INIT;
  // OpenMP allocates a few bytes when a thread first sets its number of threads, for which malloc
  // may map 1 MiB; without memory, OpenMP would end the process with a message of its own.
  fov_gemm_check_first(2 << 20);
  pthread_once(&generated, generate_code);
  // A setting of this thread: oneDNN would start a team of its own, which sums in another order.
  omp_set_num_threads(1);
  dnnl_status_t status =
      dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', c.rows, c.cols, k, 1, a.at,
                 a.stride, b.at, b.stride, beta, c.at, c.stride);
  if (status == dnnl_out_of_memory) fov_no_memory((size_t)c.rows * c.stride * sizeof(real));
  FOV_CHECK(status == dnnl_success, "oneDNN refused [%d, %d] x [%d, %d]: %d", c.rows, k, k, c.cols,
            status);
}

const char *fov_gemm_library(void) {
  static char name[32];
  const dnnl_version_t *version = dnnl_version();
  snprintf(name, sizeof name, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
  return name;
}
