#include "experiment/scanpath/path.h"

#include <math.h>

FovScanpath fov_scanpath_of(double *places, const FovTrace *trace, int episode) {
  double height = fov_trace_aspect(trace);
  for (int t = 0; t < trace->lengths[episode]; t++) {
    const float *at = fov_gaze(trace, episode, t);
    places[2 * t] = fmin(1, fmax(0, (at[0] + 1.0) / 2));
    places[2 * t + 1] = height * fmin(1, fmax(0, (at[1] + 1.0) / 2));
  }
  return (FovScanpath){places, trace->lengths[episode]};
}

void fov_scanpath_draw_random(FovScanpath *path, double height, FovRng *rng) {
  for (int t = 0; t < path->count; t++) {
    path->places[2 * t] = fov_rng_uniform(rng);
    path->places[2 * t + 1] = height * fov_rng_uniform(rng);
  }
}

static double draw_share(FovRng *rng) {
  double share;
  do share = 0.5 + 0.25 * fov_rng_normal(rng);
  while (share < 0 || share > 1);
  return share;
}

void fov_scanpath_draw_centre(FovScanpath *path, double height, FovRng *rng) {
  for (int t = 0; t < path->count; t++) {
    path->places[2 * t] = draw_share(rng);
    path->places[2 * t + 1] = height * draw_share(rng);
  }
}
