/** Sampled gazes over the image of a scene. */
#ifndef FOV_VIZ_SCENE_PART_GAZES_H
#define FOV_VIZ_SCENE_PART_GAZES_H

#include "viz/scene/layout.h"

/** Draws each gaze up to the scene's glimpse: green if it ends with a right answer, else orange. */
void fov_draw_gazes(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Counts them, from x on; returns the x at which that ends. */
double fov_draw_gazes_legend(cairo_t *cr, const FovScene *scene, double x, double y, double em);

#endif
