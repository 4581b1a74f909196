/** What environments of sequences share: symbols that are answered in turn, up to an end, and the
 * split that a source belongs to. */
#ifndef FOV_ENVS_OUTPUTS_H
#define FOV_ENVS_OUTPUTS_H

#include "env.h"

/** A symbol to answer, and where it comes from. */
typedef struct FovOutput {
  int label;
  FovAlignment from;
} FovOutput;

/** The state of a lane; `list` has room for the symbols and their end. */
typedef struct FovOutputs {
  int count, done; /**< symbols with the end; those that have been answered */
  FovOutput list[];
} FovOutputs;

/** Bytes of a state with room for `most` symbols and their end. */
size_t fov_outputs_bytes(int most);

/** Empties a lane's state, which has room for `most` symbols and their end. */
FovOutputs *fov_outputs_clear(FovEnvLane *lane, int most);

/** Adds a symbol. */
void fov_outputs_add(FovOutputs *outputs, int label, FovAlignment from);

/** Shows the lane what is to be answered next. */
void fov_outputs_show(FovEnvLane *lane);

/** FovEnvType.step: a right symbol earns 1; the episode ends after the last. */
void fov_outputs_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng);

/** Whether a source belongs to a split, by its hash: eight of ten to train, one each to valid and
 * test. tokens: [length] */
bool fov_source_is_of(const int32_t *tokens, int length, FovSplit split);

#endif
