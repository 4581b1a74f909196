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
#include "base/real.h"
#include "tensor/params.h"

/** A matrix on the tape. */
typedef struct FovVar {
  int rows, cols;
  bool learned; /**< a gradient may flow here */
  real *value;  /**< [rows, cols] */
  real *grad;   /**< [rows, cols]; NULL as long as nothing has flowed here */
} FovVar;

typedef struct FovNode FovNode;

/** One shard's tape. */
typedef struct FovTape {
  FovArena *arena;
  FovNode *last;
  bool recording;
  FovVar params[FOV_MAX_PARAMS]; /**< the parameters as vars, by number */
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

/** A [rows, cols] constant of zeros. */
FovVar *fov_zeros(FovTape *tape, int rows, int cols);

/** The same value; no gradient flows back through it. */
FovVar *fov_stop_gradient(FovTape *tape, const FovVar *x);

/** Adds `seed` [rows] to the gradient of a column y [rows, 1]: dL/dy. */
void fov_seed(FovTape *tape, FovVar *y, const real *seed);

/* For operations. */

/** A [rows, cols] result that depends on learned values if `learned`. */
FovVar *fov_result(FovTape *tape, int rows, int cols, bool learned);

/** An operation's way back; `saved` is what it kept. */
typedef void FovBackward(FovTape *tape, void *saved);

/** Notes a way back for results `y` (and `y2` or NULL); skipped if no gradient reached either. */
void fov_note(FovTape *tape, FovVar *y, FovVar *y2, FovBackward *backward, void *saved);

/** x's gradient to add to, zeroed when first asked for. */
real *fov_grad(FovTape *tape, FovVar *x);

/** x's gradient to be written by a product: *beta is 0 if it holds nothing yet, else 1. */
real *fov_grad_product(FovTape *tape, FovVar *x, real *beta);

#endif
