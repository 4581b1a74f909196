/** Records episodes of an agent as a trace. */
#ifndef FOV_RECORD_RECORDER_H
#define FOV_RECORD_RECORDER_H

#include "learn/evaluate.h"
#include "record/trace.h"

typedef struct FovRecordRequest {
  const FovTask *task;
  const real *values;
  int64_t update;  /**< of the training, to be told in the trace */
  int episodes;    /**< the first cases of the split, at most all */
  double room;     /**< bytes that the trace may have, but for one episode; 0: any number */
  bool predict;    /**< the agent has a trained baseline head */
  double progress; /**< share of training: what σ samples have */
  bool sampled;    /**< sample the policy rather than follow its mean */
  uint64_t seed;
  FovSplit split; /**< which the environment was made for */
} FovRecordRequest;

/** Fails if the trace would take more memory than the machine has; nothing is played. */
FovStatus fov_record_check(const FovRecordRequest *what);

/** Plays the episodes and fills a trace, which the caller finishes. */
FovStatus fov_record_trace(FovTrace *trace, const FovRecordRequest *what, FovWorkspace *workspace);

#endif
