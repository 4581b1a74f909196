/** What the environment gives: 1 for the right answer, else 0 (Mnih et al. 2014). */
#include "learn/reward.h"

static real value(real earned, const real *log_probabilities, const real *before, int label,
                  int actions) {
  (void)log_probabilities, (void)before, (void)label, (void)actions;
  return earned;
}

const FovReward fov_reward_correct = {
    .plugin = {.name = "correct", .help = "1 for the right answer, else 0 (Mnih et al. 2014)"},
    .value = value,
};
