/** IDX files of images and labels, plain or compressed. */
#include "envs/datasets/idx.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_file("input", data, size);
  for (int ndim = 1; ndim <= FOV_IDX_MAX_NDIM; ndim += 2) {
    FovIdx idx;
    int count;
    FovStatus status = fov_idx_read(&idx, "input", ndim);
    fuzz_check_message(status);
    FOV_CHECK(status != FOV_OK || fov_idx_count(&count, "input", ndim) == FOV_OK, "no header");
    if (status == FOV_OK) fov_idx_keep(&idx, idx.dims[0] / 2, 1);
    fov_idx_finish(&idx);
  }
  return 0;
}
