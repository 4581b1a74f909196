/**
 * e_i = β cosine(q, k_i), β = softplus(w·q + b) in each head: addressing by content (Graves et al.
 * 2014, eq. 5 and 6). The key strength β is emitted with every query.
 *
 * A head has w [d] and b, where d = D / heads: a row of "score.strength.w" [heads, d] and a number
 * of "score.strength.bias" [1, heads].
 */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int w, bias;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)options, (void)sites;
  Layout *l = layout;
  l->w = fov_params_add(params, "score.strength.w", heads, width / heads, FOV_INIT_UNIFORM, 1);
  l->bias = fov_params_add(params, "score.strength.bias", 1, heads, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

static FovVar *prepare(const void *layout, FovTape *tape, FovVar *keys, int heads) {
  (void)layout;
  return fov_normalise(tape, keys, NULL, heads);
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  const Layout *l = layout;
  FovVar *p = tape->params;
  FovVar *beta = fov_linear_heads(tape, query, &p[l->w], &p[l->bias], heads, FOV_SOFTPLUS);
  // A query of length β against keys of length 1: the dot product is β times the cosine.
  return fov_dot_sites(tape, fov_normalise(tape, query, beta, heads), keys, heads, 1);
}

const FovScore fov_score_content = {
    .plugin = {.name = "content", .help = "softplus(w.q + b) cosine(q, k) (Graves et al. 2014)"},
    .layout_size = sizeof(Layout),
    .build = build,
    .prepare = prepare,
    .score = score,
};
