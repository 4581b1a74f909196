/** A data set of pictures with classes: MNIST's four files, a pair of IDX files, or folders of
 * PNGs.
 */
#ifndef FOV_ENVS_DATASETS_PICTURES_H
#define FOV_ENVS_DATASETS_PICTURES_H

#include "env.h"

typedef enum FovColourMode { FOV_COLOUR_AUTO, FOV_COLOUR_GREY, FOV_COLOUR_RGB } FovColourMode;

typedef struct FovPicturesOptions {
  char data[FOV_STRING_SIZE];                            /**< folder of MNIST's files or of PNGs */
  char images[FOV_STRING_SIZE], labels[FOV_STRING_SIZE]; /**< a pair of IDX files instead */
  bool divide; /**< divides that pair; otherwise each split is all of it */
  int classes; /**< of IDX labels; PNGs have as many as folders */
  int colour;  /**< FovColourMode */
  int fit;     /**< FovFit */
  int picture; /**< side of the square that pictures are scaled to fit in; 0: as they are */
} FovPicturesOptions;

/** How pictures of several sizes become one size. */
typedef enum FovFit { FOV_FIT_PAD, FOV_FIT_SCALE } FovFit;

/** The pictures of one split; zero-initialised it is empty. */
typedef struct FovPictures {
  uint8_t *pixels;             /**< [N, H, W, C]; owned */
  uint16_t *labels;            /**< [N], each less than `classes`; owned */
  int64_t count;               /**< N */
  int64_t division[3];         /**< pictures in each FovSplit; 0: its file cannot be read */
  int height, width, channels; /**< H, W and C, 1 or 3 */
  int test_height, test_width; /**< of MNIST's test pictures, beside the training part; else 0 */
  int classes;
  char **names;    /**< [classes]: the folders'; NULL: IDX files have no names; owned */
  uint64_t digest; /**< of the IDX files; of the pixels and labels of a split of PNGs */
} FovPictures;

/**
 * Loads a split.
 *
 * | source                      | train            | valid                 | test       |
 * |-----------------------------|------------------|-----------------------|------------|
 * | MNIST's files, plain or .gz | rest of train-*  | last sixth of train-* | t10k-*     |
 * | env.images and env.labels   | rest             | fifth sixth           | last sixth |
 * | the same, env.divide = no   | all              | all                   | all        |
 * | folders of PNGs             | see fov_png_folder_read                               |
 *
 * Sixths are rounded down; MNIST's last sixth is 10,000 of 60,000. A folder without
 * train-images-idx3-ubyte is one of PNGs. They become grey if the headers of all of them, of every
 * split, are grey, unless `colour` decides. FOV_FIT_PAD scales all by one factor and adds black up
 * to the size of the largest, FOV_FIT_SCALE makes each as large as fits.
 *
 * When the training part is loaded, the test part is checked too: its PNGs and MNIST's test
 * files, if they are there, are read.
 *
 * Fails if files are missing or damaged, do not match, have a label that is no class, or if the
 * pictures of a folder, of all splits, or of one of MNIST's files have more than 1 GiB.
 */
FovStatus fov_pictures_load(FovPictures *pictures, const FovPicturesOptions *options,
                            FovSplit split);

void fov_pictures_finish(FovPictures *pictures);

#endif
