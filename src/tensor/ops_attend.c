/** Operations of attention: scores of sites by dot products, weights from scores, read-outs. */
#include "base/profile.h"
#include "tensor/ops.h"
#include "tensor/rows.h"

typedef struct Softmax {
  FovVar *x, *y;
  int groups;
} Softmax;

/** y = softmax(x), [cols] each. */
FOV_KERNEL static void softmax_forward(real *restrict y, const real *restrict x, int cols) {
  fov_row_softmax(y, x, 1, cols);
}

/** The same over those x_j for which inside_j is not 0; the other y_j are 0. */
FOV_KERNEL static void softmax_within_forward(real *restrict y, const real *restrict x,
                                              const real *restrict inside, int cols) {
  real top = -INFINITY;
  for (int j = 0; j < cols; j++) top = inside[j] != 0 && x[j] > top ? x[j] : top;
  for (int j = 0; j < cols; j++) y[j] = inside[j] != 0 ? fov_exp(x[j] - top) : 0;
  real sum = fov_row_sum(y, cols);
  for (int j = 0; j < cols; j++) y[j] /= sum;
}

/** dx += y ∘ (dy − Σ_k dy_k y_k) */
FOV_KERNEL static void softmax_to(real *restrict dx, const real *restrict dy,
                                  const real *restrict y, int cols) {
  real mean = fov_row_dot(dy, y, cols);
  for (int j = 0; j < cols; j++) dx[j] += y[j] * (dy[j] - mean);
}

static void softmax_backward(FovTape *tape, void *saved) {
  Softmax *op = saved;
  int cols = op->x->cols / op->groups;
  fov_grad(tape, op->x);
  for (int b = 0; b < op->x->rows; b++)
    for (int j = 0; j < op->x->cols; j += cols)
      softmax_to(fov_grad_row(op->x, b) + j, fov_grad_row(op->y, b) + j,
                 fov_value_row(op->y, b) + j, cols);
}

static Softmax *new_softmax(FovTape *tape, FovVar *x, int groups) {
  FOV_CHECK(groups > 0 && x->cols % groups == 0, "%d groups of columns of [%d, %d]", groups,
            x->rows, x->cols);
  Softmax *op = FOV_NEW(tape->arena, Softmax, 1);
  *op = (Softmax){.x = x, .groups = groups};
  op->y = fov_result(tape, x->rows, x->cols, x->wants_grad);
  fov_note(tape, op->y, NULL, softmax_backward, op);
  return op;
}

FovVar *fov_softmax(FovTape *tape, FovVar *x, int groups) {
  FovVar *y = new_softmax(tape, x, groups)->y;
  int cols = x->cols / groups;
  for (int b = 0; b < x->rows; b++)
    for (int j = 0; j < x->cols; j += cols)
      softmax_forward(fov_value_row(y, b) + j, fov_value_row(x, b) + j, cols);
  return y;
}

FovVar *fov_softmax_within(FovTape *tape, FovVar *x, const FovVar *inside, int groups) {
  FovVar *y = new_softmax(tape, x, groups)->y;
  int cols = x->cols / groups;
  FOV_CHECK(inside->rows == x->rows && inside->cols == cols, "x [%d, %d] in %d groups of [%d, %d]",
            x->rows, x->cols, groups, inside->rows, inside->cols);
  for (int b = 0; b < x->rows; b++)
    for (int j = 0; j < x->cols; j += cols)
      softmax_within_forward(fov_value_row(y, b) + j, fov_value_row(x, b) + j,
                             fov_value_row(inside, b), cols);
  return y;
}

/*
 * Scores and read-outs are the same form, linear in each of three matrices:
 *
 *   F = scale · Σ_bhij w[b, h·N + i] q[b, h·d + j] k[b·N + i, h·d + j],
 *
 * so that scores are dF/dw, a read-out is dF/dq, and the gradient of the one uses the other.
 */

/** How the matrices of this form are divided. */
typedef struct Sites {
  int heads, sites, width; /**< of a head: N sites, d columns */
  real scale;
} Sites;

/** Each of the three products multiplies and adds heads·N·d times for every lane. */
static void count_products(int lanes, Sites s) {
  fov_profile_flops(2.0 * lanes * s.heads * s.sites * s.width);
}

/** w += dF/dw: scale · Σ_j q[h·d + j] k[i, h·d + j] for each head h and site i. */
FOV_KERNEL static void add_scores(FovMatrix w, FovMatrix q, FovMatrix k, Sites s) {
  count_products(w.rows, s);
  for (int b = 0; b < w.rows; b++)
    for (int h = 0; h < s.heads; h++) {
      real *to = w.at + (size_t)b * w.stride + h * s.sites;
      const real *query = q.at + (size_t)b * q.stride + h * s.width;
      const real *key = k.at + (size_t)b * s.sites * k.stride + h * s.width;
      for (int i = 0; i < s.sites; i++, key += k.stride)
        to[i] += s.scale * fov_row_dot(query, key, s.width);
    }
}

/** q += dF/dq: scale · Σ_i w[h·N + i] k[i, h·d + j] for each head h and column j. */
FOV_KERNEL static void add_read_out(FovMatrix q, FovMatrix w, FovMatrix k, Sites s) {
  count_products(w.rows, s);
  for (int b = 0; b < w.rows; b++)
    for (int h = 0; h < s.heads; h++) {
      real *to = q.at + (size_t)b * q.stride + h * s.width;
      const real *weight = w.at + (size_t)b * w.stride + h * s.sites;
      const real *value = k.at + (size_t)b * s.sites * k.stride + h * s.width;
      for (int i = 0; i < s.sites; i++, value += k.stride)
        fov_row_add_scaled(to, value, s.scale * weight[i], s.width);
    }
}

/** k += dF/dk: scale · w[h·N + i] q[h·d + j] for each site i, head h and column j. */
FOV_KERNEL static void add_outer(FovMatrix k, FovMatrix w, FovMatrix q, Sites s) {
  count_products(w.rows, s);
  for (int b = 0; b < w.rows; b++)
    for (int h = 0; h < s.heads; h++) {
      const real *weight = w.at + (size_t)b * w.stride + h * s.sites;
      const real *from = q.at + (size_t)b * q.stride + h * s.width;
      real *to = k.at + (size_t)b * s.sites * k.stride + h * s.width;
      for (int i = 0; i < s.sites; i++, to += k.stride)
        fov_row_add_scaled(to, from, s.scale * weight[i], s.width);
    }
}

/** A result of zeros to add to. */
static FovVar *zero_result(FovTape *tape, int rows, int cols, bool wants_grad) {
  FovVar *y = fov_result(tape, rows, cols, wants_grad);
  memset(y->value, 0, (size_t)rows * y->stride * sizeof *y->value);
  return y;
}

typedef struct DotSites {
  FovVar *query, *keys, *y;
  Sites shape;
} DotSites;

static void dot_sites_backward(FovTape *tape, void *saved) {
  DotSites *op = saved;
  if (op->query->wants_grad) {
    fov_grad(tape, op->query);
    add_read_out(fov_grads(op->query), fov_grads(op->y), fov_values(op->keys), op->shape);
  }
  if (op->keys->wants_grad) {
    fov_grad(tape, op->keys);
    add_outer(fov_grads(op->keys), fov_grads(op->y), fov_values(op->query), op->shape);
  }
}

FovVar *fov_dot_sites(FovTape *tape, FovVar *query, FovVar *keys, int heads, real scale) {
  int B = query->rows, D = query->cols, N = keys->rows / B;
  FOV_CHECK(heads > 0 && D % heads == 0 && keys->rows == B * N && keys->cols == D,
            "%d heads of query [%d, %d] against keys [%d, %d]", heads, B, D, keys->rows,
            keys->cols);
  FovVar *y = zero_result(tape, B, heads * N, query->wants_grad || keys->wants_grad);
  DotSites *op = FOV_NEW(tape->arena, DotSites, 1);
  *op = (DotSites){.query = query, .keys = keys, .y = y};
  op->shape = (Sites){.heads = heads, .sites = N, .width = D / heads, .scale = scale};
  add_scores(fov_values(y), fov_values(query), fov_values(keys), op->shape);
  fov_note(tape, y, NULL, dot_sites_backward, op);
  return y;
}

typedef struct WeighSites {
  FovVar *weights, *values, *y;
  Sites shape;
} WeighSites;

static void weigh_sites_backward(FovTape *tape, void *saved) {
  WeighSites *op = saved;
  if (op->weights->wants_grad) {
    fov_grad(tape, op->weights);
    add_scores(fov_grads(op->weights), fov_grads(op->y), fov_values(op->values), op->shape);
  }
  if (op->values->wants_grad) {
    fov_grad(tape, op->values);
    add_outer(fov_grads(op->values), fov_values(op->weights), fov_grads(op->y), op->shape);
  }
}

FovVar *fov_weigh_sites(FovTape *tape, FovVar *weights, FovVar *values, int heads) {
  int B = weights->rows, D = values->cols, N = values->rows / B;
  FOV_CHECK(heads > 0 && D % heads == 0 && values->rows == B * N && weights->cols == heads * N,
            "%d heads of weights [%d, %d] on values [%d, %d]", heads, B, weights->cols,
            values->rows, D);
  FovVar *y = zero_result(tape, B, D, weights->wants_grad || values->wants_grad);
  WeighSites *op = FOV_NEW(tape->arena, WeighSites, 1);
  *op = (WeighSites){.weights = weights, .values = values, .y = y};
  op->shape = (Sites){.heads = heads, .sites = N, .width = D / heads, .scale = 1};
  add_read_out(fov_values(y), fov_values(weights), fov_values(values), op->shape);
  fov_note(tape, y, NULL, weigh_sites_backward, op);
  return y;
}
