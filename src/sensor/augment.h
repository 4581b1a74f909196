/** Augmentation: random contrast and brightness of the images that an agent is trained on. */
#ifndef FOV_SENSOR_AUGMENT_H
#define FOV_SENSOR_AUGMENT_H

#include "base/rng.h"
#include "sensor/sensor.h"

/** How the images of an episode are changed: p → clip((p − ½)(1 + c) + ½ + b, 0, 1). */
typedef struct FovAugmentation {
  float contrast, brightness; /**< c, b */
} FovAugmentation;

/** Whether training changes images at all. */
static inline bool fov_is_augmented(const FovSensor *sensor) {
  return sensor->contrast > 0 || sensor->brightness > 0;
}

/** Draws c and b uniformly from ± the sensor's contrast and brightness: a pure function of the
 * generator that the episode's environment starts with, which is not advanced. */
FovAugmentation fov_augmentation_draw(const FovSensor *sensor, const FovRng *env_rng);

/** to: [H, W, C], brightness 0 … 1 of the changed image; must not overlap it. */
void fov_augment(float *to, const FovImage *image, FovAugmentation augmentation);

#endif
