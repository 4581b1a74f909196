/** Standardised inputs: an image's brightness less its mean, in units of its deviation. */
#ifndef FOV_SENSOR_STANDARD_H
#define FOV_SENSOR_STANDARD_H

#include <stdint.h>

#include "sensor/sensor.h"

enum { FOV_STANDARD_CHANNELS = 3 };

/** Mean and deviation of the brightness of each channel over some images. All zero: inputs are not
 * standardised. */
typedef struct FovStandard {
  int channels; /**< C: 1 or 3; 0: inputs are not standardised */
  double mean[FOV_STANDARD_CHANNELS];
  double deviation[FOV_STANDARD_CHANNELS]; /**< above 0 */
} FovStandard;

/** Whether inputs are standardised. */
static inline bool fov_is_standardised(const FovStandard *standard) {
  return standard->channels > 0;
}

/** to [H, W, C] = (p − mean) / deviation. Outside the image the sensor then sees the mean, 0. */
void fov_standardise(float *to, const FovImage *image, const FovStandard *standard);

/** Sums over pixels; all zero at first. Those of bytes are exact. */
typedef struct FovStandardSums {
  int64_t pixels;
  double unit;                         /**< 255 for bytes, 1 for floats */
  double first[FOV_STANDARD_CHANNELS]; /**< the first pixel, which is subtracted from all */
  double sum[FOV_STANDARD_CHANNELS], squares[FOV_STANDARD_CHANNELS];
} FovStandardSums;

/** Adds the pixels of an image; all images have as many channels, and the same type of number. */
void fov_standard_add(FovStandardSums *sums, const FovImage *image);

/** Mean and deviation of all pixels that were added. A channel whose pixels are all the same has a
 * deviation of 1. */
FovStandard fov_standard_of(const FovStandardSums *sums, int channels);

#endif
