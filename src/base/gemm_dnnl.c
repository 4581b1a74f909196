/** Matrix products by oneDNN. */
#include <dnnl.h>
#include <omp.h>
#include <stdio.h>

#include "base/error.h"
#include "base/gemm_backend.h"

void fov_gemm_multiply(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
                       int k, real beta) {
  // A setting of this thread: oneDNN would start a team of its own, which sums in another order.
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
