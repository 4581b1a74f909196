/** What stands beside the matrix of an alignment: the source above it, the outputs on its left. */
#ifndef FOV_VIZ_SCENE_ALIGNMENT_NAMES_H
#define FOV_VIZ_SCENE_ALIGNMENT_NAMES_H

#include "viz/scene/alignment_view.h"

/** Draws the symbols, or the image, with the weights of this glimpse on them. */
void fov_draw_alignment_source(cairo_t *cr, const FovAlignmentView *a);

/** Draws the answers; wrong ones have a cross, and their labels beside them. */
void fov_draw_alignment_outputs(cairo_t *cr, const FovAlignmentView *a);

#endif
