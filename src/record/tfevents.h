/** TensorBoard event files: the curves of progress.csv. */
#ifndef FOV_RECORD_TFEVENTS_H
#define FOV_RECORD_TFEVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/progress.h"

#define FOV_TFEVENTS "events.out.tfevents" /**< the first word of the files' names */

enum { FOV_TAG_SIZE = 128 }; /**< bytes of a tag, with its terminator */

typedef struct FovTfevents FovTfevents;

/**
 * Creates events.out.tfevents.SECONDS.HOST.PID.fovea in `folder`; never overwrites a file.
 *
 * `wall_time` is in seconds since 1970. If `resumed`, TensorBoard drops the points of earlier files
 * of the folder from `step` on. On failure *events is NULL.
 */
FovStatus fov_tfevents_open(FovTfevents **events, const char *folder, double wall_time,
                            bool resumed, int64_t step);

/** Adds one point to the curve `tag`, e.g. "valid/error"; it is in the file on return. */
FovStatus fov_tfevents_scalar(FovTfevents *events, const char *tag, int64_t step, float value,
                              double wall_time);

/** Adds a row of progress.csv: one point for each column that has a finite number, except episodes,
 * epoch, seconds and valid_glimpses. Extra columns are curves "extra/NAME", except policy_sigma,
 * answer_loss and baseline_loss, which keep the tags train/sigma, train/class_loss and
 * train/baseline_loss. */
FovStatus fov_tfevents_row(FovTfevents *events, const FovProgress *row, double wall_time);

/** Accepts NULL. */
void fov_tfevents_close(FovTfevents *events);

/** CRC-32C (Castagnoli), the checksum of each record; that of "123456789" is 0xe3069283. */
uint32_t fov_crc32c(const void *data, size_t size);

#endif
