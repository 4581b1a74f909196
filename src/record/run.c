#include "record/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gemm.h"
#include "base/text.h"
#include "base/version.h"
#include "record/json_text.h"
#include "record/tfevents.h"

size_t fov_run_stem(const char *name, size_t length) {
  size_t end = length;
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') end--;
  bool seeded = end < length && end > 2 && name[end - 1] == 's' && name[end - 2] == '-';
  return seeded ? end - 2 : length;
}

char *fov_run_path(char *path, const FovRun *run, const char *name) {
  snprintf(path, FOV_PATH_SIZE, "%s/%s", run->dir, name);
  return path;
}

FovStatus fov_run_find(char *path, const char *source, const char *name) {
  struct stat status;
  bool folder = stat(source, &status) == 0 && S_ISDIR(status.st_mode);
  int length = snprintf(path, FOV_PATH_SIZE, folder ? "%s/%s" : "%s", source, name);
  if (length < FOV_PATH_SIZE) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%.64s...: a path of more than %d bytes", source,
                  FOV_PATH_SIZE - 1);
}

FovStatus fov_run_expect(char *path, const char *source, const char *name) {
  char plan[FOV_PATH_SIZE];
  FOV_TRY(fov_run_find(path, source, name));
  if (fov_file_exists(path) || !fov_file_exists(source)) return FOV_OK;
  FOV_TRY(fov_run_find(plan, source, FOV_SWEEP_PLAN));
  if (fov_file_exists(plan))
    return fov_fail(FOV_ERR_USAGE, "%s: a sweep; name one of its runs, which its results.csv lists",
                    source);
  return fov_fail(FOV_ERR_USAGE, "%s: not a run: expected %s in it, found none", source, name);
}

/** Whether a run writes it before its first checkpoint. */
static bool is_early(const char *name) {
  static const char *const names[] = {FOV_RUN_LOG, FOV_RUN_CONFIG, FOV_RUN_JSON};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return strncmp(name, FOV_TFEVENTS, strlen(FOV_TFEVENTS)) == 0;
}

/** Fails unless a run can start in a folder without a checkpoint: it must be new, empty, or have
 * the files of a run that ended before its first checkpoint, with the log. */
static FovStatus check_free(const FovRun *run) {
  DIR *folder = opendir(run->dir);
  if (!folder && errno == ENOENT) return FOV_OK;
  if (!folder) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", run->dir, strerror(errno));
  bool files = false, foreign = false, log = false, lost = false;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    files = true;
    foreign = foreign || !is_early(entry->d_name);
    log = log || strcmp(entry->d_name, FOV_RUN_LOG) == 0;
    lost = lost || strcmp(entry->d_name, FOV_RUN_BEST) == 0 ||
           strcmp(entry->d_name, FOV_RUN_PROGRESS) == 0;
  }
  closedir(folder);
  if (lost)
    return fov_fail(FOV_ERR_USAGE, "%s: a run that lost its %s; choose another --run", run->dir,
                    FOV_RUN_LAST);
  if (foreign || (files && !log))
    return fov_fail(FOV_ERR_USAGE, "%s: has files, but no run; choose another --run", run->dir);
  return FOV_OK;
}

static FovStatus set_dir(FovRun *run, const char *dir) {
  *run = (FovRun){.log = -1};
  if (strlen(dir) == 0 || strlen(dir) >= sizeof run->dir)
    return fov_fail(FOV_ERR_USAGE, "--run: expected a path of 1 to %zu bytes, found %zu",
                    sizeof run->dir - 1, strlen(dir));
  snprintf(run->dir, sizeof run->dir, "%s", dir);
  return FOV_OK;
}

/** Sets run->resumed. */
static FovStatus check(FovRun *run, bool resume) {
  char path[FOV_PATH_SIZE];
  run->resumed = fov_file_exists(fov_run_path(path, run, FOV_RUN_LAST));
  if (!run->resumed) return check_free(run);
  if (resume) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: has a run already; add --resume to continue it, or choose another --run",
                  run->dir);
}

FovStatus fov_run_check(const char *dir, bool resume) {
  FovRun run;
  FOV_TRY(set_dir(&run, dir));
  return check(&run, resume);
}

static FovStatus lock_log(FovRun *run) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_file_open_append(&run->log, fov_run_path(path, run, FOV_RUN_LOG)));
  if (flock(run->log, LOCK_EX | LOCK_NB) == 0) return FOV_OK;
  int why = errno;
  fov_run_close(run);
  if (why != EWOULDBLOCK) return fov_fail(FOV_ERR_IO, "%s: cannot lock: %s", path, strerror(why));
  return fov_fail(FOV_ERR_USAGE, "%s: another process is training in it", run->dir);
}

FovStatus fov_run_open(FovRun *run, const char *dir, bool resume) {
  FOV_TRY(set_dir(run, dir));
  FOV_TRY(check(run, resume));
  FOV_TRY(fov_make_folders(dir));
  FOV_TRY(lock_log(run));
  // Another process may have started a run between the check and the lock.
  FovStatus status = check(run, resume);
  if (status == FOV_OK) status = fov_replace_sweep(dir);
  if (status != FOV_OK) fov_run_close(run);
  return status;
}

FovStatus fov_run_check_own(const FovRun *run) {
  char path[FOV_PATH_SIZE];
  struct stat own, found;
  if (fstat(run->log, &own) == 0 && stat(fov_run_path(path, run, FOV_RUN_LOG), &found) == 0 &&
      own.st_dev == found.st_dev && own.st_ino == found.st_ino)
    return FOV_OK;
  return fov_fail(FOV_ERR_IO,
                  "%s: the run was moved, removed or replaced while it was trained: %s is not the "
                  "file that was opened; nothing more is written there",
                  run->dir, FOV_RUN_LOG);
}

void fov_run_close(FovRun *run) {
  if (run->log >= 0) close(run->log);
  run->log = -1;
}

static void write_time(char *text, size_t size) {
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

FovStatus fov_run_log(const FovRun *run, const char *format, ...) {
  char line[2048], stamp[32];
  write_time(stamp, sizeof stamp);
  int start = snprintf(line, sizeof line, "%s ", stamp);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
  va_end(arguments);
  fov_text_clean(line);
  size_t length = strlen(line);
  line[length++] = '\n';
  if (fov_write_all(run->log, line, length)) return FOV_OK;
  return fov_fail(FOV_ERR_IO, "%s/%s: cannot write: %s", run->dir, FOV_RUN_LOG, strerror(errno));
}

/** Reads run.json; NULL: there is none that can be read. */
static json_t *read_description(const char *dir) {
  char path[FOV_PATH_SIZE], *text = NULL;
  size_t size;
  json_t *root = NULL;
  bool fits = snprintf(path, sizeof path, "%s/%s", dir, FOV_RUN_JSON) < (int)sizeof path;
  if (fits && fov_file_exists(path) && fov_file_read(&text, &size, path, 1 << 20) == FOV_OK)
    root = json_loadb(text, size, 0, NULL);
  free(text);
  return root;
}

bool fov_run_is_finished(const char *dir) {
  json_t *root = read_description(dir);
  const char *outcome = json_string_value(json_object_get(root, "outcome"));
  bool finished = outcome && strcmp(outcome, "finished") == 0;
  json_decref(root);
  return finished;
}

/** The changes that an earlier part of the run has left in run.json: an object, perhaps empty. */
static json_t *read_changes(const FovRun *run) {
  json_t *root = run->resumed ? read_description(run->dir) : NULL;
  json_t *changed = json_deep_copy(json_object_get(root, "changed"));
  json_decref(root);
  if (json_is_object(changed)) return changed;
  json_decref(changed);
  return json_object();
}

/** Adds {"train.rate": {"from": "0.001", "to": "0.0005", "update": 12}} under "changed". */
static void add_changes(json_t *root, const FovRun *run, const FovRunFacts *facts) {
  json_t *changed = read_changes(run);
  for (int i = 0; i < facts->change_count; i++) {
    const FovRunChange *c = &facts->changes[i];
    json_object_set_new(changed, c->key,
                        json_pack("{s:s, s:s, s:I}", "from", c->from, "to", c->to, "update",
                                  (json_int_t)c->update));
  }
  if (json_object_size(changed) > 0) json_object_set(root, "changed", changed);
  json_decref(changed);
}

FovStatus fov_run_describe(const FovRun *run, const FovRunFacts *facts) {
  struct utsname host = {0};
  char stamp[32];
  uname(&host);
  write_time(stamp, sizeof stamp);
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:i}", "fovea", fov_version, "time", stamp,
                "host", host.nodename, "machine", host.machine, "gemm", fov_gemm_library(), "seed",
                (json_int_t)facts->seed, "threads", facts->threads, "ranks", facts->ranks);
  char *text = NULL;
  add_changes(root, run, facts);
  if (json_object_set_new(root, "command", fov_json_string(facts->command)) == 0 &&
      json_object_set_new(root, "outcome", fov_json_string(facts->outcome)) == 0)
    text = fov_json_text(root, JSON_INDENT(2));
  json_decref(root);
  if (!text) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %s", run->dir, FOV_RUN_JSON);
  char path[FOV_PATH_SIZE];
  size_t length = strlen(text);
  text[length] = '\n'; // replaces the terminator: the file is written by its length
  FovStatus status = fov_file_write(fov_run_path(path, run, FOV_RUN_JSON), text, length + 1);
  free(text);
  return status;
}
