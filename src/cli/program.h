/** Running another program. */
#ifndef FOV_CLI_PROGRAM_H
#define FOV_CLI_PROGRAM_H

#include "base/error.h"

enum { FOV_PROGRAM_LINE = 512 };

/**
 * Runs argv[0], which is searched on the PATH, with the words of argv (NULL-terminated), without a
 * shell, and waits for its end. line: the last line of its stdout.
 *
 * Fails if it cannot be started, or ends with another status than 0; then the message has the last
 * line of its stderr.
 */
FovStatus fov_program_run(char line[FOV_PROGRAM_LINE], const char *const *argv);

#endif
