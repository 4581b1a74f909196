/** TensorBoard event files: the scalars of progress.csv again, for those who watch them there. */
#ifndef FOV_RECORD_TFEVENTS_H
#define FOV_RECORD_TFEVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/progress.h"

enum { FOV_TAG_SIZE = 128 }; /**< bytes of a tag, with its terminator */

typedef struct FovTfevents FovTfevents;

/**
 * Creates events.out.tfevents.SECONDS.HOST.PID.fovea in `folder`; never overwrites a file.
 *
 * `wall_time` is in seconds since 1970. If `resumed`, TensorBoard forgets what earlier files of
 * the folder say of `step` and later steps. On failure *events is NULL.
 */
FovStatus fov_tfevents_open(FovTfevents **events, const char *folder, double wall_time,
                            bool resumed, int64_t step);

/** Adds one point to the curve `tag`, e.g. "valid/error". */
FovStatus fov_tfevents_scalar(FovTfevents *events, const char *tag, int64_t step, float value,
                              double wall_time);

/** Adds a row of progress.csv: one point of each curve that has a number there. */
FovStatus fov_tfevents_row(FovTfevents *events, const FovProgress *row, double wall_time);

/** Hands all points to the system, so that a watcher sees them. */
FovStatus fov_tfevents_flush(FovTfevents *events);

/** Flushes and frees, whatever the outcome; accepts NULL. */
FovStatus fov_tfevents_close(FovTfevents *events);

/** CRC-32C (Castagnoli), which guards each record; of "123456789" it is 0xe3069283. */
uint32_t fov_crc32c(const void *data, size_t size);

#endif
