#include "sensor/standard.h"

#include <math.h>

#include "base/error.h"
#include "base/profile.h"

static size_t count_pixels(const FovImage *image) {
  return (size_t)image->height * (size_t)image->width;
}

static void check(const FovImage *image) {
  fov_image_check(image);
  FOV_CHECK(image->channels >= 1 && image->channels <= FOV_STANDARD_CHANNELS, "%d channels",
            image->channels);
}

/** Defines to = (brightness − mean) · factor, by channel, for pixels of one type, of which `unit`
 * is a brightness of 1. */
#define DEFINE_STANDARDISE(name, Pixel, unit)                                                      \
  FOV_KERNEL static void name(float *restrict to, const Pixel *restrict from, size_t pixels,       \
                              int channels, const float *mean, const float *factor) {              \
    for (size_t i = 0; i < pixels; i++)                                                            \
      for (int c = 0; c < channels; c++)                                                           \
        to[i * channels + c] = (from[i * channels + c] / unit - mean[c]) * factor[c];              \
  }

DEFINE_STANDARDISE(standardise_bytes, uint8_t, 255.0f)
DEFINE_STANDARDISE(standardise_floats, float, 1.0f)

void fov_standardise(float *to, const FovImage *image, const FovStandard *standard) {
  check(image);
  FOV_CHECK(image->channels == standard->channels, "%d channels, and statistics of %d",
            image->channels, standard->channels);
  float mean[FOV_STANDARD_CHANNELS], factor[FOV_STANDARD_CHANNELS];
  for (int c = 0; c < image->channels; c++) {
    mean[c] = (float)standard->mean[c];
    factor[c] = (float)(1 / standard->deviation[c]);
  }
  if (image->floats)
    standardise_floats(to, image->floats, count_pixels(image), image->channels, mean, factor);
  else
    standardise_bytes(to, image->bytes, count_pixels(image), image->channels, mean, factor);
}

void fov_standard_add(FovStandardSums *sums, const FovImage *image) {
  check(image);
  size_t numbers = count_pixels(image) * (size_t)image->channels;
  for (size_t i = 0; i < numbers; i++) {
    size_t c = i % (size_t)image->channels;
    double p = image->floats ? (double)image->floats[i] : image->bytes[i];
    if (sums->pixels == 0 && i == c) sums->first[c] = p;
    double d = p - sums->first[c];
    sums->sum[c] += d;
    sums->squares[c] += d * d;
  }
  sums->unit = image->floats ? 1 : 255;
  sums->pixels += (int64_t)count_pixels(image);
}

FovStandard fov_standard_of(const FovStandardSums *sums, int channels) {
  FovStandard standard = {.channels = channels};
  double n = (double)sums->pixels;
  for (int c = 0; c < channels; c++) {
    double mean = sums->sum[c] / n, variance = sums->squares[c] / n - mean * mean;
    standard.mean[c] = (sums->first[c] + mean) / sums->unit;
    standard.deviation[c] = variance > 0 ? sqrt(variance) / sums->unit : 1;
  }
  return standard;
}
