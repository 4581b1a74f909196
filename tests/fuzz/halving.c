/** The journal of successive halving, halving.csv, of a sweep with two runs. */
#include "experiment/sweep/halving.h"

#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static const FovSweepRun runs[] = {{.name = "c0-s0"}, {.name = "c1-s0"}};

/** Takes a decision, and ends what it starts. */
static FovStatus decide(FovHalving *halving) {
  int run, claim = -1;
  double until = 0;
  FOV_TRY(fov_halving_next(&run, &claim, &until, halving));
  if (run < 0) return FOV_OK;
  FOV_CHECK(run < 2 && until > 0 && until <= 1, "run %d until %g", run, until);
  return fov_halving_end(halving, run, &claim, 0.5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovHalving *halving;
  bool over;
  mkdir("claims", 0777);
  fuzz_file("halving.csv", data, size);
  FovStatus status = fov_halving_create(&halving, ".", runs, 2, 27);
  if (status == FOV_OK) status = fov_halving_is_over(&over, halving);
  if (status == FOV_OK) status = decide(halving);
  fuzz_check_message(status);
  fov_halving_destroy(halving);
  return 0;
}
