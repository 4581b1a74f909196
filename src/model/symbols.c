#include "model/symbols.h"

#include "model/transformer.h"
#include "model/watch.h"

void fov_symbols_build(FovSymbols *symbols, FovParams *params, const char *name, int count,
                       int width) {
  // Numbers in [−1, 1], as large as those of a position's code.
  int table = fov_params_add(params, name, count, width, FOV_INIT_UNIFORM, (real)sqrt(width));
  *symbols = (FovSymbols){.count = count, .table = table};
}

int fov_symbols_length(const int32_t *tokens, int L) {
  int length = 0;
  while (length < L && tokens[length] >= 0) length++;
  return length;
}

/** The codes of positions 0 … L−1 for each of n sequences: [n·L, width]. */
static FovVar *codes(FovTape *tape, int n, int L, int width) {
  FovVar *codes = fov_constant(tape, n * L, width);
  for (int i = 0; i < L; i++) fov_position_code(fov_value_row(codes, i), i, width);
  for (int b = 1; b < n; b++)
    memcpy(fov_value_row(codes, b * L), codes->value, (size_t)L * codes->stride * sizeof(real));
  return codes;
}

FovVar *fov_symbols_embed(FovTape *tape, const FovSymbols *symbols, const FovImage *images, int n) {
  int L = images[0].width, *indices = FOV_NEW(tape->arena, int, n *L);
  FovVar *table = &tape->params[symbols->table];
  for (int b = 0; b < n; b++)
    for (int i = 0; i < L; i++) {
      int token = images[b].tokens[i];
      indices[b * L + i] = token < 0 ? 0 : token;
    }
  FovVar *x =
      fov_watch(tape, fov_gather(tape, table, indices, n * L), FOV_WATCH_SYMBOLS, NULL, NULL);
  return symbols->positions ? fov_add(tape, x, codes(tape, n, L, table->cols)) : x;
}
