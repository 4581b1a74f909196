/** l ~ Normal(mean, σ² I), σ fixed or on a schedule: the policy of Mnih et al. 2014. */
#include "learn/plugins.h"
#include "tensor/ops.h"

typedef struct Options {
  double sigma, sigma_end, sigma_fall;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, sigma, "4", 0.01, 1000, "standard deviation at the start, in pixels"),
    FOV_REAL(Options, sigma_end, "0", 0, 1000, "at the end, reached linearly; 0: the same"),
    FOV_REAL(Options, sigma_fall, "1", 0.001, 1, "share of the training in which it is reached"),
    FOV_OPTIONS_END,
};

static double sigma(const void *values, double progress) {
  const Options *o = values;
  double fallen = progress < o->sigma_fall ? progress / o->sigma_fall : 1;
  return o->sigma_end > 0 ? o->sigma + fallen * (o->sigma_end - o->sigma) : o->sigma;
}

static FovVar *choose(real *location, FovTape *tape, FovVar *mean, const FovChoice *choice,
                      FovRng *rng, int lanes) {
  FOV_CHECK(mean->rows == lanes && mean->cols == 2, "mean [%d, %d]", mean->rows, mean->cols);
  memcpy(location, mean->value, 2 * (size_t)lanes * sizeof *location);
  if (choice->deterministic) return NULL;
  for (int b = 0; b < lanes; b++)
    for (int j = 0; j < 2; j++) location[2 * b + j] += choice->sigma[j] * fov_rng_normal(&rng[b]);
  return fov_gaussian_log_prob(tape, mean, location, choice->sigma);
}

const FovPolicy fov_policy_gaussian = {
    .plugin = {.name = "gaussian",
               .help = "normal around a learned mean (Mnih et al. 2014)",
               .options = options,
               .options_size = sizeof(Options)},
    .learned = true,
    .sigma = sigma,
    .choose = choose,
};
