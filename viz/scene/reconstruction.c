#include "viz/scene/reconstruction.h"

#include <math.h>
#include <string.h>

#include "viz/scene/episode.h"

/** The area of an image that the sensor sees whole, centred. */
static FovPatchArea whole_patch(const FovTrace *trace) {
  int left = (trace->side - trace->width) / 2, above = (trace->side - trace->height) / 2;
  return (FovPatchArea){.x = -left, .y = -above, .covers = trace->side};
}

FovPatchArea fov_patch_area(const FovTrace *trace, int episode, int glimpse, int scale) {
  if (trace->whole) return whole_patch(trace);
  const float *location = trace->locations + 2 * fov_glimpse_index(trace, episode, glimpse);
  double covers = ldexp(trace->side, scale);
  return (FovPatchArea){.x = round((location[0] + 1) / 2 * trace->width) - floor(covers / 2),
                        .y = round((location[1] + 1) / 2 * trace->height) - floor(covers / 2),
                        .covers = covers};
}

/** Copies a received patch into the image where no finer scale has covered it. */
static void lay_patch(uint8_t *pixels, uint8_t *scales, const FovTrace *trace,
                      const uint8_t *received, FovPatchArea patch, int scale) {
  int C = trace->channels, left = (int)patch.x, top = (int)patch.y;
  int right = (int)fmin(trace->width, patch.x + patch.covers);
  int bottom = (int)fmin(trace->height, patch.y + patch.covers);
  for (int y = top > 0 ? top : 0; y < bottom; y++)
    for (int x = left > 0 ? left : 0; x < right; x++) {
      size_t i = (size_t)y * trace->width + x;
      if (scales[i] < scale && trace->frames == 1) continue;
      size_t from = (size_t)((y - top) >> scale) * trace->side + ((x - left) >> scale);
      scales[i] = (uint8_t)scale;
      memcpy(pixels + i * C, received + from * C, (size_t)C);
    }
}

void fov_reconstruct(uint8_t *pixels, uint8_t *scales, const FovTrace *trace, int episode,
                     int glimpse) {
  size_t patch = (size_t)trace->side * trace->side * trace->channels;
  memset(scales, FOV_UNSEEN, (size_t)trace->height * trace->width);
  for (int t = 0; t <= glimpse; t++)
    for (int s = trace->scales - 1; s >= 0; s--) { // the finest last
      const uint8_t *received =
          trace->retina + (fov_glimpse_index(trace, episode, t) * trace->scales + s) * patch;
      lay_patch(pixels, scales, trace, received, fov_patch_area(trace, episode, t, s), s);
    }
}

static bool covers(FovPatchArea patch, double x, double y) {
  return x >= patch.x && x < patch.x + patch.covers && y >= patch.y && y < patch.y + patch.covers;
}

int fov_reconstructed_scale(const FovTrace *trace, int episode, int glimpse, double x, double y) {
  int best = -1;
  for (int t = 0; t <= glimpse; t++)
    for (int s = trace->scales - 1; s >= 0; s--) {
      bool better = best < 0 || s <= best || trace->frames > 1;
      if (better && covers(fov_patch_area(trace, episode, t, s), x, y)) best = s;
    }
  return best;
}
