/** What the policies that choose one tile of a grid share. */
#ifndef FOV_LEARN_POLICY_GRID_H
#define FOV_LEARN_POLICY_GRID_H

#include "learn/policy.h"

/** Chooses a tile of each lane by a softmax: draws, takes the likeliest, or repeats what is forced;
 * writes choices, places, log π and, if wanted, the entropy. logits: [n, N], of the grid's N tiles.
 * Returns log π of every tile, [n, N]. */
const real *fov_grid_choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            FovVar *logits, FovGrid grid, bool entropy);

#endif
