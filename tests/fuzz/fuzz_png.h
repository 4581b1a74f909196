/** PNG files with the right checksums, which a fuzzer does not find. */
#ifndef FOV_TESTS_FUZZ_PNG_H
#define FOV_TESTS_FUZZ_PNG_H

#include <zlib.h>

#include "tests/fuzz/fuzz.h"

static inline uint32_t fuzz_png_length(const uint8_t *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void fuzz_png_sums(uint8_t *bytes, size_t size) {
  enum { SIGNATURE = 8, HEAD = 8, SUM = 4 };
  for (size_t at = SIGNATURE; at + HEAD + SUM <= size;) {
    size_t length = fuzz_png_length(bytes + at), left = size - at - HEAD - SUM;
    if (length > left) return;
    uint32_t sum = (uint32_t)crc32(0, bytes + at + 4, (uInt)length + 4);
    uint8_t *end = bytes + at + HEAD + length;
    for (int i = 0; i < SUM; i++) end[i] = (uint8_t)(sum >> (24 - 8 * i));
    at += HEAD + length + SUM;
  }
}

/** Writes a file, as fuzz_file does, after its checksums were made right. */
static inline const char *fuzz_png(const char *name, const uint8_t *data, size_t size) {
  uint8_t *bytes = malloc(size + 1);
  FOV_CHECK(bytes, "no memory for %zu bytes", size);
  memcpy(bytes, data, size);
  fuzz_png_sums(bytes, size);
  fuzz_file(name, bytes, size);
  free(bytes);
  return name;
}

#endif
