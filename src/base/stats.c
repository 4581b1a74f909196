#include "base/stats.h"

#include <math.h>
#include <stddef.h>

#include "base/error.h"

static const double Z = 1.959963984540054; // the normal distribution's 97.5 % quantile

void fov_stats_wilson(double *low, double *high, int64_t hits, int64_t trials) {
  FOV_CHECK(trials > 0 && hits >= 0 && hits <= trials, "%lld of %lld", (long long)hits,
            (long long)trials);
  double n = (double)trials, p = (double)hits / n;
  double centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n);
  double half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
  // The ends are exactly 0 and 1 when none or all hit, whatever the rounding.
  *low = hits == 0 ? 0 : centre - half;
  *high = hits == trials ? 1 : centre + half;
}

double fov_stats_student(int64_t freedom) {
  static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                 2.228,  2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101};
  FOV_CHECK(freedom > 0, "%lld degrees of freedom", (long long)freedom);
  if ((size_t)freedom <= sizeof table / sizeof *table) return table[freedom - 1];
  double v = (double)freedom, z3 = pow(Z, 3), z5 = pow(Z, 5), z7 = pow(Z, 7);
  return Z + (z3 + Z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * Z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * Z) / (384 * v * v * v);
}
