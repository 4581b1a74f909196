/** Tables of results, as fovea compare reads and compares them. */
#include "experiment/compare/compare.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *source = fuzz_file("input", data, size);
  FovCompareRequest request = {.sources = &source,
                               .source_count = 1,
                               .rollouts = 1,
                               .draws = 2, // more cost time and reach no other code
                               .threads = 1,
                               .profiles = true,
                               .costs = true};
  FovCompared compared;
  FovStatus status = fov_compare(&compared, &request);
  fuzz_check_message(status);
  for (int r = 0; status == FOV_OK && r < compared.recipe_count; r++) {
    FovEstimate iqm = compared.recipes[r].iqm;
    FOV_CHECK(!(iqm.low > iqm.high), "%s: %g to %g", compared.recipes[r].name, iqm.low, iqm.high);
  }
  fov_compared_finish(&compared);
  return 0;
}
