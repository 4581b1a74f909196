/**
 * DRAW's window (Gregor et al. 2015, section 3.2): N × N Gaussian filters whose place, stride,
 * variance and intensity are a linear function of the state, eq. 21.
 *
 * Here the place is squashed by tanh, which keeps it in the image, and σ, δ and γ are multiples of
 * those of the first window (model/window_ops.h).
 */
#include "model/window.h"

static const FovOption options[] = {FOV_WINDOW_OPTIONS("0.1")};

static FovStatus build(void *layout, int *width, FovParams *params, const void *chosen,
                       const FovAttentionParts *parts) {
  return fov_window_build(layout, width, params, chosen, parts, FOV_WINDOW_GAUSSIAN);
}

const FovAttention fov_attention_draw = {
    .plugin = {.name = "draw",
               .help = "a window of Gaussian filters, moved by the gradient (Gregor et al. 2015)",
               .options = options,
               .options_size = sizeof(FovWindowOptions)},
    FOV_ATTENTION_THROUGH_WINDOW,
    .build = build,
};
