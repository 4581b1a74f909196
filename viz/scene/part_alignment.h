/** The alignment of a scene: the source, the weights of each head, the matrix and the outputs. */
#ifndef FOV_VIZ_SCENE_PART_ALIGNMENT_H
#define FOV_VIZ_SCENE_PART_ALIGNMENT_H

#include "viz/scene/layout.h"

/** Draws the alignment up to this glimpse, whose weights are on the source, and its legend. */
void fov_draw_alignment(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Fills the canvas with the whole matrix, its source and its outputs: a figure without controls of
 * time. */
void fov_draw_alignment_figure(cairo_t *cr, const FovScene *scene);

/** Draws only the weights of the scene's episode and head into a box; `top` is full colour. */
void fov_draw_alignment_cells(cairo_t *cr, const FovScene *scene, FovBox box, double top);

/** Describes the weight, symbol or output at (x, y); false if there is none. text: [size] */
bool fov_describe_alignment(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
