/** A text file as lines of symbols: characters, or words between spaces. */
#ifndef FOV_ENVS_DATASETS_LINES_H
#define FOV_ENVS_DATASETS_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { FOV_LINES_VOCABULARY = 65536 }; /**< most different symbols of a file */

typedef enum FovLinesUnit { FOV_LINES_CHARACTER, FOV_LINES_WORD } FovLinesUnit;

/** The lines of a file; zero-initialised it is empty. Symbols are numbered in the order of their
 * bytes. */
typedef struct FovLines {
  int64_t count;
  size_t *starts;  /**< [count + 1]: of each line in `tokens` */
  int32_t *tokens; /**< of all lines, one after another */
  int longest;     /**< symbols of the longest line */
  int vocabulary;  /**< V: different symbols */
  char **names;    /**< [V]: the symbols themselves */
  char *text;      /**< the names' bytes */
  uint64_t digest; /**< of the file */
} FovLines;

/**
 * Reads a UTF-8 text whose lines may end with \r\n. Fails if it is larger than 64 MiB, empty or not
 * UTF-8, or has control characters other than tabs, a line of more than `longest` symbols, or more
 * than FOV_LINES_VOCABULARY different symbols. Takes, besides the text, its different symbols
 * and 2 MiB, 4 bytes for a symbol and 8 for a line; fails if the process may not use as much.
 *
 * known: another text, whose symbols and numbers are used; fails at a symbol that it lacks. NULL:
 * the text has its own.
 */
FovStatus fov_lines_read(FovLines *lines, const char *path, FovLinesUnit unit, int longest,
                         const FovLines *known);

/** Safe on an empty one and twice. */
void fov_lines_finish(FovLines *lines);

#endif
