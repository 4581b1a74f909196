/** SmoothGrad (Smilkov et al. 2017): the mean saliency of noisy pixels; Captum's NoiseTunnel around
 * Saliency. */
#include <math.h>

#include "explain/method.h"

typedef struct Options {
  int samples;
  double noise;
} Options;

static const FovOption options[] = {
    FOV_INT(Options, samples, "25", 1, 10000, "noisy pictures"),
    FOV_REAL(Options, noise, "0.15", 0, 1000, "standard deviation of the noise, in brightness"),
    FOV_OPTIONS_END,
};

/** to = x + noise; each lane has its own generator. */
static void add_noise(float *to, const FovExplained *explained, FovRng *rng, double noise) {
  const FovHeld *held = explained->held;
  size_t numbers = fov_held_pixels(held);
  for (int b = 0; b < held->lanes; b++)
    for (size_t i = 0; i < numbers; i++)
      to[(size_t)b * numbers + i] =
          held->pixels[(size_t)b * numbers + i] + (float)noise * fov_rng_normal(&rng[b]);
}

static void map(real *map, const FovExplained *explained, const void *values) {
  const Options *o = values;
  const FovHeld *held = explained->held;
  size_t count = fov_explained_pixels(explained);
  double *y = FOV_NEW(explained->arena, double, held->lanes);
  float *noisy = FOV_NEW(explained->arena, float, count);
  FovRng *rng = FOV_NEW(explained->arena, FovRng, held->lanes);
  for (int b = 0; b < held->lanes; b++)
    rng[b] = fov_rng_stream(explained->seed, FOV_STREAM_EXPLAIN, (uint64_t)held->cases[b]);
  for (int k = 0; k < o->samples; k++) {
    add_noise(noisy, explained, rng, o->noise);
    const real *gradient = fov_explained_gradient(y, explained, noisy);
    for (size_t i = 0; i < count; i++) map[i] += (real)(fabs((double)gradient[i]) / o->samples);
  }
}

const FovMethod fov_method_smoothgrad = {
    .plugin = {.name = "smoothgrad",
               .help = "the mean saliency of noisy pixels (Smilkov et al. 2017)",
               .options = options,
               .options_size = sizeof(Options)},
    .map = map,
};
