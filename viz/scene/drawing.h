/** Draws a scene on any cairo surface: a window, a PNG, a frame of a film. */
#ifndef FOV_VIZ_SCENE_DRAWING_H
#define FOV_VIZ_SCENE_DRAWING_H

#include "viz/scene/scene.h"

/** Fills the canvas from (0, 0). Parts that are clipped away take no time. */
void fov_scene_draw(cairo_t *cr, const FovScene *scene);

/** Describes the value that is drawn at (x, y); false if there is none. text: [size] */
bool fov_scene_describe(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
