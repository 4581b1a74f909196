/**
 * The stop rule's contract: whether to answer now or to look once more.
 *
 * A stop rule is one const struct in one file, stop/<name>.c, and one line in tables.c.
 */
#ifndef FOV_LEARN_STOP_H
#define FOV_LEARN_STOP_H

#include "base/option.h"
#include "base/rng.h"
#include "model/head.h"
#include "tensor/tape.h"

/** What a stop rule decides from; n lanes. */
typedef struct FovStopInput {
  FovVar *h;                     /**< [n, D]: the state; NULL unless the rule has a head */
  const real *log_probabilities; /**< [n, A]: of the answer; NULL unless the rule reads them */
  const bool *forced;            /**< [n]: decisions to be repeated; NULL: decide */
  int actions;                   /**< A */
  bool deterministic;            /**< the more likely decision instead of a sample */
  FovRng *rng;                   /**< [n] */
  int lanes;                     /**< n */
} FovStopInput;

/** Decides after each glimpse, except where an answer is due anyway. */
typedef struct FovStopRule {
  FovPlugin plugin;
  FovHead head;      /**< without, it learns nothing */
  bool reads_answer; /**< it reads the answer's log-probabilities */
  /** Cost of a glimpse, subtracted from the reward; NULL: 0. */
  double (*cost)(const void *options);
  /** stop: [n], written. Returns log π of the decisions, [n, 1]; NULL if nothing is learned or was
   * sampled. NULL: never stops. */
  FovVar *(*decide)(bool *stop, FovTape *tape, const FovStopInput *input, const void *layout,
                    const void *options);
} FovStopRule;

/** All stop rules, NULL-terminated. */
extern const FovStopRule *const fov_stop_rules[];

#endif
