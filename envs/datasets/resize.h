/** Makes pictures of several sizes one size: scales them and adds a black border. */
#ifndef FOV_ENVS_DATASETS_RESIZE_H
#define FOV_ENVS_DATASETS_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

/** A picture as it was loaded; not owned. */
typedef struct FovPicture {
  const uint8_t *pixels; /**< [height, width, channels] */
  int height, width, channels;
} FovPicture;

/** The size that pictures get, and the rule by which they are scaled. */
typedef struct FovResize {
  int height, width, channels;       /**< of the result */
  int largest_height, largest_width; /**< of all pictures: without `each`, they fill the result */
  bool each; /**< each picture as large as fits; otherwise one factor for all pictures */
} FovResize;

/**
 * Scales a picture, with its aspect ratio kept, and centres it on black; out: [H, W, C] of
 * `resize`. A pixel of the result is the mean of the pixels it covers, so a picture that keeps its
 * size keeps its values. Grey becomes three equal channels of RGB; RGB never becomes grey here.
 */
void fov_resize(uint8_t *out, const FovResize *resize, FovPicture picture);

#endif
