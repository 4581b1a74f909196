/** Digests of 64 bits that detect damage, not forgery: XXH64 (Collet, xxHash specification 0.1.1)
 * with seed 0. */
#ifndef FOV_BASE_DIGEST_H
#define FOV_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { FOV_DIGEST_SIZE = 16 }; /**< hexadecimal digits of a digest */

/** A digest in progress: bytes may arrive in pieces of any size. Starts as FOV_DIGEST_START. */
typedef struct FovDigest {
  uint64_t lanes[4]; /**< accumulators, each of every fourth word of 8 bytes */
  uint8_t block[32]; /**< bytes that do not fill a block yet: size % 32 of them */
  uint64_t size;     /**< bytes so far */
} FovDigest;

#define FOV_DIGEST_START                                                                           \
  (FovDigest) {                                                                                    \
    .lanes = { 0x60ea27eeadc0b5d6u, 0xc2b2ae3d27d4eb4fu, 0, 0x61c8864e7a143579u }                  \
  }

/** Adds `size` bytes; `data` may be NULL if `size` is 0. */
void fov_digest_add(FovDigest *digest, const void *data, size_t size);

/** The digest of all bytes so far. */
uint64_t fov_digest_value(const FovDigest *digest);

/** Writes a digest as 16 lower-case hexadecimal digits and a terminator; returns `text`. */
char *fov_digest_print(char text[FOV_DIGEST_SIZE + 1], uint64_t value);

#endif
