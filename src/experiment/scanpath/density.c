/** Measures of a scanpath's density at the places of another. */
#include <math.h>
#include <stdlib.h>

#include "experiment/scanpath/measures.h"

enum { COLUMNS = 32, MOST_ROWS = 1024 };
static const double even_share = 0.1; // of a density, so that none is 0

FovStatus fov_scanpath_map_create(FovScanpathMap *map, double height) {
  *map = (FovScanpathMap){.columns = COLUMNS};
  map->rows = (int)fmin(MOST_ROWS, fmax(1, round(COLUMNS * height)));
  map->density = calloc((size_t)map->rows * COLUMNS, sizeof *map->density);
  return map->density ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for a map of places");
}

void fov_scanpath_map_finish(FovScanpathMap *map) {
  free(map->density);
  *map = (FovScanpathMap){0};
}

/** A normal density around `middle` at the middles of `count` tiles over 0 … size; sums to 1. */
static void fill_normal(double *weights, double middle, double size, int count, double blur) {
  double sum = 0;
  for (int i = 0; i < count; i++) {
    double z = ((i + 0.5) / count * size - middle) / blur;
    sum += weights[i] = exp(-z * z / 2) + 1e-300; // far from every tile: not 0/0
  }
  for (int i = 0; i < count; i++) weights[i] /= sum;
}

void fov_scanpath_map_fill(FovScanpathMap *map, const FovScanpath *path, double height,
                           double blur) {
  double across[COLUMNS], down[MOST_ROWS];
  int cells = map->rows * map->columns;
  for (int i = 0; i < cells; i++) map->density[i] = 0;
  for (int t = 0; t < path->count; t++) {
    fill_normal(across, path->places[2 * t], 1, COLUMNS, blur);
    fill_normal(down, path->places[2 * t + 1], height, map->rows, blur);
    for (int i = 0; i < cells; i++)
      map->density[i] += down[i / COLUMNS] * across[i % COLUMNS] / path->count;
  }
}

static int cell_of(const FovScanpathMap *map, const double *place, double height) {
  int column = (int)fmin(map->columns - 1, floor(place[0] * map->columns));
  int row = (int)fmin(map->rows - 1, floor(place[1] / height * map->rows));
  return row * map->columns + column;
}

double fov_scanpath_nss(const FovScanpathMap *map, const FovScanpath *path, double height) {
  int cells = map->rows * map->columns;
  double mean = 1.0 / cells, square = 0, sum = 0;
  for (int i = 0; i < cells; i++) square += (map->density[i] - mean) * (map->density[i] - mean);
  double deviation = sqrt(square / cells);
  if (!(deviation > 1e-12 * mean) || path->count == 0) return NAN;
  for (int t = 0; t < path->count; t++)
    sum += (map->density[cell_of(map, path->places + 2 * t, height)] - mean) / deviation;
  return sum / path->count;
}

double fov_scanpath_gain(const FovScanpathMap *map, const FovScanpathMap *prior,
                         const FovScanpath *path, double height) {
  double even = even_share / (map->rows * map->columns), sum = 0;
  for (int t = 0; t < path->count; t++) {
    int cell = cell_of(map, path->places + 2 * t, height);
    sum += log2(((1 - even_share) * map->density[cell] + even) /
                ((1 - even_share) * prior->density[cell] + even));
  }
  return path->count > 0 ? sum / path->count : NAN;
}
