/**
 * Relaxed choices of one of the sites, for a control variate of REINFORCE (Tucker et al. 2017). One
 * tile b is read, drawn by policy = sites from softmax(e). In training two relaxed choices are read
 * as well:
 *
 *     ζ = softmax(z / τ),   z = e + g, g Gumbel noise for which b is the argmax of z
 *     ζ̃ = softmax(z̃ / τ),   z̃ drawn again from p(z | b), as a function of e and of noise u:
 *     z̃_b = −log u_b,  z̃_i = −log(u_i / p_i + u_b),  u ~ Exp(1),  p = softmax(e)
 *
 * For any function c of the read-outs, E[c(ζ̃) ∇ log π(b) + ∇c(ζ̃) − ∇c(ζ)] = 0: an objective
 * subtracts η times this from the gradient of REINFORCE, which stays unbiased and varies less
 * (learn/objective/control.h).
 */
#ifndef FOV_MODEL_RELAXED_H
#define FOV_MODEL_RELAXED_H

#include "model/sites.h"

typedef struct FovRelaxedOptions {
  double temperature;
} FovRelaxedOptions;

extern const FovOption fov_relaxed_options[];

/** The first member of the layouts of attentions with relaxed choices. */
typedef struct FovRelaxed {
  FovSites sites; /**< first: see FOV_ATTENTION_OVER_SITES */
  real inverse;   /**< 1/τ */
} FovRelaxed;

/** FovAttention.build: adds the parameters of the sites. Fails unless there is one head. */
FovStatus fov_relaxed_build(void *layout, int *width, FovParams *params, const void *options,
                            const FovAttentionParts *parts);

/** FovAttention.read: the tile that was drawn and, where there is a gradient, relaxed choices. */
void fov_relaxed_read(FovReadout *readout, void *state, const void *layout, FovTape *tape,
                      const FovView *view);

#endif
