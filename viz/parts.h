/** The parts of a scene, and where they lie; for scene.c and the part_*.c only. */
#ifndef FOV_VIZ_PARTS_H
#define FOV_VIZ_PARTS_H

#include "viz/scene.h"

/** A part of no height is left out. */
typedef struct FovLayout {
  double em; /**< text size, the unit of every distance */
  FovBox title, view, fitted, image, legend, retina, bars, returns;
  FovBox last; /**< the entropy of answers, or the rewards of a control task */
} FovLayout;

FovLayout fov_layout(const FovScene *scene);

/** The image, what lies over it, and the words that explain the marks. */
void fov_draw_view(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
void fov_draw_legend(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
bool fov_tell_view(char *text, size_t size, const FovScene *scene, double x, double y);

/** Draws what the policy recorded about the choice of this glimpse, if anything. Columns "mean" and
 * "sigma": a cross and a dashed ellipse at one sigma. Column "tiles": a tint over each tile, and an
 * outline around the chosen one, to be drawn below other marks. */
void fov_draw_policy_gaussian(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
void fov_draw_policy_tiles(cairo_t *cr, const FovScene *scene, const FovLayout *layout);

/** Explains these marks in a line that starts at (x, y) and ends before x = `end`. */
void fov_draw_policy_legend(cairo_t *cr, const FovScene *scene, double x, double y, double end,
                            double em);

/** Writes the probability of the tile at (x, y) of the image, in [−1, 1]; returns the bytes
 * written, 0 if there are no tiles. text: [size], at least 64 */
int fov_tell_policy(char *text, size_t size, const FovScene *scene, float x, float y);

/** The retina patch by patch, and what is known so far. */
void fov_draw_retina(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
bool fov_tell_retina(char *text, size_t size, const FovScene *scene, double x, double y);

/** Bars of probabilities; baseline and return, and entropy or rewards, over time. */
void fov_draw_plots(cairo_t *cr, const FovScene *scene, const FovLayout *layout);
bool fov_tell_plots(char *text, size_t size, const FovScene *scene, double x, double y);

/** Whether the agent of this episode expected anything. */
bool fov_has_baseline(const FovScene *scene);

/** Glimpses of the scene's episode. */
int fov_length(const FovScene *scene);

/** Index of the scene's glimpse in arrays of [E, T, …]. */
size_t fov_moment(const FovScene *scene);

/** The reconstruction at this moment: unseen pixels are transparent, or the only ones opaque. The
 * caller destroys them. */
typedef struct FovKnown {
  cairo_surface_t *seen, *unseen;
} FovKnown;

FovKnown fov_draw_known(const FovScene *scene);

/** Fills a box with the hatching that stands for what nobody has seen. */
void fov_draw_hatch(cairo_t *cr, const FovScene *scene, FovBox box, double em);

/** Draws a part's heading and cuts it off the box. */
void fov_draw_heading(cairo_t *cr, FovBox *box, const FovScene *scene, double em, const char *text);

/** The thickness of frames: even, two units or more. */
double fov_frame_line(double em);

struct FovSceneCache {
  const uint8_t *images;   // of the trace
  FovScene scene;          // of which `ground` is
  cairo_surface_t *ground; // the view without the marks
  int episode, glimpse;    // of which `known` is
  FovKnown known;
};

#endif
