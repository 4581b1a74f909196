/** Always the centre of the image: a gaze that never moves. */
#include "learn/policy.h"

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *options) {
  (void)tape, (void)layout, (void)options;
  for (int b = 0; b < input->lanes; b++) output->choices[b] = (FovChoice){.index = -1};
  memset(output->places, 0, 2 * (size_t)input->lanes * sizeof *output->places);
}

const FovPolicy fov_policy_centre = {
    .plugin = {.name = "centre", .help = "always the centre of the image; learns nothing"},
    .choose = choose,
};
