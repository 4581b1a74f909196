/** What a policy recorded about the choice of a glimpse, or an attention of its weights, over the
 * image. */
#ifndef FOV_VIZ_SCENE_PART_POLICY_H
#define FOV_VIZ_SCENE_PART_POLICY_H

#include "viz/scene/layout.h"

/** Draws what was recorded about this glimpse, if anything. Columns "policy.mean" and
 * "policy.sigma": a cross and a dashed ellipse at one sigma. Columns "policy.tiles" and
 * "attention.tiles": a tint over each tile, to be drawn below other marks; the tile that a policy
 * chose has an outline. */
void fov_draw_policy_gaussian(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
void fov_draw_policy_tiles(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Tints the tiles of an image by p, a distribution over a grid. */
void fov_tint_tiles(cairo_t *cr, const FovTheme *theme, FovBox image, const float *p, FovGrid grid);

/** Explains these marks in a line that starts at (x, y) and ends before x = `end`. */
void fov_draw_policy_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                            double em);

/** Likewise explains the outline of an attention's window. */
void fov_draw_window_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                            double em);

/** Writes the probability of the tile at (x, y) of the image, in [−1, 1]; returns the bytes
 * written, 0 if there are no tiles. text: [size], at least 64 */
int fov_describe_policy(char *text, size_t size, const FovScene *scene, float x, float y);

#endif
