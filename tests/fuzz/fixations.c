/** Fixations of people, of three episodes on 20 × 12 pixels. */
#include "experiment/scanpath/fixations.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const FovTrace trace = {.episodes = 3, .width = 20, .height = 12};
  FovFixations read;
  FovStatus status = fov_fixations_read(&read, fuzz_file("input", data, size), &trace);
  fuzz_check_message(status);
  if (status != FOV_OK) return 0;
  FOV_CHECK(read.count > 0, "no scanpath");
  for (int p = 0; p < read.count; p++) {
    const FovScanpath *path = &read.paths[p];
    FOV_CHECK(read.episodes[p] >= 0 && read.episodes[p] < trace.episodes, "episode");
    for (int i = 0; i < path->count; i++) {
      double x = path->places[2 * i], y = path->places[2 * i + 1];
      FOV_CHECK(x >= 0 && x <= 1 && y >= 0 && y <= 0.6, "a place (%g, %g) outside", x, y);
    }
  }
  fov_fixations_finish(&read);
  return 0;
}
