#include "envs/mount.h"

#include <string.h>

#include "base/error.h"

typedef struct Size {
  int height, width;
} Size;

static int scale_length(int length, int to, int from) {
  int scaled = (int)(((int64_t)length * to + from / 2) / from);
  return scaled > 0 ? scaled : 1;
}

/** The size at which the picture is shown: width or height decides, whichever fills first. */
static Size scaled_size(const FovMount *mount, const FovPicture *picture) {
  int height = mount->each ? picture->height : mount->largest_height;
  int width = mount->each ? picture->width : mount->largest_width;
  bool wide = (int64_t)width * mount->height >= (int64_t)height * mount->width;
  int to = wide ? mount->width : mount->height, from = wide ? width : height;
  return (Size){scale_length(picture->height, to, from), scale_length(picture->width, to, from)};
}

/** How far pixel `i` of `in` lies under pixel `j` of `out`, in parts of 1 / out of it. */
static int64_t overlap(int64_t i, int64_t in, int64_t j, int64_t out) {
  int64_t first = i * out > j * in ? i * out : j * in;
  int64_t end = (i + 1) * out < (j + 1) * in ? (i + 1) * out : (j + 1) * in;
  return end - first;
}

/** One channel's mean of what pixel (x, y) of `size` covers, rounded. In integers: the same bits on
 * every machine. */
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

void fov_mount(uint8_t *out, const FovMount *mount, FovPicture picture) {
  FOV_CHECK(picture.channels == 1 || picture.channels == mount->channels,
            "%d channels into a mount of %d", picture.channels, mount->channels);
  Size size = scaled_size(mount, &picture);
  FOV_CHECK(size.height <= mount->height && size.width <= mount->width,
            "%d x %d pixels into a mount of %d x %d", size.width, size.height, mount->width,
            mount->height);
  const int channels = mount->channels;
  const size_t length = (size_t)picture.width * (size_t)channels;
  bool same =
      size.height == picture.height && size.width == picture.width && channels == picture.channels;
  memset(out, 0, (size_t)mount->height * (size_t)mount->width * (size_t)channels);
  int left = (mount->width - size.width) / 2, top = (mount->height - size.height) / 2;
  for (int y = 0; y < size.height; y++) {
    uint8_t *row = out + ((size_t)(top + y) * (size_t)mount->width + (size_t)left) * channels;
    // Most sets need no scaling, and are large.
    if (same) memcpy(row, picture.pixels + (size_t)y * length, length);
    for (int i = 0; i < size.width * channels && !same; i++)
      row[i] = mean(&picture, i % channels, size, i / channels, y);
  }
}
