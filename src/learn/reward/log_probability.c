/** log p(label): its mean is the bound that variational attention raises (Ba, Mnih and Kavukcuoglu
 * 2015). */
#include "learn/reward.h"

static real value(real earned, const real *log_probabilities, const real *before, int label,
                  int actions) {
  (void)earned, (void)before, (void)actions;
  return log_probabilities[label];
}

const FovReward fov_reward_log_probability = {
    .plugin = {.name = "log_probability", .help = "log p(label), in nats (Ba et al. 2015)"},
    .labelled = true,
    .value = value,
};
