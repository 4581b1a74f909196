/**
 * Outcomes: which cases of a split an agent answered wrongly, so that agents can be compared case
 * by case. A safetensors file in the run: "wrong" [cases] of u8, and what was evaluated and how.
 */
#ifndef FOV_RECORD_OUTCOMES_H
#define FOV_RECORD_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"
#include "env.h"

typedef struct FovOutcomes {
  uint8_t *wrong; /**< [cases], on the heap: 1 if an answer of the case is wrong */
  int64_t cases;
  double reward, glimpses; /**< means of a rollout */
  double mflop;            /**< of a rollout's matrix products */
  double input_numbers;   /**< that a rollout's network receives from the sensor; NaN: older file */
  double input_pixels;    /**< of the image, that they are computed from; NaN: older file */
  double answer_error;    /**< the share of wrong answers; NaN: no classes, or an older file */
  double alignment_error; /**< fov_alignment_error; NaN: not known, or an older file */
  int64_t parameters;     /**< that are learned */
  int64_t update;         /**< of the training that made the weights */
  int64_t seed;           /**< of the cases */
  int rollouts;
  FovSplit split;
  char weights[FOV_DIGEST_SIZE + 1]; /**< digest of the weights */
  char data[FOV_DIGEST_SIZE + 1];    /**< digest of the data behind the cases; "" in older files */
} FovOutcomes;

/** The share of wrong cases. */
double fov_outcomes_error(const FovOutcomes *outcomes);

/** Replaces `path` whole. */
FovStatus fov_outcomes_write(const FovOutcomes *outcomes, const char *path);

/** Reads and checks a file; finished by fov_outcomes_finish, also after a failure. */
FovStatus fov_outcomes_read(FovOutcomes *outcomes, const char *path);
void fov_outcomes_finish(FovOutcomes *outcomes);

/** Sets whether the outcomes are of other weights than the checkpoint's; false if there is no
 * checkpoint. Fails if it cannot be read. */
FovStatus fov_outcomes_differ(bool *differ, const FovOutcomes *outcomes, const char *checkpoint);

/** The file's name in a run: "valid.safetensors", or "valid-10.safetensors" of ten rollouts.
 * name: [FOV_OUTCOMES_NAME]; returns it. */
enum { FOV_OUTCOMES_NAME = 48 };
char *fov_outcomes_name(char *name, FovSplit split, int rollouts);

#endif
