#include "viz/viewer/opened_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "experiment/trained.h"
#include "record/history.h"
#include "viz/scene/scene.h"

/** The path of the newest trace of a run, or of the single trace. path: [FOV_PATH_SIZE] */
static void main_path(char *path, const FovOpenedRun *opened) {
  snprintf(path, FOV_PATH_SIZE, opened->is_run ? "%s/trace.safetensors" : "%s", opened->path);
}

static FovStamp stamp_of(const char *path) {
  struct stat info = {0};
  if (stat(path, &info) != 0) return (FovStamp){0};
  return (FovStamp){info.st_ino, info.st_size, info.st_mtim};
}

/** Updates a stamp; whether the file has changed. */
static bool changed(FovStamp *stamp, const char *path) {
  FovStamp now = stamp_of(path);
  bool same = now.inode == stamp->inode && now.size == stamp->size &&
              now.time.tv_sec == stamp->time.tv_sec && now.time.tv_nsec == stamp->time.tv_nsec;
  *stamp = now;
  return !same;
}

static FovStatus read_trace(FovTrace *trace, const char *path) {
  FOV_TRY(fov_trace_read(trace, path));
  FovStatus status = fov_scene_check(trace, path);
  if (status != FOV_OK) fov_trace_finish(trace);
  return status;
}

/** Inserts the update of the main trace into those of the history, unless it is there. */
static size_t insert(int64_t *updates, size_t *count, int64_t update) {
  size_t place = 0;
  while (place < *count && updates[place] < update) place++;
  if (place == *count || updates[place] != update) {
    memmove(updates + place + 1, updates + place, (*count - place) * sizeof *updates);
    (*count)++;
  }
  updates[place] = update;
  return place;
}

/** The snapshot with the update of the shown trace, or the last one before it. */
static size_t find_snapshot(const FovOpenedRun *opened) {
  size_t snapshot = 0;
  while (snapshot + 1 < opened->snapshots && opened->updates[snapshot + 1] <= opened->trace.update)
    snapshot++;
  return snapshot;
}

static FovStatus list_snapshots(FovOpenedRun *opened, int64_t main_update) {
  int64_t *updates = NULL;
  size_t count = 0;
  if (opened->is_run) FOV_TRY(fov_history_list(&updates, &count, opened->path));
  int64_t *all = realloc(updates, (count + 1) * sizeof *all);
  if (!all) {
    free(updates);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its history", opened->path);
  }
  free(opened->updates);
  opened->updates = all;
  opened->main = insert(all, &count, main_update);
  opened->snapshots = count;
  return FOV_OK;
}

/** Reads a new main trace and shows it, unless another snapshot is shown. */
static FovStatus take_main(bool *shown, FovOpenedRun *opened) {
  char path[FOV_PATH_SIZE];
  FovTrace trace;
  main_path(path, opened);
  bool follow = opened->snapshots == 0 || opened->snapshot == opened->main;
  FOV_TRY(read_trace(&trace, path));
  FovStatus status = list_snapshots(opened, trace.update);
  if (status == FOV_OK && follow) {
    fov_trace_finish(&opened->trace);
    opened->trace = trace;
    *shown = true;
  } else {
    fov_trace_finish(&trace);
  }
  opened->snapshot = find_snapshot(opened);
  return status;
}

static FovStatus read_rows(FovOpenedRun *opened, const char *path) {
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  free(opened->rows);
  opened->rows = rows;
  opened->row_count = count;
  return FOV_OK;
}

/** Looks for changes of the history and of progress.csv. */
static FovStatus poll_run(bool *rows, FovOpenedRun *opened) {
  char path[FOV_PATH_SIZE];
  snprintf(path, sizeof path, "%s/" FOV_HISTORY, opened->path);
  if (changed(&opened->history_stamp, path) && opened->snapshots > 0) {
    *rows = true;
    FOV_TRY(list_snapshots(opened, opened->updates[opened->main]));
    opened->snapshot = find_snapshot(opened);
  }
  snprintf(path, sizeof path, "%s/progress.csv", opened->path);
  if (!changed(&opened->progress_stamp, path) || !fov_file_exists(path)) return FOV_OK;
  *rows = true;
  return read_rows(opened, path);
}

static FovStatus poll_main(bool *trace, FovOpenedRun *opened) {
  char path[FOV_PATH_SIZE];
  main_path(path, opened);
  if (!changed(&opened->main_stamp, path) || !fov_file_exists(path)) return FOV_OK;
  return take_main(trace, opened);
}

FovStatus fov_opened_run_poll(bool *trace, bool *rows, FovOpenedRun *opened) {
  *trace = *rows = false;
  FOV_TRY(poll_main(trace, opened));
  return opened->is_run ? poll_run(rows, opened) : FOV_OK;
}

FovStatus fov_opened_run_show(FovOpenedRun *opened, size_t snapshot) {
  char path[FOV_PATH_SIZE];
  FovTrace trace;
  FOV_CHECK(snapshot < opened->snapshots, "snapshot %zu of %zu", snapshot, opened->snapshots);
  if (snapshot == opened->main)
    main_path(path, opened);
  else
    fov_history_path(path, opened->path, opened->updates[snapshot]);
  FOV_TRY(read_trace(&trace, path));
  fov_trace_finish(&opened->trace);
  opened->trace = trace;
  opened->snapshot = snapshot;
  return FOV_OK;
}

/* ---- opening ---- */

/** The last part of the path, in ASCII. */
static void set_name(FovOpenedRun *opened) {
  char *resolved = realpath(opened->path, NULL), *name = resolved ? resolved : opened->path;
  if (strrchr(name, '/') && strrchr(name, '/')[1]) name = strrchr(name, '/') + 1;
  snprintf(opened->name, sizeof opened->name, "%s", name);
  fov_text_ascii(opened->name);
  free(resolved);
}

/** A folder without a trace is a run if it has the settings of a training. */
static FovStatus check_run(const FovOpenedRun *opened) {
  char path[FOV_PATH_SIZE];
  snprintf(path, sizeof path, "%s/" FOV_RUN_CONFIG, opened->path);
  if (opened->snapshots > 0 || fov_file_exists(path)) return FOV_OK;
  return fov_trained_find_trace(path, opened->path);
}

static FovStatus open_all(FovOpenedRun *opened, const char *path) {
  struct stat info;
  bool trace;
  if (strlen(path) > FOV_PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "%.64s...: a path of more than %d bytes", path,
                    FOV_PATH_SIZE / 2);
  opened->path = strdup(path);
  if (!opened->path) return fov_fail(FOV_ERR_MEMORY, "%s: no memory to open", path);
  opened->is_run = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  set_name(opened);
  FOV_TRY(poll_main(&trace, opened));
  if (opened->is_run) return check_run(opened);
  return opened->snapshots > 0 ? FOV_OK : fov_fail(FOV_ERR_IO, "%s: no such trace or run", path);
}

FovStatus fov_opened_run_open(FovOpenedRun *opened, const char *path) {
  *opened = (FovOpenedRun){0};
  FovStatus status = open_all(opened, path);
  if (status != FOV_OK) fov_opened_run_finish(opened);
  return status;
}

void fov_opened_run_finish(FovOpenedRun *opened) {
  free(opened->path);
  free(opened->updates);
  free(opened->rows);
  fov_trace_finish(&opened->trace);
  *opened = (FovOpenedRun){0};
}
