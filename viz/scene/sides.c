#include "viz/scene/sides.h"

#include <math.h>
#include <string.h>

#include "viz/scene/cache.h"
#include "viz/scene/episode.h"

FovStatus fov_scene_check_pair(const FovTrace *a, const char *a_path, const FovTrace *b,
                               const char *b_path) {
  size_t image = (size_t)a->height * a->width * a->channels;
  if (a->control != b->control || a->actions != b->actions)
    return fov_fail(FOV_ERR_USAGE, "%s, %s: not the same task: %d and %d answers", a_path, b_path,
                    a->actions, b->actions);
  if (a->height != b->height || a->width != b->width || a->channels != b->channels)
    return fov_fail(
        FOV_ERR_USAGE, "%s, %s: not the same episodes: images of %d × %d × %d and %d × %d × %d",
        a_path, b_path, a->height, a->width, a->channels, b->height, b->width, b->channels);
  for (int e = 0; e < a->episodes && e < b->episodes; e++)
    if (memcmp(fov_picture(a, e, 0).bytes, fov_picture(b, e, 0).bytes, image) != 0)
      return fov_fail(FOV_ERR_USAGE,
                      "%s, %s: not the same episodes: episode %d begins with another image; record "
                      "both with the same --split and eval.seed",
                      a_path, b_path, e);
  return FOV_OK;
}

int fov_scene_sides(const FovScene *scene) {
  return scene->beside ? 2 : 1;
}

FovBox fov_scene_name(const FovScene *scene, int side) {
  double half = floor(scene->width / 2);
  return (FovBox){side ? half : 0, 0, side ? scene->width - half : half,
                  round(2.4 * fov_em(scene->width, scene->height))};
}

FovScene fov_scene_side(FovBox *box, const FovScene *scene, int side) {
  FovScene one = *scene;
  *box = (FovBox){0, 0, scene->width, scene->height};
  if (!scene->beside) return one;
  FovBox name = fov_scene_name(scene, side);
  *box = (FovBox){name.x, name.h, name.w, scene->height - name.h};
  one.trace = side ? scene->beside : scene->trace;
  one.beside = NULL;
  one.width = fmax(FOV_SCENE_MIN_WIDTH, box->w); // what does not fit the box is cut off
  one.height = fmax(FOV_SCENE_MIN_HEIGHT, box->h);
  int last = fov_last_glimpse(one.trace, one.episode);
  if (one.glimpse >= last) one.glide = 0;
  if (one.glimpse > last) one.glimpse = last;
  if (side && one.cache) one.cache = one.cache->beside;
  return one;
}
