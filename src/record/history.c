#include "record/history.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "record/run.h"
#include "record/trace_parts.h"

bool fov_history_keeps(int64_t index, int64_t count) {
  if (index == 1 || count <= FOV_HISTORY_SNAPSHOTS) return true;
  return index * FOV_HISTORY_SNAPSHOTS / count > (index - 1) * FOV_HISTORY_SNAPSHOTS / count;
}

void fov_history_path(char *path, const char *run, int64_t update) {
  snprintf(path, FOV_PATH_SIZE, "%s/" FOV_HISTORY "/%" PRId64 ".safetensors", run, update);
}

FovStatus fov_history_add(const char *run, const FovTrace *trace) {
  char path[FOV_PATH_SIZE];
  size_t fit = FOV_HISTORY_BYTES / fov_trace_episode_bytes(trace);
  FovTrace part = *trace; // the first dimension of each array is the episode: a prefix is a trace
  if (fit < (size_t)part.episodes) part.episodes = fit < 1 ? 1 : (int)fit;
  fov_history_path(path, run, trace->update);
  return fov_trace_write(&part, path);
}

/** The update in the name of a snapshot; −1 for other names. */
static int64_t update_of(const char *name) {
  char ours[64];
  int64_t update = strtoll(name, NULL, 10);
  snprintf(ours, sizeof ours, "%" PRId64 ".safetensors", update);
  return update >= 0 && strcmp(name, ours) == 0 ? update : -1;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static FovStatus collect(int64_t **updates, size_t *count, DIR *stream, const char *folder) {
  size_t room = 0;
  for (const struct dirent *entry; (entry = readdir(stream));) {
    int64_t update = update_of(entry->d_name);
    if (update < 0) continue;
    if (*count == room) {
      room = 2 * room + 64;
      int64_t *more = realloc(*updates, room * sizeof *more);
      if (!more) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its %zu files", folder, room);
      *updates = more;
    }
    (*updates)[(*count)++] = update;
  }
  if (*count > 0) qsort(*updates, *count, sizeof **updates, ascending);
  return FOV_OK;
}

FovStatus fov_history_list(int64_t **updates, size_t *count, const char *run) {
  char folder[FOV_PATH_SIZE];
  *updates = NULL;
  *count = 0;
  snprintf(folder, sizeof folder, "%s/" FOV_HISTORY, run);
  DIR *stream = opendir(folder);
  if (!stream && (errno == ENOENT || errno == ENOTDIR)) return FOV_OK;
  if (!stream) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
  FovStatus status = collect(updates, count, stream, folder);
  closedir(stream);
  if (status == FOV_OK) return FOV_OK;
  free(*updates);
  *updates = NULL;
  *count = 0;
  return status;
}

FovStatus fov_history_begin(const char *run, int64_t update) {
  char path[FOV_PATH_SIZE];
  int64_t *updates;
  size_t count;
  snprintf(path, sizeof path, "%s/" FOV_HISTORY, run);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return fov_fail(FOV_ERR_IO, "%s: cannot make the folder: %s", path, strerror(errno));
  FOV_TRY(fov_replace_sweep(path));
  FOV_TRY(fov_history_list(&updates, &count, run));
  FovStatus status = FOV_OK;
  for (size_t i = 0; i < count && status == FOV_OK; i++) {
    if (updates[i] <= update) continue;
    fov_history_path(path, run, updates[i]);
    if (unlink(path) != 0)
      status = fov_fail(FOV_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
  }
  free(updates);
  return status;
}
