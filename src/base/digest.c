#include "base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie in memory");

enum { BLOCK = 32, LANES = 4 };

/** The specification's five primes. */
#define PRIME1 0x9e3779b185ebca87u
#define PRIME2 0xc2b2ae3d27d4eb4fu
#define PRIME3 0x165667b19e3779f9u
#define PRIME4 0x85ebca77c2b2ae63u
#define PRIME5 0x27d4eb2f165667c5u

static uint64_t rotate(uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t word) {
  return rotate(lane + word * PRIME2, 31) * PRIME1;
}

/** Adds `blocks` whole blocks: word i of each goes to lane i, so that the lanes run in parallel. */
static void add_blocks(uint64_t lanes[LANES], const uint8_t *bytes, size_t blocks) {
  uint64_t sum[LANES], words[LANES];
  memcpy(sum, lanes, sizeof sum);
  for (; blocks > 0; blocks--, bytes += BLOCK) {
    memcpy(words, bytes, BLOCK);
    for (int i = 0; i < LANES; i++) sum[i] = mix(sum[i], words[i]);
  }
  memcpy(lanes, sum, sizeof sum);
}

void fov_digest_add(FovDigest *digest, const void *data, size_t size) {
  if (size == 0) return;
  const uint8_t *bytes = data;
  size_t held = digest->size % BLOCK, part = BLOCK - held < size ? BLOCK - held : size;
  digest->size += size;
  if (held > 0) {
    memcpy(digest->block + held, bytes, part);
    if (held + part < BLOCK) return;
    add_blocks(digest->lanes, digest->block, 1);
    bytes += part;
    size -= part;
  }
  add_blocks(digest->lanes, bytes, size / BLOCK);
  memcpy(digest->block, bytes + size / BLOCK * BLOCK, size % BLOCK);
}

/** Joins the four lanes. */
static uint64_t join(const uint64_t lanes[LANES]) {
  uint64_t hash =
      rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
  for (int i = 0; i < LANES; i++) hash = (hash ^ mix(0, lanes[i])) * PRIME1 + PRIME4;
  return hash;
}

/** Adds the bytes after the last whole block: words of 8, of 4, single bytes. */
static uint64_t add_rest(uint64_t hash, const uint8_t *bytes, size_t size) {
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = rotate(hash ^ mix(0, word), 27) * PRIME1 + PRIME4;
  }
  for (; size >= 4; size -= 4, bytes += 4) {
    uint32_t word;
    memcpy(&word, bytes, 4);
    hash = rotate(hash ^ word * PRIME1, 23) * PRIME2 + PRIME3;
  }
  for (; size > 0; size--, bytes++) hash = rotate(hash ^ *bytes * PRIME5, 11) * PRIME1;
  return hash;
}

uint64_t fov_digest_value(const FovDigest *digest) {
  uint64_t hash = digest->size < BLOCK ? PRIME5 : join(digest->lanes);
  hash = add_rest(hash + digest->size, digest->block, digest->size % BLOCK);
  hash = (hash ^ hash >> 33) * PRIME2;
  hash = (hash ^ hash >> 29) * PRIME3;
  return hash ^ hash >> 32;
}

char *fov_digest_print(char text[FOV_DIGEST_SIZE + 1], uint64_t value) {
  snprintf(text, FOV_DIGEST_SIZE + 1, "%016" PRIx64, value);
  return text;
}
