/** Nothing is subtracted: plain REINFORCE. */
#include "learn/baseline.h"

static void values(real *b, const FovBaselineInput *input) {
  memset(b, 0, (size_t)input->time_steps * input->lanes * sizeof *b);
}

const FovBaseline fov_baseline_none = {
    .plugin = {.name = "none", .help = "nothing is subtracted"},
    .least_copies = 1,
    .values = values,
};
