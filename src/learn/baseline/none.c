/** Nothing is subtracted: plain REINFORCE. */
#include "learn/baseline.h"

const FovBaseline fov_baseline_none = {
    .plugin = {.name = "none", .help = "nothing is subtracted"},
    .least_copies = 1,
};
