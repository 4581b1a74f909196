#include "viz/scene/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/style.h"

static const FovColour positive = {1.0, 0.45, 0.0}, negative = {0.1, 0.55, 1.0};
static const double DARK = 0.45; // how much a picture is darkened where the map is 0

static int compare(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

double fov_map_scale(const float *map, float *room, size_t count) {
  for (size_t i = 0; i < count; i++) room[i] = fabsf(map[i]);
  qsort(room, count, sizeof *room, compare);
  float top = room[(size_t)(0.998 * (double)(count - 1))];
  return (double)(top > 0 ? top : room[count - 1]);
}

static uint32_t level(double share) {
  return (uint32_t)lround(255 * share);
}

uint32_t fov_map_colour(double number) {
  double alpha = fmin(1, fabs(number));
  FovColour colour = number < 0 ? negative : positive;
  return level(DARK + (1 - DARK) * alpha) << 24 | level(alpha * colour.r) << 16 |
         level(alpha * colour.g) << 8 | level(alpha * colour.b);
}

cairo_surface_t *fov_map_surface(const float *map, int height, int width, double scale) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  unsigned char *data = cairo_image_surface_get_data(surface);
  size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  for (int y = 0; data && y < height; y++)
    for (int x = 0; x < width; x++) {
      double number = (double)*map++;
      uint32_t argb = fov_map_colour(scale > 0 ? number / scale : 0);
      memcpy(data + (size_t)y * stride + 4 * (size_t)x, &argb, sizeof argb);
    }
  cairo_surface_mark_dirty(surface);
  return surface;
}
