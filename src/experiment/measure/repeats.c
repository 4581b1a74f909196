#include "base/stats.h"
#include "experiment/measure/parts.h"

FovSpread fov_spread_of(const FovRepeats *repeats) {
  FovRepeats sorted = *repeats;
  int n = repeats->count;
  FOV_CHECK(n > 0, "nothing was measured");
  fov_stats_sort(sorted.values, n);
  return (FovSpread){.median = fov_stats_median(sorted.values, n),
                     .low = sorted.values[0],
                     .high = sorted.values[n - 1]};
}

void fov_repeats_add(FovRepeats *repeats, double value) {
  FOV_CHECK(repeats->count < FOV_MAX_REPEATS, "more than %d repeats", FOV_MAX_REPEATS);
  repeats->values[repeats->count++] = value;
}
