/** What tape.c and tape_join.c share. */
#ifndef FOV_TENSOR_TAPE_JOIN_H
#define FOV_TENSOR_TAPE_JOIN_H

#include "tensor/tape.h"

/** Numbers that x takes, including the padding of its rows. */
FOV_INLINE size_t fov_size(const FovVar *x) {
  return (size_t)x->rows * x->stride;
}

/** A [rows, cols] var that is no parameter, without numbers yet. */
FovVar *fov_make_var(FovTape *tape, int rows, int cols, bool wants_grad);

/** Nothing to join yet, for `count` parameters. */
FovJoin *fov_joins_create(FovArena *arena, int count);

/** Memory for x's gradient: in its series, if it has one. */
real *fov_grad_memory(FovTape *tape, FovVar *x);

/** Computes the products that were put off: the end of a backward pass. */
void fov_joins_flush(FovTape *tape);

#endif
