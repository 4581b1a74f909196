#include "viz/scene/pixels.h"

#include <math.h>
#include <string.h>

enum { MOST_ENLARGED = 1024 }; // pixels, of the longer side

uint32_t fov_pixel_rgb(const FovPixels *pixels, int x, int y) {
  const uint8_t *from = pixels->bytes + ((size_t)y * pixels->width + x) * pixels->channels;
  int green = pixels->channels == 3 ? 1 : 0;
  return (uint32_t)from[0] << 16 | (uint32_t)from[green] << 8 | from[2 * green];
}

/** A surface of every `every`-th pixel across and down; the caller destroys it. */
static cairo_surface_t *make_surface(const FovPixels *pixels, int every) {
  int w = (pixels->width + every - 1) / every, h = (pixels->height + every - 1) / every;
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
  unsigned char *data = cairo_image_surface_get_data(surface);
  size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  for (int y = 0; data && y < h; y++)
    for (int x = 0; x < w; x++) {
      uint32_t rgb = fov_pixel_rgb(pixels, x * every, y * every);
      memcpy(data + y * stride + 4 * (size_t)x, &rgb, sizeof rgb);
    }
  cairo_surface_mark_dirty(surface);
  return surface;
}

static int times_enlarged(int w, int h) {
  int most = w > h ? w : h;
  return most < MOST_ENLARGED ? MOST_ENLARGED / most : 1;
}

/** Makes each pixel a square of pixels: programs that show SVG or PDF smooth an image that they
 * enlarge; then only the edges of the squares are blurred. */
static cairo_surface_t *enlarge(cairo_surface_t *surface, int times) {
  int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
  cairo_surface_t *large =
      cairo_image_surface_create(cairo_image_surface_get_format(surface), w * times, h * times);
  cairo_t *cr = cairo_create(large);
  cairo_scale(cr, times, times);
  cairo_set_source_surface(cr, surface, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  cairo_paint(cr);
  cairo_destroy(cr);
  return large;
}

void fov_draw_surface(cairo_t *cr, FovBox box, cairo_surface_t *surface) {
  int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
  if (cairo_surface_status(surface) || w == 0 || h == 0) return;
  cairo_filter_t filter = box.w < w ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST;
  bool screen = cairo_surface_get_type(cairo_get_target(cr)) == CAIRO_SURFACE_TYPE_IMAGE;
  int times = screen || box.w <= w ? 1 : times_enlarged(w, h);
  cairo_surface_t *drawn = times > 1 ? enlarge(surface, times) : cairo_surface_reference(surface);
  w *= times, h *= times;
  cairo_save(cr);
  cairo_translate(cr, box.x, box.y);
  cairo_scale(cr, box.w / w, box.h / h);
  cairo_set_source_surface(cr, drawn, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), filter);
  cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD); // no soft outer edge
  cairo_rectangle(cr, 0, 0, w, h);
  cairo_fill(cr);
  cairo_restore(cr);
  cairo_surface_destroy(drawn);
}

void fov_draw_pixels(cairo_t *cr, FovBox box, const FovPixels *pixels) {
  int every = (int)fmax(1, floor(pixels->width / (2 * fmax(1, box.w))));
  cairo_surface_t *surface = make_surface(pixels, every);
  fov_draw_surface(cr, box, surface);
  cairo_surface_destroy(surface);
}
