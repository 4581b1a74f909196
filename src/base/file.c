#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/** Bytes of the folder part of a path, with its last slash; 0 for the current folder. */
static size_t folder_length(const char *path) {
  return (size_t)(fov_file_name(path) - path);
}

enum { HOST_SIZE = 65, ENDING_SIZE = HOST_SIZE + 32 };

/** ".HOST.": what the names of this host's new files have before the process id and ".tmp". */
static void name_host(char host[ENDING_SIZE]) {
  char name[HOST_SIZE] = "localhost";
  gethostname(name, sizeof name - 1);
  snprintf(host, ENDING_SIZE, ".%s.", name);
}

/** Host and process id in the name keep apart the processes that replace the same path. */
static char *name_beside(const char *path) {
  size_t folder = folder_length(path), size = strlen(path) + ENDING_SIZE;
  char *beside = malloc(size), host[ENDING_SIZE];
  name_host(host);
  if (beside)
    snprintf(beside, size, "%.*s.%s%s%ld.tmp", (int)folder, path, path + folder, host,
             (long)getpid());
  return beside;
}

/** A new file before its commit. */
struct FovPending {
  char *path;    /**< that it will replace */
  char *beside;  /**< its name until then */
  int slot;      /**< of `unfinished`, or −1 */
  int fd, cause; /**< cause: errno of the first failed write, or 0 */
};

enum { SLOTS = 16 };

/** Names of new files, to be removed if a signal ends the process. Whoever takes a name out of its
 * slot owns it, so that no handler reads one that is being freed. */
static _Atomic(char *) unfinished[SLOTS];

static int register_name(char *beside) {
  for (int slot = 0; slot < SLOTS; slot++) {
    char *none = NULL;
    if (atomic_compare_exchange_strong(&unfinished[slot], &none, beside)) return slot;
  }
  return -1;
}

/** Frees a name, unless a handler took it. */
static void free_name(const FovPending *pending) {
  char *name =
      pending->slot < 0 ? pending->beside : atomic_exchange(&unfinished[pending->slot], NULL);
  free(name);
}

void fov_replace_abort_all(void) {
  int before = errno;
  for (int slot = 0; slot < SLOTS; slot++) {
    char *name = atomic_exchange(&unfinished[slot], NULL), *none = NULL;
    if (!name) continue;
    unlink(name);
    atomic_compare_exchange_strong(&unfinished[slot], &none, name);
  }
  errno = before;
}

bool fov_write_all(int fd, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t n = TEMP_FAILURE_RETRY(write(fd, at, size));
    if (n < 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

/** stdio reports that a write failed, but not why: the reason is kept here. */
static ssize_t write_stream(void *cookie, const char *data, size_t size) {
  FovPending *pending = cookie;
  if (pending->cause == 0 && !fov_write_all(pending->fd, data, size)) pending->cause = errno;
  errno = pending->cause;
  return pending->cause ? 0 : (ssize_t)size;
}

/** Opens the new file; false with errno set. */
static bool open_stream(FovReplace *replace) {
  FovPending *pending = replace->pending;
  const cookie_io_functions_t functions = {.write = write_stream};
  // A killed process that had our id may have left one; O_EXCL then also refuses planted links.
  unlink(pending->beside);
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  pending->fd = (int)TEMP_FAILURE_RETRY(open(pending->beside, flags, 0666));
  if (pending->fd < 0) return false;
  replace->stream = fopencookie(pending, "w", functions);
  if (replace->stream) return true;
  int cause = errno;
  close(pending->fd);
  unlink(pending->beside);
  errno = cause;
  return false;
}

static void forget(FovReplace *replace) {
  if (replace->pending) {
    free_name(replace->pending);
    free(replace->pending->path);
    free(replace->pending);
  }
  *replace = (FovReplace){0};
}

FovStatus fov_replace_begin(FovReplace *replace, const char *path) {
  *replace = (FovReplace){0};
  struct stat old;
  // The rename would put a file in the place of /dev/null.
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
    return fov_fail(FOV_ERR_IO, "%s: cannot write: not a regular file", path);
  FovPending *pending = replace->pending = malloc(sizeof *pending);
  if (pending)
    *pending = (FovPending){.path = strdup(path), .beside = name_beside(path), .slot = -1};
  FovStatus status = FOV_OK;
  if (!pending || !pending->path || !pending->beside)
    status = fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  if (status == FOV_OK) {
    replace->path = pending->path;
    replace->beside = pending->beside;
    pending->slot = register_name(pending->beside);
    if (open_stream(replace)) return FOV_OK;
    status = fov_fail(FOV_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
  }
  forget(replace);
  return status;
}

/** Brings all that was written to the disk and closes; false with errno set to the first cause. */
static bool settle(FovReplace *replace) {
  FovPending *pending = replace->pending;
  bool failed = fflush(replace->stream) != 0 || ferror(replace->stream);
  int cause = failed ? pending->cause ? pending->cause : EIO : 0;
  if (cause == 0 && TEMP_FAILURE_RETRY(fsync(pending->fd)) != 0) cause = errno;
  fclose(replace->stream);
  if (close(pending->fd) != 0 && cause == 0 && errno != EINTR) cause = errno;
  errno = cause;
  return cause == 0;
}

static int open_folder(const char *path) {
  char *folder = strdup(path);
  if (!folder) return -1;
  folder[folder_length(path)] = '\0';
  int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int fd = (int)TEMP_FAILURE_RETRY(open(*folder ? folder : ".", flags));
  int cause = errno;
  free(folder);
  errno = cause;
  return fd;
}

/** Renames over `path` and syncs the folder, so that the new name survives a power cut. */
static FovStatus publish(const FovPending *pending) {
  int folder = open_folder(pending->path);
  FovStatus status = FOV_OK;
  if (folder < 0 || rename(pending->beside, pending->path) != 0)
    status = fov_fail(FOV_ERR_IO, "%s: cannot write: %s", pending->path, strerror(errno));
  // EINVAL: the file system cannot sync a folder.
  else if (TEMP_FAILURE_RETRY(fsync(folder)) != 0 && errno != EINVAL)
    status = fov_fail(FOV_ERR_IO, "%s: written, but a power cut may undo it: its folder: %s",
                      pending->path, strerror(errno));
  if (folder >= 0) close(folder);
  return status;
}

FovStatus fov_replace_commit(FovReplace *replace) {
  FOV_CHECK(replace->stream, "commit without a begin");
  const FovPending *pending = replace->pending;
  FovStatus status = FOV_OK;
  if (!settle(replace))
    status = fov_fail(FOV_ERR_IO, "%s: cannot write: %s", pending->path, strerror(errno));
  if (status == FOV_OK) status = publish(pending);
  if (status != FOV_OK) unlink(pending->beside);
  forget(replace);
  return status;
}

void fov_replace_abort(FovReplace *replace) {
  if (!replace->stream) return;
  fclose(replace->stream);
  close(replace->pending->fd);
  unlink(replace->pending->beside);
  forget(replace);
}

/** Whether a name is one of name_beside's, on this host, whose process has ended. */
static bool is_left_over(const char *name, const char host[ENDING_SIZE]) {
  const char *end = strrchr(name, '.'), *id = end;
  if (*name != '.' || strcmp(end, ".tmp") != 0) return false;
  while (id > name && id[-1] != '.') id--;
  ptrdiff_t length = (ptrdiff_t)strlen(host);
  if (id - name < length || memcmp(id - length, host, (size_t)length) != 0) return false;
  char *stop;
  long process = strtol(id, &stop, 10);
  return process > 0 && stop == end && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

FovStatus fov_replace_sweep(const char *folder) {
  DIR *stream = opendir(folder);
  if (!stream) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
  char host[ENDING_SIZE];
  name_host(host);
  // A file that cannot be removed does no harm.
  for (const struct dirent *entry; (entry = readdir(stream));)
    if (is_left_over(entry->d_name, host)) unlinkat(dirfd(stream), entry->d_name, 0);
  closedir(stream);
  return FOV_OK;
}

FovStatus fov_replace_check(const char *path) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  fov_replace_abort(&replace);
  return FOV_OK;
}

FovStatus fov_file_write(const char *path, const void *data, size_t size) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  if (size > 0) fwrite(data, 1, size, replace.stream); // commit sees the stream's error
  return fov_replace_commit(&replace);
}

static FovStatus open_regular(int *fd, const char *path, int flags) {
  struct stat info;
  FovStatus status = FOV_OK;
  // Without O_NONBLOCK, opening a FIFO would wait for its other end.
  *fd = (int)TEMP_FAILURE_RETRY(open(path, flags | O_NONBLOCK | O_CLOEXEC, 0666));
  if (*fd < 0) return fov_fail(FOV_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  if (fstat(*fd, &info) != 0)
    status = fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  else if (!S_ISREG(info.st_mode))
    status = fov_fail(FOV_ERR_IO, "%s: expected a regular file, found a %s", path,
                      S_ISDIR(info.st_mode) ? "folder" : "pipe or a device");
  if (status != FOV_OK) {
    close(*fd);
    *fd = -1;
  }
  return status;
}

FovStatus fov_file_open(int *fd, const char *path) {
  return open_regular(fd, path, O_RDONLY);
}

FovStatus fov_file_open_append(int *fd, const char *path) {
  return open_regular(fd, path, O_RDWR | O_APPEND | O_CREAT);
}

/** Fails unless an open file is of at most `limit` bytes. */
static FovStatus measure(size_t *size, int fd, const char *path, size_t limit) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if ((uintmax_t)info.st_size > limit)
    return fov_fail(FOV_ERR_FORMAT, "%s: %jd bytes, expected at most %zu", path,
                    (intmax_t)info.st_size, limit);
  *size = (size_t)info.st_size;
  return FOV_OK;
}

static FovStatus read_exactly(char *data, size_t size, int fd, const char *path) {
  for (size_t done = 0; done < size;) {
    ssize_t n = TEMP_FAILURE_RETRY(read(fd, data + done, size - done));
    if (n < 0) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    if (n == 0)
      return fov_fail(FOV_ERR_IO, "%s: ends after %zu of %zu bytes: it shrank while being read",
                      path, done, size);
    done += (size_t)n;
  }
  return FOV_OK;
}

static FovStatus read_open(char **data, size_t *size, int fd, const char *path, size_t limit) {
  FOV_TRY(measure(size, fd, path, limit));
  char *bytes = *size < SIZE_MAX ? malloc(*size + 1) : NULL;
  if (!bytes) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its %zu bytes", path, *size);
  FovStatus status = read_exactly(bytes, *size, fd, path);
  if (status != FOV_OK) {
    free(bytes);
    return status;
  }
  bytes[*size] = '\0';
  *data = bytes;
  return FOV_OK;
}

FovStatus fov_file_read(char **data, size_t *size, const char *path, size_t limit) {
  int fd;
  *data = NULL;
  FOV_TRY(fov_file_open(&fd, path));
  FovStatus status = read_open(data, size, fd, path, limit);
  close(fd);
  return status;
}

bool fov_file_exists(const char *path) {
  return access(path, F_OK) == 0;
}

const char *fov_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool fov_has_ending(const char *path, const char *ending) {
  size_t path_length = strlen(path), length = strlen(ending);
  return path_length > length && strcasecmp(path + path_length - length, ending) == 0;
}

bool fov_file_same(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static FovStatus make_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return FOV_OK;
  return fov_fail(FOV_ERR_IO, "%s: cannot make the folder: %s", path, strerror(errno));
}

FovStatus fov_make_folders(const char *path) {
  char *part = strdup(path);
  if (!part) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  FovStatus status = FOV_OK;
  for (char *slash = part; *slash && status == FOV_OK && (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    status = make_folder(part);
    *slash = '/';
  }
  if (status == FOV_OK) status = make_folder(part);
  free(part);
  return status;
}

/** Whether the path is a symbolic link; its target may be missing. */
static bool is_link(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static void cut_slashes(char *path) {
  for (size_t length = strlen(path); length > 1 && path[length - 1] == '/';) path[--length] = '\0';
}

/** Cuts the last name off a path; "" stands for the current folder. */
static void cut_name(char *path) {
  path[folder_length(path)] = '\0';
  cut_slashes(path);
}

FovStatus fov_folder_check(const char *path) {
  char *part = strdup(path); // the longest that exists
  struct stat info;
  int cause = 0;
  if (!part) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  cut_slashes(part);
  while (*part && stat(part, &info) != 0 && cause == 0)
    if (errno == ENOENT && !is_link(part))
      cut_name(part);
    else
      cause = errno;
  const char *folder = *part ? part : ".";
  if (cause == 0 && *part && !S_ISDIR(info.st_mode)) cause = ENOTDIR;
  if (cause == 0 && access(folder, W_OK | X_OK) != 0) cause = errno;
  free(part);
  if (cause == 0) return FOV_OK;
  return fov_fail(FOV_ERR_IO, "%s: expected a folder to write into: %s", path, strerror(cause));
}

void fov_file_last_line(char *line, size_t size, int fd) {
  char text[4096];
  off_t end = lseek(fd, 0, SEEK_END), most = sizeof text - 1;
  ssize_t length = pread(fd, text, sizeof text - 1, end > most ? end - most : 0);
  if (length < 0) length = 0;
  while (length > 0 && text[length - 1] == '\n') length--;
  text[length] = '\0';
  const char *last = strrchr(text, '\n');
  snprintf(line, size, "%s", last ? last + 1 : text);
}
