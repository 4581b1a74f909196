/** What environments of digits, or of any pictures, share: loading them, and laying them on a
 * canvas.
 */
#ifndef FOV_ENVS_DIGITS_H
#define FOV_ENVS_DIGITS_H

#include "env.h"
#include "envs/pictures.h"

/** What all of them can be told; the first member of each one's options. */
typedef struct FovDigitsOptions {
  FovPicturesOptions pictures;
  int size;   /**< side of the canvas; 0: the pictures' own height and width */
  int pieces; /**< of clutter */
} FovDigitsOptions;

/** Rows of an option table; others, or whose default differs, are each environment's own. */
#define FOV_DIGITS_OPTIONS                                                                         \
  FOV_STRING(FovPicturesOptions, data, "",                                                         \
             "folder of MNIST's files, or of a folder of PNGs for each class; default "            \
             "$FOVEA_DATA, then ~/.cache/fovea"),                                                  \
      FOV_STRING(FovPicturesOptions, images, "", "IDX file of images instead of data"),            \
      FOV_STRING(FovPicturesOptions, labels, "", "IDX file of the labels of images"),              \
      FOV_BOOL(                                                                                    \
          FovPicturesOptions, divide, "yes",                                                       \
          "of env.images the last sixth tests and the one before it validates; no: all train, "    \
          "validate and test"),                                                                    \
      FOV_INT(FovPicturesOptions, classes, "10", 2, 256,                                           \
              "labels of IDX files are 0 to classes - 1; PNGs have as many classes as folders")

#define FOV_DIGITS_PIECES(fallback)                                                                \
  FOV_INT(FovDigitsOptions, pieces, fallback, 0, 1000, "pieces of clutter, 8 x 8 pixels each")

/** Read-only once created; the first member of an environment that keeps more. */
typedef struct FovDigits {
  FovPictures pictures;        /**< of this split */
  int height, width, channels; /**< of the canvas */
  int pieces;
  char **names; /**< of answers that are no single picture's class; NULL: none; owned */
} FovDigits;

/** A rectangle of pixels inside a larger image. */
typedef struct FovPatch {
  const uint8_t *pixels; /**< its top left corner; not owned */
  int height, width;     /**< in pixels, of the canvas's channels each */
  int stride;            /**< bytes from one row to the next */
} FovPatch;

/**
 * Loads a split and fills `spec`: `create` of an environment whose struct has `bytes` bytes.
 *
 * What follows the FovDigits is zero. Fails as fov_pictures_load does, if the pictures do not fit
 * in the canvas, or if pieces of clutter cannot be cut from them.
 */
FovStatus fov_digits_create(void **env, size_t bytes, FovEnvSpec *spec,
                            const FovDigitsOptions *options, FovSplit split);

/** Accepts NULL. */
void fov_digits_destroy(void *env);

/** Reward 1 for the label, 0 otherwise; one answer ends the episode. */
void fov_digits_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng);

/** Digit `index` of the split, 0 … count−1. */
FovPatch fov_digits_image(const FovDigits *digits, int64_t index);
int fov_digits_label(const FovDigits *digits, int64_t index);

/** Makes the canvas black; image: [H, W, C]. */
void fov_digits_clear(const FovDigits *digits, uint8_t *image);

/** Adds a patch to the canvas, clamped at 255, its top left corner at column x, row y. */
void fov_digits_paste(const FovDigits *digits, uint8_t *image, FovPatch patch, int x, int y);

/** Draws a place uniformly from all that keep the patch inside: x, then y. */
void fov_digits_place(const FovDigits *digits, int *x, int *y, FovPatch patch, FovRng *rng);

/** Pastes in the middle; half a pixel more is left or above. */
void fov_digits_centre(const FovDigits *digits, uint8_t *image, FovPatch patch);

/** Pastes at a place drawn uniformly from all that keep the patch inside; draws x, then y. */
void fov_digits_scatter(const FovDigits *digits, uint8_t *image, FovPatch patch, FovRng *rng);

enum { FOV_DIGITS_NAME = 16 };

/** Names the environment's answers with `write`; the names are freed with it. */
FovStatus fov_digits_name(FovDigits *digits, FovEnvSpec *spec,
                          void (*write)(char name[FOV_DIGITS_NAME], int answer, int classes));

/**
 * Scatters the pieces of clutter (Mnih et al. 2014, section 4.1). Draws, for each in turn: the
 * digit of the split it comes from (it may be the target itself), x and y of the 8×8 crop in that
 * digit, x and y of its place. All are uniform over what keeps the crop in its digit.
 */
void fov_digits_clutter(const FovDigits *digits, uint8_t *image, FovRng *rng);

#endif
