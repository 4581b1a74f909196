#include "tensor/ops.h"

typedef struct Lstm {
  FovVar *gates, *c_prev, *h_t, *c_t;
  real *act; /**< [B, 4D]: σ(i) σ(f) tanh(g) σ(o) */
} Lstm;

FOV_KERNEL static void lstm_forward(real *h_t, real *c_t, real *act, const real *gates,
                                    const real *c_prev, int rows, int cols) {
  for (int b = 0; b < rows; b++, h_t += cols, c_t += cols, act += 4 * cols, gates += 4 * cols) {
    for (int j = 0; j < 2 * cols; j++) act[j] = fov_sigmoid(gates[j]);
    for (int j = 2 * cols; j < 3 * cols; j++) act[j] = fov_tanh(gates[j]);
    for (int j = 3 * cols; j < 4 * cols; j++) act[j] = fov_sigmoid(gates[j]);
    for (int j = 0; j < cols; j++) {
      c_t[j] = act[j] * act[2 * cols + j];
      if (c_prev) c_t[j] += act[cols + j] * c_prev[j];
      h_t[j] = act[3 * cols + j] * fov_tanh(c_t[j]);
    }
    if (c_prev) c_prev += cols;
  }
}

/** dgates, dc_prev: added to; dh, dc: of the results, NULL where nothing flowed. */
FOV_KERNEL static void lstm_backward_rows(real *dgates, real *dc_prev, const real *dh,
                                          const real *dc, const real *act, const real *c_t,
                                          const real *c_prev, int rows, int cols) {
  for (int b = 0; b < rows; b++) {
    const real *i = act, *f = act + cols, *g = act + 2 * cols, *o = act + 3 * cols;
    for (int j = 0; j < cols; j++) {
      real tanh_c = fov_tanh(c_t[j]), dh_j = dh ? dh[j] : 0;
      real dc_j = (dc ? dc[j] : 0) + dh_j * o[j] * (1 - tanh_c * tanh_c);
      real c_j = c_prev ? c_prev[j] : 0;
      dgates[j] += dc_j * g[j] * i[j] * (1 - i[j]);
      dgates[cols + j] += dc_j * c_j * f[j] * (1 - f[j]);
      dgates[2 * cols + j] += dc_j * i[j] * (1 - g[j] * g[j]);
      dgates[3 * cols + j] += dh_j * tanh_c * o[j] * (1 - o[j]);
      if (dc_prev) dc_prev[j] += dc_j * f[j];
    }
    dgates += 4 * cols, act += 4 * cols, c_t += cols;
    if (dc_prev) dc_prev += cols;
    if (dh) dh += cols;
    if (dc) dc += cols;
    if (c_prev) c_prev += cols;
  }
}

static void lstm_backward(FovTape *tape, void *saved) {
  Lstm *op = saved;
  bool back = op->c_prev && op->c_prev->learned;
  lstm_backward_rows(fov_grad(tape, op->gates), back ? fov_grad(tape, op->c_prev) : NULL,
                     op->h_t->grad, op->c_t->grad, op->act, op->c_t->value,
                     op->c_prev ? op->c_prev->value : NULL, op->h_t->rows, op->h_t->cols);
}

void fov_lstm_cell(FovVar **h_t, FovVar **c_t, FovTape *tape, FovVar *gates, FovVar *c_prev) {
  int rows = gates->rows, cols = gates->cols / 4;
  FOV_CHECK(gates->cols == 4 * cols, "gates [%d, %d]", rows, gates->cols);
  FOV_CHECK(!c_prev || (c_prev->rows == rows && c_prev->cols == cols),
            "gates [%d, %d] against c_prev [%d, %d]", rows, gates->cols, c_prev->rows,
            c_prev->cols);
  bool learned = gates->learned || (c_prev && c_prev->learned);
  *h_t = fov_result(tape, rows, cols, learned);
  *c_t = fov_result(tape, rows, cols, learned);
  Lstm *op = FOV_NEW(tape->arena, Lstm, 1);
  *op = (Lstm){.gates = gates, .c_prev = c_prev, .h_t = *h_t, .c_t = *c_t};
  op->act = FOV_NEW(tape->arena, real, (size_t)rows * gates->cols);
  lstm_forward((*h_t)->value, (*c_t)->value, op->act, gates->value, c_prev ? c_prev->value : NULL,
               rows, cols);
  fov_note(tape, *h_t, *c_t, lstm_backward, op);
}

typedef struct Gru {
  FovVar *x, *h, *h_prev, *h_t;
  real *act; /**< [B, 3D]: σ(r) σ(z) tanh(n) */
} Gru;

FOV_KERNEL static void gru_forward(real *h_t, real *act, const real *x, const real *h,
                                   const real *h_prev, int rows, int cols) {
  for (int b = 0; b < rows; b++, h_t += cols, act += 3 * cols, x += 3 * cols, h += 3 * cols) {
    real *r = act, *z = act + cols, *n = act + 2 * cols;
    for (int j = 0; j < 2 * cols; j++) act[j] = fov_sigmoid(x[j] + h[j]);
    for (int j = 0; j < cols; j++) n[j] = fov_tanh(x[2 * cols + j] + r[j] * h[2 * cols + j]);
    for (int j = 0; j < cols; j++) h_t[j] = (1 - z[j]) * n[j] + (h_prev ? z[j] * h_prev[j] : 0);
    if (h_prev) h_prev += cols;
  }
}

/** dx, dh, dh_prev: added to; NULL where nothing is learned. */
FOV_KERNEL static void gru_backward_rows(real *dx, real *dh, real *dh_prev, const real *dh_t,
                                         const real *act, const real *h, const real *h_prev,
                                         int rows, int cols) {
  for (int b = 0; b < rows; b++) {
    const real *r = act, *z = act + cols, *n = act + 2 * cols;
    for (int j = 0; j < cols; j++) {
      real dn = dh_t[j] * (1 - z[j]) * (1 - n[j] * n[j]);
      real dz = dh_t[j] * ((h_prev ? h_prev[j] : 0) - n[j]) * z[j] * (1 - z[j]);
      real dr = dn * h[2 * cols + j] * r[j] * (1 - r[j]);
      if (dx) dx[j] += dr, dx[cols + j] += dz, dx[2 * cols + j] += dn;
      if (dh) dh[j] += dr, dh[cols + j] += dz, dh[2 * cols + j] += dn * r[j];
      if (dh_prev) dh_prev[j] += dh_t[j] * z[j];
    }
    dh_t += cols, act += 3 * cols, h += 3 * cols;
    if (dx) dx += 3 * cols;
    if (dh) dh += 3 * cols;
    if (dh_prev) dh_prev += cols;
    if (h_prev) h_prev += cols;
  }
}

static void gru_backward(FovTape *tape, void *saved) {
  Gru *op = saved;
  bool back = op->h_prev && op->h_prev->learned;
  gru_backward_rows(op->x->learned ? fov_grad(tape, op->x) : NULL,
                    op->h->learned ? fov_grad(tape, op->h) : NULL,
                    back ? fov_grad(tape, op->h_prev) : NULL, op->h_t->grad, op->act, op->h->value,
                    op->h_prev ? op->h_prev->value : NULL, op->h_t->rows, op->h_t->cols);
}

FovVar *fov_gru_cell(FovTape *tape, FovVar *x, FovVar *h, FovVar *h_prev) {
  int rows = x->rows, cols = x->cols / 3;
  FOV_CHECK(x->cols == 3 * cols && h->rows == rows && h->cols == x->cols,
            "x [%d, %d] against h [%d, %d]", rows, x->cols, h->rows, h->cols);
  FOV_CHECK(!h_prev || (h_prev->rows == rows && h_prev->cols == cols),
            "x [%d, %d] against h_prev [%d, %d]", rows, x->cols, h_prev->rows, h_prev->cols);
  FovVar *h_t =
      fov_result(tape, rows, cols, x->learned || h->learned || (h_prev && h_prev->learned));
  Gru *op = FOV_NEW(tape->arena, Gru, 1);
  *op = (Gru){.x = x, .h = h, .h_prev = h_prev, .h_t = h_t};
  op->act = FOV_NEW(tape->arena, real, (size_t)rows * x->cols);
  gru_forward(h_t->value, op->act, x->value, h->value, h_prev ? h_prev->value : NULL, rows, cols);
  fov_note(tape, h_t, NULL, gru_backward, op);
  return h_t;
}
