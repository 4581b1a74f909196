/** What the policies that choose one of K × K tiles share. */
#ifndef FOV_LEARN_POLICY_GRID_H
#define FOV_LEARN_POLICY_GRID_H

#include "learn/policy.h"

/** Chooses a tile of each lane by a softmax: draws, takes the likeliest, or repeats what is forced;
 * writes choices, places, log π and, if wanted, the entropy. logits: [n, K·K], by rows from the top
 * left. Returns log π of every tile, [n, K·K]. */
const real *fov_grid_choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            FovVar *logits, bool entropy);

#endif
