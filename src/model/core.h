/**
 * The recurrent core's contract: h_t = f_h(h_{t−1}, g_t), Mnih et al. 2014, section 3.1.
 *
 * A core is one const struct in one file, core/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_CORE_H
#define FOV_MODEL_CORE_H

#include "base/option.h"
#include "tensor/tape.h"

enum { FOV_STATE_VARS = 10 };

/**
 * The state of B lanes: what the core needs of the past. A var that is NULL stands for zeros, or
 * for a memory without rows.
 *
 * vars[0] is the output h_t [B, D]. What the others are is the core's own affair, if row b, or the
 * equally many rows from b·t on, belong to lane b: [B, D], or a memory [B·t, D] that grows.
 */
typedef struct FovCoreState {
  FovVar *vars[FOV_STATE_VARS];
} FovCoreState;

typedef struct FovCore {
  FovPlugin plugin;
  /** How many of the vars, from the first on, an episode may start from instead of zeros: all get
   * the same [B, D]. 0: h_t depends on g_t alone. */
  int starts;
  size_t layout_size; /**< bytes of the struct that `build` writes */
  /** Adds the core's parameters, named "core.…", for inputs [B, inputs]. Writes the layout, const
   * afterwards, and returns D. Fails if the options do not fit together. */
  FovStatus (*build)(void *layout, int *width, FovParams *params, const void *options, int inputs);
  /** Takes g_t [B, inputs] and moves `state` from t−1 to t. */
  void (*step)(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t);
} FovCore;

/** All cores, NULL-terminated. */
extern const FovCore *const fov_cores[];

#endif
