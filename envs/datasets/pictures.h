/** A data set of pictures, each with its class: MNIST's four files, an IDX pair, or folders of
 * PNGs. */
#ifndef FOV_ENVS_DATASETS_PICTURES_H
#define FOV_ENVS_DATASETS_PICTURES_H

#include "env.h"

typedef enum FovColour { FOV_COLOUR_AUTO, FOV_COLOUR_GREY, FOV_COLOUR_RGB } FovColour;

typedef struct FovPicturesOptions {
  char data[FOV_STRING_SIZE];                            /**< folder of MNIST's files or of PNGs */
  char images[FOV_STRING_SIZE], labels[FOV_STRING_SIZE]; /**< one IDX pair instead of them */
  bool divide; /**< whether that pair has splits; else each is all of it */
  int classes; /**< of IDX labels; PNGs count their own */
  int colour;  /**< FovColour */
  int fit;     /**< FovFit */
  int picture; /**< side of the square that pictures are scaled into; 0: as they are */
} FovPicturesOptions;

/** How pictures of several sizes become one size. */
typedef enum FovFit { FOV_FIT_PAD, FOV_FIT_SCALE } FovFit;

/** Those of one split; zero-initialised it is empty. */
typedef struct FovPictures {
  uint8_t *pixels;             /**< [N, H, W, C]; owned */
  uint16_t *labels;            /**< [N], each less than `classes`; owned */
  int64_t count;               /**< N */
  int height, width, channels; /**< H, W and C, 1 or 3 */
  int classes;
  char **names;    /**< [classes]: of folders; NULL: IDX files name none; owned */
  uint64_t digest; /**< of IDX files, whole; of the pixels and labels of a split of PNGs */
} FovPictures;

/**
 * Loads a split.
 *
 * Of MNIST's files, plain or with .gz after their names, t10k are the test's; the last sixth of the
 * others validates (10,000 of MNIST's 60,000). Of an IDX pair the last sixth tests and the one
 * before it validates, unless it is not to be divided. A folder without train-images-idx3-ubyte
 * holds PNGs; see fov_png_folder_read for their split. They are grey if all of them, whatever their
 * split, say so in their headers, unless `colour` decides; FOV_FIT_PAD keeps their sizes to each
 * other and lays them on black as large as the largest, FOV_FIT_SCALE makes each as large as fits.
 * Fails if files are missing or damaged, do not match, hold a label that is no class, or if all
 * pictures together have more than 1 GiB.
 */
FovStatus fov_pictures_load(FovPictures *pictures, const FovPicturesOptions *options,
                            FovSplit split);

void fov_pictures_finish(FovPictures *pictures);

#endif
