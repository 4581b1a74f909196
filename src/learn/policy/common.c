#include "learn/policy.h"

void fov_policy_cut(real *places, const FovChoice *choices, int lanes) {
  for (int i = 0; i < 2 * lanes; i++) {
    real x = choices[i / 2].sample[i % 2];
    places[i] = x < -1 ? -1 : x > 1 ? 1 : x;
  }
}
