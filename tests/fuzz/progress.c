/** progress.csv, as a resumed training and a plot read it. */
#include "record/progress.h"

#include "experiment/plot/curves.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovProgress *rows = NULL;
  size_t count;
  const char *source = fuzz_file("input.csv", data, size);
  fuzz_check_message(fov_progress_read(&rows, &count, source));
  free(rows);
  FovCurves curves;
  const FovCurvesRequest request = {.sources = &source, .source_count = 1};
  fuzz_check_message(fov_curves_read(&curves, &request));
  fov_curves_finish(&curves);
  fuzz_check_message(fov_progress_truncate(source, 10));
  return 0;
}
