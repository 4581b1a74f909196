/** Pixels of a trace as cairo surfaces, and surfaces laid into boxes. */
#ifndef FOV_VIZ_SCENE_PIXELS_H
#define FOV_VIZ_SCENE_PIXELS_H

#include <stdint.h>

#include "viz/scene/style.h"

/** A picture in memory: H×W pixels of C channels; C other than 3 is shown by its first as grey. */
typedef struct FovPixels {
  const uint8_t *bytes; /**< [H, W, C] */
  int width, height, channels;
} FovPixels;

/** The colour of a pixel as 0xRRGGBB. */
uint32_t fov_pixel_rgb(const FovPixels *pixels, int x, int y);

/** A surface of every `every`-th pixel across and down; to be destroyed by the caller. */
cairo_surface_t *fov_pixels_surface(const FovPixels *pixels, int every);

/** Fills a box with an image surface: enlarged with sharp edges, made smaller smoothly. */
void fov_draw_surface(cairo_t *cr, FovBox box, cairo_surface_t *surface);

/** Draws pixels into a box by a surface that lives no longer; far more of them than the box shows
 * are thinned, so the time it takes is bounded by the box. */
void fov_draw_pixels(cairo_t *cr, FovBox box, const FovPixels *pixels);

#endif
