/** Where one agent looked in several sampled rollouts of the same episodes. */
#ifndef FOV_VIZ_SCENE_GAZES_H
#define FOV_VIZ_SCENE_GAZES_H

#include <stdint.h>

#include "record/trace.h"

/** K rollouts of E episodes of up to T glimpses; arrays are the struct's own. */
typedef struct FovGazes {
  int count, episodes, glimpses; /**< K, E, T */
  float *places;                 /**< [K, E, T, 2]: of each glimpse; NaN after the last */
  uint8_t *wrong;                /**< [K, E]: whether it was answered wrongly or missed its goal */
} FovGazes;

/** Makes room for the `count` rollouts of a trace's first `episodes`. */
FovStatus fov_gazes_begin(FovGazes *gazes, int count, int episodes, int glimpses);
void fov_gazes_finish(FovGazes *gazes);

/** Copies rollout k from its trace. */
void fov_gazes_set(FovGazes *gazes, int k, const FovTrace *trace);

/** Where glimpse t of a rollout was, [2]; NULL: it had ended. */
const float *fov_gazes_place(const FovGazes *gazes, int k, int episode, int t);

#endif
