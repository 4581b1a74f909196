/**
 * Tiles in a coarse view of the whole image: what keys are made of if tiles are to be chosen before
 * one is looked at.
 *
 * The view (fov_sensor_shrink) has K·m × K·m cells, m × m for each of the K × K tiles. c_i are the
 * cells of tile i and m / 2 more, rounded down, on each side, black outside the image; l_i is the
 * tile's middle:
 *
 *     u_i = relu(W_c c_i + W_l l_i + b)
 */
#ifndef FOV_MODEL_COARSE_TILES_H
#define FOV_MODEL_COARSE_TILES_H

#include "model/attention.h"

/** Const once built. */
typedef struct FovCoarseTiles {
  int tiles;    /**< K */
  int cells;    /**< m */
  int channels; /**< C */
  int cells_w, place_w, bias;
} FovCoarseTiles;

/** Adds the parameters of u_i, which has parts->tiles.width numbers. Fails if the view would have
 * too many cells, or the image too many pixels. */
FovStatus fov_coarse_tiles_build(FovCoarseTiles *coarse, FovParams *params,
                                 const FovAttentionParts *parts);

/** u [n·N, width] of the tiles of n images. places: l, [n·N, 2], image after image. */
FovVar *fov_coarse_tiles_see(FovTape *tape, const FovCoarseTiles *coarse, const FovImage *images,
                             FovVar *places);

#endif
