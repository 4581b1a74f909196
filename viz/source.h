/** What is opened for viewing: a trace, or a run with its training's history and curve. */
#ifndef FOV_VIZ_SOURCE_H
#define FOV_VIZ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "record/progress.h"
#include "record/trace.h"

enum { FOV_SOURCE_NAME = 64 };

/** A file as it was when it was last looked at; another one is there when any of this differs. */
typedef struct FovStamp {
  ino_t inode;
  off_t size;
  struct timespec time;
} FovStamp;

typedef struct FovSource {
  char *path;                 /**< as given */
  char name[FOV_SOURCE_NAME]; /**< the last part of it, for titles and file names */
  bool run;                   /**< a run directory; else a lone trace */
  FovTrace trace;             /**< what is shown; no episodes if there is no trace yet */
  int64_t *updates;           /**< [stages]: of the training, ascending; of a lone trace, one */
  size_t stages;              /**< 0 if there is no trace yet */
  size_t main;                /**< the stage of trace.safetensors or of the lone trace */
  size_t stage;               /**< the one that is shown */
  FovProgress *rows;          /**< [row_count]: of progress.csv */
  size_t row_count;
  FovStamp main_stamp, history_stamp, progress_stamp;
} FovSource;

/**
 * Opens a trace or a run directory. A run that is training and has no trace yet is opened all the
 * same: its trace comes with a later poll, and so does the curve of any run, lest a damaged one
 * keep the episodes from being seen. On failure nothing is open.
 */
FovStatus fov_source_open(FovSource *source, const char *path);
void fov_source_finish(FovSource *source);

/** Shows a stage of the training; on failure the one before stays. */
FovStatus fov_source_show(FovSource *source, size_t stage);

/**
 * Looks for new traces and rows. Who shows the main trace goes on with the new one.
 *
 * trace: whether another is shown now; rows: whether the curve or the list of stages has
 * changed. A file that cannot be read fails once, what was there before stays, and the next change
 * of the file is tried again.
 */
FovStatus fov_source_poll(bool *trace, bool *rows, FovSource *source);

#endif
