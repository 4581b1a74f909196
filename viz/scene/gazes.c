#include "viz/scene/gazes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/gaze.h"

FovStatus fov_gazes_begin(FovGazes *gazes, int count, int episodes, int glimpses) {
  size_t K = (size_t)count, E = (size_t)episodes;
  *gazes = (FovGazes){.count = count, .episodes = episodes, .glimpses = glimpses};
  gazes->places = malloc(K * E * (size_t)glimpses * 2 * sizeof *gazes->places);
  gazes->wrong = malloc(K * E);
  if (gazes->places && gazes->wrong) return FOV_OK;
  fov_gazes_finish(gazes);
  return fov_fail(FOV_ERR_MEMORY, "no memory for %d gazes", count);
}

void fov_gazes_finish(FovGazes *gazes) {
  free(gazes->places);
  free(gazes->wrong);
  *gazes = (FovGazes){0};
}

void fov_gazes_set(FovGazes *gazes, int k, const FovTrace *trace) {
  int E = gazes->episodes, T = gazes->glimpses;
  FOV_CHECK(trace->episodes >= E && trace->glimpses == T, "%d episodes of %d glimpses",
            trace->episodes, trace->glimpses);
  float *places = gazes->places + (size_t)k * E * T * 2;
  for (int i = 0; i < E * T; i++, places += 2) {
    bool taken = i % T < trace->lengths[i / T];
    const float *at = fov_gaze(trace, i / T, i % T);
    for (int j = 0; j < 2; j++) places[j] = taken ? at[j] : NAN;
  }
  for (int e = 0; e < E; e++) gazes->wrong[k * E + e] = trace->wrong[e] != 0;
}

const float *fov_gazes_place(const FovGazes *gazes, int k, int episode, int t) {
  if (t >= gazes->glimpses) return NULL;
  size_t at = ((size_t)k * gazes->episodes + episode) * gazes->glimpses + t;
  return isnan(gazes->places[2 * at]) ? NULL : gazes->places + 2 * at;
}
