#include "viz/scene/scene.h"

#include <math.h>

#include "viz/scene/episode.h"

const char *const fov_overlay_names[FOV_OVERLAYS] = {
    "squares", "path", "policy", "numbers", "veil", "reconstruction", "explanation"};

FovScene fov_scene(const FovTrace *trace, double width, double height, const FovTheme *theme) {
  return (FovScene){.trace = trace,
                    .width = width,
                    .height = height,
                    .theme = theme,
                    .overlays = FOV_OVERLAYS_DEFAULT,
                    .zoom = {1, 0.5, 0.5}};
}

double fov_em(double width, double height) {
  return fmax(9 / 0.85, 16 * fmin(width / FOV_SCENE_WIDTH, height / FOV_SCENE_HEIGHT));
}

FovStatus fov_scene_check(const FovTrace *trace, const char *path) {
  const struct {
    const char *what;
    int found, most;
  } limits[] = {{"scales of the retina", trace->scales, FOV_SCENE_SCALES},
                {"glimpses", trace->glimpses, 4096},
                {"classes", trace->actions, 32768},
                {"columns of pixels", trace->width, 16384}, // cairo's limit is 32767
                {"rows of pixels", trace->height, 16384},
                {"pixels across the retina", trace->side, 16384}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].found > limits[i].most)
      return fov_fail(FOV_ERR_FORMAT, "%s: %d %s: at most %d can be shown", path, limits[i].found,
                      limits[i].what, limits[i].most);
  return FOV_OK;
}

void fov_scene_seek(FovScene *scene, double time) {
  int last = fov_scene_length(scene) - 1;
  scene->glimpse = (int)fmin(last, fmax(0, floor(time)));
  double moving = fmin(1, fmax(0, (time - scene->glimpse - FOV_REST) / (1 - FOV_REST)));
  scene->glide = scene->glimpse < last ? moving * moving * (3 - 2 * moving) : 0;
  int own = fov_last_glimpse(scene->trace, scene->episode); // of two agents, the other looks longer
  if (scene->explanations)
    scene->explanation = scene->explanations[scene->glimpse < own ? scene->glimpse : own];
}

size_t fov_glimpse_at(const FovScene *scene) {
  return fov_glimpse_index(scene->trace, scene->episode, scene->glimpse);
}

int fov_scene_length(const FovScene *scene) {
  int last = fov_last_glimpse(scene->trace, scene->episode);
  if (scene->beside && fov_last_glimpse(scene->beside, scene->episode) > last)
    last = fov_last_glimpse(scene->beside, scene->episode);
  return last + 1;
}

bool fov_has_baseline(const FovScene *scene) {
  const FovTrace *trace = scene->trace;
  const float *b = trace->baselines + fov_glimpse_index(trace, scene->episode, 0);
  for (int t = 0; t <= fov_last_glimpse(trace, scene->episode); t++)
    if (isfinite(b[t])) return trace->glimpses > 1;
  return false;
}
