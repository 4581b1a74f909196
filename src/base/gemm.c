#include "base/gemm.h"

#include "base/error.h"
#include "base/gemm_backend.h"
#include "base/memory.h"
#include "base/profile.h"

/** Rows that lie a multiple of this many bytes apart fall on the same few sets of a cache. */
enum { CRITICAL = 512, LINE = 64 };

int fov_gemm_stride(int cols) {
  bool critical = (size_t)cols * sizeof(real) % CRITICAL == 0;
  return cols + (critical ? LINE / (int)sizeof(real) : 0);
}

void fov_gemm_check_room(size_t bytes) {
  if (!fov_memory_has_room(bytes)) fov_no_memory(bytes);
}

void fov_gemm_check_first(size_t bytes) {
  static _Thread_local bool checked;
  if (!checked) fov_gemm_check_room(bytes);
  checked = true;
}

void fov_gemm(FovMatrix c, FovMatrix a, bool a_transposed, FovMatrix b, bool b_transposed,
              real beta) {
  int m = a_transposed ? a.cols : a.rows, k = a_transposed ? a.rows : a.cols;
  int n = b_transposed ? b.rows : b.cols, k_b = b_transposed ? b.cols : b.rows;
  FOV_CHECK(!(a_transposed && b_transposed), "no product of two transposed matrices is needed");
  FOV_CHECK(k == k_b && c.rows == m && c.cols == n, "[%d, %d] x [%d, %d] into [%d, %d]", m, k, k_b,
            n, c.rows, c.cols);
  FOV_CHECK(a.stride >= a.cols && b.stride >= b.cols && c.stride >= c.cols, "rows overlap");
  FovPhase before = fov_profile_enter(FOV_PHASE_PRODUCTS);
  fov_gemm_multiply(c, a, a_transposed, b, b_transposed, k, beta);
  fov_profile_product(
      &(FovProduct){m, n, k, a.stride, b.stride, c.stride, a_transposed, b_transposed});
  fov_profile_enter(before);
}
