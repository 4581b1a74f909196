/** What the policies that draw two numbers around a learned mean share. */
#ifndef FOV_LEARN_POLICY_NORMAL_H
#define FOV_LEARN_POLICY_NORMAL_H

#include "learn/policy.h"

/** First in the options of every such policy. */
typedef struct FovNormalOptions {
  double sigma;      /**< σ_0 at the start; its unit, range and default are the policy's */
  double sigma_end;  /**< at the end; 0: the same */
  double sigma_fall; /**< share of the training in which it is reached */
  bool adaptive;     /**< σ depends on the state, too */
  double entropy;    /**< weight of an entropy bonus */
  double spread;     /**< σ between a deterministic choice and the mean */
} FovNormalOptions;

/** After the policy's own `sigma`. */
#define FOV_NORMAL_OPTIONS                                                                         \
  FOV_REAL(                                                                                        \
      FovNormalOptions, sigma_end, "0", 0, 1000,                                                   \
      "sigma at the end, reached linearly; below 0.001 it is 0.001; 0: sigma does not change"),    \
      FOV_REAL(FovNormalOptions, sigma_fall, "1", 0.001, 1,                                        \
               "share of the training in which it is reached"),                                    \
      FOV_BOOL(FovNormalOptions, adaptive, "no",                                                   \
               "sigma is learned for each state, from a seventh to seven times the one given"),    \
      FOV_REAL(FovNormalOptions, entropy, "0", 0, 1000,                                            \
               "weight of an entropy bonus, if sigma is learned"),                                 \
      FOV_REAL(FovNormalOptions, spread, "0", 0, 10,                                               \
               "a deterministic choice is this many sigma from the mean, each in another "         \
               "direction")

/** The head: mean = Linear(h); adaptive: σ = σ_0 exp(2 tanh(Linear(h))), for each axis. */
typedef struct FovNormalLayout {
  int w, bias, sigma_w, sigma_bias;
} FovNormalLayout;

/** Adds the head's parameters, small at the start: the first means are near 0, the first σ near
 * σ_0. prefix: of their names, which differ where the mean has another meaning. */
void fov_normal_add(FovNormalLayout *layout, FovParams *params, const FovNormalOptions *options,
                    const char *prefix, int inputs);

/** The columns "mean" and "sigma", in units of location; sigma is 0 for deterministic choices. */
enum { FOV_NORMAL_MEAN, FOV_NORMAL_SIGMA };
int fov_normal_columns(FovColumn columns[FOV_COLUMNS], const void *options);

/** σ_0 when `progress` (0 … 1) of the training is done. */
double fov_normal_sigma(const FovNormalOptions *options, double progress);

/** FovPolicy.figures: that σ_0. */
int fov_normal_figures(FovFigure figures[FOV_POLICY_FIGURES], const void *options, double progress);

/** FovPolicy.entropy, for options that begin with FovNormalOptions. */
double fov_normal_entropy(const void *options);

/**
 * Draws a ~ Normal(mean, diag(σ²)) for every lane, or repeats what is forced; writes choices, log π
 * and, if it is wanted, the entropy. mean: [n, 2]; sigma: σ_0. Returns σ of each lane, [n, 2]:
 * zeros if the choices are deterministic.
 *
 * The deterministic choice is mean + spread σ ∘ (cos φ, sin φ), where φ turns by the golden angle,
 * π (3 − √5), from glimpse to glimpse: glimpses of one thing see it from all sides, as samples do.
 */
const real *fov_normal_draw(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                            const FovNormalLayout *layout, const FovNormalOptions *options,
                            FovVar *mean, const real sigma[2]);

#endif
