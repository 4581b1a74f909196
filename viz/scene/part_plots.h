/** The plots of a scene: probabilities, and what changes over time. */
#ifndef FOV_VIZ_SCENE_PART_PLOTS_H
#define FOV_VIZ_SCENE_PART_PLOTS_H

#include "viz/scene/layout.h"

/** Draws bars of probabilities; baseline and return, and entropy or rewards, by glimpse. */
void fov_draw_plots(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Describes the value at (x, y); false if there is none. text: [size] */
bool fov_describe_plots(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
