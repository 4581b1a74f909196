/** e_i = qᵀ k_i / √d in each head, d the numbers of a head (Vaswani et al. 2017, eq. 1). A head has
 * no parameters. */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int heads;
  real scale;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)params, (void)options, (void)sites;
  *(Layout *)layout = (Layout){.heads = heads, .scale = (real)(1 / sqrt((double)width / heads))};
  return FOV_OK;
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys) {
  const Layout *l = layout;
  return fov_dot_sites(tape, query, keys, l->heads, l->scale);
}

const FovScore fov_score_scaled_dot = {
    .plugin = {.name = "scaled_dot", .help = "q.k / sqrt(d) (Vaswani et al. 2017)"},
    .layout_size = sizeof(Layout),
    .build = build,
    .score = score,
};
