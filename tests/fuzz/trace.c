/** Traces: what is read can be written, and is then read again. */
#include "record/trace.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovTrace trace, again;
  FovStatus status = fov_trace_read(&trace, fuzz_file("input", data, size));
  fuzz_check_message(status);
  if (status != FOV_OK) return 0;
  for (int a = 0; a < trace.actions && a < 300; a++) {
    char name[64];
    fov_trace_name(name, sizeof name, &trace, a);
  }
  FOV_CHECK(fov_trace_write(&trace, "written") == FOV_OK, "%s", fov_error_message());
  FOV_CHECK(fov_trace_read(&again, "written") == FOV_OK, "%s", fov_error_message());
  size_t places = sizeof *trace.locations * 2 * trace.episodes * trace.glimpses;
  FOV_CHECK(memcmp(trace.locations, again.locations, places) == 0, "other places");
  fov_trace_finish(&again);
  fov_trace_finish(&trace);
  return 0;
}
