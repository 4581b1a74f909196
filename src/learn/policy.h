/**
 * The policy's contract: π(l_t | h_t), which chooses where to look.
 *
 * A policy is one const struct in one file, policy/<name>.c, and one line in tables.c. It declares
 * its head, what it records and what it logs; nothing else depends on how it chooses.
 */
#ifndef FOV_LEARN_POLICY_H
#define FOV_LEARN_POLICY_H

#include "base/figure.h"
#include "base/option.h"
#include "base/rng.h"
#include "model/attention.h"
#include "model/head.h"
#include "tensor/tape.h"

enum { FOV_POLICY_FIGURES = 4 };

/** One lane's choice: the sample that log π belongs to, or the index of one of several sites. */
typedef struct FovChoice {
  real sample[2];
  int index; /**< −1: the sample counts */
} FovChoice;

/** What a policy chooses from; n lanes. */
typedef struct FovPolicyInput {
  FovVar *h;          /**< [n, D]: the state that it chooses from; NULL unless it has a head */
  const real *places; /**< [n, 2]: the last glimpse's; the centre before the first */
  FovVar *scores;     /**< [n, N]: of the attention's sites; NULL unless the policy has `sites` */
  FovGrid grid;       /**< of these sites; else all 0 */
  const FovChoice *forced; /**< [n]: to be repeated instead of drawn; NULL: choose */
  FovRng *rng;             /**< [n] */
  int width, height;       /**< W, H of the image, pixels */
  real bounds[2];          /**< places run from −bounds to bounds; (1, 1): the whole image */
  double progress;         /**< share of the training that is done, 0 … 1 */
  int glimpse;             /**< which one is placed: 0 … T−1 of the episode */
  bool deterministic;      /**< no sample: the most likely choice, unless options move it */
  int lanes;               /**< n */
} FovPolicyInput;

/** What it chose; the arrays are the caller's, to be written. */
typedef struct FovPolicyOutput {
  FovChoice *choices; /**< [n] */
  /** [n, 2]: where the gaze goes for them; from outside the bounds it is moved to the nearest
   * place inside. */
  real *places;
  real *costs;                /**< [n]: what the choices cost of the return; zeros at first */
  real *columns[FOV_COLUMNS]; /**< [n, width]: what it declares to record */
  FovVar *log_prob; /**< [n, 1]: log π of the choices; NULL if nothing is learned or was sampled */
  FovVar *entropy;  /**< [n, 1]: of π, in nats, exactly; NULL: unknown, constant or not wanted */
  FovVar *mean;     /**< [n, 2]: of the samples, if the head computes it; else NULL */
} FovPolicyOutput;

typedef struct FovPolicy {
  FovPlugin plugin;
  bool sites;   /**< it chooses by the scores of the attention's sites, and needs them */
  FovHead head; /**< of its own width and with its own parameters; without, it learns nothing */
  /** N: it chooses an index 0 … N−1. sites: those of the attention, 0 if it has none. NULL: its
   * choices cannot be enumerated. */
  int (*count)(const void *options, int sites);
  /** Declares what it records. Returns how many columns; NULL: none. */
  int (*columns)(FovColumn columns[FOV_COLUMNS], const void *options);
  /** Its figures for the log when `progress` (0 … 1) of the training is done. Returns how many;
   * NULL: none. */
  int (*figures)(FovFigure figures[FOV_POLICY_FIGURES], const void *options, double progress);
  /** Weight of its entropy in the objective, which is raised; NULL: 0. */
  double (*entropy)(const void *options);
  /** Chooses for n lanes. A lane's choice depends on its own row and generator only. Forced and
   * deterministic choices may leave the generators as they are. */
  void (*choose)(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                 const void *layout, const void *options);
} FovPolicy;

/** All policies, NULL-terminated. */
extern const FovPolicy *const fov_policies[];

#endif
