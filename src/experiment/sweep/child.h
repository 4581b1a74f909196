/** A child process that trains or tests one run of a sweep. */
#ifndef FOV_EXPERIMENT_SWEEP_CHILD_H
#define FOV_EXPERIMENT_SWEEP_CHILD_H

#include <sys/types.h>

#include "experiment/sweep/sweep.h"

/** What a child reports to its parent, in memory that both share. */
typedef struct FovSweepSlot {
  double progress, valid_error; /**< as they change */
  bool paused;                  /**< after the evaluation at `until` */
  double bytes;                 /**< of a probe: memory that a run needs */
  FovStatus status;             /**< how it ended */
  char message[FOV_SWEEP_REASON];
} FovSweepSlot;

typedef enum FovSweepWork {
  FOV_SWEEP_PROBE, /**< prepares the training, without a run directory, and measures its memory */
  FOV_SWEEP_TRAIN, /**< trains to the end and validates */
  FOV_SWEEP_TEST,  /**< tests the trained run */
} FovSweepWork;

typedef struct FovSweepChild {
  const FovSweepPlan *plan;
  const FovSweepRun *run;
  const char *dir; /**< of the sweep */
  const char *command;
  FovSweepWork work;
  int threads;
  double until; /**< TRAIN: share of the training after which it pauses; 1: the end */
  FovSweepSlot *slot;
  int claim;  /**< a descriptor that the child keeps open; −1: none */
  int errors; /**< descriptor of a file that gets what the child prints on stderr */
} FovSweepChild;

/** Fails if the plan wants several rollouts of moves or vectors. */
FovStatus fov_sweep_check_rollouts(const FovSweepPlan *plan, const FovEnv *env);

/** Starts a child. It ends if its parent dies, and on SIGTERM, after it has saved its training. */
FovStatus fov_sweep_child_start(pid_t *process, const FovSweepChild *child);

#endif
