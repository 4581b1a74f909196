/** All environments: a new one is one file and one line in this list. */
#include "env.h"

extern const FovEnvType fov_env_centred, fov_env_translated, fov_env_cluttered, fov_env_images,
    fov_env_pairs, fov_env_sequence, fov_env_catch, fov_env_circle_square, fov_env_locate,
    fov_env_light_dark, fov_env_search, fov_env_copy, fov_env_reverse, fov_env_sort, fov_env_dates,
    fov_env_text_pairs;

const FovEnvType *const fov_envs[] = {
    &fov_env_centred,
    &fov_env_translated,
    &fov_env_cluttered,
    &fov_env_images,
    &fov_env_pairs,
    &fov_env_sequence,
    &fov_env_catch,
    &fov_env_circle_square,
    &fov_env_locate,
    &fov_env_light_dark,
    &fov_env_search,
    &fov_env_copy,
    &fov_env_reverse,
    &fov_env_sort,
    &fov_env_dates,
    &fov_env_text_pairs,
    NULL,
};
