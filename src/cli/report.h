/** What a training says on the terminal. */
#ifndef FOV_CLI_REPORT_H
#define FOV_CLI_REPORT_H

#include "learn/trainer/trainer.h"
#include "record/progress.h"

/** Prints one evaluation as a line. */
void fov_report_row(const FovProgress *row, double seconds_left);

/** Where a training stands, for the line that is drawn again and again. */
typedef struct FovStanding {
  double progress; /**< 0 … 1 */
  double epoch;
  const FovSums *sums; /**< since the last evaluation */
  double glimpses_per_second;
  double seconds_left;
} FovStanding;

/** Draws the progress line over the last one: on a terminal, at most five times a second. */
void fov_report_standing(const FovStanding *standing);

/** Leaves the progress line, so that what follows starts on a line of its own. */
void fov_report_leave(void);

#endif
