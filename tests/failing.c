#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

/** What jansson allocates is lost where memory is short; whether jansson or fovea should free it is
 * not known. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libjansson";
}

static int calls, failing; // failing: number of the call that fails; 0: none does

/** Counts a call. Whether it fails, for that reason. */
static bool fails(int reason) {
  if (failing == 0 || ++calls != failing) return false;
  errno = reason;
  return true;
}

#define WRAP(type, name, parameters, arguments, reason, failure)                                   \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    return fails(reason) ? failure : __real_##name arguments;                                      \
  }

WRAP(void *, malloc, (size_t size), (size), ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)
WRAP(void *, realloc, (void *memory, size_t size), (memory, size), ENOMEM, NULL)
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), ENOMEM, NULL)
WRAP(char *, strdup, (const char *text), (text), ENOMEM, NULL)
WRAP(char *, strndup, (const char *text, size_t size), (text, size), ENOMEM, NULL)
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), ENOMEM, NULL)
WRAP(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t functions),
     (cookie, mode, functions), ENOMEM, NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), ENOMEM, NULL)
WRAP(gzFile, gzdopen, (int fd, const char *mode), (fd, mode), ENOMEM, NULL)
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP(DIR *, opendir, (const char *path), (path), EMFILE, NULL)
WRAP(int, scandir64,
     (const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
      int (*order)(const struct dirent **, const struct dirent **)),
     (path, names, filter, order), EMFILE, -1)
WRAP(int, fstat64, (int fd, struct stat *status), (fd, status), EIO, -1)
WRAP(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), ENODEV, MAP_FAILED)
WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), EIO, -1)
WRAP(ssize_t, pread64, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), EIO, -1)
WRAP(off_t, lseek64, (int fd, off_t at, int from), (fd, at, from), EIO, -1)
WRAP(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), ENOSPC, -1)
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size), EIO, -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), EIO, -1)
WRAP(int, unlink, (const char *path), (path), EIO, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), EIO, -1)
WRAP(int, flock, (int fd, int operation), (fd, operation), ENOLCK, -1)

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(EMFILE) ? -1 : __real_open64(path, flags, mode);
}

/** Does not wait for the disk. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
  (void)fd;
  return fails(EIO) ? -1 : 0;
}

static void check_folder(const char *folder, int call) {
  DIR *stream = opendir(folder);
  assert_non_null(stream);
  for (const struct dirent *entry; (entry = readdir(stream));) {
    const char *end = strrchr(entry->d_name, '.');
    if (end && strcmp(end, ".tmp") == 0) fail_msg("call %d leaves %s", call, entry->d_name);
  }
  closedir(stream);
}

static void check_message(int call) {
  const char *message = fov_error_message();
  size_t length = strlen(message);
  if (length < 3 || message[length - 1] == ' ' || strstr(message, "Success"))
    fail_msg("call %d: '%s'", call, message);
}

int fail_each(FovStatus (*work)(void), const char *folder) {
  json_set_alloc_funcs(malloc, free);
  for (int call = 1;; call++) {
    fov_fail(FOV_OK, " "); // the message of an earlier call
    calls = 0;
    failing = call;
    FovStatus status = work();
    failing = 0;
    if (status != FOV_OK) check_message(call);
    check_folder(folder, call);
    if (calls >= call) continue;
    if (status != FOV_OK) fail_msg("%s", fov_error_message());
    return calls;
  }
}
