/** e_i = qᵀ k_i in each head: the dot score of Luong et al. 2015, section 3.1. A head has no
 * parameters.
 */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int heads;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)params, (void)options, (void)width, (void)sites;
  *(Layout *)layout = (Layout){.heads = heads};
  return FOV_OK;
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys) {
  return fov_dot_sites(tape, query, keys, ((const Layout *)layout)->heads, 1);
}

const FovScore fov_score_dot = {
    .plugin = {.name = "dot", .help = "q.k (Luong et al. 2015)"},
    .layout_size = sizeof(Layout),
    .build = build,
    .score = score,
};
