/** A trained agent that is evaluated on all cases of a split, with what that costs. */
#ifndef FOV_EXPERIMENT_TESTED_H
#define FOV_EXPERIMENT_TESTED_H

#include "experiment/trained.h"
#include "learn/evaluate.h"
#include "record/outcomes.h"

typedef struct FovTested {
  FovEvalResult result;
  double low, high;     /**< Wilson's 95 % interval of the share of wrong cases */
  double milliseconds;  /**< processor time of a rollout of one case, played FOV_SHARD at a
                             time, without drawing images; it varies */
  FovOutcomes outcomes; /**< `wrong` is NULL where they are not wanted */
  int32_t *lengths;     /**< [cases]: symbols that a case shows; NULL: not wanted */
} FovTested;

/** What is wanted of each case, as bits. */
typedef enum FovTestedCases {
  FOV_TESTED_WRONG = 1 << 0,   /**< several rollouts of moves or vectors do not have it */
  FOV_TESTED_LENGTHS = 1 << 1, /**< of sequences of symbols */
} FovTestedCases;

/** Evaluates. Finished by fov_tested_finish, also after a failure. */
FovStatus fov_tested_run(FovTested *tested, const FovTrained *trained, int rollouts, int threads,
                         FovTestedCases wanted);
void fov_tested_finish(FovTested *tested);

#endif
