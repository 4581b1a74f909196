/** How a sweep is shown: a table that is redrawn in a terminal, a line per run anywhere else. */
#ifndef FOV_CLI_SWEEP_TABLE_H
#define FOV_CLI_SWEEP_TABLE_H

#include "experiment/sweep/sweep.h"

typedef struct FovSweepTable {
  int lines;          /**< of the table that is on the screen */
  double drawn_at;    /**< on the monotonic clock */
  double done_before; /**< of the trainings, when this process began; −1: not known yet */
} FovSweepTable;

/** A FovSweepReporter's `report`. table: a FovSweepTable, {.done_before = −1} at the start. */
void fov_sweep_table_report(void *table, const FovSweepReport *report);

/** Removes the table from the screen. */
void fov_sweep_table_clear(FovSweepTable *table);

/** Prints the configurations that have finished, the best first, and their tests. */
void fov_sweep_print_summary(const FovSweepReport *report);

#endif
