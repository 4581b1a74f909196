/** Printing text that may come from a file, and what became of the output. */
#ifndef FOV_CLI_PRINT_H
#define FOV_CLI_PRINT_H

#include <stdio.h>

#include "base/error.h"

/** Like fprintf, for one line: newlines are printed where `format` starts or ends with them. Other
 * control characters and bytes that are not UTF-8 become '?', so that no name or metadata can send
 * escape sequences to a terminal or print a line of its own. */
void fov_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same for text of any number of lines. */
void fov_print_text(FILE *stream, const char *text);

/** Writes a duration as "2:03" or "1:02:03", "?" if it is negative; returns `text`. */
const char *fov_duration(char text[32], double seconds);

/** Columns of a line on stdout: those of the terminal but the last one, after which some terminals
 * wrap; INT_MAX: it is no terminal. */
int fov_print_columns(void);

/** Flushes stdout, so that a reader sees it at once, and remembers the first error. */
void fov_print_flush(void);

/** Fails if anything that was written to stdout has not arrived. */
FovStatus fov_print_finish(void);

#endif
