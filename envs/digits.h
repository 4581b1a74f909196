/** Environments of digits: an image with one digit to name, answered once. */
#ifndef FOV_ENVS_DIGITS_H
#define FOV_ENVS_DIGITS_H

#include "env.h"
#include "envs/idx.h"

/** What all of them can be told; the first member of each one's options. */
typedef struct FovDigitsOptions {
  char data[FOV_STRING_SIZE];                            /**< folder of the MNIST files */
  char images[FOV_STRING_SIZE], labels[FOV_STRING_SIZE]; /**< one IDX pair instead of them */
  int classes;
  int size; /**< side of the canvas; 0: the images' own height and width */
} FovDigitsOptions;

/** Rows of an option table; `size`, whose default differs, is each environment's own row. */
#define FOV_DIGITS_OPTIONS                                                                         \
  FOV_STRING(FovDigitsOptions, data, "",                                                           \
             "folder of the MNIST files; default $FOVEA_DATA, then ~/.cache/fovea"),               \
      FOV_STRING(FovDigitsOptions, images, "",                                                     \
                 "IDX file of images instead of data; its last sixth validates, all of it tests"), \
      FOV_STRING(FovDigitsOptions, labels, "", "IDX file of the labels of images"),                \
      FOV_INT(FovDigitsOptions, classes, "10", 2, 256, "labels are 0 to classes - 1")

/** Read-only once created; the first member of an environment that keeps more. */
typedef struct FovDigits {
  FovIdx images, labels; /**< [N, H, W] and [N], of this split */
  int64_t count;         /**< N */
  uint64_t digest;       /**< of the whole files */
  int height, width;     /**< of the canvas */
} FovDigits;

/** A rectangle of pixels inside a larger image. */
typedef struct FovPatch {
  const uint8_t *pixels; /**< its top left corner; not owned */
  int height, width;
  int stride; /**< pixels from one row to the next */
} FovPatch;

/**
 * Loads a split and fills `spec`: `create` of an environment whose struct has `bytes` bytes.
 *
 * Test digits are the t10k files; training and validation digits share the train files, of which
 * validation has the last sixth (10,000 of MNIST's 60,000). Each file may be plain or have .gz
 * after its name. What follows the FovDigits is zero. Fails if files are missing or damaged, do
 * not match, hold a label that is no class, or if the images do not fit in the canvas.
 */
FovStatus fov_digits_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovDigitsOptions *options, FovSplit split);

/** Accepts NULL. */
void fov_digits_destroy(void *env);

/** Reward 1 for the label, 0 otherwise; one answer ends the episode. */
void fov_digits_step(const void *env, FovEnvLane *lane, int action, FovRng *rng);

/** Digit `index` of the split, 0 … count−1. */
FovPatch fov_digits_image(const FovDigits *digits, int64_t index);
int fov_digits_label(const FovDigits *digits, int64_t index);

/** Makes the canvas black; image: [H, W]. */
void fov_digits_clear(const FovDigits *digits, uint8_t *image);

/** Adds a patch to the canvas, clamped at 255, its top left corner at column x, row y. */
void fov_digits_paste(const FovDigits *digits, uint8_t *image, FovPatch patch, int x, int y);

/** Draws a place uniformly from all that keep the patch inside: x, then y. */
void fov_digits_place(const FovDigits *digits, int *x, int *y, FovPatch patch, FovRng *rng);

/** Pastes at a place drawn uniformly from all that keep the patch inside; draws x, then y. */
void fov_digits_scatter(const FovDigits *digits, uint8_t *image, FovPatch patch, FovRng *rng);

enum { FOV_DIGITS_NAME = 16 };

/** Names `count` answers with `write`; one block, freed with free. */
FovStatus fov_digits_name(char ***names, int count,
                          void (*write)(char name[FOV_DIGITS_NAME], int answer, int classes),
                          int classes);

#endif
