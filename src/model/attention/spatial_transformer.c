/**
 * The window of a spatial transformer (Jaderberg et al. 2015, eq. 2): bilinear samples on a grid
 * that is shifted and scaled, the same way across and down. Place and scale are a linear function
 * of the state.
 *
 * The place is squashed by tanh, which keeps it in the image, where samples have a gradient. The
 * scale is a multiple e^x of the first window's: it stays positive, and a step of x is the same
 * ratio for any size.
 */
#include "model/window.h"

static const FovOption options[] = {FOV_WINDOW_OPTIONS("0.05")};

static FovStatus build(void *layout, int *width, FovParams *params, const void *chosen,
                       const FovAttentionParts *parts) {
  return fov_window_build(layout, width, params, chosen, parts, FOV_WINDOW_BILINEAR);
}

const FovAttention fov_attention_spatial_transformer = {
    .plugin = {.name = "spatial_transformer",
               .help =
                   "a window of bilinear samples, moved by the gradient (Jaderberg et al. 2015)",
               .options = options,
               .options_size = sizeof(FovWindowOptions)},
    FOV_ATTENTION_THROUGH_WINDOW,
    .build = build,
};
