#include "tensor/tape.h"

#include <string.h>

struct FovNode {
  FovNode *previous;
  FovVar *y, *y2;
  FovBackward *backward;
  void *saved;
};

static size_t bytes_of(const FovVar *x) {
  return (size_t)x->rows * x->cols * sizeof(real);
}

void fov_tape_begin(FovTape *tape, FovArena *arena, const FovParams *params, const real *values,
                    real *gradient) {
  tape->arena = arena;
  tape->last = NULL;
  tape->recording = gradient;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    tape->params[i] = (FovVar){
        .rows = param->rows,
        .cols = param->cols,
        .learned = gradient,
        // Never written through: results have values of their own.
        .value = (real *)values + param->offset,
        .grad = gradient ? gradient + param->offset : NULL,
    };
  }
}

void fov_tape_backward(FovTape *tape) {
  for (FovNode *node = tape->last; node; node = node->previous)
    if (node->y->grad || (node->y2 && node->y2->grad)) node->backward(tape, node->saved);
}

FovVar *fov_result(FovTape *tape, int rows, int cols, bool learned) {
  FOV_CHECK(rows > 0 && cols > 0, "[%d, %d]", rows, cols);
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = (FovVar){.rows = rows, .cols = cols, .learned = learned && tape->recording};
  y->value = fov_arena_alloc(tape->arena, bytes_of(y));
  return y;
}

FovVar *fov_constant(FovTape *tape, int rows, int cols) {
  return fov_result(tape, rows, cols, false);
}

FovVar *fov_zeros(FovTape *tape, int rows, int cols) {
  FovVar *y = fov_constant(tape, rows, cols);
  memset(y->value, 0, bytes_of(y));
  return y;
}

FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x) {
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = (FovVar){.rows = x->rows, .cols = x->cols, .learned = false, .value = x->value};
  return y;
}

void fov_seed(FovTape *tape, FovVar *y, const real *seed) {
  FOV_CHECK(y->cols == 1, "a seed is for a column, not [%d, %d]", y->rows, y->cols);
  real *grad = fov_grad(tape, y);
  for (int b = 0; b < y->rows; b++) grad[b] += seed[b];
}

void fov_note(FovTape *tape, FovVar *y, FovVar *y2, FovBackward *backward, void *saved) {
  if (!y->learned) return;
  FovNode *node = FOV_NEW(tape->arena, FovNode, 1);
  *node = (FovNode){.previous = tape->last, .y = y, .y2 = y2, .backward = backward, .saved = saved};
  tape->last = node;
}

real *fov_grad_product(FovTape *tape, FovVar *x, real *beta) {
  *beta = x->grad ? 1 : 0;
  if (!x->grad) x->grad = fov_arena_alloc(tape->arena, bytes_of(x));
  return x->grad;
}

real *fov_grad(FovTape *tape, FovVar *x) {
  real beta, *grad = fov_grad_product(tape, x, &beta);
  if (beta == 0) memset(grad, 0, bytes_of(x));
  return grad;
}
