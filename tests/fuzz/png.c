/** PNG pictures of data sets. */
#include "envs/datasets/png.h"
#include "tests/fuzz/fuzz_png.h"

enum { MAX_PIXELS = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovPngHeader header;
  fuzz_png("input", data, size);
  FovStatus status = fov_png_header(&header, "input");
  fuzz_check_message(status);
  if (status != FOV_OK || header.height * header.width > MAX_PIXELS) return 0;
  for (int channels = 1; channels <= 3; channels += 2) {
    uint8_t *pixels = malloc((size_t)header.height * (size_t)header.width * (size_t)channels);
    fuzz_check_message(fov_png_read(pixels, &header, channels, "input"));
    free(pixels);
  }
  return 0;
}
