/** l ~ Normal(mean, σ² I), σ fixed or on a schedule: the policy of Mnih et al. 2014. */
#include "learn/policy/normal.h"
#include "tensor/ops.h"

typedef struct Options {
  FovNormalOptions normal; // comes first
  int mean;
} Options;

enum { LINEAR, TANH };
static const char *const means[] = {[LINEAR] = "linear", [TANH] = "tanh", NULL};

static const FovOption options[] = {
    FOV_CHOICE(Options, mean, "linear", means, "output of the head; tanh keeps it in the image"),
    FOV_REAL(FovNormalOptions, sigma, "4", 0.01, 1000,
             "standard deviation at the start, in pixels"),
    FOV_NORMAL_OPTIONS,
    FOV_OPTIONS_END,
};

static void build(void *layout, FovParams *params, const void *values, int inputs) {
  fov_normal_add(layout, params, values, "location", inputs);
}

static void choose(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                   const void *layout, const void *values) {
  const Options *o = values;
  const FovNormalLayout *l = layout;
  FovVar *mean = fov_linear(tape, input->h, &tape->params[l->w], &tape->params[l->bias],
                            o->mean == TANH ? FOV_TANH : FOV_LINEAR);
  double pixels = fov_normal_sigma(&o->normal, input->progress);
  const real sigma[2] = {(real)(2 * pixels / input->width), (real)(2 * pixels / input->height)};
  const real *sigmas = fov_normal_draw(output, tape, input, l, &o->normal, mean, sigma);
  for (int i = 0; i < 2 * input->lanes; i++) {
    int b = i / 2, j = i % 2;
    output->places[i] = output->choices[b].sample[j];
    output->columns[FOV_NORMAL_MEAN][i] = mean->value[(size_t)b * mean->stride + j];
    output->columns[FOV_NORMAL_SIGMA][i] = sigmas[i];
  }
}

const FovPolicy fov_policy_gaussian = {
    .plugin = {.name = "gaussian",
               .help = "normal around a learned mean (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .head = {.layout_size = sizeof(FovNormalLayout), .build = build},
    .columns = fov_normal_columns,
    .entropy = fov_normal_entropy,
    .figures = fov_normal_figures,
    .choose = choose,
};
