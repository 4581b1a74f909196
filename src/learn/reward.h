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
  bool labelled; /**< only answers with labels have it: moves and vectors have no probabilities */
  bool compares; /**< it reads `before` */
  /** earned: what the environment gave. log_probabilities: [A], the agent's. before: [A], those of
   * its answer to the same question before this one; NULL: this is the first. */
  real (*value)(real earned, const real *log_probabilities, const real *before, int label,
                int actions);
} FovReward;

/** All rewards, NULL-terminated. */
extern const FovReward *const fov_rewards[];

#endif
