/** Files that are read whole within a bound and replaced whole or not at all. */
#ifndef FOV_BASE_FILE_H
#define FOV_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum { FOV_PATH_SIZE = 4096 }; /**< bytes of a path, with the 0 at its end */

typedef struct FovPending FovPending;

/** A file being written beside the one it will replace. Zero-initialise before begin. */
typedef struct FovReplace {
  FILE *stream;       /**< write here; it has no file descriptor */
  const char *path;   /**< that it will replace */
  const char *beside; /**< path of the new file, for another process that writes it */
  FovPending *pending;
} FovReplace;

/** Opens a new file in the folder of `path`, under a name that starts with a dot. A symbolic link
 * at `path` will be replaced, not followed. */
FovStatus fov_replace_begin(FovReplace *replace, const char *path);

/** Flushes, fsyncs, renames over `path`, fsyncs the folder. On failure `path` is untouched and
 * the new file is removed; the message gives the reason of the first write that failed. Only if the
 * folder cannot be synced is `path` replaced already, which a power cut may undo. Either way
 * `replace` is finished. */
FovStatus fov_replace_commit(FovReplace *replace);

/** Removes the new file. Does nothing after a commit or before a begin. */
void fov_replace_abort(FovReplace *replace);

/** Fails if `path` could not be replaced. Leaves no file. */
FovStatus fov_replace_check(const char *path);

/** Removes the new files of all replacements between begin and commit (up to 16 of them), which
 * can then only be aborted. Async-signal-safe: for a handler that ends the process. */
void fov_replace_abort_all(void);

/** Removes from a folder the new files of this host's processes that were killed before their
 * commit. */
FovStatus fov_replace_sweep(const char *folder);

/** Writes all `size` bytes, whatever signals arrive; false with errno set. */
bool fov_write_all(int fd, const void *data, size_t size);

/** Opens a regular file for reading. Fails, naming the path, if it cannot be opened or is anything
 * else; never waits, as opening a FIFO without a writer would. *fd is −1 after a failure. */
FovStatus fov_file_open(int *fd, const char *path);

/** The same for reading and for writing at its end; creates a file that is missing. */
FovStatus fov_file_open_append(int *fd, const char *path);

/** Replaces `path` by `size` bytes of `data`. */
FovStatus fov_file_write(const char *path, const void *data, size_t size);

/**
 * Reads a whole regular file into malloc'd memory, with a zero byte after its end.
 *
 * Fails, naming the path and both sizes, if it is larger than `limit` bytes; nothing is allocated
 * before the size is known to fit. The caller frees *data.
 */
FovStatus fov_file_read(char **data, size_t *size, const char *path, size_t limit);

bool fov_file_exists(const char *path);

/** The last part of a path, after its folders. */
const char *fov_file_name(const char *path);

/** True if `path` has something before `ending` and ends in it, in upper or lower case. */
bool fov_has_ending(const char *path, const char *ending);

/** Whether two paths lead to the same file, which exists. */
bool fov_file_same(const char *a, const char *b);

/** Creates a folder and its parents where they are missing. A file of that name is not noticed. */
FovStatus fov_make_folders(const char *path);

/** Fails if the folder could not be created, or no file could be created in it. Creates nothing. */
FovStatus fov_folder_check(const char *path);

/** Copies the last line that is not empty of an open file, such as what a program has printed, into
 * line [size], without its end; cut where it is too long. Only the last 4 KiB are looked at. Moves
 * the offset of `fd`. */
void fov_file_last_line(char *line, size_t size, int fd);

#endif
