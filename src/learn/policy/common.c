#include "learn/policy.h"

void fov_policy_cut(real *places, int lanes) {
  for (int i = 0; i < 2 * lanes; i++)
    places[i] = places[i] < -1 ? -1 : places[i] > 1 ? 1 : places[i];
}
