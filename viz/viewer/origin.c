#include "viz/viewer/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FovSplit fov_origin_split(const FovTrace *trace) {
  int split = FOV_SPLIT_VALID;
  for (int i = 0; fov_split_names[i]; i++)
    if (strcmp(fov_split_names[i], trace->split) == 0) split = i;
  return (FovSplit)split;
}

int fov_origin_first(const FovTrace *trace) {
  int first;
  bool some = sscanf(trace->subset, "first %d,", &first) == 1;
  return some && first > 0 && first < trace->episodes ? first : trace->episodes;
}

uint64_t fov_origin_seed(const char *seed, const FovTrained *trained) {
  return seed[0] ? strtoull(seed, NULL, 10) : (uint64_t)trained->experiment.eval.seed;
}
