#include "learn/categorical.h"

#include "tensor/ops.h"

int fov_likeliest(const real *log_probabilities, int actions) {
  int best = 0;
  for (int a = 1; a < actions; a++)
    if (log_probabilities[a] > log_probabilities[best]) best = a;
  return best;
}

int fov_sample(const real *log_probabilities, int actions, FovRng *rng) {
  real left = fov_rng_uniform(rng);
  for (int a = 0; a < actions - 1; a++) {
    left -= fov_exp(log_probabilities[a]);
    if (left < 0 && log_probabilities[a] >= FOV_NEVER / 2) return a;
  }
  // What rounding leaves goes to the last that is possible.
  int last = actions - 1;
  while (last > 0 && log_probabilities[last] < FOV_NEVER / 2) last--;
  return last;
}
