/** Where the time of the workers goes, and how much they compute and read. A benchmark or an
 * evaluation turns it on; while it is off, a call costs one test of a pointer. */
#ifndef FOV_BASE_PROFILE_H
#define FOV_BASE_PROFILE_H

#include <stdint.h>

/** What a worker is doing; a phase inside another one pauses it. */
typedef enum FovPhase {
  FOV_PHASE_MODEL,    /**< everything else: activations, gates, losses, the tape */
  FOV_PHASE_PRODUCTS, /**< fov_gemm */
  FOV_PHASE_ENV,      /**< drawing images, judging answers */
  FOV_PHASE_SENSOR,   /**< glimpses */
  FOV_PHASE_REDUCE,   /**< adding the shards' gradients */
  FOV_PHASE_OPTIMISE, /**< optimiser and moving average */
  FOV_PHASES,
} FovPhase;

/** One shape of matrix product: C [m, n] = op(A) [m, k] · op(B) [k, n]. */
typedef struct FovProduct {
  int m, n, k;
  int stride_a, stride_b, stride_c;
  int a_transposed, b_transposed; /**< 0 or 1 */
} FovProduct;

enum { FOV_MAX_PRODUCTS = 128 };

/** What one worker did while profiles were on. */
typedef struct FovProfile {
  _Alignas(64) double seconds[FOV_PHASES];
  double processor; /**< seconds in which a processor ran it, of all phases together */
  FovProduct products[FOV_MAX_PRODUCTS]; /**< the first shapes met */
  int64_t calls[FOV_MAX_PRODUCTS];       /**< of each */
  int shapes;
  double flops;           /**< 2·m·n·k, summed over all products, by fov_gemm or not */
  double numbers, pixels; /**< that the sensor gave, and read; see fov_profile_input */
} FovProfile;

/** [FOV_MAX_THREADS] profiles, all zero; freed with free. NULL if memory is short. */
FovProfile *fov_profiles_create(void);

/** Turns counting on, into [FOV_MAX_THREADS] profiles, one a worker, or off (NULL). Not while a
 * team runs. Returns where it counted before. */
FovProfile *fov_profile_into(FovProfile *profiles);

/** Begin and end a worker's share of a team's run, which is counted. */
void fov_profile_attach(int worker);
void fov_profile_detach(void);

/** Starts a phase and returns the one before, which the caller restores at the end. */
FovPhase fov_profile_enter(FovPhase phase);

/** Counts a matrix product by fov_gemm. */
void fov_profile_product(const FovProduct *product);

/** Counts floating-point operations of products that an operation computes itself: a multiplication
 * and an addition each. Activations, softmax, norms and products number by number do not count. */
void fov_profile_flops(double flops);

/** Counts what the sensor gives the network: `numbers`, computed from `pixels` of the image. A
 * pixel has all channels, and counts once for each patch that it lies in. */
void fov_profile_input(double numbers, double pixels);

/** Seconds of a clock that never jumps. */
double fov_now(void);

#endif
