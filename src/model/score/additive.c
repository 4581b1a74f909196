/**
 * e_i = vᵀ tanh(W_q q + W_k k_i + b) in each head (Bahdanau et al. 2015, section A.1.2).
 *
 * A head has W_q and W_k [d, d], b and v [d], where d = D / heads: rows of "score.query" and
 * "score.key" [D, d], columns of "score.bias" and "score.v" [1, D].
 */
#include "model/score.h"
#include "tensor/ops.h"

typedef struct Layout {
  int query, key, bias, v;
} Layout;

static FovStatus build(void *layout, FovParams *params, const void *options, int width, int heads,
                       int sites) {
  (void)options, (void)sites;
  int d = width / heads;
  Layout *l = layout;
  l->query = fov_params_add(params, "score.query", width, d, FOV_INIT_UNIFORM, 1);
  l->key = fov_params_add(params, "score.key", width, d, FOV_INIT_UNIFORM, 1);
  l->bias = fov_params_add(params, "score.bias", 1, width, FOV_INIT_ZERO, 0);
  // A row of D numbers, so its initial values are scaled to those of a row of d.
  l->v = fov_params_add(params, "score.v", 1, width, FOV_INIT_UNIFORM, (real)sqrt(heads));
  return FOV_OK;
}

static FovVar *prepare(const void *layout, FovTape *tape, FovVar *keys, int heads) {
  const Layout *l = layout;
  FovVar *p = tape->params;
  return fov_linear_heads(tape, keys, &p[l->key], &p[l->bias], heads, FOV_LINEAR);
}

static FovVar *score(const void *layout, FovTape *tape, FovVar *query, FovVar *keys, int heads) {
  const Layout *l = layout;
  FovVar *p = tape->params;
  FovVar *moved = fov_linear_heads(tape, query, &p[l->query], NULL, heads, FOV_LINEAR);
  return fov_additive_sites(tape, moved, keys, &p[l->v], heads);
}

const FovScore fov_score_additive = {
    .plugin = {.name = "additive", .help = "v.tanh(W_q q + W_k k + b) (Bahdanau et al. 2015)"},
    .layout_size = sizeof(Layout),
    .build = build,
    .prepare = prepare,
    .score = score,
};
