/**
 * The retina: a picture and a place to look at become a glimpse of several resolutions.
 *
 * This file defines the coordinates of the whole program: a location is (x, y) in [−1, 1]; (−1, −1)
 * is the image's top left corner, (0, 0) its centre, (1, 1) its bottom right corner.
 */
#ifndef FOV_SENSOR_SENSOR_H
#define FOV_SENSOR_SENSOR_H

#include <stdint.h>

#include "base/option.h"
#include "base/real.h"

enum { FOV_MAX_SIDE = 64, FOV_MAX_SCALES = 8 };

/** Glimpse sensor of Mnih et al. 2014, section 3.1: S patches of G×G numbers; patch s covers a
 * square of side·2^s pixels, averaged over areas; outside the image it is black. */
typedef struct FovSensor {
  int side;   /**< G: 1 … FOV_MAX_SIDE */
  int scales; /**< S: 1 … FOV_MAX_SCALES */
} FovSensor;

extern const FovOption fov_sensor_options[];

/** A picture the sensor may look at. */
typedef struct FovImage {
  const uint8_t *bytes; /**< [H, W, C]: 0 … 255 stand for 0 … 1; not owned */
  int height, width, channels;
} FovImage;

/** Numbers of a glimpse: S·G·G·C. */
int fov_sensor_features(const FovSensor *sensor, int channels);

/**
 * Takes one glimpse.
 *
 * glimpse: [S, G, G, C]. x, y: any numbers; infinities and NaN lie outside. The pixel that the
 * patches are centred on is the nearest to the location: patch s starts at
 * round((x + 1) / 2 · W) − side·2^s / 2, halves rounded up (an odd width has its extra pixel on the
 * right and below).
 */
void fov_sensor_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x, real y);

#endif
