/**
 * The recurrent core's contract: h_t = f_h(h_{t−1}, g_t), Mnih et al. 2014, section 3.1.
 *
 * A core is one const struct in one file, core_<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_CORE_H
#define FOV_MODEL_CORE_H

#include "base/option.h"
#include "tensor/tape.h"

enum { FOV_CORE_PARAMS = 8 };

/** What a core added to the parameters; written by build, const afterwards. */
typedef struct FovCoreLayout {
  int width; /**< D of h_t */
  int params[FOV_CORE_PARAMS];
} FovCoreLayout;

/** What a core remembers, [B, D] each. At the start of an episode both are NULL, which stands for
 * zeros, or both the same var: where they start. */
typedef struct FovCoreState {
  FovVar *h; /**< the output h_t */
  FovVar *c; /**< a cell, for cores that have one; the others leave it alone */
} FovCoreState;

typedef struct FovCore {
  FovPlugin plugin;
  bool memoryless; /**< h_t depends on g_t alone */
  /** Adds the core's parameters, named "core.…", for inputs [B, inputs]. */
  void (*build)(FovCoreLayout *layout, FovParams *params, const void *options, int inputs);
  /** Takes g_t [B, inputs] and moves `state` from t−1 to t. */
  void (*step)(FovCoreState *state, const FovCoreLayout *layout, FovTape *tape, FovVar *g_t);
} FovCore;

/** All cores, NULL-terminated. */
extern const FovCore *const fov_cores[];

#endif
