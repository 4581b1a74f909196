/** b_t = Linear(h_t), trained by squared error to the return: Mnih et al. 2014, eq. 2. */
#include "learn/plugins.h"

static void values(real *b, const FovBaselineInput *input) {
  memcpy(b, input->predicted, (size_t)input->time_steps * input->lanes * sizeof *b);
}

const FovBaseline fov_baseline_learned = {
    .plugin = {.name = "learned", .help = "predicted from h_t (Mnih et al. 2014, eq. 2)"},
    .learned = true,
    .least_copies = 1,
    .values = values,
};
