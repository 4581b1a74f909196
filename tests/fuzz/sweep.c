/** Sweep files. They may name the file `experiment`. */
#include "experiment/sweep/plan.h"
#include "tests/fuzz/fuzz.h"

static const char experiment[] = "env = catch\nglimpses = 2\ncore.width = 8\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovSweepPlan plan;
  fuzz_file("experiment", experiment, sizeof experiment - 1);
  FovStatus status = fov_sweep_plan_read(&plan, fuzz_file("input", data, size), NULL, 0);
  fuzz_check_message(status);
  for (int c = 0; status == FOV_OK && c < plan.configurations && c < 100; c++) {
    char label[80];
    fov_sweep_describe(label, sizeof label, &plan, c);
  }
  fov_sweep_plan_finish(&plan);
  return 0;
}
