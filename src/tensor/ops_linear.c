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
