/** What the policies that draw two numbers around a learned mean share. */
#ifndef FOV_LEARN_POLICY_NORMAL_H
#define FOV_LEARN_POLICY_NORMAL_H

#include "learn/policy.h"

/** The head: mean = Linear(h). */
typedef struct FovNormalLayout {
  int w, bias;
} FovNormalLayout;

/** Adds the head's parameters, small at the start: the first means are near 0. w, bias: their
 * names, which differ where the mean has another meaning. */
void fov_normal_add(FovNormalLayout *layout, FovParams *params, const char *w, const char *bias,
                    int inputs);

/** The columns "mean" and "sigma", in units of location; sigma is 0 for deterministic choices. */
enum { FOV_NORMAL_MEAN, FOV_NORMAL_SIGMA };
int fov_normal_columns(FovColumn columns[FOV_COLUMNS], const void *options);

/** Draws a ~ Normal(mean, diag(sigma²)) for every lane, or takes the mean if that is asked for, or
 * repeats what is forced; writes choices and log π. mean: [n, 2]. */
void fov_normal_draw(FovPolicyOutput *output, FovTape *tape, const FovPolicyInput *input,
                     FovVar *mean, const real sigma[2]);

#endif
