/**
 * Checkpoints: all of a training's state in one safetensors file, or only what evaluates.
 *
 * Parameters are stored under their own names ("core.w"), their averages and moments under a prefix
 * ("average.core.w", "first.core.w", "second.core.w"), the rest under "state.", such as mean and
 * deviation of standardised images, "state.mean" and "state.deviation" [C]; the resolved
 * configuration is the text "config", the digest of the weights to evaluate the text "weights".
 * Nothing in it depends on the clock, so the same training writes the same bytes.
 */
#ifndef FOV_RECORD_CHECKPOINT_H
#define FOV_RECORD_CHECKPOINT_H

#include "learn/trainer/trainer.h"
#include "record/safetensors.h"

#define FOV_NO_LOSS 1e300

/** The best evaluation of a run so far. */
typedef struct FovBest {
  double loss;    /**< lowest validation loss; FOV_NO_LOSS before the first evaluation */
  double error;   /**< fraction of the validation split */
  int64_t update; /**< updates made when it was reached */
} FovBest;

/** What identifies a training; a run is resumed only with the same. */
typedef struct FovIdentity {
  const char *config;   /**< the resolved configuration */
  uint64_t data;        /**< digest of the training data */
  uint64_t symbols;     /**< digest of the symbols that it is shown and answers; 0: none */
  FovStandard standard; /**< of the images that it is shown */
} FovIdentity;

/** Digest of the names, shapes and values of all parameters; padding does not count.
 * values: [params->size]. */
uint64_t fov_weights_digest(const FovParams *params, const real *values);

/** Replaces `path` whole; a state with a number that is not finite is refused and `path` stays.
 * evaluated: the block of `state` that is evaluated, its average or its values. */
FovStatus fov_checkpoint_save(const char *path, const FovParams *params,
                              const FovTrainerState *state, const real *evaluated,
                              const FovBest *best, const FovIdentity *identity);

/** Replaces `path` whole by a checkpoint for evaluation only, a quarter of the size: the `values`
 * of all parameters after `update` updates, and the configuration. A value that is not finite is
 * refused and `path` stays. No training can be resumed from it. */
FovStatus fov_checkpoint_save_weights(const char *path, const FovParams *params, const real *values,
                                      int64_t update, const FovIdentity *identity);

/** Fails if the training of the checkpoint was started on data of another digest. */
FovStatus fov_checkpoint_check_data(const FovSafetensors *file, uint64_t data);

/** Fails if the agent was trained on symbols of another digest. Older files have none, and pass. */
FovStatus fov_checkpoint_check_symbols(const FovSafetensors *file, uint64_t symbols);

/** Reads mean and deviation of the images that the agent was trained on; a file without them is of
 * images that were not standardised. Fails on numbers that no images have. */
FovStatus fov_checkpoint_standard(FovStandard *standard, const FovSafetensors *file);

/** Fills the state; on failure it may be part old, part new. A parameter that is missing or of
 * another shape, and a number that is not finite, are errors that name it. */
FovStatus fov_checkpoint_load(FovTrainerState *state, FovBest *best, const FovParams *params,
                              const FovSafetensors *file);

/** Reads after how many updates it was saved. */
FovStatus fov_checkpoint_update(int64_t *update, const FovSafetensors *file);

/** Loads only the weights to evaluate (the averaged ones of a whole checkpoint, if `averaged`) into
 * a new block that the caller frees; nothing is allocated before every shape has been compared. */
FovStatus fov_checkpoint_load_weights(real **values, int64_t *update, const FovParams *params,
                                      bool averaged, const FovSafetensors *file);

/**
 * Copies the weights to evaluate into `values` [params->size], for a training that starts from
 * them.
 *
 * A parameter that the file lacks, or has in another shape, keeps its value in `values` if it is
 * one of `heads`, which counts it in *kept; else it is an error. A number that is not finite is
 * one, too. After a failure some of `values` may be new.
 */
FovStatus fov_checkpoint_start_weights(real *values, int *kept, const FovParams *params,
                                       const FovParams *heads, bool averaged,
                                       const FovSafetensors *file);

/** Whether an array of a checkpoint is a parameter's values under its own name, rather than its
 * average, a moment or a part of the state. A parameter must not have the name of one of those. */
bool fov_checkpoint_is_weight(const char *name);

/** The configuration text of a checkpoint, valid until it is closed. */
FovStatus fov_checkpoint_config(const char **config, const FovSafetensors *file);

#endif
