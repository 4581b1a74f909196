/** l ~ Normal(mean, σ² I), σ fixed or on a schedule: the policy of Mnih et al. 2014. */
#include "learn/policy.h"
#include "tensor/ops.h"

typedef struct Options {
  int mean;
  double sigma, sigma_end, sigma_fall;
} Options;

enum { LINEAR, TANH };
static const char *const means[] = {[LINEAR] = "linear", [TANH] = "tanh", NULL};

static const FovOption options[] = {
    FOV_CHOICE(Options, mean, "linear", means, "output of the head; tanh keeps it in the image"),
    FOV_REAL(Options, sigma, "4", 0.01, 1000, "standard deviation at the start, in pixels"),
    FOV_REAL(Options, sigma_end, "0", 0, 1000, "at the end, reached linearly; 0: the same"),
    FOV_REAL(Options, sigma_fall, "1", 0.001, 1, "share of the training in which it is reached"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  int w, bias;
} Layout;

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  (void)values;
  Layout *l = layout;
  // Small at the start: the first glimpses are near the centre.
  l->w = fov_params_add(params, "location.w", 2, inputs, FOV_INIT_UNIFORM, 0.1f);
  l->bias = fov_params_add(params, "location.bias", 1, 2, FOV_INIT_ZERO, 0);
}

enum { MEAN, SIGMA, COLUMNS };

static int columns(FovPolicyColumn list[FOV_POLICY_COLUMNS], const void *values) {
  (void)values;
  list[MEAN] = (FovPolicyColumn){"mean", 2};
  list[SIGMA] = (FovPolicyColumn){"sigma", 2};
  return COLUMNS;
}

/** In pixels. */
static double sigma_at(const Options *o, double progress) {
  double fallen = progress < o->sigma_fall ? progress / o->sigma_fall : 1;
  return o->sigma_end > 0 ? o->sigma + fallen * (o->sigma_end - o->sigma) : o->sigma;
}

static int figures(FovFigure list[FOV_POLICY_FIGURES], const void *values, double progress) {
  list[0] = (FovFigure){"sigma", sigma_at(values, progress)};
  return 1;
}

/** Writes lane b's choice: forced, the mean itself, or a sample around it. */
static FovChoice choose_lane(const FovPolicyInput *input, const real *mean, const real *sigma,
                             int b) {
  if (input->forced) return input->forced[b];
  FovChoice choice = {.sample = {mean[0], mean[1]}, .index = -1};
  for (int j = 0; j < 2 && !input->deterministic; j++)
    choice.sample[j] += sigma[j] * fov_rng_normal(&input->rng[b]);
  return choice;
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Options *o = values;
  const Layout *l = layout;
  int n = input->lanes;
  FovVar *mean = fov_linear(tape, input->h, &tape->params[l->w], &tape->params[l->bias],
                            o->mean == TANH ? FOV_TANH : FOV_LINEAR);
  double pixels = sigma_at(o, input->progress);
  const real sigma[2] = {(real)(2 * pixels / input->width), (real)(2 * pixels / input->height)};
  real *samples = FOV_NEW(tape->arena, real, 2 * n);
  for (int b = 0; b < n; b++) {
    const real *mean_b = mean->value + (size_t)b * mean->stride;
    output->choices[b] = choose_lane(input, mean_b, sigma, b);
    for (int j = 0; j < 2; j++) {
      samples[2 * b + j] = output->places[2 * b + j] = output->choices[b].sample[j];
      output->columns[MEAN][2 * b + j] = mean_b[j];
      output->columns[SIGMA][2 * b + j] = input->deterministic ? 0 : sigma[j];
    }
  }
  fov_policy_cut(output->places, n);
  if (!input->deterministic) output->log_prob = fov_gaussian_log_prob(tape, mean, samples, sigma);
}

const FovPolicy fov_policy_gaussian = {
    .plugin = {.name = "gaussian",
               .help = "normal around a learned mean (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(Layout), .build = build},
    .columns = columns,
    .figures = figures,
    .choose = choose,
};
