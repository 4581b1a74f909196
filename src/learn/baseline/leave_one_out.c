/**
 * The mean return of the other K − 1 copies of the same image (Kool, van Hoof and Welling 2019,
 * "Buy 4 REINFORCE samples, get a baseline for free!"): unbiased, and it depends on how hard the
 * image is.
 */
#include "learn/baseline.h"

static void values(real *b, const FovBaselineInput *input) {
  int copies = input->copies;
  FOV_CHECK(copies > 1 && input->lanes % copies == 0, "%d lanes of %d copies", input->lanes,
            copies);
  for (int first = 0; first < input->time_steps * input->lanes; first += copies) {
    real sum = 0;
    for (int k = 0; k < copies; k++) sum += input->returns[first + k];
    for (int k = 0; k < copies; k++)
      b[first + k] = (sum - input->returns[first + k]) / (real)(copies - 1);
  }
}

const FovBaseline fov_baseline_leave_one_out = {
    .plugin = {.name = "leave_one_out",
               .help = "mean of the image's other copies (Kool et al. 2019)"},
    .least_copies = 2,
    .values = values,
};
