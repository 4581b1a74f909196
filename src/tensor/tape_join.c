/**
 * The gradients of a weight at all time steps, joined into one matrix product.
 *
 * A weight W is used once at each time step: y_t = x_t Wᵀ, so dW = Σ_t dy_tᵀ x_t. Computed step by
 * step, each product reads and writes the whole of dW; with few lanes that costs more than the
 * arithmetic. So results are laid out such that all steps are one matrix. The results of successive
 * uses of W form a series: one piece of memory for their values and one for their gradients, both
 * with room for `tape->steps` of them.
 *
 *     series of W, values      [ y_0: B rows | y_1: B rows | y_2: B rows ]     written forwards →
 *     series of W, gradients   [ dy_0        | dy_1        | dy_2        ]   ← written backwards
 *     series of W's input      [ x_0         | x_1         | x_2         ]
 *                                              └─ pending: dy, x ────────┘
 *
 * The backward pass meets step 2 first. fov_grad_weight does not multiply: it keeps (dy_2, x_2) as
 * pending. Step 1 ends in memory where the pending rows begin, on both sides, so pending becomes
 * (dy_1 dy_2, x_1 x_2), and so on; at the end one product over T·B rows gives dW. Where the memory
 * does not adjoin (lanes left the batch, another use of W came between, the series was full), the
 * pending product is computed first and a new one begins: slower, with the same gradient.
 *
 * The rule for operations: products of fov_grad_weight over results of fov_result_of are joined.
 * The source is an operand whose own results form a series, or the weight itself; each series keeps
 * the series of the operations on it.
 */
#include "tensor/tape_join.h"

#include <string.h>

/** One result of an operation, time step after time step. */
struct FovVarSeries {
  real *value, *grad;       /**< [size]; grad: NULL until the first gradient flows */
  size_t used, size;        /**< numbers */
  FovVarSeries *results[2]; /**< of operations on these, by `which` */
};

/** What is joined of one parameter. */
struct FovJoin {
  FovVarSeries *results; /**< of its uses */
  FovMatrix dy, x;       /**< the pending product dyᵀ x; without rows: none */
};

FovJoin *fov_joins_create(FovArena *arena, int count) {
  FovJoin *joins = FOV_NEW(arena, FovJoin, count);
  memset(joins, 0, (size_t)count * sizeof *joins);
  return joins;
}

/** A series with room for `size` more numbers: the given one or, if that is full, a new one. */
static FovVarSeries *with_room(FovTape *tape, FovVarSeries *series, size_t size) {
  if (series && series->size - series->used >= size) return series;
  series = FOV_NEW(tape->arena, FovVarSeries, 1);
  *series = (FovVarSeries){.size = size * (size_t)tape->steps};
  series->value = FOV_NEW(tape->arena, real, series->size);
  return series;
}

FovVar *fov_result_of(FovTape *tape, FovVar *source, int which, int rows, int cols,
                      bool wants_grad) {
  bool is_param = source->param >= 0;
  // Without a gradient there is no product to join.
  if (!source->wants_grad || (!is_param && !source->series))
    return fov_result(tape, rows, cols, wants_grad);
  FovVarSeries **series =
      is_param ? &tape->joins[source->param].results : &source->series->results[which];
  FovVar *y = fov_make_var(tape, rows, cols, wants_grad);
  *series = y->series = with_room(tape, *series, fov_size(y));
  y->value = y->series->value + y->series->used;
  y->series->used += fov_size(y);
  return y;
}

real *fov_grad_memory(FovTape *tape, FovVar *x) {
  FovVarSeries *series = x->series;
  if (!series) return FOV_NEW(tape->arena, real, fov_size(x));
  if (!series->grad) series->grad = FOV_NEW(tape->arena, real, series->size);
  return series->grad + (x->value - series->value);
}

static void multiply_pending(FovTape *tape, int param) {
  FovJoin *join = &tape->joins[param];
  if (join->dy.rows == 0) return;
  fov_gemm(fov_grads(&tape->params[param]), join->dy, true, join->x, false, 1);
  join->dy = join->x = (FovMatrix){0};
}

void fov_joins_flush(FovTape *tape) {
  for (int i = 0; i < tape->count; i++) multiply_pending(tape, i);
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
  FovJoin *join = &tape->joins[w->param];
  if (adjoins(dy, join->dy) && adjoins(in, join->x)) {
    dy.rows += join->dy.rows;
    in.rows += join->x.rows;
  } else {
    multiply_pending(tape, w->param);
  }
  join->dy = dy, join->x = in;
}
