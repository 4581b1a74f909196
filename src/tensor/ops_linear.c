#include "tensor/activation.h"
#include "tensor/ops.h"

typedef struct Linear {
  FovVar *x, *w, *h, *u, *bias, *y;
  FovActivation activation;
} Linear;

/** y = act(y + bias), in one pass. */
FOV_KERNEL static void activate(FovMatrix y, const real *bias, FovActivation activation) {
  for (int b = 0; b < y.rows; b++)
    fov_activate_row(y.at + (size_t)b * y.stride, bias, activation, y.cols);
}

/** dy *= act'(y) and dbias += the column sums of dy, in one pass; dbias may be NULL. */
FOV_KERNEL static void deactivate(FovMatrix dy, real *dbias, FovMatrix y,
                                  FovActivation activation) {
  for (int b = 0; b < y.rows; b++)
    fov_deactivate_row(dy.at + (size_t)b * dy.stride, dbias, y.at + (size_t)b * y.stride,
                       activation, y.cols);
}

/** The gradients of y = x wᵀ. */
static void product_backward(FovTape *tape, FovVar *x, FovVar *w, const FovVar *y) {
  if (w->wants_grad) fov_grad_weight(tape, w, y, x);
  if (!x->wants_grad) return;
  real beta;
  fov_grad_product(tape, x, &beta);
  fov_gemm(fov_grads(x), fov_grads(y), false, fov_values(w), false, beta);
}

static void linear_backward(FovTape *tape, void *saved) {
  Linear *op = saved;
  FovVar *y = op->y;
  // The backward pass of every use of y has run, so its gradient can become that of the sum inside.
  deactivate(fov_grads(y), op->bias && op->bias->wants_grad ? fov_grad(tape, op->bias) : NULL,
             fov_values(y), op->activation);
  if (op->h) product_backward(tape, op->h, op->u, y);
  product_backward(tape, op->x, op->w, y);
}

static void check_product(const FovVar *x, const FovVar *w) {
  FOV_CHECK(x->cols == w->cols, "x [%d, %d] against w [%d, %d]", x->rows, x->cols, w->rows,
            w->cols);
}

FovVar *fov_linear2(FovTape *tape, FovVar *x, FovVar *w, FovVar *h, FovVar *u, FovVar *bias,
                    FovActivation activation) {
  check_product(x, w);
  FOV_CHECK(!bias || (bias->rows == 1 && bias->cols == w->rows), "bias [%d, %d] for %d outputs",
            bias->rows, bias->cols, w->rows);
  bool wants_grad = x->wants_grad || w->wants_grad || (bias && bias->wants_grad);
  if (h) {
    check_product(h, u);
    FOV_CHECK(h->rows == x->rows && u->rows == w->rows, "x [%d, %d] wᵀ + h [%d, %d] uᵀ", x->rows,
              x->cols, h->rows, h->cols);
    wants_grad = wants_grad || h->wants_grad || u->wants_grad;
  }
  FovVar *y = fov_result_of(tape, w, 0, x->rows, w->rows, wants_grad);
  fov_multiply_weight(fov_values(y), fov_values(x), w, 0);
  if (h) fov_multiply_weight(fov_values(y), fov_values(h), u, 1);
  activate(fov_values(y), bias ? bias->value : NULL, activation);

  Linear *op = FOV_NEW(tape->arena, Linear, 1);
  *op = (Linear){.x = x, .w = w, .h = h, .u = u, .bias = bias, .y = y, .activation = activation};
  fov_note(tape, y, NULL, linear_backward, op);
  return y;
}

FovVar *fov_linear(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, FovActivation activation) {
  return fov_linear2(tape, x, w, NULL, NULL, bias, activation);
}

typedef struct LinearHeads {
  FovVar *x, *w, *bias, *y;
  int heads;
  FovActivation activation;
} LinearHeads;

/** The columns of head h. */
static FovMatrix columns_of(FovMatrix x, int h, int heads) {
  x.cols /= heads;
  x.at += (size_t)h * x.cols;
  return x;
}

/** The rows of head h. */
static FovMatrix rows_of(FovMatrix w, int h, int heads) {
  w.rows /= heads;
  w.at += (size_t)h * w.rows * w.stride;
  return w;
}

static void linear_heads_backward(FovTape *tape, void *saved) {
  LinearHeads *op = saved;
  FovVar *x = op->x, *w = op->w;
  FovMatrix dy = fov_grads(op->y);
  real beta = 1;
  deactivate(dy, op->bias && op->bias->wants_grad ? fov_grad(tape, op->bias) : NULL,
             fov_values(op->y), op->activation);
  if (w->wants_grad) fov_grad(tape, w);
  if (x->wants_grad) fov_grad_product(tape, x, &beta);
  for (int h = 0; h < op->heads; h++) {
    FovMatrix dy_h = columns_of(dy, h, op->heads);
    if (w->wants_grad)
      fov_gemm(rows_of(fov_grads(w), h, op->heads), dy_h, true,
               columns_of(fov_values(x), h, op->heads), false, 1);
    if (x->wants_grad)
      fov_gemm(columns_of(fov_grads(x), h, op->heads), dy_h, false,
               rows_of(fov_values(w), h, op->heads), false, beta);
  }
}

FovVar *fov_linear_heads(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, int heads,
                         FovActivation activation) {
  FOV_CHECK(heads > 0 && x->cols == heads * w->cols && w->rows % heads == 0,
            "%d heads of x [%d, %d] against w [%d, %d]", heads, x->rows, x->cols, w->rows, w->cols);
  FOV_CHECK(!bias || (bias->rows == 1 && bias->cols == w->rows), "bias [%d, %d] for %d outputs",
            bias->rows, bias->cols, w->rows);
  FovVar *y = fov_result_of(tape, w, 0, x->rows, w->rows,
                            x->wants_grad || w->wants_grad || (bias && bias->wants_grad));
  for (int h = 0; h < heads; h++)
    fov_gemm(columns_of(fov_values(y), h, heads), columns_of(fov_values(x), h, heads), false,
             rows_of(fov_values(w), h, heads), true, 0);
  activate(fov_values(y), bias ? bias->value : NULL, activation);

  LinearHeads *op = FOV_NEW(tape->arena, LinearHeads, 1);
  *op =
      (LinearHeads){.x = x, .w = w, .bias = bias, .y = y, .heads = heads, .activation = activation};
  fov_note(tape, y, NULL, linear_heads_backward, op);
  return y;
}
