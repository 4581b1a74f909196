/** Pictures of one's own in the viewer. */
#include "viz/viewer/picture.h"
#include "tests/fuzz/fuzz_png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { HEIGHT = 5, WIDTH = 4 };
  uint8_t pixels[HEIGHT * WIDTH * 3];
  const char *path = fuzz_png("input", data, size);
  for (int channels = 1; channels <= 3; channels += 2)
    fuzz_check_message(fov_picture_read(pixels, HEIGHT, WIDTH, channels, path));
  return 0;
}
