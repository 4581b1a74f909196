/** A moving average of the mean return over earlier updates (Williams 1992). */
#include "learn/baseline.h"

static void values(real *b, const FovBaselineInput *input) {
  for (int i = 0; i < input->time_steps * input->lanes; i++) b[i] = input->average;
}

const FovBaseline fov_baseline_average = {
    .plugin = {.name = "average", .help = "moving average of earlier returns (Williams 1992)"},
    .least_copies = 1,
    .values = values,
};
