/** A run directory: the files that a training writes. */
#ifndef FOV_RECORD_RUN_H
#define FOV_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

/** The files of a run. */
#define FOV_RUN_CONFIG "config.ini"       /**< the resolved configuration */
#define FOV_RUN_JSON "run.json"           /**< version, host, libraries, seed, outcome */
#define FOV_RUN_LOG "log.txt"             /**< messages, with the time */
#define FOV_RUN_PROGRESS "progress.csv"   /**< one row an evaluation */
#define FOV_RUN_LAST "last.safetensors"   /**< the checkpoint to resume from */
#define FOV_RUN_BEST "best.safetensors"   /**< weights of the best validation loss */
#define FOV_RUN_TRACE "trace.safetensors" /**< episodes of the newest evaluation */

#define FOV_SWEEP_PLAN "sweep.ini" /**< the plan of a sweep, in the folder that has its runs */

/** Bytes of `name`, of which there are `length`, without a final "-s<seed>": runs whose names
 * differ in nothing else are seeds of one experiment. */
size_t fov_run_stem(const char *name, size_t length);

/** An open run, locked by one process. */
typedef struct FovRun {
  char dir[FOV_PATH_SIZE / 2];
  int log;      /**< descriptor of log.txt, locked; −1: not open */
  bool resumed; /**< it has a checkpoint to resume from */
} FovRun;

/** A setting that a resumed training has changed. */
typedef struct FovRunChange {
  char key[64], from[64], to[64];
  int64_t update; /**< done before the change */
} FovRunChange;

enum { FOV_MAX_RUN_CHANGES = 8 };

/** Contents of run.json that its writer does not find out itself. */
typedef struct FovRunFacts {
  const char *command; /**< as typed */
  int64_t seed;
  int threads, ranks;  /**< threads of each rank */
  const char *outcome; /**< "running", "finished", "interrupted" or the error */
  const FovRunChange *changes;
  int change_count;
} FovRunFacts;

/**
 * Fails where fov_run_open would fail because of what `dir` contains: files that are not a run's, a
 * run although not `resume`, a run without its last checkpoint. Changes nothing.
 */
FovStatus fov_run_check(const char *dir, bool resume);

/**
 * Opens `dir` to train in it; creates it and its parents if they are missing.
 *
 * A run that has a checkpoint is only opened if `resume`; one that has ended before its first
 * starts from the beginning. Fails if another process has it open, if it has lost its checkpoint,
 * or if it has files but no run.
 */
FovStatus fov_run_open(FovRun *run, const char *dir, bool resume);

/** Releases the run. */
void fov_run_close(FovRun *run);

/** Fails if log.txt is no longer the file that is open and locked: the run was moved, removed or
 * replaced, and its paths lead to files of others. */
FovStatus fov_run_check_own(const FovRun *run);

/** Resolves `source`: a folder to the file `name` in it, anything else to itself. path:
 * [FOV_PATH_SIZE]. */
FovStatus fov_run_find(char *path, const char *source, const char *name);

/** The same, but fails if a folder does not have the file: the message names a sweep, or a
 * folder that is no run. */
FovStatus fov_run_expect(char *path, const char *source, const char *name);

/** Writes `dir`/`name` into path [FOV_PATH_SIZE] and returns path. */
char *fov_run_path(char *path, const FovRun *run, const char *name);

/** Appends one line of printable text to log.txt, after the time (UTC). */
FovStatus fov_run_log(const FovRun *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Whether run.json of a run directory has the outcome "finished". */
bool fov_run_is_finished(const char *dir);

/** Replaces run.json. Its object "changed" has the last change of each setting, also those of
 * earlier parts of a resumed run. */
FovStatus fov_run_describe(const FovRun *run, const FovRunFacts *facts);

#endif
