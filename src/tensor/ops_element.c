/** Operations on each number by itself. */
#include "tensor/activation.h"
#include "tensor/ops.h"
#include "tensor/rows.h"

typedef struct Binary {
  FovVar *a, *b, *y;
} Binary;

/** Notes a + b or a ∘ b. */
static void note_binary(FovTape *tape, FovVar *a, FovVar *b, FovVar *y, FovBackward *backward) {
  Binary *op = FOV_NEW(tape->arena, Binary, 1);
  *op = (Binary){.a = a, .b = b, .y = y};
  fov_note(tape, y, NULL, backward, op);
}

static void check_same_shape(const FovVar *a, const FovVar *b, const char *sign) {
  FOV_CHECK(a->rows == b->rows && a->cols == b->cols, "[%d, %d] %s [%d, %d]", a->rows, a->cols,
            sign, b->rows, b->cols);
}

/** y = a + b */
FOV_KERNEL static void add_forward(FovMatrix y, FovMatrix a, FovMatrix b) {
  for (int i = 0; i < y.rows; i++) {
    real *restrict to = y.at + (size_t)i * y.stride;
    const real *left = a.at + (size_t)i * a.stride, *right = b.at + (size_t)i * b.stride;
    for (int j = 0; j < y.cols; j++) to[j] = left[j] + right[j];
  }
}

/** dx += dy */
FOV_KERNEL static void add_to(FovMatrix dx, FovMatrix dy) {
  for (int i = 0; i < dx.rows; i++)
    fov_row_add(dx.at + (size_t)i * dx.stride, dy.at + (size_t)i * dy.stride, dx.cols);
}

static void add_backward(FovTape *tape, void *saved) {
  Binary *op = saved;
  FovVar *operands[] = {op->a, op->b};
  for (int i = 0; i < 2; i++) {
    if (!operands[i]->wants_grad) continue;
    fov_grad(tape, operands[i]);
    add_to(fov_grads(operands[i]), fov_grads(op->y));
  }
}

FovVar *fov_add(FovTape *tape, FovVar *a, FovVar *b) {
  check_same_shape(a, b, "+");
  FovVar *y = fov_result_of(tape, a, 0, a->rows, a->cols, a->wants_grad || b->wants_grad);
  add_forward(fov_values(y), fov_values(a), fov_values(b));
  note_binary(tape, a, b, y, add_backward);
  return y;
}

/** y = a ∘ b */
FOV_KERNEL static void multiply_forward(FovMatrix y, FovMatrix a, FovMatrix b) {
  for (int i = 0; i < y.rows; i++) {
    real *restrict to = y.at + (size_t)i * y.stride;
    const real *left = a.at + (size_t)i * a.stride, *right = b.at + (size_t)i * b.stride;
    for (int j = 0; j < y.cols; j++) to[j] = left[j] * right[j];
  }
}

/** da += dy ∘ b */
FOV_KERNEL static void multiply_to(FovMatrix da, FovMatrix dy, FovMatrix b) {
  for (int i = 0; i < da.rows; i++)
    fov_row_add_product(da.at + (size_t)i * da.stride, dy.at + (size_t)i * dy.stride,
                        b.at + (size_t)i * b.stride, da.cols);
}

static void multiply_backward(FovTape *tape, void *saved) {
  Binary *op = saved;
  FovVar *operands[] = {op->a, op->b};
  for (int i = 0; i < 2; i++) {
    if (!operands[i]->wants_grad) continue;
    fov_grad(tape, operands[i]);
    multiply_to(fov_grads(operands[i]), fov_grads(op->y), fov_values(operands[1 - i]));
  }
}

FovVar *fov_multiply(FovTape *tape, FovVar *a, FovVar *b) {
  check_same_shape(a, b, "∘");
  FovVar *y = fov_result_of(tape, a, 0, a->rows, a->cols, a->wants_grad || b->wants_grad);
  multiply_forward(fov_values(y), fov_values(a), fov_values(b));
  note_binary(tape, a, b, y, multiply_backward);
  return y;
}

FovVar *fov_scale(FovTape *tape, FovVar *x, real factor) {
  FovVar *factors = fov_constant(tape, x->rows, x->cols);
  for (int b = 0; b < x->rows; b++)
    for (int j = 0; j < x->cols; j++) fov_value_row(factors, b)[j] = factor;
  return fov_multiply(tape, x, factors);
}

typedef struct Activate {
  FovVar *x, *y;
  FovActivation activation;
} Activate;

/** y = act(x) */
FOV_KERNEL static void activate_forward(FovMatrix y, FovMatrix x, FovActivation activation) {
  for (int i = 0; i < y.rows; i++) {
    real *to = y.at + (size_t)i * y.stride;
    memcpy(to, x.at + (size_t)i * x.stride, (size_t)y.cols * sizeof *to);
    fov_activate_row(to, NULL, activation, y.cols);
  }
}

/** dy *= act'(y), then dx += dy */
FOV_KERNEL static void activate_to(FovMatrix dx, FovMatrix dy, FovMatrix y,
                                   FovActivation activation) {
  for (int i = 0; i < dx.rows; i++) {
    real *from = dy.at + (size_t)i * dy.stride;
    fov_deactivate_row(from, NULL, y.at + (size_t)i * y.stride, activation, dx.cols);
    fov_row_add(dx.at + (size_t)i * dx.stride, from, dx.cols);
  }
}

static void activate_backward(FovTape *tape, void *saved) {
  Activate *op = saved;
  fov_grad(tape, op->x);
  // The backward pass of every use of y has run, so its gradient may be overwritten.
  activate_to(fov_grads(op->x), fov_grads(op->y), fov_values(op->y), op->activation);
}

FovVar *fov_activate(FovTape *tape, FovVar *x, FovActivation activation) {
  FovVar *y = fov_result_of(tape, x, 0, x->rows, x->cols, x->wants_grad);
  activate_forward(fov_values(y), fov_values(x), activation);
  Activate *op = FOV_NEW(tape->arena, Activate, 1);
  *op = (Activate){.x = x, .y = y, .activation = activation};
  fov_note(tape, y, NULL, activate_backward, op);
  return y;
}
