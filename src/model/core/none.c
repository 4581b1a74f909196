/** h_t = g_t: no memory, for feed-forward networks such as the baselines of Mnih et al. 2014,
 * section 4.1. */
#include "model/core.h"

static FovStatus build(void *layout, int *width, FovParams *params, const void *options,
                       const FovCoreParts *parts) {
  (void)layout, (void)params, (void)options;
  *width = parts->inputs;
  return FOV_OK;
}

static void step(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t) {
  (void)layout, (void)tape;
  state->vars[0] = g_t;
}

const FovCore fov_core_none = {
    .plugin = {.name = "none", .help = "no memory: h_t = g_t, for feed-forward networks"},
    .build = build,
    .step = step,
};
