#include "viz/scene/reconstruction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "viz/scene/attention.h"
#include "viz/scene/episode.h"

/** The first of `count` pixels whose middle is not before an edge, which may be anywhere. */
static int first_after(double edge, int count) {
  return (int)fmin(count, fmax(0, ceil(edge - 0.5)));
}

/** Which of the patch's `side` cells, `size` wide together, a distance from its edge is in. */
static size_t cell_at(double distance, double size, int side) {
  return (size_t)fmin(side - 1, fmax(0, floor(distance / size * side)));
}

/** Copies a received patch into the image where no smaller one has covered it. */
static void lay_patch(uint8_t *pixels, float *areas, const FovTrace *trace, const uint8_t *received,
                      FovPatchArea patch) {
  int C = trace->channels, left = first_after(patch.x, trace->width),
      right = first_after(patch.x + patch.w, trace->width),
      top = first_after(patch.y, trace->height),
      bottom = first_after(patch.y + patch.h, trace->height);
  float area = (float)fmin(FLT_MAX, patch.w * patch.h);
  for (int y = top; y < bottom; y++) {
    size_t row = cell_at(y + 0.5 - patch.y, patch.h, trace->side);
    for (int x = left; x < right; x++) {
      size_t i = (size_t)y * trace->width + x;
      if (areas[i] < area && trace->frames == 1) continue;
      size_t from = row * trace->side + cell_at(x + 0.5 - patch.x, patch.w, trace->side);
      areas[i] = area;
      memcpy(pixels + i * C, received + from * C, (size_t)C);
    }
  }
}

void fov_reconstruct(uint8_t *pixels, float *areas, const FovTrace *trace, int episode,
                     int glimpse) {
  size_t patch = (size_t)trace->side * trace->side * trace->channels;
  for (size_t i = 0; i < (size_t)trace->height * trace->width; i++) areas[i] = INFINITY;
  for (int t = 0; t <= glimpse; t++)
    for (int s = trace->scales - 1; s >= 0; s--) { // the finest last
      const uint8_t *received =
          trace->retina + (fov_glimpse_index(trace, episode, t) * trace->scales + s) * patch;
      lay_patch(pixels, areas, trace, received, fov_patch_area(trace, episode, t, s));
    }
}

/** Whether a patch covers the middle of a pixel. */
static bool covers(FovPatchArea patch, double x, double y) {
  double right = x + 0.5 - patch.x, down = y + 0.5 - patch.y;
  return right >= 0 && right < patch.w && down >= 0 && down < patch.h;
}

int fov_reconstructed_scale(const FovTrace *trace, int episode, int glimpse, double x, double y) {
  int best = -1;
  double least = INFINITY;
  for (int t = 0; t <= glimpse; t++)
    for (int s = trace->scales - 1; s >= 0; s--) {
      FovPatchArea patch = fov_patch_area(trace, episode, t, s);
      bool better = patch.w * patch.h <= least || trace->frames > 1;
      if (!better || !covers(patch, x, y)) continue;
      least = patch.w * patch.h;
      best = s;
    }
  return best;
}
