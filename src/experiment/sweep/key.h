/** A setting of a sweep that varies: its values, or the range to draw from. */
#ifndef FOV_EXPERIMENT_SWEEP_KEY_H
#define FOV_EXPERIMENT_SWEEP_KEY_H

#include "base/rng.h"
#include "experiment/sweep/plan.h"

enum { FOV_SWEEP_VALUES = 1000 }; /**< of a key, at most */

/** How a setting varies: see plan.h. */
typedef enum FovSweepKind {
  FOV_SWEEP_LIST,
  FOV_SWEEP_LINEAR,
  FOV_SWEEP_LOGARITHMIC,
  FOV_SWEEP_ANY,
  FOV_SWEEP_FIXED, /**< it does not */
} FovSweepKind;

struct FovSweepKey {
  const char *name;
  const FovSetting *setting; /**< NULL: the rows */
  FovSweepKind kind;
  char *values[FOV_SWEEP_VALUES]; /**< LIST, ANY: [count], malloc'd */
  int count;
  double low, high; /**< LINEAR, LOGARITHMIC */
  bool whole;       /**< likewise: whole numbers are drawn */
};

/** Fails because of a setting's value. */
FovStatus fov_sweep_refuse(const FovSetting *setting, const char *expected);

/** Reads the values of a setting; one that does not vary leaves key->name NULL. After a failure,
 * too, the key may have values to free. */
FovStatus fov_sweep_key_read(FovSweepKey *key, const FovSetting *setting);

/** Draws a number from the range of a LINEAR or LOGARITHMIC key. */
double fov_sweep_key_draw(const FovSweepKey *key, FovRng *rng);

#endif
