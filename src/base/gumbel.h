/** Gumbel noise (Gumbel 1954): argmax_i (e_i + g_i) with independent g_i is a sample of softmax(e).
 */
#ifndef FOV_BASE_GUMBEL_H
#define FOV_BASE_GUMBEL_H

#include "base/real.h"
#include "base/rng.h"

/** Draws the noise g [count] of logits e [count], given that e + g has its maximum at `index`
 * (Maddison et al. 2014, section 4). If the index is a sample of softmax(e), the numbers of g are
 * independent standard Gumbel variables. */
void fov_gumbel_given_argmax(real *g, const real *e, int count, int index, FovRng *rng);

#endif
