/** Makes pictures of several sizes one size: scales them and puts black around. */
#ifndef FOV_ENVS_MOUNT_H
#define FOV_ENVS_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

/** A picture as it was loaded; not owned. */
typedef struct FovPicture {
  const uint8_t *pixels; /**< [height, width, channels] */
  int height, width, channels;
} FovPicture;

/** What pictures are made to fit into. */
typedef struct FovMount {
  int height, width, channels;
  int largest_height, largest_width; /**< of all pictures; what fills the mount, unless `each` */
  bool each; /**< each picture as large as the mount holds; else all at one scale */
} FovMount;

/**
 * Scales a picture by its mount's rule, aspect kept, and centres it on black; out: [H, W, C] of the
 * mount. A pixel is the mean of what it covers, so sizes that do not change keep their values. Grey
 * becomes equal channels of RGB; RGB never becomes grey here.
 */
void fov_mount(uint8_t *out, const FovMount *mount, FovPicture picture);

#endif
