/** A pixel of a picture, for the tests of the viewer. */
#ifndef FOV_TESTS_PIXEL_H
#define FOV_TESTS_PIXEL_H

#include <cairo.h>
#include <stdint.h>
#include <string.h>

/** 0xRRGGBB. */
static inline uint32_t pixel(cairo_surface_t *picture, double x, double y) {
  uint32_t rgb;
  memcpy(&rgb,
         cairo_image_surface_get_data(picture) + (int)y * cairo_image_surface_get_stride(picture) +
             4 * (int)x,
         sizeof rgb);
  return rgb & 0xffffff;
}

#endif
