/**
 * Methods of explanation: from episodes to a map of their pixels.
 *
 * A method is one const struct in one file, method/<name>.c, and one line in tables.c. Captum
 * (Kokhlikyan et al. 2020) has most of them under similar names; the table of experiments/README.md
 * lists the differences.
 */
#ifndef FOV_EXPLAIN_METHOD_H
#define FOV_EXPLAIN_METHOD_H

#include <stdatomic.h>

#include "base/option.h"
#include "explain/target.h"

/** What a method explains. */
typedef struct FovExplained {
  const FovHeld *held;
  FovTarget target;
  FovArena *arena;         /**< for the method's own arrays */
  FovArena *scratch;       /**< rewound by each evaluation */
  uint64_t seed;           /**< of noise */
  const atomic_bool *stop; /**< set: what has not begun is skipped: maps and y mean nothing; NULL:
                                never */
  double *completeness; /**< [B]: Σ map − (y(x) − y(x₀)), of a method that promises 0; else NaN */
} FovExplained;

typedef struct FovMethod {
  FovPlugin plugin;
  bool ignores_target; /**< its map is the same for all targets */
  /** Fails if it cannot explain such agents; NULL: it explains all. */
  FovStatus (*check)(const FovTask *task, bool through);
  /** map: [B, F, H, W, C], zeros, to be written. */
  void (*map)(real *map, const FovExplained *explained, const void *options);
} FovMethod;

/** All methods, NULL-terminated. */
extern const FovMethod *const fov_methods[];

/** Fails if a method cannot explain such agents. */
FovStatus fov_method_check(const FovMethod *method, const FovTask *task, bool through);

/** Those that the checks compare others with. */
extern const FovMethod fov_method_gaze, fov_method_weights, fov_method_random;

/** The option `baseline` of a method: the brightness x₀ that stands for nothing. */
#define FOV_BASELINE_OPTION(S)                                                                     \
  FOV_REAL(S, baseline, "0", -1000, 1000, "brightness of a pixel that shows nothing: 0 is black")

/** Whether the result is no longer wanted. Called before each evaluation; also handles
 * pending signals, because a shard takes seconds. */
bool fov_explained_stops(const FovExplained *explained);

/** y [B] with other pixels [B, F, H, W, C]; NULL: as they were. */
void fov_explained_values(double *y, const FovExplained *explained, const float *pixels);

/** The same; returns dy/d(brightness) [B, F, H, W, C], valid until the next evaluation. */
const real *fov_explained_gradient(double *y, const FovExplained *explained, const float *pixels);

/** Adds dy/dx of every lane to the head's outputs, and writes y [B]: for a backward pass. */
void fov_explained_seed(double *y, FovReplay *replay, const FovExplained *explained);

/** Numbers of all maps: B·F·H·W·C. */
size_t fov_explained_pixels(const FovExplained *explained);

#endif
