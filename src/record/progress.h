/** progress.csv: the measurements of a run, one row per evaluation. */
#ifndef FOV_RECORD_PROGRESS_H
#define FOV_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/figure.h"

enum { FOV_PROGRESS_EXTRAS = 16 };

/** One row; the fixed columns have the fields' names and order, the extra ones follow: those that
 * only some runs have, such as "policy_sigma". Training
 * figures are means since the last row; NaN is an empty cell. */
typedef struct FovProgress {
  int64_t update;             /**< updates so far */
  int64_t episodes;           /**< episodes trained on so far */
  double epoch;               /**< images seen / images of the training split */
  double seconds;             /**< of training, evaluations included, over all resumed parts; of
                                   an interrupted one up to its last row */
  double rate;                /**< learning rate */
  double train_error;         /**< fraction of training episodes answered wrongly */
  double train_reward;        /**< mean return of an episode */
  double gradient_norm;       /**< mean global norm before clipping */
  double valid_error;         /**< fraction, one deterministic rollout, averaged weights */
  double valid_reward;        /**< mean return, likewise */
  double valid_glimpses;      /**< mean of an episode, likewise */
  double glimpses_per_second; /**< of training, evaluations excluded */
  FovFigure extra[FOV_PROGRESS_EXTRAS];
  int extra_count;
  bool table; /**< of another table: it has extra columns only */
} FovProgress;

/** Adds an extra column to a row. Aborts if the name is not valid, that of another column or one
 * more than FOV_PROGRESS_EXTRAS. */
void fov_progress_add(FovProgress *row, const char *name, double value);

/** The value of an extra column; NaN if the row has none of that name. */
double fov_progress_extra(const FovProgress *row, const char *name);

enum { FOV_PROGRESS_COLUMNS = 12 + FOV_PROGRESS_EXTRAS };

/** Writes the names of a row's columns, the fixed ones first; they live as long as the row. Returns
 * how many. */
int fov_progress_names(const char *names[FOV_PROGRESS_COLUMNS], const FovProgress *row);

/** Gives the value of a column of any kind, by its name or by one of older versions; false if the
 * row has no such column. */
bool fov_progress_find(double *value, const FovProgress *row, const char *name);

/**
 * Appends one row, writing the header first if the file is new; flushed to disk.
 *
 * The cells follow the order of the file's own header; a column that the row lacks stays empty. A
 * row with a column that the file lacks replaces the whole file by one that has it.
 */
FovStatus fov_progress_append(const char *path, const FovProgress *row);

/**
 * Reads every row into malloc'd memory.
 *
 * The fixed columns may stand in any order; every other column is an extra one of all rows. The
 * columns sigma and class_loss of older versions are read as policy_sigma and answer_loss. A fixed
 * column that is missing, a name that is not valid or appears twice, a cell that is not a number
 * and a row of another length are errors that give the line. A last line without its newline is
 * still being written and is left out.
 */
FovStatus fov_progress_read(FovProgress **rows, size_t *count, const char *path);

/** The same of any table of numbers: without all of the fixed columns, every column is an extra
 * one, at most FOV_PROGRESS_EXTRAS of them. A last line with all cells needs no newline. */
FovStatus fov_progress_read_table(FovProgress **rows, size_t *count, const char *path);

/** Replaces the file by its rows with `update` or fewer updates: what a resumed run keeps. */
FovStatus fov_progress_truncate(const char *path, int64_t update);

#endif
