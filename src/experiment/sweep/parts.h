/** A sweep in progress: what the files that open, run and report it share. */
#ifndef FOV_EXPERIMENT_SWEEP_PARTS_H
#define FOV_EXPERIMENT_SWEEP_PARTS_H

#include "base/team.h"
#include "experiment/sweep/halving.h"
#include "experiment/sweep/job.h"

enum { FOV_SWEEP_JOBS = FOV_MAX_THREADS }; /**< runs at a time, at most */

struct FovSweep {
  const FovSweepRequest *request;
  FovSweepPlan plan;
  FovEnv train, valid; /**< of run `first`: its children share their data */
  FovSweepRun *runs;
  bool *tried;       /**< [count]: this process has worked on the run, finished or not */
  int64_t *episodes; /**< [configurations]: of a whole training */
  int count;
  int first; /**< the first run that is not left out */
  int times; /**< evaluations of a training, at the least */
  FovSweepJob jobs[FOV_SWEEP_JOBS];
  FovSweepSlot *slots; /**< [FOV_SWEEP_JOBS], shared with the children */
  int most, threads;   /**< runs at a time; threads of each */
  double bytes;        /**< of `most` runs */
  FovHalving *halving; /**< NULL: every run is trained to its end */
  FovRun log;
  bool testing;              /**< training is over */
  int tests[FOV_SWEEP_ROWS]; /**< testing: the configuration of each row that is tested; −1: none */
  double started;
};

/* sweep.c */

/** Reads state, progress and errors from the files of a run: fov_sweep_scan. */
void fov_sweep_refresh(const FovSweep *sweep, FovSweepRun *run);

/** Starts a child. until: as in FovSweepChild. */
FovStatus fov_sweep_start(FovSweep *sweep, FovSweepJob *job, FovSweepWork work, int run, int claim,
                          double until);

/** Ends all children: each saves its run. Fails if one could not. */
FovStatus fov_sweep_stop(FovSweep *sweep);

/* report.c */

/** The best configuration of a row, of all if there are no rows; −1: none is complete. */
int fov_sweep_choose_of_row(const FovSweep *sweep, int row);

/** Rows; without any, all configurations are one. */
int fov_sweep_count_rows(const FovSweep *sweep);

/** Reports to the request's reporter. ended: the run that has just ended; NULL: none */
void fov_sweep_notify(const FovSweep *sweep, const FovSweepRun *ended);

#endif
