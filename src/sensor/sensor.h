/**
 * The sensor: an image and a place to look at become a glimpse of several resolutions.
 *
 * This file defines the coordinates of the whole program: a location is (x, y) in [−1, 1]; (−1, −1)
 * is the image's top left corner, (0, 0) its centre, (1, 1) its bottom right corner.
 */
#ifndef FOV_SENSOR_SENSOR_H
#define FOV_SENSOR_SENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"
#include "base/real.h"

enum { FOV_MAX_SIDE = 64, FOV_MAX_SCALES = 8, FOV_MAX_WHOLE = 8192 };

/** Glimpse sensor of Mnih et al. 2014, section 3.1: S patches of G×G numbers; patch s covers a
 * square of side·2^s pixels, averaged over areas; outside the image it is black.
 *
 * Or the whole image, with which the paper compares glimpses: one patch, as wide as the image's
 * longer side, with the image in its middle. */
typedef struct FovSensor {
  int side;        /**< G: 1 … FOV_MAX_SIDE */
  int scales;      /**< S: 1 … FOV_MAX_SCALES */
  double gain;     /**< patch s is multiplied by gain^s: 1 gives means of areas, 4 sums */
  bool bilinear;   /**< patches are centred between pixels, too, by bilinear interpolation */
  bool inside;     /**< places are bounded so that the finest patch is inside (fov_task_bounds) */
  bool whole;      /**< the whole image, wherever it looks; side, scales, gain, bilinear not used */
  int standardise; /**< FovStandardise */
  double contrast, brightness; /**< most that training changes of an image (augment.h): 0 … 1 */
} FovSensor;

/** Whether an agent is shown standardised images (standard.h). */
typedef enum FovStandardise {
  FOV_STANDARDISE_AUTO, /**< FovEnvType.standardise */
  FOV_STANDARDISE_NO,
  FOV_STANDARDISE_YES,
} FovStandardise;

extern const FovOption fov_sensor_options[];

/** An image that the sensor may look at, in one of two number types; nothing is owned. */
typedef struct FovImage {
  const uint8_t *bytes; /**< [H, W, C]: 0 … 255 stand for a brightness of 0 … 1; or NULL */
  int height, width, channels;
  const float *floats; /**< [H, W, C]: the brightness itself, any finite number; or NULL */
  /** [W]: symbols of a sequence, 1 × W × 1, which ends before the first −1; or NULL. No sensor
   * looks at these. */
  const int32_t *tokens;
  real *gradient; /**< [H, W, C]: dL/d(brightness), which the backward passes of all that looks
                       at the image add to; NULL: not wanted. Either all images of a call
                       have one or none has */
} FovImage;

/** Aborts unless an image has either bytes or floats. */
void fov_image_check(const FovImage *image);

/** The shape of a glimpse at images of one size: [S, G, G, C]. */
typedef struct FovGlimpseShape {
  int scales, side, channels; /**< S, G, C */
} FovGlimpseShape;

/** The shape of a glimpse at an image [height, width, channels]. A sensor that sees it whole takes
 * sides of at most FOV_MAX_WHOLE pixels. */
FovGlimpseShape fov_sensor_glimpse(const FovSensor *sensor, int height, int width, int channels);

/** Numbers of a glimpse: S·G·G·C. */
int fov_glimpse_features(FovGlimpseShape glimpse);

/**
 * Takes one glimpse of an image of 1 or 3 channels, or of any number if it is seen whole.
 *
 * glimpse: [S, G, G, C], overwritten; bytes give 0 … gain^(S−1). x, y: any numbers; infinities and
 * NaN lie outside. Patch s starts at round((x + 1) / 2 · W) − side·2^s / 2, halves rounded up
 * (where x is not exact in binary, rounding may make a half less): it is centred on the pixel edge
 * nearest to the location (an odd width has its extra pixel on the right and below). With `inside`
 * it starts at round((x + 1) / 2 · W − side·2^s / 2), so that the finest patch reaches both edges:
 * an odd one is centred on the pixel that the location is in. A bilinear sensor does not round: a
 * pixel that a cell covers in part counts in part. A whole image has (G − W) / 2 black columns on
 * its left and (G − H) / 2 black rows above, rounded down, for any x and y.
 */
void fov_sensor_look(real *glimpse, const FovSensor *sensor, const FovImage *image, real x, real y);

/** The pixel, from 0, that a patch as wide as `covered` pixels starts at in one direction: before
 * or after the image, too, and between two pixels if the sensor is bilinear. extent: of the image.
 */
double fov_patch_start(const FovSensor *sensor, real location, int extent, double covered);

/**
 * The adjoint of fov_sensor_look, which is linear in the brightness of the pixels: takes a gradient
 * with respect to the glimpse to one with respect to the pixels.
 *
 * image: [H, W, C], added to; glimpse: [S, G, G, C]. For all images p and glimpses g,
 * ⟨look(p), g⟩ = ⟨p, look_back(g)⟩. There is no gradient with respect to x and y.
 */
void fov_sensor_look_back(real *image, const real *glimpse, const FovSensor *sensor, real x, real y,
                          int height, int width, int channels);

/**
 * A coarse view of the whole image: the context of Ba et al. 2015.
 *
 * coarse: [side, side, C], overwritten; side: 1 … FOV_MAX_SIDE, C: 1 … 3. Each cell is the mean of
 * the pixels that it covers; a pixel that it covers in part counts in part. Width and height are
 * divided separately: cell (i, j) covers the locations from (2j / side − 1, 2i / side − 1) on, 2 /
 * side wide and high, whatever the image's shape. Neither side of the image may be longer than
 * FOV_MAX_WHOLE.
 */
void fov_sensor_shrink(real *coarse, const FovImage *image, int side);

/** The adjoint of fov_sensor_shrink. image: [H, W, C], added to; coarse: [side, side, C]. */
void fov_sensor_shrink_back(real *image, const real *coarse, int side, int height, int width,
                            int channels);

#endif
