/** A trace: recorded episodes, all that a viewer needs to replay them; a safetensors file. */
#ifndef FOV_RECORD_TRACE_H
#define FOV_RECORD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * E episodes of up to T glimpses each. Arrays are C order, owned by the trace; what an episode has
 * not got, after its last glimpse, is 0, or NaN or −1 where that is said.
 *
 * Locations are the paper's: (x, y) in [−1, 1], (−1, −1) the top left corner of the image.
 */
typedef struct FovTrace {
  int episodes, glimpses;      /**< E, T */
  int frames;                  /**< F: 1, or T if the images change */
  int height, width, channels; /**< H, W, C of an image */
  int actions;                 /**< A */
  int side, scales;            /**< G, S of the retina: patch s covers side·2^s pixels */
  bool whole;                  /**< the one patch is the whole image, wherever it looked */
  bool control;                /**< actions have consequences, not labels */
  int64_t update;              /**< training updates behind the agent */
  char *names;                 /**< of the A actions, a line each; NULL: their numbers */
  uint8_t *images;             /**< [E, F, H, W, C]: as they were at each glimpse */
  uint8_t *retina;             /**< [E, T, S, G, G, C]: what the agent received */
  float *locations;            /**< [E, T, 2]: where it looked */
  float *means;                /**< [E, T, 2]: of the policy that chose it; NaN if none did */
  float *sigmas;               /**< [E, T, 2]: likewise, standard deviation; 0 = deterministic */
  float *probabilities;        /**< [E, T, A]: of each answer or action after glimpse t */
  float *baselines;            /**< [E, T]: return expected before it; NaN if the agent has none */
  float *rewards;              /**< [E, T]: earned after glimpse t, its cost subtracted */
  int32_t *labels;             /**< [E, T]: the right answer at glimpse t; −1: none */
  int32_t *answers;            /**< [E, T]: answer or action after glimpse t; −1: none */
  int32_t *lengths;            /**< [E]: glimpses taken, 1 … T */
  int32_t *wrong;              /**< [E]: 1 if an answer was wrong or the goal missed, else 0 */
} FovTrace;

/** Allocates all arrays, each filled with what stands for nothing, for the sizes already set in
 * `trace`. */
FovStatus fov_trace_allocate(FovTrace *trace);
void fov_trace_finish(FovTrace *trace);

/** Replaces `path` whole. */
FovStatus fov_trace_write(const FovTrace *trace, const char *path);

/** Sets the names of the actions, [A] or NULL, on a trace whose sizes are set; numbers stay if one
 * of them is no text. */
FovStatus fov_trace_set_names(FovTrace *trace, const char *const *names);

/** What an action is called, or its number. text: [size] */
void fov_trace_name(char *text, size_t size, const FovTrace *trace, int action);

/** Reads and checks every size and range: labels and answers < A, lengths in 1 … T, locations and
 * means finite or NaN where allowed, probabilities in [0, 1]. `trace` is to be finished by the
 * caller on success.
 */
FovStatus fov_trace_read(FovTrace *trace, const char *path);

#endif
