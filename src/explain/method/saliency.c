/** |∂y/∂x| (Simonyan et al. 2014). */
#include <math.h>

#include "explain/method.h"

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  double *y = FOV_NEW(explained->arena, double, explained->held->lanes);
  const real *gradient = fov_explained_gradient(y, explained, NULL);
  size_t count = fov_explained_pixels(explained);
  for (size_t i = 0; i < count; i++) map[i] = (real)fabs((double)gradient[i]);
}

const FovMethod fov_method_saliency = {
    .plugin = {.name = "saliency", .help = "|dy/dx| (Simonyan et al. 2014)"},
    .map = map,
};
