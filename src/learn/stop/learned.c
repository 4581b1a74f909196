/** An action of its own, learned with REINFORCE at a cost a glimpse: the cost-sensitive classifier
 * of Mnih et al. 2014, section 3. */
#include "learn/categorical.h"
#include "learn/stop.h"
#include "tensor/ops.h"

typedef struct Options {
  double cost, threshold;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, cost, "0.01", 0, 1000, "of a glimpse, subtracted from the reward"),
    FOV_REAL(Options, threshold, "0.5", 0, 1,
             "stop where the probability of stopping is above this, unless it is sampled"),
    FOV_OPTIONS_END,
};

enum { LOOK, STOP, DECISIONS };

static double cost(const void *values) {
  return ((const Options *)values)->cost;
}

typedef struct Layout {
  int w, bias;
} Layout;

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  (void)values;
  Layout *l = layout;
  l->w = fov_params_add(params, "stop.w", DECISIONS, inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "stop.bias", 1, DECISIONS, FOV_INIT_ZERO, 0);
}

static bool decide_lane(const FovStopInput *input, const real *log_p, const Options *o, int i) {
  if (input->forced) return input->forced[i];
  return input->deterministic ? fov_exp(log_p[STOP]) > (real)o->threshold
                              : fov_sample(log_p, DECISIONS, &input->rng[i]) == STOP;
}

static FovVar *decide(bool *stop, FovTape *tape, const FovStopInput *input, const void *layout,
                      const void *values) {
  const Layout *l = layout;
  int n = input->lanes, *decisions = FOV_NEW(tape->arena, int, n);
  real *log_p = FOV_NEW(tape->arena, real, DECISIONS * n);
  FovVar *logits =
      fov_linear(tape, input->h, &tape->params[l->w], &tape->params[l->bias], FOV_LINEAR);
  fov_log_softmax(log_p, fov_values(logits));
  for (int i = 0; i < n; i++) {
    stop[i] = decide_lane(input, log_p + DECISIONS * i, values, i);
    decisions[i] = stop[i] ? STOP : LOOK;
  }
  return input->deterministic ? NULL : fov_categorical_log_prob(tape, logits, decisions);
}

const FovStopRule fov_stop_learned = {
    .plugin = {.name = "learned",
               .help = "a learned decision; each glimpse has a cost (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .cost = cost,
    .decide = decide,
};
