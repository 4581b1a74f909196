/**
 * Symbols of a sequence as vectors: a row of a table for each, which is learned (Bengio et al.
 * 2003), and with transformer blocks the code of its position.
 */
#ifndef FOV_MODEL_SYMBOLS_H
#define FOV_MODEL_SYMBOLS_H

#include "sensor/sensor.h"
#include "tensor/ops.h"

/** Const once built. */
typedef struct FovSymbols {
  int count;      /**< V; 0: there are none */
  bool positions; /**< positions are added */
  int table;      /**< number of the parameter [V, width] */
} FovSymbols;

/** Adds the table "<name>", [count, width]. */
void fov_symbols_build(FovSymbols *symbols, FovParams *params, const char *name, int count,
                       int width);

/** Symbols of a sequence of at most L: those before the first −1. tokens: [L] */
int fov_symbols_length(const int32_t *tokens, int L);

/** Vectors of L symbols of n sequences: [n·L, width]; those after the end of a sequence are
 * undefined. images: [n], 1 × L tokens each. */
FovVar *fov_symbols_embed(FovTape *tape, const FovSymbols *symbols, const FovImage *images, int n);

#endif
