#include "tensor/activation.h"

typedef struct Linear {
  FovVar *x, *w, *h, *u, *bias, *y;
  FovActivation activation;
} Linear;

/** y = act(y + bias), in one pass. */
FOV_KERNEL static void activate(FovMatrix y, const real *bias, FovActivation activation) {
  for (int b = 0; b < y.rows; b++)
    fov_activate(y.at + (size_t)b * y.stride, bias, activation, y.cols);
}

/** dy *= act'(y) and dbias += the column sums of dy, in one pass; dbias may be NULL. */
FOV_KERNEL static void deactivate(FovMatrix dy, real *dbias, FovMatrix y,
                                  FovActivation activation) {
  for (int b = 0; b < y.rows; b++)
    fov_deactivate(dy.at + (size_t)b * dy.stride, dbias, y.at + (size_t)b * y.stride, activation,
                   y.cols);
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
  // Every use of y has been gone back through, so its gradient can become that of the sum inside.
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
  fov_gemm(fov_values(y), fov_values(x), false, fov_values(w), true, 0);
  if (h) fov_gemm(fov_values(y), fov_values(h), false, fov_values(u), true, 1);
  activate(fov_values(y), bias ? bias->value : NULL, activation);

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

/** Adds dy to dx. */
FOV_KERNEL static void add_rows(FovMatrix dx, FovMatrix dy) {
  for (int b = 0; b < dx.rows; b++)
    for (int j = 0; j < dx.cols; j++)
      dx.at[(size_t)b * dx.stride + j] += dy.at[(size_t)b * dy.stride + j];
}

static void add_to(FovTape *tape, FovVar *x, const FovVar *y) {
  if (!x->wants_grad) return;
  fov_grad(tape, x);
  add_rows(fov_grads(x), fov_grads(y));
}

static void add_backward(FovTape *tape, void *saved) {
  Add *op = saved;
  add_to(tape, op->a, op->y);
  add_to(tape, op->b, op->y);
}

FovVar *fov_add(FovTape *tape, FovVar *a, FovVar *b) {
  FOV_CHECK(a->rows == b->rows && a->cols == b->cols, "[%d, %d] + [%d, %d]", a->rows, a->cols,
            b->rows, b->cols);
  FovVar *y = fov_result_of(tape, a, 0, a->rows, a->cols, a->wants_grad || b->wants_grad);
  for (int i = 0; i < y->rows; i++)
    for (int j = 0; j < y->cols; j++)
      y->value[(size_t)i * y->stride + j] =
          a->value[(size_t)i * a->stride + j] + b->value[(size_t)i * b->stride + j];
  Add *op = FOV_NEW(tape->arena, Add, 1);
  *op = (Add){.a = a, .b = b, .y = y};
  fov_note(tape, y, NULL, add_backward, op);
  return y;
}

typedef struct Gather {
  FovVar *x, *y;
  const int *rows;
} Gather;

static void gather_backward(FovTape *tape, void *saved) {
  Gather *op = saved;
  fov_grad(tape, op->x);
  FovMatrix dx = fov_grads(op->x), dy = fov_grads(op->y);
  for (int i = 0; i < dy.rows; i++) {
    real *to = dx.at + (size_t)op->rows[i] * dx.stride;
    for (int j = 0; j < dy.cols; j++) to[j] += dy.at[(size_t)i * dy.stride + j];
  }
}

FovVar *fov_gather(FovTape *tape, FovVar *x, const int *rows, int count) {
  FovVar *y = fov_result(tape, count, x->cols, x->wants_grad);
  int *kept = FOV_NEW(tape->arena, int, count);
  for (int i = 0; i < count; i++) {
    FOV_CHECK(rows[i] >= 0 && rows[i] < x->rows, "row %d of %d", rows[i], x->rows);
    kept[i] = rows[i];
    memcpy(y->value + (size_t)i * y->stride, x->value + (size_t)rows[i] * x->stride,
           (size_t)x->cols * sizeof(real));
  }
  Gather *op = FOV_NEW(tape->arena, Gather, 1);
  *op = (Gather){.x = x, .y = y, .rows = kept};
  fov_note(tape, y, NULL, gather_backward, op);
  return y;
}
