/**
 * Integrated gradients (Sundararajan et al. 2017): (x − x₀) ∫ ∂y(x₀ + α(x − x₀))/∂x dα, by the
 * midpoint rule. Completeness: up to the error of this rule, all pixels sum to y(x) − y(x₀).
 */
#include <math.h>

#include "explain/method.h"

typedef struct Options {
  int steps;
  double baseline;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, steps, "50", 1, 10000, "gradients along the path"),
    FOV_BASELINE_OPTION(Options),
    FOV_OPTIONS_END,
};

/** to = x₀ + α (x − x₀) */
static void blend(float *to, const float *x, double baseline, double alpha, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = (float)(baseline + alpha * ((double)x[i] - baseline));
}

/** Σ map − (y(x) − y(x₀)) of every lane. room: [B, F, H, W, C] */
static void check_sum(const real *map, float *room, const FovExplained *explained,
                      double baseline) {
  int B = explained->held->lanes;
  size_t numbers = fov_held_pixels(explained->held), count = fov_explained_pixels(explained);
  double *y = FOV_NEW(explained->arena, double, B), *y_0 = FOV_NEW(explained->arena, double, B);
  blend(room, explained->held->pixels, baseline, 0, count);
  fov_explained_values(y, explained, NULL);
  fov_explained_values(y_0, explained, room);
  for (int b = 0; b < B; b++) {
    double sum = 0;
    for (size_t i = 0; i < numbers; i++) sum += (double)map[(size_t)b * numbers + i];
    explained->completeness[b] = sum - (y[b] - y_0[b]);
  }
}

static void map(real *map, const FovExplained *explained, const void *values) {
  const Options *o = values;
  const float *x = explained->held->pixels;
  size_t count = fov_explained_pixels(explained);
  double *y = FOV_NEW(explained->arena, double, explained->held->lanes);
  float *between = FOV_NEW(explained->arena, float, count);
  for (int k = 0; k < o->steps; k++) {
    blend(between, x, o->baseline, (k + 0.5) / o->steps, count);
    const real *gradient = fov_explained_gradient(y, explained, between);
    for (size_t i = 0; i < count; i++) map[i] += gradient[i];
  }
  for (size_t i = 0; i < count; i++) map[i] *= (real)(((double)x[i] - o->baseline) / o->steps);
  check_sum(map, between, explained, o->baseline);
}

const FovMethod fov_method_integrated_gradients = {
    .plugin = {.name = "integrated_gradients",
               .help = "gradients along a path from a baseline (Sundararajan et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    .map = map,
};
