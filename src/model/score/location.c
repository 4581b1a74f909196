/**
 * e_i = w_i·q in each head: scores by place, without keys (Luong et al. 2015, eq. 8).
 *
 * A head has W [N, d], a row for each site, where d = D / heads. Rows of "score.w" [heads·N, d] lie
 * head after head.
 */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int w;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)options;
  if (!sites)
    return fov_fail(FOV_ERR_USAGE,
                    "score = location: expected a fixed number of sites, found a memory that grows "
                    "(core = attention); set another score, such as score = dot");
  ((Layout *)layout)->w =
      fov_params_add(params, "score.w", heads * sites, width / heads, FOV_INIT_UNIFORM, 1);
  return FOV_OK;
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  (void)keys;
  FovVar *w = &tape->params[((const Layout *)layout)->w];
  return fov_linear_heads(tape, query, w, NULL, heads, FOV_LINEAR);
}

const FovScore fov_score_location = {
    .plugin = {.name = "location", .help = "W q, without keys (Luong et al. 2015)"},
    .layout_size = sizeof(Layout),
    .keyless = true,
    .build = build,
    .score = score,
};
