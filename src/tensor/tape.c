#include "tensor/tape.h"

#include <string.h>

struct FovNode {
  FovNode *previous;
  FovVar *y, *y2;
  FovBackward *backward;
  void *saved;
};

/** Results of one kind, step after step. */
struct FovSeries {
  real *value, *grad;    /**< grad: NULL until the first is asked for */
  size_t used, size;     /**< numbers */
  FovSeries *results[2]; /**< of operations on these */
};

static size_t size_of(const FovVar *x) {
  return (size_t)x->rows * x->stride;
}

void fov_tape_begin(FovTape *tape, FovArena *arena, const FovParams *params, const real *values,
                    real *gradient) {
  tape->arena = arena;
  tape->last = NULL;
  tape->recording = gradient;
  tape->steps = 1;
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    tape->params[i] = (FovVar){
        .rows = param->rows,
        .cols = param->cols,
        .stride = param->cols,
        .param = i,
        .learned = gradient,
        // Never written through: results have values of their own.
        .value = (real *)values + param->offset,
        .grad = gradient ? gradient + param->offset : NULL,
    };
  }
  memset(tape->results, 0, sizeof tape->results);
  memset(tape->pending, 0, sizeof tape->pending);
}

static void multiply_pending(FovTape *tape, int param) {
  FovPending *pending = &tape->pending[param];
  FovVar *w = &tape->params[param];
  if (pending->dy.rows == 0) return;
  fov_gemm(fov_grads(w), pending->dy, true, pending->x, false, 1);
  *pending = (FovPending){0};
}

void fov_tape_backward(FovTape *tape) {
  for (FovNode *node = tape->last; node; node = node->previous)
    if (node->y->grad || (node->y2 && node->y2->grad)) node->backward(tape, node->saved);
  for (int i = 0; i < FOV_MAX_PARAMS; i++) multiply_pending(tape, i);
}

static FovVar *make_var(FovTape *tape, int rows, int cols, bool learned) {
  FOV_CHECK(rows > 0 && cols > 0, "[%d, %d]", rows, cols);
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = (FovVar){.rows = rows,
                .cols = cols,
                .stride = fov_gemm_stride(cols),
                .learned = learned && tape->recording,
                .param = -1};
  return y;
}

FovVar *fov_result(FovTape *tape, int rows, int cols, bool learned) {
  FovVar *y = make_var(tape, rows, cols, learned);
  y->value = FOV_NEW(tape->arena, real, size_of(y));
  return y;
}

/** A series with room for one more of `size` numbers; a full one is left to those that are in it.
 */
static FovSeries *make_room(FovTape *tape, FovSeries *series, size_t size) {
  if (series && series->size - series->used >= size) return series;
  series = FOV_NEW(tape->arena, FovSeries, 1);
  *series = (FovSeries){.size = size * (size_t)tape->steps};
  series->value = FOV_NEW(tape->arena, real, series->size);
  return series;
}

FovVar *fov_result_of(FovTape *tape, FovVar *source, int which, int rows, int cols, bool learned) {
  int param = source->param;
  if (!tape->recording || (param < 0 && !source->series))
    return fov_result(tape, rows, cols, learned);
  FovSeries **series = param < 0 ? &source->series->results[which] : &tape->results[param];
  FovVar *y = make_var(tape, rows, cols, learned);
  *series = y->series = make_room(tape, *series, size_of(y));
  y->value = y->series->value + y->series->used;
  y->series->used += size_of(y);
  return y;
}

FovMatrix fov_values(const FovVar *x) {
  return (FovMatrix){.at = x->value, .rows = x->rows, .cols = x->cols, .stride = x->stride};
}

FovMatrix fov_grads(const FovVar *x) {
  return (FovMatrix){.at = x->grad, .rows = x->rows, .cols = x->cols, .stride = x->stride};
}

FovVar *fov_constant(FovTape *tape, int rows, int cols) {
  return fov_result(tape, rows, cols, false);
}

FovVar *fov_zeros(FovTape *tape, int rows, int cols) {
  FovVar *y = fov_constant(tape, rows, cols);
  memset(y->value, 0, size_of(y) * sizeof(real));
  return y;
}

FovVar *fov_rows(FovTape *tape, const FovVar *x, int first, int rows) {
  FOV_CHECK(!x->learned && first >= 0 && rows > 0 && rows <= x->rows - first,
            "rows %d to %d of a constant [%d, %d]", first, first + rows - 1, x->rows, x->cols);
  FovVar *y = make_var(tape, rows, x->cols, false);
  y->value = x->value + (size_t)first * x->stride;
  return y;
}

FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x) {
  FovVar *y = FOV_NEW(tape->arena, FovVar, 1);
  *y = *x;
  y->learned = false;
  y->grad = NULL;
  // In the series its gradient would have the same room as x's.
  y->series = NULL;
  y->param = -1;
  return y;
}

void fov_tape_add_grad(FovTape *tape, FovVar *y, const real *seed) {
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

/** Room for a gradient, beside those of the same series. */
static real *grad_room(FovTape *tape, FovVar *x) {
  FovSeries *series = x->series;
  if (!series) return FOV_NEW(tape->arena, real, size_of(x));
  if (!series->grad) series->grad = FOV_NEW(tape->arena, real, series->size);
  return series->grad + (x->value - series->value);
}

real *fov_grad_product(FovTape *tape, FovVar *x, real *beta) {
  *beta = x->grad ? 1 : 0;
  if (!x->grad) x->grad = grad_room(tape, x);
  return x->grad;
}

real *fov_grad(FovTape *tape, FovVar *x) {
  real beta, *grad = fov_grad_product(tape, x, &beta);
  if (beta == 0) memset(grad, 0, size_of(x) * sizeof(real));
  return grad;
}

/** Whether `before` ends where `x` begins. */
static bool adjoins(FovMatrix before, FovMatrix x) {
  return before.stride == x.stride && before.at + (size_t)before.rows * before.stride == x.at;
}

void fov_grad_weight(FovTape *tape, FovVar *w, const FovVar *y, const FovVar *x) {
  FovMatrix dy = fov_grads(y), in = fov_values(x);
  if (w->param < 0) {
    real beta;
    fov_grad_product(tape, w, &beta);
    fov_gemm(fov_grads(w), dy, true, in, false, beta);
    return;
  }
  FovPending *pending = &tape->pending[w->param];
  if (adjoins(dy, pending->dy) && adjoins(in, pending->x)) {
    dy.rows += pending->dy.rows;
    in.rows += pending->x.rows;
  } else {
    multiply_pending(tape, w->param);
  }
  *pending = (FovPending){.dy = dy, .x = in};
}
