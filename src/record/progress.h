/** progress.csv: the record of truth of a run, one row an evaluation, fixed columns. */
#ifndef FOV_RECORD_PROGRESS_H
#define FOV_RECORD_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** One row; the columns have the fields' names and order. Train figures are means since the last
 * row; NaN is an empty cell. */
typedef struct FovProgress {
  int64_t update;             /**< optimiser steps so far */
  int64_t episodes;           /**< episodes trained on so far */
  double epoch;               /**< images seen / images of the training split */
  double seconds;             /**< of training, evaluations included, over all resumed parts; of
                                   an interrupted one up to its last row */
  double rate;                /**< learning rate */
  double sigma;               /**< pixels: the location policy's standard deviation */
  double train_error;         /**< fraction of training episodes answered wrongly */
  double train_reward;        /**< mean return of an episode */
  double class_loss;          /**< nats: cross-entropy of an episode's true labels, mean */
  double baseline_loss;       /**< mean squared error of the baseline */
  double gradient_norm;       /**< mean global norm before clipping */
  double valid_error;         /**< fraction, one deterministic rollout, averaged weights */
  double valid_reward;        /**< mean return, likewise */
  double valid_glimpses;      /**< mean of an episode, likewise */
  double glimpses_per_second; /**< of training, evaluations excluded */
} FovProgress;

/** Appends one row, writing the header first if the file is new; flushed to disk. */
FovStatus fov_progress_append(const char *path, const FovProgress *row);

/** Reads every row into malloc'd memory; a missing or misspelt column, a cell that is not a number
 * or a row of another length is an error with its line. A last line without its newline is still
 * being written and is left out. */
FovStatus fov_progress_read(FovProgress **rows, size_t *count, const char *path);

/** Replaces the file by its rows with `update` or fewer updates: what a resumed run keeps. */
FovStatus fov_progress_truncate(const char *path, int64_t update);

#endif
