#include "envs/outputs.h"

#include <string.h>

size_t fov_outputs_bytes(int most) {
  return sizeof(FovOutputs) + (size_t)(most + 1) * sizeof(FovOutput);
}

FovOutputs *fov_outputs_clear(FovEnvLane *lane, int most) {
  return memset(lane->state, 0, fov_outputs_bytes(most));
}

void fov_outputs_add(FovOutputs *outputs, int label, FovAlignment from) {
  outputs->list[outputs->count++] = (FovOutput){.label = label, .from = from};
}

void fov_outputs_show(FovEnvLane *lane) {
  const FovOutputs *outputs = lane->state;
  const FovOutput *next = &outputs->list[outputs->done];
  lane->label = next->label;
  lane->from = next->from;
}

void fov_outputs_step(const void *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  (void)env, (void)rng;
  FovOutputs *outputs = lane->state;
  lane->reward = answer->action == lane->label;
  lane->terminated = ++outputs->done == outputs->count;
  lane->label = -1;
  if (!lane->terminated) fov_outputs_show(lane);
}

bool fov_source_is_of(const int32_t *tokens, int length, FovSplit split) {
  uint64_t hash = 14695981039346656037u; // FNV-1a, then mixed
  for (int i = 0; i < length; i++) hash = (hash ^ (uint64_t)tokens[i]) * 1099511628211u;
  hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15u;
  int tenth = (int)((hash >> 32) % 10);
  return split == FOV_SPLIT_TRAIN ? tenth > 1 : tenth == (split == FOV_SPLIT_TEST);
}
