#include "sensor/augment.h"

FovAugmentation fov_augmentation_draw(const FovSensor *sensor, const FovRng *env_rng) {
  FovRng rng = fov_rng_stream(env_rng->state, FOV_STREAM_AUGMENT, env_rng->increment);
  float contrast = 2 * fov_rng_uniform(&rng) - 1, brightness = 2 * fov_rng_uniform(&rng) - 1;
  return (FovAugmentation){.contrast = (float)sensor->contrast * contrast,
                           .brightness = (float)sensor->brightness * brightness};
}

/** Defines to = clip(gain · p + offset, 0, 1) for pixels p of one type, of which `unit` is a
 * brightness of 1. */
#define DEFINE_AUGMENT(name, Pixel, unit)                                                          \
  FOV_KERNEL static void name(float *restrict to, const Pixel *restrict from, size_t numbers,      \
                              float gain, float offset) {                                          \
    for (size_t i = 0; i < numbers; i++) {                                                         \
      float p = gain * (from[i] / unit) + offset;                                                  \
      to[i] = p < 0 ? 0 : p > 1 ? 1 : p;                                                           \
    }                                                                                              \
  }

DEFINE_AUGMENT(augment_bytes, uint8_t, 255.0f)
DEFINE_AUGMENT(augment_floats, float, 1.0f)

void fov_augment(float *to, const FovImage *image, FovAugmentation augmentation) {
  fov_image_check(image);
  size_t numbers = (size_t)image->height * (size_t)image->width * (size_t)image->channels;
  float gain = 1 + augmentation.contrast, offset = (1 - gain) / 2 + augmentation.brightness;
  if (image->floats)
    augment_floats(to, image->floats, numbers, gain, offset);
  else
    augment_bytes(to, image->bytes, numbers, gain, offset);
}
