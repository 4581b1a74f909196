/** What the files of the measurements share. */
#ifndef FOV_EXPERIMENT_MEASURE_PARTS_H
#define FOV_EXPERIMENT_MEASURE_PARTS_H

#include "experiment/measure.h"

/** Adds the value of one more repeat. */
void fov_repeats_add(FovRepeats *repeats, double value);

/** One repeat of a matrix product on `threads` threads at once: FLOP/s of all threads. */
FovStatus fov_product_rate(double *rate, const FovProduct *product, int threads);

/** One rollout of `most` training cases, or of all of them if they are fewer. */
FovEvalRequest fov_subject_request(const FovSubject *subject, const real *values, int64_t most,
                                   int threads);

#endif
