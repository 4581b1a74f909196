/** The table of environments with the example of envs/README.md alone, for test_env. */
#include "env.h"

extern const FovEnvType fov_env_bars;

const FovEnvType *const fov_envs[] = {&fov_env_bars, NULL};
