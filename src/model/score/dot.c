/** e_i = qᵀ k_i in each head: the dot score of Luong et al. 2015, section 3.1. A head has no
 * parameters.
 */
#include "model/score.h"
#include "tensor/ops.h"

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  (void)layout;
  return fov_dot_sites(tape, query, keys, heads, 1);
}

const FovScore fov_score_dot = {
    .plugin = {.name = "dot", .help = "q.k (Luong et al. 2015)"},
    .score = score,
};
