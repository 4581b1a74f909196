/** Random numbers: PCG32 (O'Neill 2014, XSH-RR 64/32) with named, randomly accessible streams. */
#ifndef FOV_BASE_RNG_H
#define FOV_BASE_RNG_H

#include <stdint.h>

/** Purposes of random numbers; streams of different purposes are unrelated. All are named here, so
 * that no two modules choose the same. */
typedef enum FovStream {
  FOV_STREAM_INIT,         /**< initial parameters; index = parameter */
  FOV_STREAM_DATA,         /**< the order of training cases; index = epoch */
  FOV_STREAM_ENV,          /**< environments; index = image, counted over all epochs */
  FOV_STREAM_POLICY,       /**< policies; index = episode */
  FOV_STREAM_FIXED_ENV,    /**< like ENV, for an evaluation's cases; index = split and case */
  FOV_STREAM_FIXED_POLICY, /**< like POLICY, likewise; index = split, case and repeat */
  FOV_STREAM_SWEEP,        /**< settings that a sweep draws; index = configuration and setting */
  FOV_STREAM_BOOTSTRAP,    /**< resampling of results; index = draw */
  FOV_STREAM_AUGMENT,      /**< augmentation; seed and index = the environment's generator */
  FOV_STREAM_EXPLAIN,      /**< noise and random maps of explanations; index = case */
  FOV_STREAM_SCANPATH,     /**< gazes to compare with; seed = kind, index = scanpath and draw */
} FovStream;

typedef struct FovRng {
  uint64_t state;
  uint64_t increment; /**< odd */
} FovRng;

/**
 * The generator number `index` of a stream: a pure function of its arguments.
 *
 * State and increment are both hashed from all three, so that neighbouring indices are unrelated;
 * a run can be resumed, or divided among any number of workers, without storing generators.
 */
FovRng fov_rng_stream(uint64_t seed, FovStream stream, uint64_t index);

uint32_t fov_rng_u32(FovRng *rng);

/** Uniform on 0 … bound−1 without bias; `bound` > 0. */
uint32_t fov_rng_below(FovRng *rng, uint32_t bound);

/** Uniform on [0, 1), a multiple of 2^-24. */
float fov_rng_uniform(FovRng *rng);

/** Standard normal (Box and Muller 1958); always two draws. */
float fov_rng_normal(FovRng *rng);

/**
 * The image of `i` under the pseudo-random permutation of 0 … size−1 with this key; 0 <= i < size.
 *
 * A four-round Feistel network with cycle walking (Black and Rogaway 2002): a shuffled epoch
 * without a table: any position can be computed at once.
 */
uint64_t fov_rng_permute(uint64_t i, uint64_t size, uint64_t key);

#endif
