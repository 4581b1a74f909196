/** Draws one moment of an episode on any cairo surface: a window, a PNG, a frame of a GIF. */
#ifndef FOV_VIZ_SCENE_H
#define FOV_VIZ_SCENE_H

#include <cairo.h>

#include "record/trace.h"
#include "viz/style.h"

enum { FOV_SCENE_WIDTH = 1280, FOV_SCENE_HEIGHT = 720 };        // the default
enum { FOV_SCENE_MIN_WIDTH = 320, FOV_SCENE_MIN_HEIGHT = 180 }; // the smallest that is legible

/** The moment after a glimpse, at the size it is drawn. */
typedef struct FovScene {
  const FovTrace *trace;
  int episode;          /**< 0 … E−1 */
  int glimpse;          /**< 0 … T−1 */
  double width, height; /**< canvas units */
  const FovTheme *theme;
} FovScene;

/** Fills the canvas from (0, 0): image with glimpse and path, retina, probabilities, baseline. */
void fov_scene_draw(cairo_t *cr, const FovScene *scene);

/** Where the scene shows the whole image. */
FovBox fov_scene_image(const FovScene *scene);

/** Where it outlines patch `scale` of the retina; may reach beyond the image. */
FovBox fov_scene_patch(const FovScene *scene, int scale);

#endif
