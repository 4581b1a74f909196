#include "base/rng.h"

#include <math.h>

#include "base/error.h"

/** The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that mixes every bit. */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

FovRng fov_rng_stream(uint64_t seed, FovStream stream, uint64_t index) {
  uint64_t key = mix(mix(mix(seed) ^ (uint64_t)stream) ^ index);
  return (FovRng){.state = key, .increment = mix(key) | 1};
}

uint32_t fov_rng_u32(FovRng *rng) {
  uint64_t old = rng->state;
  rng->state = old * 6364136223846793005u + rng->increment;
  uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27), rotation = (uint32_t)(old >> 59);
  return shifted >> rotation | shifted << (-rotation & 31);
}

uint32_t fov_rng_below(FovRng *rng, uint32_t bound) {
  FOV_CHECK(bound > 0, "an empty range has no numbers");
  // Lemire 2019: the high word of a product, rejecting the few low words that would bias it.
  uint64_t product = (uint64_t)fov_rng_u32(rng) * bound;
  if ((uint32_t)product < bound) {
    uint32_t threshold = -bound % bound;
    while ((uint32_t)product < threshold) product = (uint64_t)fov_rng_u32(rng) * bound;
  }
  return (uint32_t)(product >> 32);
}

float fov_rng_uniform(FovRng *rng) {
  return (float)(fov_rng_u32(rng) >> 8) * 0x1p-24f;
}

float fov_rng_normal(FovRng *rng) {
  float u = 1.0f - fov_rng_uniform(rng), v = fov_rng_uniform(rng);
  return sqrtf(-2.0f * logf(u)) * cosf(6.28318530717958648f * v);
}

uint64_t fov_rng_permute(uint64_t i, uint64_t size, uint64_t key) {
  FOV_CHECK(i < size, "position %llu of %llu", (unsigned long long)i, (unsigned long long)size);
  int half = 4; // four rounds of fewer bits are visibly uneven
  while (half < 32 && 1ull << (2 * half) < size) half++;
  uint64_t mask = (1ull << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t next = left ^ (mix(mix(key ^ round) ^ right) & mask);
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= size);
  return i;
}
