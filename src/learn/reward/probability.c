/** p(label): what an answer drawn from the agent's beliefs would earn on average. As bounded as
 * `correct`, but it distinguishes a near miss from a clear error. */
#include "learn/reward.h"

static real value(real earned, const real *log_probabilities, const real *before, int label,
                  int actions) {
  (void)earned, (void)before, (void)actions;
  return fov_exp(log_probabilities[label]);
}

const FovReward fov_reward_probability = {
    .plugin = {.name = "probability", .help = "p(label), the chance that a drawn answer is right"},
    .labelled = true,
    .value = value,
};
