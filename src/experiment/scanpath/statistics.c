#include "experiment/scanpath/statistics.h"

#include <math.h>
#include <string.h>

const char *const fov_scanpath_statistic_names[FOV_SCANPATH_STATISTICS] = {
    [FOV_SCANPATH_GLIMPSES] = "glimpses", [FOV_SCANPATH_SACCADE] = "saccade",
    [FOV_SCANPATH_PATH] = "path",         [FOV_SCANPATH_REVISITS] = "revisits",
    [FOV_SCANPATH_SEEN] = "seen",         [FOV_SCANPATH_FINE] = "fine",
    [FOV_SCANPATH_DECISION] = "decision",
};

static double distance(const FovScanpath *path, int s, int t) {
  return hypot(path->places[2 * s] - path->places[2 * t],
               path->places[2 * s + 1] - path->places[2 * t + 1]);
}

/** Whether place t returns to place s, from which the gaze has been away. */
static bool returns(const FovScanpath *path, int s, int t, double radius) {
  bool away = false;
  if (!(distance(path, s, t) < radius)) return false;
  for (int u = s + 1; u < t; u++) away = away || !(distance(path, s, u) < radius);
  return away;
}

int fov_scanpath_revisits(const FovScanpath *path, double radius) {
  int count = 0;
  for (int t = 2; t < path->count; t++) {
    bool again = false;
    for (int s = 0; s < t - 1 && !again; s++) again = returns(path, s, t, radius);
    count += again;
  }
  return count;
}

/** Marks the pixels whose middle is inside a patch. mask: [H, W] */
static void cover(uint8_t *mask, const FovTrace *trace, FovPatchArea patch) {
  int left = (int)fmin(trace->width, fmax(0, ceil(patch.x - 0.5)));
  int right = (int)fmin(trace->width, fmax(0, ceil(patch.x + patch.w - 0.5)));
  int top = (int)fmin(trace->height, fmax(0, ceil(patch.y - 0.5)));
  int bottom = (int)fmin(trace->height, fmax(0, ceil(patch.y + patch.h - 0.5)));
  for (int y = top; y < bottom && left < right; y++)
    memset(mask + (size_t)y * trace->width + left, 1, (size_t)(right - left));
}

/** An attention that reads the tiles near a place has no patch there. */
static bool has_patches(const FovTrace *trace) {
  return trace->whole || !fov_reads_several(trace);
}

/** Per cent of the pixels in the first `scales` patches of all glimpses; NaN: none. */
static double covered(const FovTrace *trace, int episode, int scales, uint8_t *mask) {
  size_t pixels = (size_t)trace->height * trace->width, count = 0;
  if (!has_patches(trace)) return NAN;
  memset(mask, 0, pixels);
  for (int t = 0; t < trace->lengths[episode]; t++)
    for (int s = 0; s < scales; s++) cover(mask, trace, fov_patch_area(trace, episode, t, s));
  for (size_t i = 0; i < pixels; i++) count += mask[i];
  return 100.0 * (double)count / (double)pixels;
}

static int likeliest(const FovTrace *trace, size_t m) {
  const float *p = trace->probabilities + m * trace->actions;
  int best = 0;
  for (int a = 1; a < trace->actions; a++)
    if (p[a] > p[best]) best = a;
  return best;
}

/** Glimpses of each turn until its answer is the likeliest for good; the mean of the turns. */
static double decision(const FovTrace *trace, int episode) {
  size_t first = fov_glimpse_index(trace, episode, 0);
  int begin = 0, turns = 0, sum = 0;
  if (trace->control) return NAN;
  for (int t = 0; t < trace->lengths[episode]; t++) {
    int answer = trace->answers[first + t], decided = t;
    if (answer < 0) continue;
    while (decided > begin && likeliest(trace, first + decided - 1) == answer) decided--;
    sum += decided - begin + 1;
    turns++;
    begin = t + 1;
  }
  return turns > 0 ? (double)sum / turns : NAN;
}

void fov_scanpath_statistics(double statistics[FOV_SCANPATH_STATISTICS], const FovTrace *trace,
                             int episode, const FovScanpath *path, uint8_t *mask) {
  double length = 0, radius = fov_patch_area(trace, episode, 0, 0).w / trace->width / 2;
  for (int t = 1; t < path->count; t++) length += distance(path, t - 1, t);
  statistics[FOV_SCANPATH_GLIMPSES] = path->count;
  statistics[FOV_SCANPATH_SACCADE] = path->count > 1 ? length / (path->count - 1) : NAN;
  statistics[FOV_SCANPATH_PATH] = length;
  statistics[FOV_SCANPATH_REVISITS] =
      has_patches(trace) ? fov_scanpath_revisits(path, radius) : NAN;
  statistics[FOV_SCANPATH_SEEN] = covered(trace, episode, trace->scales, mask);
  statistics[FOV_SCANPATH_FINE] = covered(trace, episode, 1, mask);
  statistics[FOV_SCANPATH_DECISION] = decision(trace, episode);
}
