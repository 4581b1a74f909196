/** The table of environments that README.md's example is alone in: test_env asks it everything. */
#include "env.h"

extern const FovEnvType fov_env_bars;

const FovEnvType *const fov_envs[] = {&fov_env_bars, NULL};
