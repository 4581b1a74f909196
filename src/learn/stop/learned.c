/** An action of its own, learned with REINFORCE at a cost a glimpse: the cost-sensitive classifier
 * of Mnih et al. 2014, section 3. */
#include "learn/plugins.h"
#include "tensor/ops.h"

typedef struct Options {
  double cost, threshold;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, cost, "0.01", 0, 1000, "of a glimpse, subtracted from the reward"),
    FOV_REAL(Options, threshold, "0.5", 0, 1, "probability of stopping to stop at, unless sampled"),
    FOV_OPTIONS_END,
};

enum { LOOK, STOP, DECISIONS };

static double cost(const void *values) {
  return ((const Options *)values)->cost;
}

static FovVar *decide(bool *stop, FovTape *tape, const FovStopInput *input, const void *values) {
  const Options *o = values;
  int n = input->lanes, *decisions = FOV_NEW(tape->arena, int, n);
  real *log_p = FOV_NEW(tape->arena, real, DECISIONS * n);
  fov_log_softmax(log_p, fov_values(input->logits));
  for (int i = 0; i < n; i++) {
    const real *p = log_p + DECISIONS * i;
    stop[i] = input->deterministic ? fov_exp(p[STOP]) > (real)o->threshold
                                   : fov_sample(p, DECISIONS, &input->rng[i]) == STOP;
    decisions[i] = stop[i] ? STOP : LOOK;
  }
  return input->deterministic ? NULL : fov_categorical_log_prob(tape, input->logits, decisions);
}

const FovStopRule fov_stop_learned = {
    .plugin = {.name = "learned",
               .help = "decides for itself, at a cost a glimpse (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .learned = true,
    .cost = cost,
    .decide = decide,
};
