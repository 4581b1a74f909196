/** (H before − H) / log A, the fall of the answer's entropy. H before: that of the previous answer
 * to the same question; for the first one log A, that of a guess. It does not use the label: a
 * wrong answer earns as much as a right one. */
#include <math.h>

#include "learn/reward.h"

static real entropy(const real *log_probabilities, int actions) {
  real sum = 0;
  for (int a = 0; a < actions; a++) sum -= fov_exp(log_probabilities[a]) * log_probabilities[a];
  return sum;
}

static real value(real earned, const real *log_probabilities, const real *before, int label,
                  int actions) {
  (void)earned, (void)label;
  if (actions < 2) return 0;
  real guess = (real)log(actions), first = before ? entropy(before, actions) : guess;
  return (first - entropy(log_probabilities, actions)) / guess;
}

const FovReward fov_reward_information_gain = {
    .plugin = {.name = "information_gain",
               .help = "fall of the answer's entropy since the last answer to the question, as a "
                       "share of log A"},
    .labelled = true,
    .compares = true,
    .value = value,
};
