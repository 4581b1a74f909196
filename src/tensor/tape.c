#include "tensor/tape.h"

#include <string.h>

#include "tensor/rows.h"
#include "tensor/tape_join.h"

struct FovNode {
  FovNode *previous;
  FovVar *y, *y2;
  FovBackward *backward;
  void *saved;
};

void fov_tape_begin(FovTape *tape, FovArena *arena, const FovParams *params, const real *values,
                    real *gradient) {
  *tape = (FovTape){.arena = arena, .steps = 1, .count = params->count};
  tape->joins = fov_joins_create(arena, params->count);
  tape->params = FOV_NEW(arena, FovVar, params->count);
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    tape->params[i] = (FovVar){
        .rows = param->rows,
        .cols = param->cols,
        .stride = param->cols,
        .param = i,
        .wants_grad = gradient,
        .has_grad = gradient,
        // Never written through: results have values of their own.
        .value = (real *)values + param->offset,
        .grad = gradient ? gradient + param->offset : NULL,
    };
  }
}

void fov_tape_add_transposed(FovTape *tape, const FovParams *params, const real *transposed) {
  for (int i = 0; i < tape->count; i++)
    tape->params[i].transposed = (real *)transposed + params->list[i].offset;
}

void fov_multiply_weight(FovMatrix y, FovMatrix x, const FovVar *w, real beta) {
  FovMatrix transposed = {.at = w->transposed, .rows = w->cols, .cols = w->rows, .stride = w->rows};
  if (w->transposed)
    fov_gemm(y, x, false, transposed, false, beta);
  else
    fov_gemm(y, x, false, fov_values(w), true, beta);
}

void fov_tape_backward(FovTape *tape) {
  FOV_CHECK(!tape->spent, "a second backward pass needs fov_tape_clear_grads");
  tape->spent = true;
  for (FovNode *node = tape->last; node; node = node->previous)
    if (node->y->has_grad || (node->y2 && node->y2->has_grad)) node->backward(tape, node->saved);
  fov_joins_flush(tape);
}

void fov_tape_clear_grads(FovTape *tape) {
  for (FovNode *node = tape->last; node; node = node->previous) {
    node->y->has_grad = false;
    if (node->y2) node->y2->has_grad = false;
  }
  for (FovVar *w = tape->params; w < tape->params + tape->count; w++)
    if (w->wants_grad) memset(w->grad, 0, fov_size(w) * sizeof(real));
  tape->spent = false;
}

FovVar *fov_make_var(FovTape *tape, int rows, int cols, bool wants_grad) {
  FOV_CHECK(rows > 0 && cols > 0, "[%d, %d]", rows, cols);
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = (FovVar){.rows = rows,
                .cols = cols,
                .stride = fov_gemm_stride(cols),
                .wants_grad = wants_grad,
                .param = -1};
  return y;
}

FovVar *fov_result(FovTape *tape, int rows, int cols, bool wants_grad) {
  FovVar *y = fov_make_var(tape, rows, cols, wants_grad);
  y->value = FOV_NEW(tape->arena, real, fov_size(y));
  return y;
}

FovMatrix fov_values(const FovVar *x) {
  return (FovMatrix){.at = x->value, .rows = x->rows, .cols = x->cols, .stride = x->stride};
}

FovMatrix fov_grads(const FovVar *x) {
  return (FovMatrix){.at = x->grad, .rows = x->rows, .cols = x->cols, .stride = x->stride};
}

FovMatrix fov_scratch(FovTape *tape, int rows, int cols) {
  int stride = fov_gemm_stride(cols);
  real *at = FOV_NEW(tape->arena, real, (size_t)rows * stride);
  return (FovMatrix){.at = at, .rows = rows, .cols = cols, .stride = stride};
}

FovVar *fov_constant(FovTape *tape, int rows, int cols) {
  return fov_result(tape, rows, cols, false);
}

static void nothing_behind(FovTape *tape, void *saved) {
  (void)tape, (void)saved;
}

FovVar *fov_input(FovTape *tape, int rows, int cols) {
  FovVar *x = fov_result(tape, rows, cols, true);
  // A node of its own, so that fov_tape_clear_grads finds it.
  fov_note(tape, x, NULL, nothing_behind, NULL);
  return x;
}

FovVar *fov_zeros(FovTape *tape, int rows, int cols) {
  FovVar *y = fov_constant(tape, rows, cols);
  memset(y->value, 0, fov_size(y) * sizeof(real));
  return y;
}

FovVar *fov_rows(FovTape *tape, const FovVar *x, int first, int rows) {
  FOV_CHECK(!x->wants_grad && first >= 0 && rows > 0 && rows <= x->rows - first,
            "rows %d to %d of a constant [%d, %d]", first, first + rows - 1, x->rows, x->cols);
  FovVar *y = fov_make_var(tape, rows, x->cols, false);
  y->value = x->value + (size_t)first * x->stride;
  return y;
}

FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x) {
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = *x;
  y->wants_grad = y->has_grad = false;
  y->grad = NULL;
  // In the series its gradient would have the same memory as x's.
  y->series = NULL;
  y->param = -1;
  return y;
}

FOV_KERNEL static void add_dense(FovMatrix y, const real *x) {
  for (int b = 0; b < y.rows; b++)
    for (int j = 0; j < y.cols; j++) y.at[(size_t)b * y.stride + j] += x[(size_t)b * y.cols + j];
}

void fov_tape_add_grad(FovTape *tape, FovVar *y, const real *grad) {
  FOV_CHECK(!tape->spent, "a gradient after the backward pass needs fov_tape_clear_grads");
  if (!y->wants_grad) return;
  fov_grad(tape, y);
  add_dense(fov_grads(y), grad);
}

void fov_note(FovTape *tape, FovVar *y, FovVar *y2, FovBackward *backward, void *saved) {
  if (!y->wants_grad) return;
  FovNode *node = FOV_NEW(tape->arena, FovNode, 1);
  *node = (FovNode){.previous = tape->last, .y = y, .y2 = y2, .backward = backward, .saved = saved};
  tape->last = node;
}

real *fov_grad_product(FovTape *tape, FovVar *x, real *beta) {
  *beta = x->has_grad ? 1 : 0;
  if (!x->grad) x->grad = fov_grad_memory(tape, x);
  x->has_grad = true;
  return x->grad;
}

real *fov_grad(FovTape *tape, FovVar *x) {
  real beta, *grad = fov_grad_product(tape, x, &beta);
  if (beta == 0) memset(grad, 0, fov_size(x) * sizeof(real));
  return grad;
}

typedef struct Share {
  FovVar *x, *y;
  real share;
} Share;

/** dx += share · dy */
FOV_KERNEL static void add_share(FovMatrix dx, FovMatrix dy, real share) {
  for (int b = 0; b < dx.rows; b++)
    fov_row_add_scaled(dx.at + (size_t)b * dx.stride, dy.at + (size_t)b * dy.stride, share,
                       dx.cols);
}

static void share_backward(FovTape *tape, void *saved) {
  Share *op = saved;
  fov_grad(tape, op->x);
  add_share(fov_grads(op->x), fov_grads(op->y), op->share);
}

/** x as another var, of which a share of the gradient flows back. */
static FovVar *share_of(FovTape *tape, FovVar *x, real share) {
  FovVar *y = fov_stop_gradient(tape, x);
  y->wants_grad = true;
  Share *op = FOV_NEW(tape->arena, Share, 1);
  *op = (Share){.x = x, .y = y, .share = share};
  fov_note(tape, y, NULL, x->wants_grad ? share_backward : nothing_behind, op);
  return y;
}

FovVar *fov_share_gradient(FovTape *tape, FovVar *x, real share) {
  FOV_CHECK(share >= 0 && share <= 1, "a share of %g", (double)share);
  if (share == 1 || !x->wants_grad) return x;
  return share == 0 ? fov_stop_gradient(tape, x) : share_of(tape, x, share);
}

FovVar *fov_watch(FovTape *tape, FovVar *x, unsigned kind, FovVar *from, const void *about) {
  if (!(tape->watching & kind)) return x;
  FovWatched *watched = FOV_NEW(tape->arena, FovWatched, 1);
  *watched = (FovWatched){
      .var = share_of(tape, x, 1), .from = from, .about = about, .previous = tape->watched};
  tape->watched = watched;
  return watched->var;
}
