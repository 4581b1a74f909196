#include "tensor/ops.h"
#include "tensor/rows.h"

/** Row b of a var's values; NULL of NULL. */
static const real *row_of(const FovVar *x, int b) {
  return x ? x->value + (size_t)b * x->stride : NULL;
}

/** Row b of a var's gradient; NULL where nothing has flowed. */
static real *grad_row(const FovVar *x, int b) {
  return x && x->has_grad ? x->grad + (size_t)b * x->stride : NULL;
}

/** A var with its gradient ready to be added to; NULL if it wants none. */
static FovVar *with_grad(FovTape *tape, FovVar *x) {
  if (!x || !x->wants_grad) return NULL;
  fov_grad(tape, x);
  return x;
}

FOV_KERNEL static void add_row(real *restrict y, const real *restrict x, int cols) {
  fov_row_add(y, x, cols);
}

FOV_KERNEL static void add_product(real *restrict y, const real *restrict a, const real *restrict b,
                                   int cols) {
  fov_row_add_product(y, a, b, cols);
}

typedef struct Lstm {
  FovVar *gates, *c_prev, *h_t, *c_t;
  real *act;  /**< [B, 5D]: σ(i) σ(f) tanh(g) σ(o) tanh(c_t) */
  real *dc_t; /**< [D]: of one row in the backward pass */
} Lstm;

FOV_KERNEL static void lstm_forward(real *restrict h_t, real *restrict c_t, real *restrict act,
                                    const real *restrict gates, const real *restrict c_prev,
                                    int cols) {
  real *i = act, *f = act + cols, *g = act + 2 * cols, *o = act + 3 * cols;
  real *tanh_c = act + 4 * cols;
  for (int j = 0; j < cols; j++) {
    i[j] = fov_sigmoid(gates[j]);
    f[j] = fov_sigmoid(gates[cols + j]);
    g[j] = fov_tanh(gates[2 * cols + j]);
    o[j] = fov_sigmoid(gates[3 * cols + j]);
    c_t[j] = i[j] * g[j] + (c_prev ? f[j] * c_prev[j] : 0);
    tanh_c[j] = fov_tanh(c_t[j]);
    h_t[j] = o[j] * tanh_c[j];
  }
}

// The backward pass is split into loops of few conditions each, which compilers can vectorise.

/** dc_t: the gradient of the cell state, through h_t too. dh, dc: of the results, NULL where
 * nothing has flowed. */
FOV_KERNEL static void lstm_state_backward(real *restrict dc_t, const real *restrict dh,
                                           const real *restrict dc, const real *restrict act,
                                           int cols) {
  const real *o = act + 3 * cols, *tanh_c = act + 4 * cols;
  for (int j = 0; j < cols; j++)
    dc_t[j] = (dc ? dc[j] : 0) + (dh ? dh[j] : 0) * o[j] * (1 - tanh_c[j] * tanh_c[j]);
}

/** dgates: overwritten if beta is 0, added to if it is 1. */
FOV_KERNEL static void lstm_gates_backward(real *restrict dgates, const real *restrict dc_t,
                                           const real *restrict dh, const real *restrict act,
                                           const real *restrict c_prev, real beta, int cols) {
  const real *i = act, *f = act + cols, *g = act + 2 * cols, *o = act + 3 * cols;
  const real *tanh_c = act + 4 * cols;
  if (beta == 0) memset(dgates, 0, (size_t)4 * cols * sizeof *dgates);
  for (int j = 0; j < cols; j++) {
    dgates[j] += dc_t[j] * g[j] * i[j] * (1 - i[j]);
    dgates[cols + j] += dc_t[j] * (c_prev ? c_prev[j] : 0) * f[j] * (1 - f[j]);
    dgates[2 * cols + j] += dc_t[j] * i[j] * (1 - g[j] * g[j]);
    dgates[3 * cols + j] += (dh ? dh[j] : 0) * tanh_c[j] * o[j] * (1 - o[j]);
  }
}

static void lstm_backward(FovTape *tape, void *saved) {
  Lstm *op = saved;
  FovVar *c_prev = op->c_prev, *previous = with_grad(tape, c_prev);
  int cols = op->h_t->cols;
  real beta = 0;
  if (op->gates->wants_grad) fov_grad_product(tape, op->gates, &beta);
  for (int b = 0; b < op->h_t->rows; b++) {
    const real *act = op->act + (size_t)b * 5 * cols, *dh = grad_row(op->h_t, b);
    lstm_state_backward(op->dc_t, dh, grad_row(op->c_t, b), act, cols);
    if (previous) add_product(grad_row(previous, b), op->dc_t, act + cols, cols);
    if (op->gates->wants_grad)
      lstm_gates_backward(grad_row(op->gates, b), op->dc_t, dh, act, row_of(c_prev, b), beta, cols);
  }
}

void fov_lstm_cell(FovVar **h_t, FovVar **c_t, FovTape *tape, FovVar *gates, FovVar *c_prev) {
  int rows = gates->rows, cols = gates->cols / 4;
  FOV_CHECK(gates->cols == 4 * cols, "gates [%d, %d]", rows, gates->cols);
  FOV_CHECK(!c_prev || (c_prev->rows == rows && c_prev->cols == cols),
            "gates [%d, %d] against c_prev [%d, %d]", rows, gates->cols, c_prev->rows,
            c_prev->cols);
  bool wants_grad = gates->wants_grad || (c_prev && c_prev->wants_grad);
  *h_t = fov_result_of(tape, gates, 0, rows, cols, wants_grad);
  *c_t = fov_result_of(tape, gates, 1, rows, cols, wants_grad);
  Lstm *op = FOV_NEW(tape->arena, Lstm, 1);
  *op = (Lstm){.gates = gates, .c_prev = c_prev, .h_t = *h_t, .c_t = *c_t};
  op->act = FOV_NEW(tape->arena, real, (size_t)rows * 5 * cols);
  op->dc_t = FOV_NEW(tape->arena, real, cols);
  for (int b = 0; b < rows; b++)
    lstm_forward((real *)row_of(*h_t, b), (real *)row_of(*c_t, b), op->act + (size_t)b * 5 * cols,
                 row_of(gates, b), row_of(c_prev, b), cols);
  fov_note(tape, *h_t, *c_t, lstm_backward, op);
}

typedef struct Gru {
  FovVar *x, *h, *h_prev, *h_t;
  real *act;   /**< [B, 3D]: σ(r) σ(z) tanh(n) */
  real *gates; /**< [3D]: gradients before the activations, of one row in the backward pass */
} Gru;

FOV_KERNEL static void gru_forward(real *restrict h_t, real *restrict act, const real *restrict x,
                                   const real *restrict h, const real *restrict h_prev, int cols) {
  real *r = act, *z = act + cols, *n = act + 2 * cols;
  for (int j = 0; j < cols; j++) {
    r[j] = fov_sigmoid(x[j] + h[j]);
    z[j] = fov_sigmoid(x[cols + j] + h[cols + j]);
    n[j] = fov_tanh(x[2 * cols + j] + r[j] * h[2 * cols + j]);
    h_t[j] = (1 - z[j]) * n[j] + (h_prev ? z[j] * h_prev[j] : 0);
  }
}

/** gates: written. */
FOV_KERNEL static void gru_gates_backward(real *restrict gates, const real *restrict dh_t,
                                          const real *restrict act, const real *restrict h,
                                          const real *restrict h_prev, int cols) {
  const real *r = act, *z = act + cols, *n = act + 2 * cols;
  for (int j = 0; j < cols; j++) {
    real dn = dh_t[j] * (1 - z[j]) * (1 - n[j] * n[j]);
    gates[j] = dn * h[2 * cols + j] * r[j] * (1 - r[j]);
    gates[cols + j] = dh_t[j] * ((h_prev ? h_prev[j] : 0) - n[j]) * z[j] * (1 - z[j]);
    gates[2 * cols + j] = dn;
  }
}

static void gru_backward(FovTape *tape, void *saved) {
  Gru *op = saved;
  FovVar *x = with_grad(tape, op->x), *h = with_grad(tape, op->h);
  FovVar *h_prev = with_grad(tape, op->h_prev);
  int cols = op->h_t->cols;
  for (int b = 0; b < op->h_t->rows; b++) {
    const real *r = op->act + (size_t)b * 3 * cols, *z = r + cols, *dh_t = grad_row(op->h_t, b);
    gru_gates_backward(op->gates, dh_t, r, row_of(op->h, b), row_of(op->h_prev, b), cols);
    if (x) add_row(grad_row(x, b), op->gates, 3 * cols);
    if (h) {
      add_row(grad_row(h, b), op->gates, 2 * cols);
      add_product(grad_row(h, b) + 2 * cols, op->gates + 2 * cols, r, cols);
    }
    if (h_prev) add_product(grad_row(h_prev, b), dh_t, z, cols);
  }
}

FovVar *fov_gru_cell(FovTape *tape, FovVar *x, FovVar *h, FovVar *h_prev) {
  int rows = x->rows, cols = x->cols / 3;
  FOV_CHECK(x->cols == 3 * cols && h->rows == rows && h->cols == x->cols,
            "x [%d, %d] against h [%d, %d]", rows, x->cols, h->rows, h->cols);
  FOV_CHECK(!h_prev || (h_prev->rows == rows && h_prev->cols == cols),
            "x [%d, %d] against h_prev [%d, %d]", rows, x->cols, h_prev->rows, h_prev->cols);
  bool wants_grad = x->wants_grad || h->wants_grad || (h_prev && h_prev->wants_grad);
  FovVar *h_t = fov_result_of(tape, x, 0, rows, cols, wants_grad);
  Gru *op = FOV_NEW(tape->arena, Gru, 1);
  *op = (Gru){.x = x, .h = h, .h_prev = h_prev, .h_t = h_t};
  op->act = FOV_NEW(tape->arena, real, (size_t)rows * x->cols);
  op->gates = FOV_NEW(tape->arena, real, x->cols);
  for (int b = 0; b < rows; b++)
    gru_forward((real *)row_of(h_t, b), op->act + (size_t)b * 3 * cols, row_of(x, b), row_of(h, b),
                row_of(h_prev, b), cols);
  fov_note(tape, h_t, NULL, gru_backward, op);
  return h_t;
}
