/** What copy, reverse and sort share: random symbols of an alphabet, and the same ones in another
 * order as the answer. */
#ifndef FOV_ENVS_LETTERS_H
#define FOV_ENVS_LETTERS_H

#include "envs/outputs.h"

typedef struct FovLettersOptions {
  int alphabet, shortest, longest, room;
} FovLettersOptions;

extern const FovOption fov_letters_options[];

typedef struct FovLetters FovLetters;

/** Writes which symbol of the source each answer is: order [length]. */
typedef void FovLettersOrder(int *order, const int32_t *source, int length);

/** `create` of such an environment. */
FovStatus fov_letters_create(void **env, FovEnvSpec *spec, const void *options, FovSplit split);

/** Draws a source of the split into the lane, to be answered in some order. */
void fov_letters_draw(const void *env, FovEnvLane *lane, FovRng *rng, FovLettersOrder *order);

/** Members of FovEnvType. */
#define FOV_ENV_OF_LETTERS(name, help)                                                             \
  .plugin = {name, help, fov_letters_options, sizeof(FovLettersOptions)},                          \
  .create = fov_letters_create, .destroy = free, .step = fov_outputs_step

#endif
