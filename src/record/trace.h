/** A trace: recorded episodes, all that a viewer needs to replay them; a safetensors file. */
#ifndef FOV_RECORD_TRACE_H
#define FOV_RECORD_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/**
 * E episodes of T glimpses each. Arrays are C order, owned by the trace.
 *
 * Locations are the paper's: (x, y) in [−1, 1], (−1, −1) the top left corner of the image.
 */
typedef struct FovTrace {
  int episodes, glimpses;      /**< E, T */
  int height, width, channels; /**< H, W, C of an image */
  int actions;                 /**< A */
  int side, scales;            /**< G, S of the retina: patch s covers side·2^s pixels */
  bool whole;                  /**< the one patch is the whole image, wherever it looked */
  int64_t update;              /**< training updates behind the agent */
  uint8_t *images;             /**< [E, H, W, C] */
  uint8_t *retina;             /**< [E, T, S, G, G, C]: what the agent received */
  float *locations;            /**< [E, T, 2]: where it looked */
  float *means;                /**< [E, T, 2]: of the policy that chose it; NaN if none did */
  float *sigmas;               /**< [E, T, 2]: likewise, standard deviation; 0 = deterministic */
  float *probabilities;        /**< [E, T, A]: of each class had it answered after glimpse t */
  float *baselines;            /**< [E, T]: expected return; NaN if the agent has none */
  float *rewards;              /**< [E, T]: earned at glimpse t */
  int32_t *labels;             /**< [E] */
  int32_t *answers;            /**< [E] */
} FovTrace;

/** Allocates all arrays, zeroed, for the sizes already set in `trace`. */
FovStatus fov_trace_allocate(FovTrace *trace);
void fov_trace_finish(FovTrace *trace);

/** Replaces `path` whole. */
FovStatus fov_trace_write(const FovTrace *trace, const char *path);

/** Reads and checks every size and range: labels and answers < A, locations and means finite or
 * NaN where allowed, probabilities in [0, 1]. `trace` is to be finished by the caller on success.
 */
FovStatus fov_trace_read(FovTrace *trace, const char *path);

#endif
