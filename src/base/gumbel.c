#include "base/gumbel.h"

#include "base/error.h"

/** A standard Gumbel variable, −log(−log u). */
static double draw(FovRng *rng) {
  double u = ((double)fov_rng_u32(rng) + 0.5) / 0x1p32; // neither 0 nor 1
  return -log(-log(u));
}

/** log(exp(a) + exp(b)) */
static double add_logs(double a, double b) {
  double most = fmax(a, b);
  return most + log1p(exp(-fabs(a - b)));
}

void fov_gumbel_given_argmax(real *g, const real *e, int count, int index, FovRng *rng) {
  FOV_CHECK(index >= 0 && index < count, "index %d of %d", index, count);
  double sum = (double)e[0];
  for (int i = 1; i < count; i++) sum = add_logs(sum, (double)e[i]);
  // The maximum of all e + g has the location log Σ exp(e), whichever of them it is; the others are
  // cut off at it.
  double top = sum + draw(rng);
  for (int i = 0; i < count; i++) {
    double below = -add_logs(-top, -((double)e[i] + draw(rng)));
    g[i] = (real)((i == index ? top : below) - (double)e[i]);
  }
}
