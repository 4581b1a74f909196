/** The whole image, in the middle of a square that is black elsewhere. */
#include <string.h>

#include "base/profile.h"
#include "sensor/ways.h"

/** to = bytes as brightness. */
FOV_KERNEL static void copy_bytes(real *restrict to, const uint8_t *restrict bytes, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = bytes[i] / (real)255;
}

FOV_KERNEL static void copy_floats(real *restrict to, const float *restrict floats, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = floats[i];
}

static void copy_pixels(real *to, const FovImage *image, size_t first, size_t count) {
  if (image->floats)
    copy_floats(to, image->floats + first, count);
  else
    copy_bytes(to, image->bytes + first, count);
}

static int square_side(int height, int width) {
  return height > width ? height : width;
}

/** Where the image starts in the square. */
static size_t offset_in_square(int height, int width, int channels) {
  int side = square_side(height, width);
  return ((size_t)((side - height) / 2) * side + (size_t)((side - width) / 2)) * channels;
}

void fov_whole_look(real *glimpse, const FovImage *image) {
  int H = image->height, W = image->width, C = image->channels;
  size_t row = (size_t)square_side(H, W) * C, line = (size_t)W * C;
  fov_profile_input((double)row * square_side(H, W), (double)H * W);
  if (H != W) memset(glimpse, 0, row * square_side(H, W) * sizeof *glimpse);
  glimpse += offset_in_square(H, W, C);
  if (line == row)
    copy_pixels(glimpse, image, 0, (size_t)H * line);
  else
    for (int y = 0; y < H; y++) copy_pixels(glimpse + y * row, image, y * line, line);
}

void fov_whole_look_back(real *image, const real *glimpse, int height, int width, int channels) {
  size_t row = (size_t)square_side(height, width) * channels, line = (size_t)width * channels;
  glimpse += offset_in_square(height, width, channels);
  for (int y = 0; y < height; y++)
    for (size_t i = 0; i < line; i++) image[y * line + i] += glimpse[y * row + i];
}
