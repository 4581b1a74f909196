/**
 * What the deterministic episode earns from the same time step on, with the same case and start
 * (Rennie et al. 2017, "Self-critical sequence training"). It depends on no choice of the lane, so
 * that REINFORCE stays unbiased, and a choice is rewarded for being better than the likeliest one.
 * Each update plays every lane twice, once without gradients.
 */
#include "learn/baseline.h"

static void values(real *b, const FovBaselineInput *input) {
  memcpy(b, input->deterministic, (size_t)input->time_steps * input->lanes * sizeof *b);
}

const FovBaseline fov_baseline_self_critical = {
    .plugin = {.name = "self_critical",
               .help = "what the deterministic episode earns (Rennie et al. 2017)"},
    .deterministic = true,
    .least_copies = 1,
    .values = values,
};
