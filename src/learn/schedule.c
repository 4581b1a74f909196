#include "learn/schedule.h"

#include <math.h>

#include "base/error.h"

double fov_schedule(FovSchedule schedule, double progress, double warmup) {
  FOV_CHECK(progress >= 0 && progress <= 1, "progress %g", progress);
  if (progress < warmup) return progress / warmup;
  double fallen = warmup < 1 ? (progress - warmup) / (1 - warmup) : 1;
  switch (schedule) {
  case FOV_SCHEDULE_CONSTANT:
    return 1;
  case FOV_SCHEDULE_LINEAR:
    return 1 - fallen;
  case FOV_SCHEDULE_COSINE:
    return (1 + cos(3.14159265358979323846 * fallen)) / 2;
  }
  return 0;
}
