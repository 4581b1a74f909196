/** What is opened for viewing: a trace, or a run with its training's history and curve. */
#ifndef FOV_VIZ_VIEWER_OPENED_RUN_H
#define FOV_VIZ_VIEWER_OPENED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "record/progress.h"
#include "record/trace.h"

enum { FOV_OPENED_RUN_NAME = 64 };

/** A file as it was when it was last looked at; another one is there when any of this differs. */
typedef struct FovStamp {
  ino_t inode;
  off_t size;
  struct timespec time;
} FovStamp;

typedef struct FovOpenedRun {
  char *path;                     /**< as given */
  char name[FOV_OPENED_RUN_NAME]; /**< the last part of it, for titles and file names */
  bool is_run;                    /**< a run directory; else a lone trace */
  FovTrace trace;                 /**< what is shown; no episodes if there is no trace yet */
  int64_t *updates;  /**< [snapshots]: of the training, ascending; of a lone trace, one */
  size_t snapshots;  /**< 0 if there is no trace yet */
  size_t main;       /**< the snapshot of trace.safetensors or of the lone trace */
  size_t snapshot;   /**< the one that is shown */
  FovProgress *rows; /**< [row_count]: of progress.csv */
  size_t row_count;
  FovStamp main_stamp, history_stamp, progress_stamp;
} FovOpenedRun;

/**
 * Opens a trace or a run directory. A run that is training and has no trace yet is opened all the
 * same: its trace comes with a later poll, and so does the curve of any run, lest a damaged one
 * keep the episodes from being seen. On failure nothing is open.
 */
FovStatus fov_opened_run_open(FovOpenedRun *opened, const char *path);
void fov_opened_run_finish(FovOpenedRun *opened);

/** Shows a snapshot of the training; on failure the one before stays. */
FovStatus fov_opened_run_show(FovOpenedRun *opened, size_t snapshot);

/**
 * Looks for new traces and rows. Who shows the main trace goes on with the new one.
 *
 * trace: whether another is shown now; rows: whether the curve or the list of snapshots has
 * changed. A file that cannot be read fails once, what was there before stays, and the next change
 * of the file is tried again.
 */
FovStatus fov_opened_run_poll(bool *trace, bool *rows, FovOpenedRun *opened);

#endif
