/** Gazes of a trace: statistics, and measures of a trace beside itself. */
#include "experiment/scanpath/study.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file("input", data, size), *const sources[] = {path, path};
  for (int count = 1; count <= 2; count++) {
    const FovScanpathRequest request = {.sources = sources, .count = count, .blur = 0.05};
    FovScanpathStudy study;
    FovStatus status = fov_scanpath_study(&study, &request);
    fuzz_check_message(status);
    if (status == FOV_OK) fov_scanpath_study_finish(&study);
  }
  return 0;
}
