/** Pixels of a trace as cairo surfaces, and surfaces drawn into boxes. */
#ifndef FOV_VIZ_SCENE_PIXELS_H
#define FOV_VIZ_SCENE_PIXELS_H

#include <stdint.h>

#include "viz/scene/style.h"

/** A picture in memory: H×W pixels of C channels; if C is not 3, the first is shown as grey. */
typedef struct FovPixels {
  const uint8_t *bytes; /**< [H, W, C] */
  int width, height, channels;
} FovPixels;

/** The colour of a pixel as 0xRRGGBB. */
uint32_t fov_pixel_rgb(const FovPixels *pixels, int x, int y);

/** Fills a box with an image surface: sharp pixels when enlarged, smooth when reduced. */
void fov_draw_surface(cairo_t *cr, FovBox box, cairo_surface_t *surface);

/** Draws pixels into a box. An image much larger than the box is subsampled, so the box's size
 * bounds the time. */
void fov_draw_pixels(cairo_t *cr, FovBox box, const FovPixels *pixels);

#endif
