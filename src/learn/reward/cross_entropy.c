/** −CE / log A = log p(label) / log A: −1 for a guess, 0 for certainty (Schneider et al. 2026). */
#include <math.h>

#include "learn/reward.h"

static real value(real earned, const real *log_probabilities, const real *before, int label,
                  int actions) {
  (void)earned, (void)before;
  return actions > 1 ? log_probabilities[label] / (real)log(actions) : 0;
}

const FovReward fov_reward_cross_entropy = {
    .plugin = {.name = "cross_entropy",
               .help = "log p(label) / log A: a guess among A classes earns -1 (Schneider et al. "
                       "2026)"},
    .labelled = true,
    .value = value,
};
