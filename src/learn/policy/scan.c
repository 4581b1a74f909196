/** Row after row, there and back, from wherever the gaze is: a policy to compare others with, which
 * covers the image evenly. */
#include <math.h>

#include "learn/policy.h"

typedef struct Options {
  double reach;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, reach, "0.5", 0.001, 4, "length of a step; the image is 2 wide and high"),
    FOV_OPTIONS_END,
};

/** Moves a place one step along its row, or down at the row's end; from the last end to the first
 * corner. Sums of steps may pass the bounds by rounding. */
static void step(real place[2], const real bounds[2], real reach) {
  bool back = (int64_t)floor((place[1] + bounds[1]) / reach + (real)0.5) % 2 != 0;
  real x = place[0] + (back ? -reach : reach), y = place[1] + reach, slack = reach / 20;
  if (fabs((double)x) <= (double)(bounds[0] + slack)) {
    place[0] = x > bounds[0] ? bounds[0] : x < -bounds[0] ? -bounds[0] : x;
  } else if (y <= bounds[1] + slack) {
    place[1] = y > bounds[1] ? bounds[1] : y;
  } else {
    place[0] = -bounds[0], place[1] = -bounds[1];
  }
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  (void)tape, (void)layout;
  const Options *o = values;
  for (int b = 0; b < input->lanes; b++) {
    FovChoice *choice = &output->choices[b];
    *choice = input->forced ? input->forced[b] : (FovChoice){.index = -1};
    if (!input->forced) {
      memcpy(choice->sample, input->places + 2 * b, sizeof choice->sample);
      step(choice->sample, input->bounds, (real)o->reach);
    }
    memcpy(output->places + 2 * b, choice->sample, sizeof choice->sample);
  }
}

const FovPolicy fov_policy_scan = {
    .plugin = {.name = "scan",
               .help = "row after row, there and back; learns nothing",
               .options = options,
               .options_size = sizeof(Options)},
    .choose = choose,
};
