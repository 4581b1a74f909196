/** Plays many episodes, a shard at a time, and passes each shard to a function. */
#ifndef FOV_EXPLAIN_EACH_H
#define FOV_EXPLAIN_EACH_H

#include <stdatomic.h>

#include "explain/method.h"

/** Which episodes of which agent are explained. */
typedef struct FovExplainRequest {
  const FovTask *task;
  const real *values;    /**< parameters */
  const int64_t *cases;  /**< [count] */
  int64_t count;         /**< E, 1 or more */
  uint64_t seed;         /**< of the cases, as in an evaluation, and of noise */
  uint64_t weights_seed; /**< of the random weights of a check: not that of the training */
  FovSplit split;
  double progress; /**< share of the training that is done, for the policy's schedules */
  FovTarget target;
  bool through; /**< soft weights and windows follow the state instead of being held */
  int threads;
  const atomic_bool *stop; /**< set by another thread: what is left is skipped, and the result means
                                nothing; NULL: never */
} FovExplainRequest;

/** Work on one shard, whose lanes are episodes first, first + 1 … of the request. What shards write
 * must not overlap. */
typedef void FovExplainWork(void *context, const FovExplained *explained, int64_t first);

/** Fails if the agent lacks the target, if `through` is set and places have no gradient, if the
 * environment changes symbols during an episode, or if a look shows another picture than the one
 * that the agent's context saw. */
FovStatus fov_explain_check(const FovExplainRequest *request);

/** Does the work on all episodes. The result does not depend on the threads. `maps`: how many
 * numbers for each pixel the work takes, in the arena of its shard; `room`: bytes that the caller
 * needs besides. Fails as fov_explain_check does, and if memory would not suffice. */
FovStatus fov_explain_each(const FovExplainRequest *request, FovExplainWork *work, void *context,
                           size_t maps, double room);

/** Which episodes are wanted of the first `count` cases. */
typedef struct FovExplainFilter {
  int64_t count;
  bool wrong; /**< only those that were answered wrongly or missed their goal */
  int label;  /**< only those with this label at the target's time or next; −1: all */
} FovExplainFilter;

/** Writes the numbers of these cases to *cases, which the caller frees; NULL after a failure. Fails
 * if there are none. request: its own cases are not read. */
FovStatus fov_explain_select(int64_t **cases, int64_t *found, const FovExplainRequest *request,
                             const FovExplainFilter *filter);

#endif
