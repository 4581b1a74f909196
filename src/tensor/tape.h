/**
 * A tape of coarse operations on batched matrices, and their gradients.
 *
 * Calling an operation computes its result and, if anything it depends on wants a gradient, notes
 * its backward pass. Everything lives in an arena: begin, build, add dL/dy to the gradients of some
 * results, run backward, and rewind. Only biases are broadcast, nothing is changed in place, and
 * gradients are of first order.
 */
#ifndef FOV_TENSOR_TAPE_H
#define FOV_TENSOR_TAPE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/gemm.h"
#include "tensor/params.h"

typedef struct FovNode FovNode;
typedef struct FovVarSeries FovVarSeries;
typedef struct FovJoin FovJoin;

/** A matrix on the tape. */
typedef struct FovVar {
  int rows, cols;
  int stride;       /**< numbers from one row to the next: fov_gemm_stride(cols); of parameters and
                         their gradients, cols */
  bool wants_grad;  /**< a gradient may flow here */
  bool has_grad;    /**< one has, so that `grad` is valid */
  real *value;      /**< [rows, cols] */
  real *transposed; /**< [cols, rows]: a copy of a parameter's value; NULL: there is none */
  real *grad;       /**< [rows, cols]; NULL until the first gradient flows here */
  int param;        /**< its number, if it is a parameter; otherwise −1 */
  FovVarSeries *series; /**< the same result at all time steps, see tape_join.c; NULL: none */
} FovVar;

/** A watched result, in a list. */
typedef struct FovWatched {
  FovVar *var;
  FovVar *from;                /**< what it was computed from; NULL: of no interest */
  const void *about;           /**< belongs to the kind of result */
  struct FovWatched *previous; /**< watched before it; NULL: none */
} FovWatched;

/** One shard's tape. */
typedef struct FovTape {
  FovArena *arena;
  FovNode *last;
  int steps;         /**< time steps to make room for: uses of a parameter that lie side by side */
  int count;         /**< of parameters */
  FovVar *params;    /**< [count]: the parameters as vars, by number */
  FovJoin *joins;    /**< [count]: the gradient of each one's uses, see tape_join.c */
  bool spent;        /**< backward has run since the gradients were last cleared */
  unsigned watching; /**< bits: the kinds of results that are watched, which their module names;
                          set after fov_tape_begin */
  FovWatched *watched; /**< the last one; NULL: none */
} FovTape;

/**
 * Starts a tape over a block of parameter values.
 *
 * gradient: a block that backward adds to. NULL: no parameter wants a gradient; unless an input, an
 * image or a watched result wants one, this is inference and no backward pass is noted.
 */
void fov_tape_begin(FovTape *tape, FovArena *arena, const FovParams *params, const real *values,
                    real *gradient);

/** Gives the parameters a block of transposed copies, by fov_param_transpose. Forward passes
 * multiply by these: faster, most of all with few rows, and rounded differently. */
void fov_tape_add_transposed(FovTape *tape, const FovParams *params, const real *transposed);

/** Adds `grad` [rows, cols], dense, to the gradient of y: dL/dy. Ignored if y wants no gradient. */
void fov_tape_add_grad(FovTape *tape, FovVar *y, const real *grad);

/**
 * Runs the backward pass of every operation that a gradient reaches.
 *
 * Afterwards the gradients of parameters and inputs are complete; those of results may have been
 * overwritten. A second pass aborts unless fov_tape_clear_grads comes before it.
 */
void fov_tape_backward(FovTape *tape);

/**
 * Forgets all gradients on the tape: those of results and inputs, and the parameters' block, which
 * becomes zero. The gradient of another output may follow. Its backward pass needs no more memory
 * where a gradient has flowed before.
 */
void fov_tape_clear_grads(FovTape *tape);

/** A [rows, cols] constant; its value is uninitialised and the caller's to fill. */
FovVar *fov_constant(FovTape *tape, int rows, int cols);

/** The same, with a gradient; only tests of operations use it. */
FovVar *fov_input(FovTape *tape, int rows, int cols);

/** Rows first … first+rows−1 of a constant, as a constant that shares its numbers. */
FovVar *fov_rows(FovTape *tape, const FovVar *x, int first, int rows);

/** A [rows, cols] constant of zeros. */
FovVar *fov_zeros(FovTape *tape, int rows, int cols);

/** The same value; no gradient flows back through it. */
FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x);

/** The same value; a share of the gradient flows back through it. 0: fov_stop_gradient; 1: x. */
FovVar *fov_share_gradient(FovTape *tape, FovVar *x, real share);

/**
 * If results of this kind are watched: a copy of x that is put on the tape's list, wants a gradient
 * even if x does not, and keeps it after the backward pass. Otherwise x.
 */
FovVar *fov_watch(FovTape *tape, FovVar *x, unsigned kind, FovVar *from, const void *about);

/* For operations. */

/** A [rows, cols] result; it wants a gradient if an operand does. */
FovVar *fov_result(FovTape *tape, int rows, int cols, bool wants_grad);

/**
 * The same, for result number `which` (0, 1) of an operation on `source`, a parameter or a result:
 * those of successive time steps then lie one after another in memory, and their gradients too, so
 * that matrix products over them are joined (tape_join.c).
 */
FovVar *fov_result_of(FovTape *tape, FovVar *source, int which, int rows, int cols,
                      bool wants_grad);

/** A var as an operand, by its values or by its gradient. */
FovMatrix fov_values(const FovVar *x);
FovMatrix fov_grads(const FovVar *x);

/** A matrix in the tape's arena that an operation needs besides its result. */
FovMatrix fov_scratch(FovTape *tape, int rows, int cols);

/** y = x wᵀ + beta · y. w: [D_y, D_x], a parameter or a result. */
void fov_multiply_weight(FovMatrix y, FovMatrix x, const FovVar *w, real beta);

/** Row b of a var's values. */
FOV_INLINE real *fov_value_row(const FovVar *x, int b) {
  return x->value + (size_t)b * (size_t)x->stride;
}

/** Row b of a var's gradient. */
FOV_INLINE real *fov_grad_row(const FovVar *x, int b) {
  return x->grad + (size_t)b * (size_t)x->stride;
}

/** An operation's backward pass; `saved` is what the forward pass kept for it. */
typedef void FovBackward(FovTape *tape, void *saved);

/** Notes the backward pass of results `y` (and `y2` or NULL); skipped if no gradient reached
 * either. */
void fov_note(FovTape *tape, FovVar *y, FovVar *y2, FovBackward *backward, void *saved);

/** x's gradient to add to; zero when nothing has flowed. Only if x wants one. */
real *fov_grad(FovTape *tape, FovVar *x);

/** x's gradient to be written by a matrix product: *beta is 0 if nothing has flowed yet, else 1. */
real *fov_grad_product(FovTape *tape, FovVar *x, real *beta);

/**
 * dW += dyᵀ x. w: [E, D]; y: [B, E], by its gradient, which must not change any more; x: [B, D].
 *
 * A parameter's product is put off and joined with those of other time steps (tape_join.c).
 */
void fov_grad_weight(FovTape *tape, FovVar *w, const FovVar *y, const FovVar *x);

#endif
