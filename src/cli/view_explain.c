/** Explains single episodes for fovea view. */
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "explain/jacobian.h"

/** The index-th method that depends on a target: the others are there to compare with. */
static const FovMethod *method_at(int index) {
  for (const FovMethod *const *m = fov_methods; *m; m++)
    if (!(*m)->ignores_target && index-- == 0) return *m;
  return NULL;
}

static const char *name_of(int index) {
  const FovMethod *method = method_at(index);
  return method ? method->plugin.name : NULL;
}

static FovStatus check(const FovTask *task, int index) {
  return fov_method_check(method_at(index), task, false);
}

static FovExplainRequest request_of(const FovDrawCase *what) {
  return (FovExplainRequest){
      .task = what->task,
      .values = what->values,
      .cases = &what->index,
      .count = 1,
      .seed = what->seed,
      .split = what->split,
      .progress = what->progress,
      .target = {.kind = FOV_TARGET_LOGIT, .output = FOV_CLASS_ANSWER, .time = what->time},
      .threads = 1,
      .stop = what->stop};
}

/** to [pixels] = from [pixels, C], channels added. */
static void add_channels(float *to, const float *from, size_t pixels, int channels) {
  for (size_t i = 0; i < pixels; i++) {
    double sum = 0;
    for (int c = 0; c < channels; c++) sum += (double)*from++;
    to[i] = (float)sum;
  }
}

static FovStatus make_map(float *map, float *places, const FovDrawCase *what,
                          const FovMethod *method, const void *options) {
  FovMaps maps;
  FovExplainRequest request = request_of(what);
  FovStatus status = fov_maps_make(&maps, &request, method, options);
  if (status == FOV_OK) {
    add_channels(map, maps.map, (size_t)maps.frames * maps.height * maps.width, maps.channels);
    memcpy(places, maps.places, 2 * (size_t)maps.glimpses * sizeof *places);
  }
  fov_maps_finish(&maps);
  return status;
}

static FovStatus map(float *map, float *places, const FovDrawCase *what, int index) {
  const FovMethod *method = method_at(index);
  FovMethodOptions options;
  FovStatus status = fov_method_options_read(&options, NULL, 0); // the defaults
  if (status == FOV_OK)
    status = make_map(map, places, what, method, fov_method_options_of(&options, method));
  fov_method_options_finish(&options);
  return status;
}

static FovStatus jacobian(float *norms, float *places, const FovDrawCase *what) {
  FovExplainRequest request = request_of(what);
  FovJacobian j;
  FovStatus status = fov_jacobian_make(&j, &request, FOV_JACOBIAN_LOGITS);
  if (status == FOV_OK) {
    memcpy(norms, j.norms, (size_t)j.T * (size_t)j.S * sizeof *norms);
    memcpy(places, j.places, 2 * (size_t)j.T * sizeof *places);
  }
  fov_jacobian_finish(&j);
  return status;
}

const FovDrawExplain fov_cli_explain = {
    .method = name_of, .check = check, .map = map, .jacobian = jacobian};
