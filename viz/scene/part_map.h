/** The map of an explanation over the image of a scene. */
#ifndef FOV_VIZ_SCENE_PART_MAP_H
#define FOV_VIZ_SCENE_PART_MAP_H

#include "viz/scene/layout.h"

/** Draws the map, if there is one, over the image at the scene's glimpse. */
void fov_draw_map(cairo_t *cr, const FovScene *scene, FovBox image);

/** Names the method and the colours, from x to `end`. */
void fov_draw_map_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                         double em);

/** Writes the number of a pixel, if there is one, and returns the bytes written. text: [size] */
int fov_describe_map(char *text, size_t size, const FovScene *scene, int column, int row);

#endif
