/** x ∂y/∂x (Shrikumar et al. 2016): x is the brightness of a pixel. */
#include "explain/method.h"

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  double *y = FOV_NEW(explained->arena, double, explained->held->lanes);
  const real *gradient = fov_explained_gradient(y, explained, NULL);
  const float *x = explained->held->pixels;
  size_t count = fov_explained_pixels(explained);
  for (size_t i = 0; i < count; i++) map[i] = x[i] * gradient[i];
}

const FovMethod fov_method_input_x_gradient = {
    .plugin = {.name = "input_x_gradient", .help = "x dy/dx (Shrikumar et al. 2016)"},
    .map = map,
};
