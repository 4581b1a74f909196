#include "viz/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/history.h"
#include "viz/scene.h"

enum { PATH_SIZE = 4096 };

/** The trace of a run that is shown first, or the lone one. path: [PATH_SIZE] */
static void main_path(char *path, const FovSource *source) {
  snprintf(path, PATH_SIZE, source->run ? "%s/trace.safetensors" : "%s", source->path);
}

static FovStamp stamp_of(const char *path) {
  struct stat info = {0};
  if (stat(path, &info) != 0) return (FovStamp){0};
  return (FovStamp){info.st_ino, info.st_size, info.st_mtim};
}

/** Notes what is there now; whether it is not what was there before. */
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

/** Puts the main trace's update among those of the history, in the place of its equal. */
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

/** The stage whose update is the trace's that is shown, or the nearest before it. */
static size_t find_stage(const FovSource *source) {
  size_t stage = 0;
  while (stage + 1 < source->stages && source->updates[stage + 1] <= source->trace.update) stage++;
  return stage;
}

static FovStatus list_stages(FovSource *source, int64_t main_update) {
  int64_t *updates = NULL;
  size_t count = 0;
  if (source->run) FOV_TRY(fov_history_list(&updates, &count, source->path));
  int64_t *all = realloc(updates, (count + 1) * sizeof *all);
  if (!all) {
    free(updates);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its history", source->path);
  }
  free(source->updates);
  source->updates = all;
  source->main = insert(all, &count, main_update);
  source->stages = count;
  return FOV_OK;
}

/** Goes on with a main trace that is new: shows it, unless another stage is looked at. */
static FovStatus take_main(bool *shown, FovSource *source) {
  char path[PATH_SIZE];
  FovTrace trace;
  main_path(path, source);
  bool follow = source->stages == 0 || source->stage == source->main;
  FOV_TRY(read_trace(&trace, path));
  FovStatus status = list_stages(source, trace.update);
  if (status == FOV_OK && follow) {
    fov_trace_finish(&source->trace);
    source->trace = trace;
    *shown = true;
  } else {
    fov_trace_finish(&trace);
  }
  source->stage = find_stage(source);
  return status;
}

static FovStatus read_rows(FovSource *source, const char *path) {
  FovProgress *rows;
  size_t count;
  FOV_TRY(fov_progress_read(&rows, &count, path));
  free(source->rows);
  source->rows = rows;
  source->row_count = count;
  return FOV_OK;
}

/** What a run has beside its main trace. */
static FovStatus poll_run(bool *rows, FovSource *source) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/" FOV_HISTORY, source->path);
  if (changed(&source->history_stamp, path) && source->stages > 0) {
    *rows = true;
    FOV_TRY(list_stages(source, source->updates[source->main]));
    source->stage = find_stage(source);
  }
  snprintf(path, sizeof path, "%s/progress.csv", source->path);
  if (!changed(&source->progress_stamp, path) || !fov_file_exists(path)) return FOV_OK;
  *rows = true;
  return read_rows(source, path);
}

static FovStatus poll_main(bool *trace, FovSource *source) {
  char path[PATH_SIZE];
  main_path(path, source);
  if (!changed(&source->main_stamp, path) || !fov_file_exists(path)) return FOV_OK;
  return take_main(trace, source);
}

FovStatus fov_source_poll(bool *trace, bool *rows, FovSource *source) {
  *trace = *rows = false;
  FOV_TRY(poll_main(trace, source));
  return source->run ? poll_run(rows, source) : FOV_OK;
}

FovStatus fov_source_show(FovSource *source, size_t stage) {
  char path[PATH_SIZE];
  FovTrace trace;
  FOV_CHECK(stage < source->stages, "stage %zu of %zu", stage, source->stages);
  if (stage == source->main)
    main_path(path, source);
  else
    fov_history_path(path, source->path, source->updates[stage]);
  FOV_TRY(read_trace(&trace, path));
  fov_trace_finish(&source->trace);
  source->trace = trace;
  source->stage = stage;
  return FOV_OK;
}

/* ---- opening ---- */

/** The last part of a path, as text that any font can show. */
static void set_name(FovSource *source) {
  char *real = realpath(source->path, NULL), *name = real ? real : source->path;
  if (strrchr(name, '/') && strrchr(name, '/')[1]) name = strrchr(name, '/') + 1;
  snprintf(source->name, sizeof source->name, "%s", name);
  for (char *c = source->name; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  free(real);
}

/** A folder without a trace is a run all the same if a training has left its log there. */
static FovStatus check_run(const FovSource *source) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/log.txt", source->path);
  if (source->stages > 0 || fov_file_exists(path)) return FOV_OK;
  return fov_fail(FOV_ERR_IO, "%s: not a run: expected trace.safetensors in it, found none",
                  source->path);
}

static FovStatus open_all(FovSource *source, const char *path) {
  struct stat info;
  bool trace;
  if (strlen(path) > PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "%.64s...: a path of more than %d bytes", path, PATH_SIZE / 2);
  source->path = strdup(path);
  if (!source->path) return fov_fail(FOV_ERR_MEMORY, "%s: no memory to open", path);
  source->run = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  set_name(source);
  FOV_TRY(poll_main(&trace, source));
  if (source->run) return check_run(source);
  return source->stages > 0 ? FOV_OK : fov_fail(FOV_ERR_IO, "%s: no such trace or run", path);
}

FovStatus fov_source_open(FovSource *source, const char *path) {
  *source = (FovSource){0};
  FovStatus status = open_all(source, path);
  if (status != FOV_OK) fov_source_finish(source);
  return status;
}

void fov_source_finish(FovSource *source) {
  free(source->path);
  free(source->updates);
  free(source->rows);
  fov_trace_finish(&source->trace);
  *source = (FovSource){0};
}
