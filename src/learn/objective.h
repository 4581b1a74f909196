/**
 * The objective's contract: from a rollout to gradients.
 *
 * An objective is one const struct in one file, objective/<name>.c, and one line in tables.c. It
 * adds dL/dy to any var y of the rollout (log π of a choice, a prediction, a loss of logits); the
 * backward pass then carries it on to the parameters. L is a mean over the batch.
 */
#ifndef FOV_LEARN_OBJECTIVE_H
#define FOV_LEARN_OBJECTIVE_H

#include "learn/rollout/rollout.h"

enum { FOV_OBJECTIVE_LOSSES = 8 };

/** Weights of the losses of an episode's answers. */
typedef struct FovAnswerWeights {
  double given; /**< of an answer that is given */
  double early; /**< of what would be answered after an earlier glimpse; 0: not trained */
} FovAnswerWeights;

/** What an objective is computed from. */
typedef struct FovObjectiveInput {
  const FovTask *task;
  const FovRollout *rollout;
  const FovRollout *before; /**< the rollout that this one repeats, played with the parameters that
                                 the batch began with; NULL: none, this is the first */
  const FovRollout
      *deterministic;    /**< of the same lanes and starts; NULL: the baseline needs none */
  double average_return; /**< over earlier updates */
  int batch;             /**< episodes of the optimiser's step, in all its shards */
  int copies;            /**< K: lanes side by side that show the same image */
  FovAnswerWeights answers;
} FovObjectiveInput;

typedef struct FovObjective {
  FovPlugin plugin;
  bool predicts;   /**< it takes b_t for a prediction, which only a learned baseline is */
  bool enumerates; /**< it sums over every sequence of choices of a case: the case's K lanes play
                        one each, in the order of their numbers */
  bool likelihood; /**< it weights the K lanes of a case by the likelihood of their answers. They
                        answer and end together; there are no rewards and no baseline */
  /** Passes over a batch: the lanes play first, then each pass repeats their choices and makes a
   * step of the optimiser for each of `parts` parts of the shards. NULL: they play once, and one
   * step follows. */
  int (*passes)(int *parts, const void *options);
  const char *const *losses; /**< names of what it logs, NULL-terminated; at most
                                  FOV_OBJECTIVE_LOSSES */
  /** Adds the gradients of the shard's rollout, and the sums over its episodes to losses, in the
   * order of their names. */
  void (*backward)(FovTape *tape, double *losses, const FovObjectiveInput *input,
                   const void *options);
} FovObjective;

/** All objectives, NULL-terminated. */
extern const FovObjective *const fov_objectives[];

#endif
