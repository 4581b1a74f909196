/** e_i = qᵀ k_i / √d in each head, where d = D / heads (Vaswani et al. 2017, eq. 1). A head has no
 * parameters. */
#include "model/score.h"
#include "tensor/ops.h"

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  (void)layout;
  double d = (double)query->cols / heads;
  return fov_dot_sites(tape, query, keys, heads, (real)(1 / sqrt(d)));
}

const FovScore fov_score_scaled_dot = {
    .plugin = {.name = "scaled_dot", .help = "q.k / sqrt(d) (Vaswani et al. 2017)"},
    .score = score,
};
