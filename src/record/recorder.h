/** Records episodes of an agent as a trace. */
#ifndef FOV_RECORD_RECORDER_H
#define FOV_RECORD_RECORDER_H

#include "learn/evaluate.h"
#include "record/trace.h"

typedef struct FovRecordRequest {
  const FovTask *task;
  const real *values;
  int64_t update; /**< of the training, for the record */
  int episodes;   /**< the first cases of the split, at most all */
  int wrong;      /**< after them, the first so many of the other cases that are answered wrongly or
                       miss their goal */
  double room; /**< bytes that the trace may have, if more than one episode fits; 0: any number */
  double progress; /**< share of the training that is done, for the policy's schedules */
  bool sampled;    /**< sample the choices; otherwise they are deterministic */
  int repeat;      /**< 0 … 1023: which of many sampled rollouts of the same cases */
  uint64_t seed;
  FovSplit split; /**< which the environment was made for */
} FovRecordRequest;

/** Fails if the trace would take more memory than the machine has; nothing is played. */
FovStatus fov_record_check(const FovRecordRequest *request);

/** Plays the episodes and fills a trace, which the caller finishes. It has fewer episodes than
 * asked for if the split has fewer cases or fewer wrong answers. */
FovStatus fov_record_trace(FovTrace *trace, const FovRecordRequest *request,
                           FovWorkspace *workspace);

#endif
