/** The image of a scene with the marks over it, and the legend below it. */
#ifndef FOV_VIZ_SCENE_PART_VIEW_H
#define FOV_VIZ_SCENE_PART_VIEW_H

#include "viz/scene/layout.h"

/** Draws the image and the marks over it, and the legend that explains the marks. */
void fov_draw_view(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
void fov_draw_legend(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Describes the pixel at (x, y); false if there is none. text: [size] */
bool fov_describe_view(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
