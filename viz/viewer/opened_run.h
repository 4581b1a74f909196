/** What the viewer has opened: a trace, or a run with snapshots of its training and its curve. */
#ifndef FOV_VIZ_VIEWER_OPENED_RUN_H
#define FOV_VIZ_VIEWER_OPENED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "record/progress.h"
#include "record/trace.h"

enum { FOV_OPENED_RUN_NAME = 64 };

/** Identifies one version of a file: if any of these differs, the file has changed. */
typedef struct FovStamp {
  ino_t inode;
  off_t size;
  struct timespec time;
} FovStamp;

typedef struct FovOpenedRun {
  char *path;                     /**< as given */
  char name[FOV_OPENED_RUN_NAME]; /**< the last part of it, for titles and file names */
  bool is_run;                    /**< a run directory; otherwise a single trace */
  FovTrace trace;                 /**< the trace that is shown; no episodes if there is none yet */
  int64_t *updates;  /**< [snapshots]: of the training, ascending; one for a single trace */
  size_t snapshots;  /**< 0 if there is no trace yet */
  size_t main;       /**< the snapshot of trace.safetensors or of the single trace */
  size_t snapshot;   /**< the one that is shown */
  FovProgress *rows; /**< [row_count]: of progress.csv */
  size_t row_count;
  FovStamp main_stamp, history_stamp, progress_stamp;
} FovOpenedRun;

/**
 * Opens a trace or a run directory. A run without a trace yet can be opened: a later poll reads the
 * trace. The curve is always read by a poll, so that a damaged progress.csv does not prevent
 * opening the episodes. On failure nothing is open.
 */
FovStatus fov_opened_run_open(FovOpenedRun *opened, const char *path);
void fov_opened_run_finish(FovOpenedRun *opened);

/** Shows a snapshot of the training; on failure nothing changes. */
FovStatus fov_opened_run_show(FovOpenedRun *opened, size_t snapshot);

/**
 * Looks for new traces and rows. If the main trace is shown, a new one replaces it.
 *
 * trace: set if another trace is shown now; rows: set if the curve or the list of snapshots has
 * changed. A file that cannot be read fails once and changes nothing; it is read again after its
 * next change.
 */
FovStatus fov_opened_run_poll(bool *trace, bool *rows, FovOpenedRun *opened);

#endif
