/** Outcomes of a test. */
#include "record/outcomes.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovOutcomes outcomes;
  fuzz_check_message(fov_outcomes_read(&outcomes, fuzz_file("input", data, size)));
  fov_outcomes_finish(&outcomes);
  return 0;
}
