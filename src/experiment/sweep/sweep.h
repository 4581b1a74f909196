/**
 * A sweep: the runs of a plan, trained in child processes that share one folder.
 *
 * The folder has the plan (sweep.ini, experiment.ini, those of rows), one run directory for each
 * configuration and seed ("c03-s1"), results.csv, log.txt, and locks in `claims`. Whoever holds a
 * run's claim works on it; the kernel releases the claims of a process that dies. So any number of
 * processes may work on one folder, and a sweep that was killed continues where it stood.
 *
 * What a run has reached is read from its own files: valid.safetensors, its outcomes on validation,
 * exists once it is complete.
 */
#ifndef FOV_EXPERIMENT_SWEEP_SWEEP_H
#define FOV_EXPERIMENT_SWEEP_SWEEP_H

#include <math.h>
#include <signal.h>

#include "experiment/sweep/plan.h"
#include "record/run.h"

enum { FOV_SWEEP_REASON = 256 };

typedef enum FovSweepState {
  FOV_SWEEP_WAITING,
  FOV_SWEEP_RUNNING,  /**< a child of this process trains or tests it */
  FOV_SWEEP_PAUSED,   /**< with halving: it may be continued, or is stopped for good */
  FOV_SWEEP_FINISHED, /**< trained and validated */
  FOV_SWEEP_DIVERGED, /**< `reason`; it is not tried again */
  FOV_SWEEP_FAILED,   /**< `reason`; other processes, and the next start, try it again */
} FovSweepState;

/** One configuration with one seed. */
typedef struct FovSweepRun {
  char name[FOV_SWEEP_NAME]; /**< of its run directory */
  int configuration;
  int64_t seed;
  bool left_out; /**< it is of a row that is not to be worked on */
  FovSweepState state;
  double progress;                      /**< of its training, 0 … 1 */
  double valid_error, test_error;       /**< fractions; NaN: not known */
  double rollouts_error;                /**< test error of the plan's rollouts, if it is more than
                                             one; NaN: not known */
  double answer_error, alignment_error; /**< of the test (outcomes.h); NaN: not known */
  double seconds;                       /**< of training */
  int64_t episodes, parameters;         /**< trained on; learned. 0: not known */
  double mflop;                         /**< of a rollout; NaN: not known */
  double input_numbers, input_pixels;   /**< of a rollout (outcomes.h); NaN: not known */
  char reason[FOV_SWEEP_REASON]; /**< DIVERGED, FAILED, or FINISHED with a failed test: one line */
} FovSweepRun;

/** Whether a run has all of its tests. rollouts: of the plan. */
static inline bool fov_sweep_is_tested(const FovSweepRun *run, int rollouts) {
  return isfinite(run->test_error) && (rollouts == 1 || isfinite(run->rollouts_error));
}

/** How a sweep stands. */
typedef struct FovSweepReport {
  const FovSweepPlan *plan;
  const FovSweepRun *runs; /**< [count], by configuration and seed */
  int count;
  const FovSweepRun *ended; /**< the run that has just ended; NULL: none */
  int jobs, threads;        /**< runs at a time; threads of each */
  int chosen;               /**< the configuration with the lowest mean validation error; −1: no
                                 configuration is complete */
  double chosen_error;      /**< that mean; infinite without one */
  bool testing;             /**< training is over */
  double seconds;           /**< since this process began */
  double bytes; /**< memory of `jobs` runs of the first configuration, or of the row that
                     needs most */
} FovSweepReport;

/** Receives a report at the start, several times a second, and whenever a run has ended. */
typedef struct FovSweepReporter {
  void (*report)(void *context, const FovSweepReport *report); /**< NULL: nothing is reported */
  void *context;
} FovSweepReporter;

typedef struct FovSweepRequest {
  const char *file;           /**< a sweep or an experiment; NULL: the plan in `dir` */
  const char *const *changes; /**< [change_count] key=value, applied in order */
  int change_count;
  const char *dir;
  const char *rows;    /**< names of the rows to work on, with commas between them; NULL: all */
  int jobs;            /**< runs at a time, at most FOV_MAX_THREADS; 0: as many as processors and
                            memory allow */
  int threads;         /**< of a run; 0: the processors, divided among the jobs */
  const char *command; /**< as typed, for the log */
  const volatile sig_atomic_t *interrupted; /**< not 0: save all runs and stop; NULL: never */
  FovSweepReporter reporter;
} FovSweepRequest;

typedef struct FovSweep FovSweep;

/** Reads the plan and checks all of it; a folder with another plan is refused. Writes nothing. The
 * process must not have worker threads yet. The request must outlive it. Destroyed also after a
 * failure. */
FovStatus fov_sweep_create(FovSweep **sweep, const FovSweepRequest *request);
void fov_sweep_destroy(FovSweep *sweep);

/** How it stands, without running anything. */
FovSweepReport fov_sweep_report(const FovSweep *sweep);

/** Creates the folder, and writes the plan and results.csv, for other processes that do the work.
 */
FovStatus fov_sweep_write(FovSweep *sweep);

/** Counts the runs that are left to train or to test; with halving, those that may be continued. */
FovStatus fov_sweep_left(int *left, FovSweep *sweep);

/** Runs everything that is left and that no other process works on. Runs that fail do not stop the
 * others and are no failure of the sweep. */
FovStatus fov_sweep_run(FovSweep *sweep);

/** The command that continues it: the folder keeps neither --test nor --rows. */
void fov_sweep_continuation(char *text, size_t size, const FovSweep *sweep);

/** Appends a line to log.txt, after the time (UTC); after fov_sweep_write or fov_sweep_run. */
FovStatus fov_sweep_log(const FovSweep *sweep, const char *line);

#endif
