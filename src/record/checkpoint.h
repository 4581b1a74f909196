/**
 * Checkpoints: all of a training's state in one safetensors file, or only what evaluates.
 *
 * Parameters stand under their own names ("core.w"), what belongs to them under a prefix
 * ("average.core.w", "first.core.w", "second.core.w"), the rest under "state."; the resolved
 * configuration is the text "config". Nothing in it depends on the clock, so the same training is
 * the same bytes.
 */
#ifndef FOV_RECORD_CHECKPOINT_H
#define FOV_RECORD_CHECKPOINT_H

#include "learn/trainer/trainer.h"

#define FOV_NO_LOSS 1e300

/** How well the run has done so far. */
typedef struct FovBest {
  double loss;    /**< what it has least of; FOV_NO_LOSS before the first evaluation */
  double error;   /**< fraction of the validation split */
  int64_t update; /**< when it was reached */
} FovBest;

/** What a training is of; a run goes on only with the same. */
typedef struct FovIdentity {
  const char *config; /**< the resolved configuration */
  uint64_t data;      /**< digest of the training data */
} FovIdentity;

/** Replaces `path` whole; a state with a number that is not finite is refused and `path` stays. */
FovStatus fov_checkpoint_save(const char *path, const FovParams *params,
                              const FovTrainerState *state, const FovBest *best,
                              const FovIdentity *identity);

/** Replaces `path` whole by what evaluates, a quarter of a checkpoint: the `values` of all
 * parameters and the configuration; `update` is how many made them. A value that is not finite is
 * refused and `path` stays. No training goes on from it. */
FovStatus fov_checkpoint_save_weights(const char *path, const FovParams *params, const real *values,
                                      int64_t update, const FovIdentity *identity);

/** Fails, naming the first setting that differs, if `path` is of another training. */
FovStatus fov_checkpoint_check(const char *path, const FovIdentity *identity);

/** Fills the state; on failure it may be part old, part new. A parameter that is missing or of
 * another shape, and a number that is not finite, are errors that name it. */
FovStatus fov_checkpoint_load(FovTrainerState *state, FovBest *best, const FovParams *params,
                              const char *path);

/** Loads only the weights to evaluate, of a whole checkpoint the averaged ones if `averaged`, into
 * a new block that the caller frees; nothing is allocated before every shape has been compared. */
FovStatus fov_checkpoint_load_weights(real **values, int64_t *update, const FovParams *params,
                                      bool averaged, const char *path);

/** The configuration text of a checkpoint, malloc'd. */
FovStatus fov_checkpoint_config(char **config, const char *path);

#endif
