/** The sequential Jacobian of an explanation as a matrix: how much the logits after glimpse t, a
 * row, depend on glimpse s, a column. */
#ifndef FOV_VIZ_SCENE_PART_JACOBIAN_H
#define FOV_VIZ_SCENE_PART_JACOBIAN_H

#include "viz/scene/layout.h"

void fov_draw_jacobian(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Describes the cell at (x, y); false if there is none. text: [size] */
bool fov_describe_jacobian(char *text, size_t size, const FovScene *scene, double x, double y);

#endif
