/**
 * Transformer blocks (Vaswani et al. 2017): attention, then a layer of ReLUs, each added to what it
 * reads.
 *
 *     y = norm(x)      q = W_q y + b_q      k = W_k y      v = W_v y + b_v
 *     x = x + W_o z + b_o                            z: what q reads of keys and values, per head
 *     x = x + W_2 relu(W_1 norm(x) + b_1) + b_2
 *
 * Norms come first in a block, so that no warm-up is needed (Xiong et al. 2020). After the last
 * block, its owner adds one more norm.
 */
#ifndef FOV_MODEL_TRANSFORMER_H
#define FOV_MODEL_TRANSFORMER_H

#include "tensor/ops.h"

enum { FOV_MAX_BLOCKS = 4 };

/** Numbers of the parameters of a linear layer, or of a layer norm. */
typedef struct FovLayer {
  int w, bias;
} FovLayer;

/** Adds "<name>.w" [outputs, inputs] and "<name>.bias". */
FovLayer fov_layer_add_linear(FovParams *params, const char *name, int outputs, int inputs);
/** Adds "<name>.gain" and "<name>.bias", [1, width]. */
FovLayer fov_layer_add_norm(FovParams *params, const char *name, int width);

FovVar *fov_layer_apply(FovTape *tape, FovVar *x, FovLayer linear, FovActivation activation);
FovVar *fov_layer_normalise(FovTape *tape, FovVar *x, FovLayer norm);

/** The parameters of a block. */
typedef struct FovTransformerBlock {
  FovLayer before, query, value, output, between, up, down;
  int key; /**< without a bias, which would add the same to every score of a query */
} FovTransformerBlock;

/** Sets params->prefix to the one before, followed by "<owner>.<number>.", in the array `prefix`.
 * Returns the one before, which the caller restores after adding the block. */
const char *fov_transformer_name_block(char prefix[FOV_PARAM_NAME], FovParams *params,
                                       const char *owner, int number);
/** Adds "norm.gain", "query.w" and so on. width: D; hidden: units between W_1 and W_2. */
void fov_transformer_add_block(FovTransformerBlock *block, FovParams *params, int width,
                               int hidden);

/** What rows ask, and what they offer to others: all [R, D]. */
typedef struct FovProjections {
  FovVar *query, *key, *value;
} FovProjections;

/** The first line above. x: [R, D]. */
FovProjections fov_transformer_project(const FovTransformerBlock *block, FovTape *tape, FovVar *x);
/** The other two lines. x, z: [R, D]. Result: [R, D]. */
FovVar *fov_transformer_finish(const FovTransformerBlock *block, FovTape *tape, FovVar *x,
                               FovVar *z);

/** Self-attention: every row of a lane attends to all rows of the lane, in `count` blocks. */
typedef struct FovTransformer {
  int count, heads; /**< count 0: there is none */
  FovTransformerBlock blocks[FOV_MAX_BLOCKS];
  FovLayer last;
} FovTransformer;

/** Adds the `count` blocks "<owner>.1.…" and the last norm, "<owner>.norm.…"; nothing if `count` is
 * 0. `count` and `heads`, which divides width, are set before. */
void fov_transformer_add(FovTransformer *transformer, FovParams *params, const char *owner,
                         int width, int hidden);
/** x: [lanes·N, D]. lengths: [lanes], 1 … N: rows of a lane that are read, from its first on; NULL:
 * all. Result: the same shape; x itself if there are no blocks. */
FovVar *fov_transformer_apply(const FovTransformer *transformer, FovTape *tape, FovVar *x,
                              const int *lengths, int lanes);

/** Sines and cosines of a position, from a wavelength of 2π to one of 20,000π (Vaswani et al. 2017,
 * section 3.5). code: [width]. */
void fov_position_code(real *code, int position, int width);

#endif
