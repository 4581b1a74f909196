/**
 * The optimiser's contract: from a gradient to a step of the parameters.
 *
 * An optimiser is one const struct in one file, optimiser/<name>.c, and one line in tables.c.
 */
#ifndef FOV_LEARN_OPTIMISER_H
#define FOV_LEARN_OPTIMISER_H

#include "base/option.h"
#include "base/real.h"

/** What an optimiser reads and writes: a range of the blocks, or a whole parameter. */
typedef struct FovOptimiserStep {
  real *value, *first, *second; /**< [count]: parameters and two moments */
  const real *gradient;         /**< [count] */
  size_t count;
  int rows, cols; /**< of a whole parameter; else 1 and count */
  real *scratch;  /**< as much as was asked for */
  real scale;     /**< the gradient's factor: clipping */
  real rate;      /**< learning rate of this update */
  int64_t number; /**< of this step, from 1 */
} FovOptimiserStep;

typedef struct FovOptimiser {
  FovPlugin plugin;
  /** Numbers of scratch memory for the step of a whole parameter; NULL: the optimiser steps any
   * range alike. */
  size_t (*scratch)(int rows, int cols);
  void (*step)(const FovOptimiserStep *step, const void *options);
} FovOptimiser;

/** All optimisers, NULL-terminated. */
extern const FovOptimiser *const fov_optimisers[];

#endif
