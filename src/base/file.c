#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Bytes of the folder part of a path, with its last slash; 0 for the current folder. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/** The process id in the name keeps two processes that replace the same path apart. */
static char *name_beside(const char *path) {
  size_t folder = folder_length(path), size = strlen(path) + 32;
  char *beside = malloc(size);
  if (beside)
    snprintf(beside, size, "%.*s.%s.%ld.tmp", (int)folder, path, path + folder, (long)getpid());
  return beside;
}

static void forget(FovReplace *replace) {
  free(replace->path);
  free(replace->beside);
  *replace = (FovReplace){0};
}

FovStatus fov_replace_begin(FovReplace *replace, const char *path) {
  *replace = (FovReplace){0};
  struct stat old;
  // The rename would put a file in the place of /dev/null.
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
    return fov_fail(FOV_ERR_IO, "%s: cannot write: not a regular file", path);
  *replace = (FovReplace){.path = strdup(path), .beside = name_beside(path)};
  if (!replace->path || !replace->beside) {
    forget(replace);
    return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its name", path);
  }
  // A killed process that had our id may have left one; O_EXCL then also refuses planted links.
  unlink(replace->beside);
  int fd = open(replace->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0 && (replace->stream = fdopen(fd, "w"))) return FOV_OK;
  FovStatus status = fov_fail(FOV_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
  if (fd >= 0) {
    close(fd);
    unlink(replace->beside);
  }
  forget(replace);
  return status;
}

/** Brings all that was written to the disk; false with errno set. */
static bool settle(FILE *stream) {
  if (fflush(stream) != 0) return false;
  if (ferror(stream)) {
    // stdio forgets why an earlier write failed; on a full disk one more byte fails alike.
    if (write(fileno(stream), "", 1) == 1) errno = EIO;
    return false;
  }
  return fsync(fileno(stream)) == 0;
}

/** Settles and closes; false with errno set by the first failure. */
static bool settle_and_close(FILE *stream) {
  int cause = settle(stream) ? 0 : errno;
  if (fclose(stream) != 0 && cause == 0) cause = errno;
  errno = cause;
  return cause == 0;
}

static int open_folder(const char *path) {
  char *folder = strdup(path);
  if (!folder) return -1;
  folder[folder_length(path)] = '\0';
  int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int cause = errno;
  free(folder);
  errno = cause;
  return fd;
}

/** Renames over `path` and makes the new name last. */
static FovStatus publish(const FovReplace *replace) {
  int folder = open_folder(replace->path);
  FovStatus status = FOV_OK;
  if (folder < 0 || rename(replace->beside, replace->path) != 0)
    status = fov_fail(FOV_ERR_IO, "%s: cannot write: %s", replace->path, strerror(errno));
  else if (fsync(folder) != 0 && errno != EINVAL) // EINVAL: a file system without such a thing
    status = fov_fail(FOV_ERR_IO, "%s: written, but a power cut may undo it: its folder: %s",
                      replace->path, strerror(errno));
  if (folder >= 0) close(folder);
  return status;
}

FovStatus fov_replace_commit(FovReplace *replace) {
  FOV_CHECK(replace->stream, "commit without a begin");
  FovStatus status = FOV_OK;
  if (!settle_and_close(replace->stream))
    status = fov_fail(FOV_ERR_IO, "%s: cannot write: %s", replace->path, strerror(errno));
  if (status == FOV_OK) status = publish(replace);
  if (status != FOV_OK) unlink(replace->beside);
  forget(replace);
  return status;
}

void fov_replace_abort(FovReplace *replace) {
  if (!replace->stream) return;
  fclose(replace->stream);
  unlink(replace->beside);
  forget(replace);
}

/** Whether a name is one of name_beside's, and its process is no more. */
static bool is_left_over(const char *name) {
  const char *end = strrchr(name, '.'), *id = end;
  if (*name != '.' || strcmp(end, ".tmp") != 0) return false;
  while (id > name && id[-1] != '.') id--;
  char *stop;
  long process = strtol(id, &stop, 10);
  return process > 0 && stop == end && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

FovStatus fov_replace_sweep(const char *folder) {
  DIR *stream = opendir(folder);
  if (!stream) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
  // One that cannot be removed does no harm.
  for (const struct dirent *entry; (entry = readdir(stream));)
    if (is_left_over(entry->d_name)) unlinkat(dirfd(stream), entry->d_name, 0);
  closedir(stream);
  return FOV_OK;
}

FovStatus fov_file_write(const char *path, const void *data, size_t size) {
  FovReplace replace;
  FOV_TRY(fov_replace_begin(&replace, path));
  if (size > 0) fwrite(data, 1, size, replace.stream); // commit sees the stream's error
  return fov_replace_commit(&replace);
}

/** Fails unless an open file is regular and of at most `limit` bytes. */
static FovStatus measure(size_t *size, int fd, const char *path, size_t limit) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode)) return fov_fail(FOV_ERR_IO, "%s: not a regular file", path);
  if ((uintmax_t)info.st_size > limit)
    return fov_fail(FOV_ERR_FORMAT, "%s: %jd bytes, expected at most %zu", path,
                    (intmax_t)info.st_size, limit);
  *size = (size_t)info.st_size;
  return FOV_OK;
}

static FovStatus read_exactly(char *data, size_t size, int fd, const char *path) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(fd, data + done, size - done);
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
  *data = NULL;
  // Without O_NONBLOCK, opening a FIFO would wait for its writer.
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return fov_fail(FOV_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  FovStatus status = read_open(data, size, fd, path, limit);
  close(fd);
  return status;
}

bool fov_file_exists(const char *path) {
  return access(path, F_OK) == 0;
}
