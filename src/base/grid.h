/** Grids of tiles over an image, whose places are in [−1, 1]². */
#ifndef FOV_BASE_GRID_H
#define FOV_BASE_GRID_H

#include "base/real.h"

/** How tiles lie: numbered by rows from the top left. */
typedef struct FovGrid {
  int across, down;
} FovGrid;

/** Which of `count` equal parts of [−1, 1] a coordinate is in, 0 … count−1; the nearest one. */
int fov_part_of(double coordinate, int count);

/** The tile of the place (x, y), or the nearest one. */
int fov_tile_at(double x, double y, FovGrid grid);

/** The middle of a tile. */
void fov_tile_middle(real place[2], int tile, FovGrid grid);

#endif
