#include "envs/datasets/resize.h"

#include <string.h>

#include "base/error.h"

typedef struct Size {
  int height, width;
} Size;

static int scale_length(int length, int to, int from) {
  int scaled = (int)(((int64_t)length * to + from / 2) / from);
  return scaled > 0 ? scaled : 1;
}

/** The size of the scaled picture: the side that fills the result first decides. */
static Size scaled_size(const FovResize *resize, const FovPicture *picture) {
  int height = resize->each ? picture->height : resize->largest_height;
  int width = resize->each ? picture->width : resize->largest_width;
  bool wide = (int64_t)width * resize->height >= (int64_t)height * resize->width;
  int to = wide ? resize->width : resize->height, from = wide ? width : height;
  return (Size){scale_length(picture->height, to, from), scale_length(picture->width, to, from)};
}

/** The part of pixel `i` of `in` that pixel `j` of `out` covers, in units of 1 / out. */
static int64_t overlap(int64_t i, int64_t in, int64_t j, int64_t out) {
  int64_t first = i * out > j * in ? i * out : j * in;
  int64_t end = (i + 1) * out < (j + 1) * in ? (i + 1) * out : (j + 1) * in;
  return end - first;
}

/** One channel's mean over the area that pixel (x, y) of `size` covers, rounded. Computed in
 * integers, for the same bits on every machine. */
static uint8_t mean(const FovPicture *picture, int channel, Size size, int64_t x, int64_t y) {
  const int64_t height = picture->height, width = picture->width;
  int64_t sum = 0, whole = height * width;
  for (int64_t row = y * height / size.height; row * size.height < (y + 1) * height; row++)
    for (int64_t column = x * width / size.width; column * size.width < (x + 1) * width; column++) {
      const uint8_t *pixel = picture->pixels + (row * width + column) * picture->channels;
      sum += overlap(row, height, y, size.height) * overlap(column, width, x, size.width) *
             pixel[picture->channels == 1 ? 0 : channel];
    }
  return (uint8_t)((sum + whole / 2) / whole);
}

void fov_resize(uint8_t *out, const FovResize *resize, FovPicture picture) {
  FOV_CHECK(picture.channels == 1 || picture.channels == resize->channels,
            "%d channels to %d channels", picture.channels, resize->channels);
  Size size = scaled_size(resize, &picture);
  FOV_CHECK(size.height <= resize->height && size.width <= resize->width,
            "%d x %d pixels do not fit in %d x %d", size.width, size.height, resize->width,
            resize->height);
  const int channels = resize->channels;
  const size_t length = (size_t)picture.width * (size_t)channels;
  bool same =
      size.height == picture.height && size.width == picture.width && channels == picture.channels;
  memset(out, 0, (size_t)resize->height * (size_t)resize->width * (size_t)channels);
  int left = (resize->width - size.width) / 2, top = (resize->height - size.height) / 2;
  for (int y = 0; y < size.height; y++) {
    uint8_t *row =
        out + ((size_t)(top + y) * (size_t)resize->width + (size_t)left) * (size_t)channels;
    // Most data sets are large and need no scaling.
    if (same) memcpy(row, picture.pixels + (size_t)y * length, length);
    for (int i = 0; i < size.width * channels && !same; i++)
      row[i] = mean(&picture, i % channels, size, i / channels, y);
  }
}
