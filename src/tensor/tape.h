/**
 * A tape of coarse operations on batched matrices, and their gradients.
 *
 * Calling an operation computes its result and, if anything it depends on is learned, notes how to
 * go back. Everything lives in an arena: begin, build, seed some results with dL/dy, backward, and
 * rewind. No broadcasting but of biases, nothing in place, first order only.
 */
#ifndef FOV_TENSOR_TAPE_H
#define FOV_TENSOR_TAPE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/gemm.h"
#include "tensor/params.h"

typedef struct FovNode FovNode;
typedef struct FovSeries FovSeries;

/** A matrix on the tape. */
typedef struct FovVar {
  int rows, cols;
  int stride;        /**< numbers from one row to the next: fov_gemm_stride(cols); of parameters and
                          their gradients, cols */
  bool learned;      /**< a gradient may flow here */
  real *value;       /**< [rows, cols] */
  real *grad;        /**< [rows, cols]; NULL as long as nothing has flowed here */
  int param;         /**< its number, if it is a parameter; otherwise −1 */
  FovSeries *series; /**< its place among its like of other steps; NULL: none */
} FovVar;

/** The gradient of a weight, dW += dyᵀ x, as far as it is put off. */
typedef struct FovPending {
  FovMatrix dy, x; /**< no rows: nothing is */
} FovPending;

/** One shard's tape. */
typedef struct FovTape {
  FovArena *arena;
  FovNode *last;
  bool recording;
  int steps; /**< uses of a parameter that lie side by side; a further one starts anew */
  FovVar params[FOV_MAX_PARAMS];      /**< the parameters as vars, by number */
  FovSeries *results[FOV_MAX_PARAMS]; /**< what each one's uses gave */
  FovPending pending[FOV_MAX_PARAMS];
} FovTape;

/**
 * Starts a tape over a block of parameter values.
 *
 * gradient: a block that backward adds to, or NULL for inference: then nothing is noted.
 */
void fov_tape_begin(FovTape *tape, FovArena *arena, const FovParams *params, const real *values,
                    real *gradient);

/** Goes back through every operation that a seed's gradient reaches. */
void fov_tape_backward(FovTape *tape);

/** A [rows, cols] constant; its value is uninitialised and the caller's to fill. */
FovVar *fov_constant(FovTape *tape, int rows, int cols);

/** Rows first … first+rows−1 of a constant, as a constant that shares its numbers. */
FovVar *fov_rows(FovTape *tape, const FovVar *x, int first, int rows);

/** A [rows, cols] constant of zeros. */
FovVar *fov_zeros(FovTape *tape, int rows, int cols);

/** The same value; no gradient flows back through it. */
FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x);

/** Adds `seed` [rows] to the gradient of a column y [rows, 1]: dL/dy. */
void fov_tape_add_grad(FovTape *tape, FovVar *y, const real *seed);

/* For operations. */

/** A [rows, cols] result that depends on learned values if `learned`. */
FovVar *fov_result(FovTape *tape, int rows, int cols, bool learned);

/**
 * The same, for result number `which` (0, 1) of an operation on `source`, a parameter or a result:
 * those of successive steps then lie one after another in memory, and their gradients too, so that
 * products over them can be joined.
 */
FovVar *fov_result_of(FovTape *tape, FovVar *source, int which, int rows, int cols, bool learned);

/** A var as an operand, by its values or by its gradient. */
FovMatrix fov_values(const FovVar *x);
FovMatrix fov_grads(const FovVar *x);

/** An operation's way back; `saved` is what it kept. */
typedef void FovBackward(FovTape *tape, void *saved);

/** Notes a way back for results `y` (and `y2` or NULL); skipped if no gradient reached either. */
void fov_note(FovTape *tape, FovVar *y, FovVar *y2, FovBackward *backward, void *saved);

/** x's gradient to add to, zeroed when first asked for. */
real *fov_grad(FovTape *tape, FovVar *x);

/** x's gradient to be written by a product: *beta is 0 if it holds nothing yet, else 1. */
real *fov_grad_product(FovTape *tape, FovVar *x, real *beta);

/**
 * dW += dyᵀ x. w: [E, D]; y: [B, E], by its gradient, which must not change any more; x: [B, D].
 *
 * A parameter's is put off to the end of the way back and joined with that of the next step where
 * both dy and x adjoin: one product over all time steps reads and writes dW once.
 */
void fov_grad_weight(FovTape *tape, FovVar *w, const FovVar *y, const FovVar *x);

#endif
