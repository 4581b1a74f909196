/** What a training prints: a line for each evaluation and, on a terminal, a progress line. */
#ifndef FOV_CLI_PROGRESS_LINE_H
#define FOV_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "experiment/report.h"

/** Zero-initialise. */
typedef struct FovProgressLine {
  double drawn_at; /**< on the monotonic clock */
  bool drawn;      /**< the cursor is at the end of a progress line */
} FovProgressLine;

/** Prints a report; context: a FovProgressLine. The progress line is drawn over the last one, at
 * most five times a second, and is always narrower than the terminal. */
void fov_progress_line_report(void *context, const FovReport *report);

/** Clears the progress line, so that what follows starts on a line of its own. */
void fov_progress_line_clear(FovProgressLine *line);

#endif
