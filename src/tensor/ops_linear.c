#include "base/gemm.h"
#include "tensor/ops.h"

typedef struct Linear {
  FovVar *x, *w, *h, *u, *bias, *y;
  FovActivation activation;
} Linear;

/** y = act(y + bias), in one pass. */
FOV_KERNEL static void activate(real *y, const real *bias, FovActivation activation, int rows,
                                int cols) {
  for (int b = 0; b < rows; b++, y += cols) {
    if (bias)
      for (int j = 0; j < cols; j++) y[j] += bias[j];
    if (activation == FOV_RELU)
      for (int j = 0; j < cols; j++) y[j] = y[j] > 0 ? y[j] : 0;
    if (activation == FOV_TANH)
      for (int j = 0; j < cols; j++) y[j] = fov_tanh(y[j]);
  }
}

/** dy *= act'(y) and dbias += the column sums of dy, in one pass; dbias may be NULL. */
FOV_KERNEL static void deactivate(real *dy, real *dbias, const real *y, FovActivation activation,
                                  int rows, int cols) {
  for (int b = 0; b < rows; b++, dy += cols, y += cols) {
    if (activation == FOV_RELU)
      for (int j = 0; j < cols; j++) dy[j] = y[j] > 0 ? dy[j] : 0;
    if (activation == FOV_TANH)
      for (int j = 0; j < cols; j++) dy[j] *= 1 - y[j] * y[j];
    if (dbias)
      for (int j = 0; j < cols; j++) dbias[j] += dy[j];
  }
}

/** The gradients of y = x wᵀ. */
static void product_backward(FovTape *tape, FovVar *x, FovVar *w, const FovVar *y) {
  real beta;
  if (w->learned) {
    real *dw = fov_grad_product(tape, w, &beta);
    fov_gemm(dw, y->grad, x->value, true, false, w->rows, w->cols, x->rows, beta);
  }
  if (x->learned) {
    real *dx = fov_grad_product(tape, x, &beta);
    fov_gemm(dx, y->grad, w->value, false, false, x->rows, x->cols, w->rows, beta);
  }
}

static void linear_backward(FovTape *tape, void *saved) {
  Linear *op = saved;
  FovVar *y = op->y;
  // Every use of y has been gone back through, so its gradient can become that of the sum inside.
  deactivate(y->grad, op->bias && op->bias->learned ? fov_grad(tape, op->bias) : NULL, y->value,
             op->activation, y->rows, y->cols);
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
  bool learned = x->learned || w->learned || (bias && bias->learned);
  if (h) {
    check_product(h, u);
    FOV_CHECK(h->rows == x->rows && u->rows == w->rows, "x [%d, %d] wᵀ + h [%d, %d] uᵀ", x->rows,
              x->cols, h->rows, h->cols);
    learned = learned || h->learned || u->learned;
  }
  FovVar *y = fov_result(tape, x->rows, w->rows, learned);
  fov_gemm(y->value, x->value, w->value, false, true, y->rows, y->cols, x->cols, 0);
  if (h) fov_gemm(y->value, h->value, u->value, false, true, y->rows, y->cols, h->cols, 1);
  activate(y->value, bias ? bias->value : NULL, activation, y->rows, y->cols);

  Linear *op = FOV_NEW(tape->arena, Linear, 1);
  *op = (Linear){.x = x, .w = w, .h = h, .u = u, .bias = bias, .y = y, .activation = activation};
  fov_note(tape, y, NULL, linear_backward, op);
  return y;
}

FovVar *fov_linear(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, FovActivation activation) {
  return fov_linear2(tape, x, w, NULL, NULL, bias, activation);
}

typedef struct Add {
  FovVar *a, *b, *y;
} Add;

static void add_to(real *restrict sum, const real *restrict x, size_t count) {
  for (size_t i = 0; i < count; i++) sum[i] += x[i];
}

static void add_backward(FovTape *tape, void *saved) {
  Add *op = saved;
  size_t count = (size_t)op->y->rows * op->y->cols;
  if (op->a->learned) add_to(fov_grad(tape, op->a), op->y->grad, count);
  if (op->b->learned) add_to(fov_grad(tape, op->b), op->y->grad, count);
}

FovVar *fov_add(FovTape *tape, FovVar *a, FovVar *b) {
  FOV_CHECK(a->rows == b->rows && a->cols == b->cols, "[%d, %d] + [%d, %d]", a->rows, a->cols,
            b->rows, b->cols);
  FovVar *y = fov_result(tape, a->rows, a->cols, a->learned || b->learned);
  for (size_t i = 0, count = (size_t)y->rows * y->cols; i < count; i++)
    y->value[i] = a->value[i] + b->value[i];
  Add *op = FOV_NEW(tape->arena, Add, 1);
  *op = (Add){.a = a, .b = b, .y = y};
  fov_note(tape, y, NULL, add_backward, op);
  return y;
}
