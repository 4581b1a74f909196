/** The table of environments with the example of envs/README.md alone: test_env asks it everything.
 */
#include "env.h"

extern const FovEnvType fov_env_bars;

const FovEnvType *const fov_envs[] = {&fov_env_bars, NULL};
