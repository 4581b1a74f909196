/**
 * The rows of a sweep file: named configurations, whose settings belong together.
 *
 *   [row soft]
 *   attention = soft
 *   tiles.heads = 4
 *
 *   [row whole image]
 *   experiment = conv
 *
 * A row lasts until the next section. Its settings replace those outside of the rows, and
 * `experiment` replaces the experiment of the sweep. Keys are written in full.
 */
#ifndef FOV_EXPERIMENT_SWEEP_ROWS_H
#define FOV_EXPERIMENT_SWEEP_ROWS_H

#include <stdbool.h>

#include "config/config.h"

enum { FOV_SWEEP_ROWS = 200 };    /**< of a sweep, at most */
enum { FOV_SWEEP_ROW_NAME = 41 }; /**< bytes; a section of this length is read by any inih */

typedef struct FovSweepRow {
  char name[FOV_SWEEP_ROW_NAME];
  char *where;                      /**< for messages: "sweeps/kinds:12" */
  FovSettings *settings;            /**< without `experiment`; one value each */
  char experiment[FOV_STRING_SIZE]; /**< its file, relative to the sweep file; "": the sweep's */
} FovSweepRow;

typedef struct FovSweepRows {
  FovSweepRow *list; /**< [count], in the order of the file */
  int count;
} FovSweepRows;

/** Whether a key that fov_settings_read has read from a sweep file is in the section of a row. */
bool fov_sweep_is_of_row(const char *key);

/**
 * Reads the rows of a sweep file that fov_settings_read has read. all: what it has read, and the
 * command line, whose settings replace those of a row with the same key.
 *
 * Fails on a row without a name or settings, two rows of one name, a list or a range in a row, and
 * `seed`. Finished by fov_sweep_rows_finish, also after a failure.
 */
FovStatus fov_sweep_rows_read(FovSweepRows *rows, const char *file, const FovSettings *all);
void fov_sweep_rows_finish(FovSweepRows *rows);

/** Writes into chosen [count] which of the names a list has, "soft,gaze"; all if it is NULL. Fails
 * on a name in the list that is none of them. names: of rows; some may be equal. */
FovStatus fov_sweep_rows_choose(bool *chosen, const char *const *names, int count,
                                const char *list);

/** Prints the rows as sections of a sweep file. experiments: [rows->count] names to print instead
 * of their own; "": none. */
void fov_sweep_rows_print(FILE *stream, const FovSweepRows *rows, const char *const *experiments);

#endif
