/** Pictures that are loaded once, however many environments of this process show them. */
#ifndef FOV_ENVS_DATASETS_SHARED_PICTURES_H
#define FOV_ENVS_DATASETS_SHARED_PICTURES_H

#include "envs/datasets/pictures.h"

/** Loads a split as fov_pictures_load does, or takes it from an environment that has it with the
 * same options. Release what was taken with fov_shared_pictures_release. Any thread may call
 * both. Processes that are forked meanwhile share its memory. */
FovStatus fov_shared_pictures_take(const FovPictures **pictures, const FovPicturesOptions *options,
                                   FovSplit split);

/** Accepts NULL. */
void fov_shared_pictures_release(const FovPictures *pictures);

#endif
