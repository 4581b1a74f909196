/**
 * The baseline's contract: b_t, subtracted from the return R_t.
 *
 * A baseline is one const struct in one file, baseline/<name>.c, and one line in tables.c.
 */
#ifndef FOV_LEARN_BASELINE_H
#define FOV_LEARN_BASELINE_H

#include "base/option.h"
#include "model/head.h"
#include "tensor/tape.h"

/** What a baseline is computed from. Nothing here depends on the choice that it is subtracted for,
 * except the lane's own return, which leave-one-out leaves out. */
typedef struct FovBaselineInput {
  const real *returns;   /**< [M, B]: R_t, what is earned from time step t on */
  const real *predicted; /**< [M, B]: of R_t, by the head; R_t itself where nothing was chosen */
  const real *deterministic; /**< [M, B]: R_t of the lane's deterministic episode; NULL: not asked
                                  for */
  real average;              /**< moving average of the mean return over earlier updates */
  int time_steps, lanes;     /**< M, B */
  int copies;                /**< K: lanes side by side that show the same image */
} FovBaselineInput;

typedef struct FovBaseline {
  FovPlugin plugin;
  FovHead head;       /**< with one, it learns to predict R_t from h_t */
  bool from_answer;   /**< b_t = r + head(h_t), where r is what an answer at t would earn: needs
                           labels, and answers that are trained at every t */
  bool deterministic; /**< it needs a deterministic episode of every lane, from the same start */
  /** The prediction of a baseline with a head: [n, 1] from h [n, D]. */
  FovVar *(*predict)(FovTape *tape, FovVar *h, const void *layout);
  int least_copies; /**< K that it needs */
  /** b: [M, B], written; NULL: nothing is subtracted. */
  void (*values)(real *b, const FovBaselineInput *input);
} FovBaseline;

/** All baselines, NULL-terminated. */
extern const FovBaseline *const fov_baselines[];

#endif
