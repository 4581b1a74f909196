/** A training under way: an experiment in its run directory. */
#ifndef FOV_EXPERIMENT_SESSION_H
#define FOV_EXPERIMENT_SESSION_H

#include <signal.h>

#include "experiment/report.h"
#include "record/run.h"
#include "record/tfevents.h"

/** A training as requested. With several ranks, every one makes the same request, and all functions
 * are collective; the first alone reads the run, writes its files and has a reporter. */
typedef struct FovTrainRequest {
  const char *file;           /**< the experiment; NULL: the configuration of the run `dir` */
  const char *text;           /**< the contents of `file`, which is given; NULL: they are read */
  const char *dir;            /**< the run directory; NULL: runs/EXPERIMENT-sSEED, of `file` */
  const char *const *changes; /**< [change_count] key=value, applied in order */
  int change_count;
  bool resume;
  int threads;
  const char *command;                      /**< as typed, for the log */
  const volatile sig_atomic_t *interrupted; /**< not 0, on any rank: save and stop; NULL: never */
  FovRanks *ranks;                          /**< NULL: one */
  FovReporter reporter;
} FovTrainRequest;

/** Like its experiment, it stays where it was prepared. */
typedef struct FovSession {
  const FovTrainRequest *request;
  FovExperiment experiment;
  FovEnv train_env, valid_env;
  FovTraining training;
  FovTrainer *trainer;
  FovRun run;
  FovTfevents *events;
  FovBest best;
  int kept;     /**< parameters of heads that train.init does not give */
  char *config; /**< resolved, as text */
  FovRunChange changes[FOV_MAX_RUN_CHANGES]; /**< of settings, by this resumption */
  int change_count;
  bool moved;             /**< the data have other names than in the checkpoint */
  bool outdated;          /**< the checkpoint is to be written again before the first update */
  int64_t first_update;   /**< where this part started */
  double started;         /**< this part, on the monotonic clock */
  double earlier;         /**< seconds of earlier parts, from progress.csv */
  int64_t timed_glimpses; /**< glimpses since the last evaluation that an earlier part made */
  double busy_seconds;    /**< of updates since the last evaluation */
} FovSession;

/** Reads, resolves and builds the experiment: everything that can be wrong with it is found here,
 * before a file is written. Ranks that differ in program, processor, settings or data are refused.
 * The request must outlive the session. Finished by fov_session_finish, also after a failure. */
FovStatus fov_session_prepare(FovSession *session, const FovTrainRequest *request);

/** Opens the run directory: begins, or continues from its last checkpoint. A run that is resumed
 * without an experiment file may have another train.rate, .clip, .episodes and .patience than its
 * checkpoint; any other difference is an error that names the first. */
FovStatus fov_session_open(FovSession *session);

/** Trains to the end, or until interrupted; run.json and log.txt record how it ended. */
FovStatus fov_session_train(FovSession *session);

void fov_session_finish(FovSession *session);

/** All of these, one after the other. */
FovStatus fov_session_run(const FovTrainRequest *request);

#endif
