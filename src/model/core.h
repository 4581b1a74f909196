/**
 * The recurrent core's contract: h_t = f_h(h_{t−1}, g_t), Mnih et al. 2014, section 3.1.
 *
 * A core is one const struct in one file, core/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_CORE_H
#define FOV_MODEL_CORE_H

#include "model/score.h"

enum { FOV_STATE_VARS = 10 };

/**
 * The state of B lanes: what the core needs of the past. All vars are NULL before the first step,
 * except those that the episode starts from; a core takes NULL for zeros, or for an empty memory.
 *
 * vars[0] is the output h_t [B, D]. The others are the core's own, in the order of the lanes: [B,
 * D], or a memory [B·t, D] that grows, whose rows b·t … b·t + t − 1 are those of lane b.
 */
typedef struct FovCoreState {
  FovVar *vars[FOV_STATE_VARS];
} FovCoreState;

/** What a core is composed of. */
typedef struct FovCoreParts {
  int inputs;            /**< width of g_t */
  const FovScore *score; /**< for cores that attend */
  const void *score_options;
} FovCoreParts;

typedef struct FovCore {
  FovPlugin plugin;
  /** How many of the vars, from the first on, an episode may start from instead of zeros: all get
   * the same [B, D]. 0: h_t depends on g_t alone. */
  int starts;
  bool scores;        /**< it attends, with parts->score */
  size_t layout_size; /**< bytes of the struct that `build` writes */
  /** Adds the core's parameters, named "core.…". Writes the layout, zeroed before and const
   * afterwards, and D. Fails if the options do not fit together. */
  FovStatus (*build)(void *layout, int *width, FovParams *params, const void *options,
                     const FovCoreParts *parts);
  /** Frees what the layout owns, also after a failed `build`; NULL: nothing. */
  void (*finish)(void *layout);
  /** Takes g_t [B, inputs] and moves `state` from t−1 to t. */
  void (*step)(FovCoreState *state, const void *layout, FovTape *tape, FovVar *g_t);
} FovCore;

/** All cores, NULL-terminated. */
extern const FovCore *const fov_cores[];

#endif
