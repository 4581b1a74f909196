/** Uniform over the places to look at: what a learned policy is compared with. */
#include "learn/policy.h"

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *options) {
  (void)tape, (void)layout, (void)options;
  for (int b = 0; b < input->lanes; b++) {
    FovChoice *choice = &output->choices[b];
    *choice = input->forced ? input->forced[b] : (FovChoice){.index = -1};
    for (int j = 0; j < 2 && !input->forced; j++)
      choice->sample[j] = 2 * fov_rng_uniform(&input->rng[b]) - 1;
    for (int j = 0; j < 2; j++) output->places[2 * b + j] = input->bounds[j] * choice->sample[j];
  }
}

const FovPolicy fov_policy_random = {
    .plugin = {.name = "random", .help = "uniform over the image; learns nothing"},
    .choose = choose,
};
