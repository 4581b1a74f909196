/** Beam search: several answers to a sequence are followed at a time (Sutskever et al. 2014). */
#ifndef FOV_LEARN_ROLLOUT_BEAM_H
#define FOV_LEARN_ROLLOUT_BEAM_H

#include "learn/rollout/rollout.h"

/** Fails unless the task's answers are sequences with an end, which the agent reads as the answers
 * before, and it looks as often before each. */
FovStatus fov_beam_check(const FovTask *task);

/** What a search found for a case. */
typedef struct FovBeamed {
  const int *answers; /**< [length]: the last is the end, unless there was no room for it */
  const int *labels;  /**< [count]: the right ones; the last is the end */
  int length, count;
  double log_p;      /**< the log-probability of all its answers */
  const void *shown; /**< the observation at the end */
} FovBeamed;

/**
 * Answers cases with the best of `width` sequences: of those that have ended, the one with the
 * highest mean log-probability of a symbol. All arrays are in the tape's arena.
 *
 * found: [lanes]; plan: its lanes, cases and generators, which stay as they are; choices are
 * deterministic.
 */
void fov_beam_search(FovBeamed *found, FovTape *tape, const FovTask *task, const FovPlan *plan,
                     int width);

#endif
