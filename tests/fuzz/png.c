/** PNG pictures, with the checksums made right: a fuzzer does not find them. */
#include "envs/datasets/png.h"

#include <zlib.h>

#include "tests/fuzz/fuzz.h"

enum { SIGNATURE = 8, HEAD = 8, SUM = 4, MAX_PIXELS = 1 << 18 };

static uint32_t length_at(const uint8_t *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void correct_sums(uint8_t *bytes, size_t size) {
  for (size_t at = SIGNATURE; at + HEAD + SUM <= size;) {
    size_t length = length_at(bytes + at), left = size - at - HEAD - SUM;
    if (length > left) return;
    uint32_t sum = (uint32_t)crc32(0, bytes + at + 4, (uInt)length + 4);
    uint8_t *end = bytes + at + HEAD + length;
    for (int i = 0; i < SUM; i++) end[i] = (uint8_t)(sum >> (24 - 8 * i));
    at += HEAD + length + SUM;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *bytes = malloc(size + 1);
  FOV_CHECK(bytes, "no memory for %zu bytes", size);
  memcpy(bytes, data, size);
  correct_sums(bytes, size);
  fuzz_file("input", bytes, size);
  free(bytes);
  FovPngHeader header;
  fuzz_check_message(fov_png_check("input"));
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
