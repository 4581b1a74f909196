/** h_t = g_t: no memory, for feed-forward networks such as the baselines of Mnih et al. 2014,
 * section 4.1. */
#include "model/core.h"

static void build(FovCoreLayout *layout, FovParams *params, const void *values, int inputs) {
  (void)params, (void)values;
  layout->width = inputs;
}

static void step(FovCoreState *state, const FovCoreLayout *layout, FovTape *tape, FovVar *g_t) {
  (void)layout, (void)tape;
  state->h = g_t;
}

const FovCore fov_core_none = {
    .plugin = {.name = "none", .help = "no memory: h_t = g_t, for feed-forward networks"},
    .memoryless = true,
    .build = build,
    .step = step,
};
