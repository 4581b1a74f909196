/**
 * Hard attention with a control variate (Tucker et al. 2017, "REBAR"): one site is read and learned
 * by REINFORCE, as with `sampled`, less a control variate of relaxed choices (relaxed.h). Its
 * function c is log p(y) of an answer that the agent gives at once, without a gradient to its
 * parameters. Where further choices follow, this is not what the episode will earn.
 */
#include "model/relaxed.h"

const FovAttention fov_attention_rebar = {
    .plugin = {.name = "rebar",
               .help = "one tile, with a control variate for REINFORCE (Tucker et al. 2017)",
               .options = fov_relaxed_options,
               .options_size = sizeof(FovRelaxedOptions)},
    FOV_ATTENTION_OVER_SITES,
    .layout_size = sizeof(FovRelaxed),
    .relaxes = true,
    .build = fov_relaxed_build,
    .scores = fov_sites_scores,
    .read = fov_relaxed_read,
};
