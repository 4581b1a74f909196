#include "explain/maps.h"

#include <stdlib.h>
#include <string.h>

typedef struct Making {
  FovMaps *maps;
  const FovMethod *method;
  const void *options;
} Making;

size_t fov_maps_numbers(const FovMaps *maps) {
  return (size_t)maps->frames * maps->height * maps->width * maps->channels;
}

static void make_shard(void *context, const FovExplained *explained, int64_t first) {
  const Making *making = context;
  FovMaps *maps = making->maps;
  const FovHeld *held = explained->held;
  size_t count = fov_explained_pixels(explained), at = (size_t)first * fov_maps_numbers(maps);
  real *map = fov_arena_zeros(explained->arena, count * sizeof *map);
  making->method->map(map, explained, making->options);
  for (size_t i = 0; i < count; i++) maps->map[at + i] = (float)map[i];
  memcpy(maps->pixels + at, held->pixels, count * sizeof *maps->pixels);
  fov_explained_values(maps->y + first, explained, NULL);
  memcpy(maps->completeness + first, explained->completeness, held->lanes * sizeof(double));
  fov_held_places(maps->places + first * maps->glimpses * 2, held);
  for (int b = 0; b < held->lanes; b++) {
    maps->labels[first + b] = fov_target_label(&explained->target, held, b);
    maps->answers[first + b] = fov_target_answer(&explained->target, held, b);
    maps->times[first + b] = fov_target_step(&explained->target, held, b);
  }
}

static void average(float *mean, const float *maps, int64_t episodes, size_t numbers) {
  for (size_t i = 0; i < numbers; i++) {
    double sum = 0;
    for (int64_t e = 0; e < episodes; e++) sum += (double)maps[(size_t)e * numbers + i];
    mean[i] = (float)(sum / (double)episodes);
  }
}

static double bytes_of(const FovMaps *maps) {
  double numbers = (double)fov_maps_numbers(maps), E = (double)maps->episodes;
  return 2 * numbers * (E + 1) * sizeof(float) +
         E * (2 * maps->glimpses * sizeof(float) + 2 * sizeof(double) + 3 * sizeof(int32_t));
}

static FovStatus allocate(FovMaps *maps) {
  size_t E = (size_t)maps->episodes, numbers = fov_maps_numbers(maps);
  size_t places = 2 * (size_t)maps->glimpses;
  if ((maps->map = calloc(E, numbers * sizeof *maps->map)) &&
      (maps->pixels = calloc(E, numbers * sizeof *maps->pixels)) &&
      (maps->mean = calloc(numbers, sizeof *maps->mean)) &&
      (maps->mean_pixels = calloc(numbers, sizeof *maps->mean_pixels)) &&
      (maps->places = calloc(E, places * sizeof *maps->places)) &&
      (maps->y = calloc(E, sizeof *maps->y)) &&
      (maps->completeness = calloc(E, sizeof *maps->completeness)) &&
      (maps->labels = calloc(E, sizeof *maps->labels)) &&
      (maps->answers = calloc(E, sizeof *maps->answers)) &&
      (maps->times = calloc(E, sizeof *maps->times)))
    return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "no memory for %zu maps of %zu numbers", E, numbers);
}

/** Huge weights can have gradients that are not finite. */
static FovStatus check_finite(const FovMaps *maps) {
  size_t numbers = fov_maps_numbers(maps);
  for (size_t i = 0; i < (size_t)maps->episodes * numbers; i++)
    if (!isfinite(maps->map[i]))
      return fov_fail(FOV_ERR_NUMBER,
                      "the map of episode %zu is not finite: the agent's weights are too large",
                      i / numbers);
  return FOV_OK;
}

FovStatus fov_maps_make(FovMaps *maps, const FovExplainRequest *request, const FovMethod *method,
                        const void *options) {
  FovImage image = fov_observed(&request->task->env->spec.observation, NULL);
  Making making = {.maps = maps, .method = method, .options = options};
  *maps = (FovMaps){.episodes = request->count,
                    .frames = fov_held_frames(request->task),
                    .height = image.height,
                    .width = image.width,
                    .channels = image.channels,
                    .glimpses = fov_task_glimpses(request->task)};
  FOV_TRY(fov_method_check(method, request->task, request->through));
  FOV_TRY(allocate(maps));
  FOV_TRY(fov_explain_each(request, make_shard, &making, 2, bytes_of(maps)));
  FOV_TRY(check_finite(maps));
  average(maps->mean, maps->map, maps->episodes, fov_maps_numbers(maps));
  average(maps->mean_pixels, maps->pixels, maps->episodes, fov_maps_numbers(maps));
  return FOV_OK;
}

void fov_maps_finish(FovMaps *maps) {
  free(maps->map), free(maps->pixels), free(maps->mean), free(maps->mean_pixels);
  free(maps->places), free(maps->y), free(maps->completeness);
  free(maps->labels), free(maps->answers), free(maps->times);
  *maps = (FovMaps){0};
}
