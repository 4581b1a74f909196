/** Learned parameters: named matrices that live side by side in one block. */
#ifndef FOV_TENSOR_PARAMS_H
#define FOV_TENSOR_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/real.h"

enum { FOV_PARAM_NAME = 48 };

typedef enum FovInit {
  FOV_INIT_ZERO,
  FOV_INIT_ONE,     /**< the gain of a layer norm */
  FOV_INIT_UNIFORM, /**< U(−1/√cols, 1/√cols), cols being a row's inputs; a bias is one row */
  FOV_INIT_HE,      /**< U(−√(6/cols), √(6/cols)): keeps a ReLU's variance (He et al. 2015) */
  FOV_INIT_IDENTITY, /**< ones on the diagonal (Le, Jaitly and Hinton 2015) */
  FOV_INIT_FORGET,   /**< ones in the second quarter: an LSTM that remembers (Gers et al. 2000) */
} FovInit;

typedef struct FovParam {
  char name[FOV_PARAM_NAME];
  int rows, cols; /**< a weight is [outputs, inputs], a bias [1, outputs] */
  FovInit init;
  real scale;    /**< factor on the initial values */
  size_t offset; /**< of its first number in a block */
  int stream;    /**< number of the stream that its initial values are drawn from */
} FovParam;

/** The layout of a block. Zero-initialise; written while a model is built, const afterwards;
 * released by fov_params_finish. A copy must not be finished, since the list is owned.
 * Values, gradients, moments and averages are blocks of `size` numbers in this layout. */
typedef struct FovParams {
  FovParam *list; /**< [count], on the heap */
  int count;
  int streams;        /**< numbers that were given out, also to what is left out */
  size_t size;        /**< numbers in a block, padding included */
  const char *prefix; /**< before the names of what is added; NULL: nothing */
} FovParams;

/** Adds a parameter and returns its index; `name` must be new. Ends in fov_no_memory if memory is
 * short. Pointers into the list are invalid afterwards. */
int fov_params_add(FovParams *params, const char *name, int rows, int cols, FovInit init,
                   real scale);

/** Whether there is a parameter of that name. */
bool fov_params_have(const FovParams *params, const char *name);

/** Releases the list; `params` is empty afterwards. */
void fov_params_finish(FovParams *params);

/** Leaves out `count` parameters: what is added later draws the same initial values as if they were
 * there. */
void fov_params_skip(FovParams *params, int count);

/** Numbers that are learned: the block without its padding. */
size_t fov_params_learned(const FovParams *params);

/** Writes initial values; each parameter draws from its own stream of `seed`. */
void fov_params_init(real *values, const FovParams *params, uint64_t seed);

/** Copies a parameter of a block, transposed, to its place in another block: [cols, rows]. */
void fov_param_transpose(real *transposed, const real *values, const FovParam *param);

/** A zeroed block, aligned to 64; NULL if memory is short. Freed with free. */
real *fov_params_block(const FovParams *params);

/** The name of the parameter whose range holds number `index` of a block. */
const char *fov_params_name_at(const FovParams *params, size_t index);

#endif
