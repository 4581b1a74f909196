/** Evaluation on a fixed set of cases. */
#ifndef FOV_LEARN_EVALUATE_H
#define FOV_LEARN_EVALUATE_H

#include "base/ranks.h"
#include "learn/workspace.h"

/** Several answers of a case count as one: wrong if any is, or the last if only this one counts.
 * Rollouts of moves or vectors are not averaged: each counts as a case, which is wrong if its
 * return is below the goal. */
typedef struct FovEvalResult {
  int64_t cases, wrong;
  int64_t played; /**< rollouts of a case, summed; if no choice is drawn, one per case is played,
                       since all are equal */
  int64_t answers, wrong_answers; /**< each class by itself; 0 of moves and vectors */
  /** Answers for which the part of the source is known, and for which the one place is; how often
   * what was read most lies in the part, and how often it is the place. */
  int64_t in_known_part, in_known_place, read_part, read_place;
  double reward;   /**< mean return of an episode; of a beam search, right answers; NaN
                        if a class has no probability, except of a beam */
  double glimpses; /**< mean of an episode */
  double distance, last_distance; /**< √ of the mean ‖y − target‖² of all vectors, and of the last
                                       of each episode; 0 of classes and moves */
} FovEvalResult;

/** The alignment error rate, 1 − (|A∩S| + |A∩P|) / (|A| + |S|) (Och and Ney 2003): A is what was
 * read most before each answer, S ⊆ P the place and the part that it comes from, where they are
 * known. NaN: they are not. */
double fov_alignment_error(const FovEvalResult *result);

typedef struct FovEvalRequest {
  const FovTask *task;
  const real *values; /**< parameters */
  int64_t cases;      /**< number of them, from the split's first on; at most all */
  int beam;           /**< width of a beam search of a task that fov_beam_check accepts, at most
                           FOV_SHARD, with one rollout; 0, 1: none */
  int rollouts;       /**< M: 1 is one deterministic rollout; more are sampled, and their
                           log-probabilities averaged (Ba et al. 2015) */
  double progress;    /**< share of the training that is done, for the policy's schedules */
  uint64_t seed;      /**< of the cases' clutter, so that the same seed is the same test set, and of
                           what policies draw */
  FovSplit split;     /**< which the environment was made for */
  int threads;        /**< at most the arenas of the workspace */
  uint8_t *wrong;     /**< [cases], filled with 1 for a case with a wrong answer, else 0; NULL: not
                           wanted; of moves and vectors only with one rollout */
  int32_t *lengths;   /**< [cases], filled with the number of symbols that a case shows; NULL: not
                          wanted, as of images */
  FovRanks *ranks;    /**< which divide the cases, and all get the result; NULL: one */
} FovEvalRequest;

/** Plays every case; the result depends neither on the number of threads nor of ranks. Collective
 * if there are several of these. Fails if memory would not suffice. */
FovStatus fov_evaluate(FovEvalResult *result, const FovEvalRequest *request,
                       FovWorkspace *workspace);

#endif
