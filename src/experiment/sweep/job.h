/** A child process of a sweep, as its parent sees it. */
#ifndef FOV_EXPERIMENT_SWEEP_JOB_H
#define FOV_EXPERIMENT_SWEEP_JOB_H

#include "experiment/sweep/child.h"

/** Zero-initialised, it has no process. */
typedef struct FovSweepJob {
  pid_t process; /**< 0: none */
  FovSweepChild child;
} FovSweepJob;

/** Starts a child; its `errors` are set here. The job owns child.claim. */
FovStatus fov_sweep_job_start(FovSweepJob *job, const FovSweepChild *child);

/**
 * Whether the child has ended; if `wait`, it is waited for. ended: its status, or FOV_ERR_IO if it
 * crashed; the message is in its slot. The job has no process then; fov_sweep_job_release frees it.
 */
bool fov_sweep_job_has_ended(FovStatus *ended, FovSweepJob *job, bool wait);

/** Releases the claim of a job that was started. It has no process afterwards. */
void fov_sweep_job_release(FovSweepJob *job);

#endif
