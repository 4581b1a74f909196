#include "viz/scene/sides.h"

#include <math.h>

#include "viz/scene/attention.h"
#include "viz/scene/cache.h"
#include "viz/scene/episode.h"

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
  if (one.head > fov_heads(one.trace)) one.head = 0;
  int last = fov_last_glimpse(one.trace, one.episode);
  if (one.glimpse >= last) one.glide = 0;
  if (one.glimpse > last) one.glimpse = last;
  if (side) {
    one.explanation = (FovExplanation){0};
    one.gazes = NULL;
  }
  if (side && one.cache) one.cache = one.cache->beside;
  return one;
}
