#include "base/grid.h"

#include <math.h>

int fov_part_of(double coordinate, int count) {
  return (int)fmin(count - 1, fmax(0, floor((coordinate + 1) / 2 * count)));
}

int fov_tile_at(double x, double y, FovGrid grid) {
  return fov_part_of(y, grid.down) * grid.across + fov_part_of(x, grid.across);
}

void fov_tile_middle(real place[2], int tile, FovGrid grid) {
  place[0] = (real)(2 * (tile % grid.across) + 1) / (real)grid.across - 1;
  place[1] = (real)(2 * (tile / grid.across) + 1) / (real)grid.down - 1;
}
