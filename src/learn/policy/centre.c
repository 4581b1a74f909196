/** Always the centre of the image: a gaze that never moves. */
#include "learn/policy.h"

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *options) {
  (void)tape, (void)layout, (void)options;
  for (int b = 0; b < input->lanes; b++) {
    FovChoice *choice = &output->choices[b];
    *choice = input->forced ? input->forced[b] : (FovChoice){.index = -1};
    memcpy(output->places + 2 * b, choice->sample, sizeof choice->sample);
  }
}

const FovPolicy fov_policy_centre = {
    .plugin = {.name = "centre", .help = "always the centre of the image; learns nothing"},
    .choose = choose,
};
