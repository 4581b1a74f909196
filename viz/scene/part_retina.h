/** The retina of a scene patch by patch, and the reconstruction. */
#ifndef FOV_VIZ_SCENE_PART_RETINA_H
#define FOV_VIZ_SCENE_PART_RETINA_H

#include "viz/scene/layout.h"

void fov_draw_retina(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Describes the value at (x, y); false if there is none. text: [size] */
bool fov_describe_retina(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
