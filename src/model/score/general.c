/**
 * e_i = qᵀ W k_i in each head: the general score of Luong et al. 2015, section 3.1.
 *
 * A head has W [d, d], where d = D / heads. Rows of "score.w" [D, d] are those of Wᵀ, head after
 * head: it multiplies the query, of which there is one for all sites.
 */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int w;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)options, (void)sites;
  ((Layout *)layout)->w =
      fov_params_add(params, "score.w", width, width / heads, FOV_INIT_UNIFORM, 1);
  return FOV_OK;
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  FovVar *w = &tape->params[((const Layout *)layout)->w];
  FovVar *moved = fov_linear_heads(tape, query, w, NULL, heads, FOV_LINEAR);
  return fov_dot_sites(tape, moved, keys, heads, 1);
}

const FovScore fov_score_general = {
    .plugin = {.name = "general", .help = "q.W k (Luong et al. 2015)"},
    .layout_size = sizeof(Layout),
    .build = build,
    .score = score,
};
