#include <stdlib.h>

#include "experiment/measure/parts.h"

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

FovSpread fov_spread_of(const FovRepeats *repeats) {
  FovRepeats sorted = *repeats;
  int n = repeats->count;
  FOV_CHECK(n > 0, "nothing was measured");
  qsort(sorted.values, (size_t)n, sizeof *sorted.values, compare);
  double median = (sorted.values[(n - 1) / 2] + sorted.values[n / 2]) / 2;
  return (FovSpread){.median = median, .low = sorted.values[0], .high = sorted.values[n - 1]};
}

void fov_repeats_add(FovRepeats *repeats, double value) {
  FOV_CHECK(repeats->count < FOV_MAX_REPEATS, "more than %d repeats", FOV_MAX_REPEATS);
  repeats->values[repeats->count++] = value;
}
