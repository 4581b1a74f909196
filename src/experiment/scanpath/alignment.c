/** Measures that align two scanpaths by dynamic programming. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "experiment/scanpath/measures.h"

const char *const fov_scanpath_measure_names[FOV_SCANPATH_MEASURES] = {
    [FOV_SCANPATH_VECTOR] = "vector",
    [FOV_SCANPATH_DIRECTION] = "direction",
    [FOV_SCANPATH_LENGTH] = "length",
    [FOV_SCANPATH_POSITION] = "position",
    [FOV_SCANPATH_SCANMATCH] = "scanmatch",
    [FOV_SCANPATH_DTW] = "dtw",
    [FOV_SCANPATH_NSS] = "nss",
    [FOV_SCANPATH_GAIN] = "gain",
};

static double distance(const double *a, const double *b) {
  return hypot(a[0] - b[0], a[1] - b[1]);
}

/* ---- MultiMatch ---- */

typedef struct Saccade {
  double x, y, length, angle; // angle in (−π, π]
} Saccade;

static Saccade saccade(const FovScanpath *path, int i) {
  double x = path->places[2 * i + 2] - path->places[2 * i];
  double y = path->places[2 * i + 3] - path->places[2 * i + 1];
  return (Saccade){x, y, hypot(x, y), atan2(y, x)};
}

static double vector_difference(Saccade a, Saccade b) {
  return hypot(a.x - b.x, a.y - b.y);
}

static double angle_difference(Saccade a, Saccade b) {
  double difference = fabs(a.angle - b.angle);
  return fmin(difference, 2 * M_PI - difference);
}

/** Fills the cost of the cheapest way from (0, 0) to each pair of saccades; the first pair costs
 * nothing. cost: [n, m] */
static void fill_costs(double *cost, const FovScanpath *a, const FovScanpath *b, int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double best = i || j ? INFINITY : 0;
      if (i && j) best = cost[(i - 1) * m + j - 1];
      if (i) best = fmin(best, cost[(i - 1) * m + j]);
      if (j) best = fmin(best, cost[i * m + j - 1]);
      double step = i || j ? vector_difference(saccade(a, i), saccade(b, j)) : 0;
      cost[i * m + j] = best + step;
    }
}

/** Steps back to the pair before (i, j) on the cheapest way. */
static void step_back(int *i, int *j, const double *cost, int m) {
  double diagonal = *i && *j ? cost[(*i - 1) * m + *j - 1] : INFINITY;
  double up = *i ? cost[(*i - 1) * m + *j] : INFINITY, left = *j ? cost[*i * m + *j - 1] : INFINITY;
  bool is_up = up < diagonal && up <= left, is_left = !is_up && left < diagonal;
  if (!is_left) --*i;
  if (!is_up) --*j;
}

void fov_multimatch(double similarity[4], const FovScanpath *a, const FovScanpath *b, double height,
                    double *room) {
  for (int k = 0; k < 4; k++) similarity[k] = NAN;
  if (a->count < 3 || b->count < 3) return;
  int n = a->count - 1, m = b->count - 1, pairs = 0;
  double differences[4][2 * FOV_SCANPATH_LONGEST], diagonal = hypot(1, height);
  const double scale[4] = {2 * diagonal, M_PI, diagonal, diagonal};
  fill_costs(room, a, b, n, m);
  for (int i = n - 1, j = m - 1;; step_back(&i, &j, room, m)) {
    Saccade s = saccade(a, i), t = saccade(b, j);
    differences[0][pairs] = vector_difference(s, t);
    differences[1][pairs] = angle_difference(s, t);
    differences[2][pairs] = fabs(s.length - t.length);
    differences[3][pairs++] = distance(a->places + 2 * i, b->places + 2 * j);
    if (i == 0 && j == 0) break;
  }
  for (int k = 0; k < 4; k++) {
    fov_stats_sort(differences[k], pairs);
    similarity[k] = 1 - fov_stats_median(differences[k], pairs) / scale[k];
  }
}

/* ---- ScanMatch ---- */

static double tile_distance(const double *a, const double *b, int rows, double height) {
  const double columns = 12;
  double x = fmin(columns - 1, floor(a[0] * columns)) - fmin(columns - 1, floor(b[0] * columns));
  double y =
      fmin(rows - 1, floor(a[1] / height * rows)) - fmin(rows - 1, floor(b[1] / height * rows));
  return hypot(x, y);
}

double fov_scanmatch(const FovScanpath *a, const FovScanpath *b, double height, double *room) {
  const double threshold = 3.5;
  int m = b->count, rows = (int)fmax(1, round(12 * height));
  if (a->count == 0 || m == 0) return NAN;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < m; j++) {
      double d = tile_distance(a->places + 2 * i, b->places + 2 * j, rows, height);
      double pair = (i && j ? room[(i - 1) * m + j - 1] : 0) + threshold - d;
      double gap = fmax(i ? room[(i - 1) * m + j] : 0, j ? room[i * m + j - 1] : 0);
      room[i * m + j] = fmax(pair, gap);
    }
  return room[a->count * m - 1] / (threshold * fmax(a->count, m));
}

/* ---- dynamic time warping ---- */

double fov_dynamic_warping(const FovScanpath *a, const FovScanpath *b, double *room) {
  int m = b->count;
  if (a->count == 0 || m == 0) return NAN;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < m; j++) {
      double best = i || j ? INFINITY : 0;
      if (i && j) best = room[(i - 1) * m + j - 1];
      if (i) best = fmin(best, room[(i - 1) * m + j]);
      if (j) best = fmin(best, room[i * m + j - 1]);
      room[i * m + j] = best + distance(a->places + 2 * i, b->places + 2 * j);
    }
  return room[a->count * m - 1];
}
