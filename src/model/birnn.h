/**
 * A recurrent layer over the sites of a lane in both directions (Schuster and Paliwal 1997): the
 * annotations of Bahdanau et al. 2015, section 3.2.
 *
 *     →h_i = f(→h_{i−1}, x_i)      ←h_i = b(←h_{i+1}, x_i)      h_i = [→h_i; ←h_i]
 *
 * f and b are cores of the same kind with their own parameters and half the units each. Both start
 * from zeros, b at the end of each lane's sequence.
 */
#ifndef FOV_MODEL_BIRNN_H
#define FOV_MODEL_BIRNN_H

#include "model/core.h"

typedef enum FovBirnnCell { FOV_BIRNN_NONE, FOV_BIRNN_GRU, FOV_BIRNN_LSTM } FovBirnnCell;

/** Names of FovBirnnCell, NULL-terminated. */
extern const char *const fov_birnn_cells[];

/** Const once built. */
typedef struct FovBirnn {
  const FovCore *core; /**< NULL: there is none */
  void *layouts[2];    /**< of f and b, owned */
} FovBirnn;

/** Adds the parameters "<owner>.forward.core.…" and "<owner>.backward.core.…" unless `cell` is
 * FOV_BIRNN_NONE. width: of x_i and of h_i, even. Finished by fov_birnn_finish, also after a
 * failure. */
FovStatus fov_birnn_build(FovBirnn *birnn, FovParams *params, const char *owner, FovBirnnCell cell,
                          int width);
void fov_birnn_finish(FovBirnn *birnn);

/** x: [n·N, width]. lengths: [n], 1 … N: sites of each lane; NULL: N. Result: the same shape, of
 * which the rows after a lane's length are undefined; x itself if there is no layer. */
FovVar *fov_birnn_apply(const FovBirnn *birnn, FovTape *tape, FovVar *x, const int *lengths,
                        int lanes);

/** The last states of both directions: [→h_len; ←h_1]. h: [n·N, width]. Result: [n, width]. */
FovVar *fov_birnn_last(FovTape *tape, FovVar *h, const int *lengths, int lanes);

#endif
