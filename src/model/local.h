/**
 * Local attention over tiles: soft attention to the tiles near a place p_t (Luong et al. 2015,
 * section 3.2, in two dimensions).
 *
 *     w_i = α_i f_i     α = softmax of the scores over the window, 0 outside     z_t = Σ_i w_i v_i
 *
 * A sequence of symbols is a row of tiles, which ends with it. The window has the tiles whose
 * middles are at most D tiles from p_t, across and down. p_t is given in tiles from the top left
 * corner, so that tile i has its middle at (column + ½, row + ½). What p_t and f_i are
 * distinguishes local_m and local_p. A small change of p_t can move a tile into the window: the
 * gradient is that between such changes.
 */
#ifndef FOV_MODEL_LOCAL_H
#define FOV_MODEL_LOCAL_H

#include "model/sites.h"

typedef struct FovLocalOptions {
  int distance;
} FovLocalOptions;

extern const FovOption fov_local_options[];

/** Const once built. */
typedef struct FovLocal {
  FovSites sites; /**< first: see FOV_ATTENTION_OVER_SITES */
  int distance;   /**< D */
} FovLocal;

/** FovAttention.build. */
FovStatus fov_local_build(void *local, int *width, FovParams *params, const void *options,
                          const FovAttentionParts *parts);

/** [n, 2]: across and down, what a lane has: tiles, or symbols before the end of its sequence.
 * Reads these first, if they are not known. */
FovVar *fov_local_extent(FovSitesState *state, const FovLocal *local, FovTape *tape,
                         const FovView *view);

/** α [n, heads·N]. place: p_t, [n, 2], by its values. */
FovVar *fov_local_weights(FovSitesState *state, const FovLocal *local, FovTape *tape,
                          const FovVar *place, const FovView *view);

/** What `weights` [n, heads·N] read. The place that is recorded is p_t. */
void fov_local_read(FovReadout *readout, FovSitesState *state, const FovLocal *local, FovTape *tape,
                    FovVar *weights, const FovVar *place, const FovView *view);

#endif
