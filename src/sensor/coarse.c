/**
 * The coarse view of the whole image: each cell is the mean of the pixels that it covers.
 *
 * Both axes are divided separately, so that coarse = R_y · image · R_xᵀ / (H · W), where R[cell,
 * pixel] is the part of a pixel that lies in a cell, in units of 1 / side. These parts are
 * integers, and those of one cell add up to H and W. So sums of bytes are exact.
 */
#include <string.h>

#include "base/error.h"
#include "base/profile.h"
#include "sensor/sensor.h"

/** R[cell, pixel], where `side` cells cover `extent` pixels. */
static uint32_t share(int pixel, int cell, int extent, int side) {
  int begin = pixel * side, end = begin + side, low = cell * extent, high = low + extent;
  return (uint32_t)((end < high ? end : high) - (begin > low ? begin : low));
}

/** The first pixel of a cell, and the one after its last. */
static int first_pixel(int cell, int extent, int side) {
  return cell * extent / side;
}

static int end_pixel(int cell, int extent, int side) {
  return ((cell + 1) * extent + side - 1) / side;
}

/** Defines a row of R_y · image. sums: [W, C], the lines of pixels that a row of cells covers, each
 * times its share. */
#define DEFINE_ADD_SHARES(name, Sum, Pixel, pixels)                                                \
  FOV_KERNEL static void name(Sum *restrict sums, const FovImage *image, int cell, int side) {     \
    int height = image->height, numbers = image->width * image->channels;                          \
    memset(sums, 0, (size_t)numbers * sizeof *sums);                                               \
    for (int y = first_pixel(cell, height, side); y < end_pixel(cell, height, side); y++) {        \
      const Pixel *line = image->pixels + (size_t)y * numbers;                                     \
      Sum weight = (Sum)share(y, cell, height, side);                                              \
      for (int i = 0; i < numbers; i++) sums[i] += weight * line[i];                               \
    }                                                                                              \
  }

DEFINE_ADD_SHARES(add_byte_shares, uint32_t, uint8_t, bytes)
DEFINE_ADD_SHARES(add_float_shares, real, float, floats)

/** Defines one number of (R_y · image) · R_xᵀ. sums: [W, C], from the channel on. */
#define DEFINE_SUM_SHARES(name, Sum, Total)                                                        \
  static Total name(const Sum *sums, int cell, int width, int channels, int side) {                \
    Total sum = 0;                                                                                 \
    for (int x = first_pixel(cell, width, side); x < end_pixel(cell, width, side); x++)            \
      sum += (Total)share(x, cell, width, side) * sums[x * channels];                              \
    return sum;                                                                                    \
  }

DEFINE_SUM_SHARES(sum_byte_shares, uint32_t, uint64_t)
DEFINE_SUM_SHARES(sum_float_shares, real, real)

static void check_sizes(int side, int H, int W, int C) {
  FOV_CHECK(side >= 1 && side <= FOV_MAX_SIDE && H >= 1 && H <= FOV_MAX_WHOLE && W >= 1 &&
                W <= FOV_MAX_WHOLE && C >= 1 && C <= 3,
            "%d cells each way for an image [%d, %d, %d]", side, H, W, C);
}

static void shrink_bytes(real *coarse, const FovImage *image, int side) {
  int H = image->height, W = image->width, C = image->channels;
  uint32_t sums[3 * FOV_MAX_WHOLE];
  for (int row = 0; row < side; row++) {
    add_byte_shares(sums, image, row, side);
    for (int column = 0; column < side; column++)
      for (int c = 0; c < C; c++)
        *coarse++ = (real)((double)sum_byte_shares(sums + c, column, W, C, side) / (255.0 * H * W));
  }
}

static void shrink_floats(real *coarse, const FovImage *image, int side) {
  int H = image->height, W = image->width, C = image->channels;
  real sums[3 * FOV_MAX_WHOLE], area = (real)H * (real)W;
  for (int row = 0; row < side; row++) {
    add_float_shares(sums, image, row, side);
    for (int column = 0; column < side; column++)
      for (int c = 0; c < C; c++) *coarse++ = sum_float_shares(sums + c, column, W, C, side) / area;
  }
}

void fov_sensor_shrink(real *coarse, const FovImage *image, int side) {
  fov_image_check(image);
  check_sizes(side, image->height, image->width, image->channels);
  fov_profile_input((double)side * side * image->channels, (double)image->height * image->width);
  if (image->floats)
    shrink_floats(coarse, image, side);
  else
    shrink_bytes(coarse, image, side);
}

/** columns: [W, C], a row of cells times R_x / (H · W). */
static void spread_row(real *columns, const real *cells, int side, int height, int width,
                       int channels) {
  real area = (real)height * (real)width;
  memset(columns, 0, (size_t)width * channels * sizeof *columns);
  for (int cell = 0; cell < side; cell++)
    for (int x = first_pixel(cell, width, side); x < end_pixel(cell, width, side); x++)
      for (int c = 0; c < channels; c++)
        columns[x * channels + c] +=
            (real)share(x, cell, width, side) * cells[cell * channels + c] / area;
}

/** line += s · columns */
FOV_KERNEL static void add_scaled(real *restrict line, const real *restrict columns, real s,
                                  int count) {
  for (int i = 0; i < count; i++) line[i] += s * columns[i];
}

void fov_sensor_shrink_back(real *image, const real *coarse, int side, int height, int width,
                            int channels) {
  check_sizes(side, height, width, channels);
  real columns[3 * FOV_MAX_WHOLE];
  int numbers = width * channels;
  for (int row = 0; row < side; row++) {
    spread_row(columns, coarse + (size_t)row * side * channels, side, height, width, channels);
    for (int y = first_pixel(row, height, side); y < end_pixel(row, height, side); y++)
      add_scaled(image + (size_t)y * numbers, columns, (real)share(y, row, height, side), numbers);
  }
}
