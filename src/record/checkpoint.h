/**
 * Checkpoints: all of a training's state in one safetensors file.
 *
 * Parameters stand under their own names ("core.w"), what belongs to them under a prefix
 * ("average.core.w", "first.core.w", "second.core.w"), the rest under "state."; the resolved
 * configuration is the text "config". Nothing in it depends on the clock, so the same training is
 * the same bytes.
 */
#ifndef FOV_RECORD_CHECKPOINT_H
#define FOV_RECORD_CHECKPOINT_H

#include "learn/trainer.h"

/** How well the run has done so far. */
typedef struct FovBest {
  double error;   /**< fraction of the validation split; infinite before the first evaluation */
  int64_t update; /**< when it was reached */
} FovBest;

/** Replaces `path` whole. */
FovStatus fov_checkpoint_save(const char *path, const FovParams *params,
                              const FovTrainerState *state, const FovBest *best,
                              const char *config);

/** Fills the state; on failure it may be part old, part new. A parameter that is missing or of
 * another shape, and a number that is not finite, are errors that name it. */
FovStatus fov_checkpoint_load(FovTrainerState *state, FovBest *best, const FovParams *params,
                              const char *path);

/** Fills only the weights to evaluate: the averaged ones if `averaged`. */
FovStatus fov_checkpoint_load_weights(real *values, int64_t *update, const FovParams *params,
                                      bool averaged, const char *path);

/** The configuration text of a checkpoint, malloc'd. */
FovStatus fov_checkpoint_config(char **config, const char *path);

#endif
