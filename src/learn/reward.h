/**
 * The reward's contract: what an answer earns.
 *
 * A reward is one const struct in one file, reward/<name>.c, and one line in tables.c.
 */
#ifndef FOV_LEARN_REWARD_H
#define FOV_LEARN_REWARD_H

#include "base/option.h"
#include "base/real.h"

typedef struct FovReward {
  FovPlugin plugin;
  bool labelled; /**< it needs a label: neither moves nor vectors have one */
  bool compares; /**< it reads `before` */
  /** earned: what the environment gave. log_probabilities: [A], the agent's; NULL: the answer is a
   * vector. before: [A], those of its answer to the same question before this one; NULL: this is
   * the first. label: 0 … A−1; −1 of moves and vectors. actions: A. */
  real (*value)(real earned, const real *log_probabilities, const real *before, int label,
                int actions);
} FovReward;

/** All rewards, NULL-terminated. */
extern const FovReward *const fov_rewards[];

#endif
