/** Shared by all pictures: colours, text, axes, and a drawing that replaces a file whole. */
#ifndef FOV_VIZ_SCENE_STYLE_H
#define FOV_VIZ_SCENE_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include <cairo.h>

#include "base/error.h"
#include "base/file.h"

typedef struct FovColour {
  double r, g, b; /**< 0 … 1 */
} FovColour;

/** A rectangle in the drawing's units, (x, y) its top left corner. */
typedef struct FovBox {
  double x, y, w, h;
} FovBox;

typedef struct FovPoint {
  double x, y;
} FovPoint;

/** Nothing is drawn farther out, in half image widths: cairo's coordinates have 24 bits. */
enum { FOV_FAR = 8 };

enum { FOV_SERIES = 7, FOV_PATCHES = 4 };

/** Colours by role; `series` distinguish things of one kind (Okabe and Ito 2008). */
typedef struct FovTheme {
  FovColour paper;                /**< behind everything */
  FovColour panel;                /**< behind an image or a plot */
  FovColour ink, quiet, rule;     /**< text; secondary text; thin lines */
  FovColour path, policy;         /**< glimpses so far; the policy */
  FovColour right, wrong;         /**< of an answer */
  FovColour patches[FOV_PATCHES]; /**< of a glimpse; unlike path, policy, right and wrong */
  FovColour series[FOV_SERIES];   /**< experiments of a plot */
} FovTheme;

extern const FovTheme fov_theme_light, fov_theme_dark;

void fov_set_colour(cairo_t *cr, FovColour colour, double alpha);

/** White or nearly black, whichever is more legible on a ground. */
FovColour fov_text_on(FovColour ground);

/** Fills a box with a colour. */
void fov_fill_box(cairo_t *cr, FovBox box, FovColour colour);

/** Strokes a box, the line centred on its edge. */
void fov_stroke_box(cairo_t *cr, FovBox box, FovColour colour, double line);

/** Adds a whole circle to the path. */
void fov_disc(cairo_t *cr, double x, double y, double radius);

/** Adds a box with round corners to the path. */
void fov_round_box(cairo_t *cr, FovBox box, double radius);

/** Strokes the path in a colour over a dark rim, so that it shows on white and on black. */
void fov_stroke_rimmed(cairo_t *cr, FovColour colour, double line, double alpha);

bool fov_inside(FovBox box, double x, double y);

/** Canvas coordinates of a location [2] in its image, cut at FOV_FAR. */
FovPoint fov_point_at(FovBox image, const float *location);

/** Moves the edges to whole units, where an even line is crisp. */
FovBox fov_snap(FovBox box);

/** Cuts off what is farther from a view than its own size: cairo's coordinates have 24 bits. */
FovBox fov_cut_far(FovBox box, FovBox view);

/** Cuts a strip of `height` off the top, and `gap` below it. */
FovBox fov_cut_top(FovBox *rest, double height, double gap);

/** Cuts a strip of `height` off the bottom. */
FovBox fov_cut_bottom(FovBox *rest, double height);

/** The largest box of w : h in the middle of `room`, but never thinner than a unit. */
FovBox fov_fit(FovBox room, double w, double h);

/** Whether any part of a box is inside the clip region. */
bool fov_shows(cairo_t *cr, FovBox box);

/** A tick or a cross, drawn because not every font has them; size × size, y its bottom. */
void fov_verdict(cairo_t *cr, double x, double y, double size, bool right);

void fov_line(cairo_t *cr, double x0, double y0, double x1, double y1);

typedef enum FovAlign { FOV_ALIGN_LEFT, FOV_ALIGN_CENTRE, FOV_ALIGN_RIGHT } FovAlign;

/** Sets the face and size (in drawing units) of the texts that follow. */
void fov_set_font(cairo_t *cr, double size, bool bold);

double fov_text_width(cairo_t *cr, const char *text);

/** If a text of more than 4 bytes is wider than `room`, replaces its end by "..." until it fits or
 * 4 bytes are left. text: [size] */
void fov_fit_text(cairo_t *cr, char *text, size_t size, double room);

/** Draws a formatted line of at most 255 bytes on the baseline `y`; returns its width. */
double fov_text(cairo_t *cr, double x, double y, FovAlign align, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Maps the values lo … hi to the drawing's from … to, by their logarithm if `log` (then lo > 0).
 */
typedef struct FovAxis {
  double lo, hi, from, to;
  bool log;
} FovAxis;

/** The place of a value on the drawing; a logarithmic axis clamps it to lo. */
double fov_axis_at(const FovAxis *axis, double value);

/** The value at a place of the drawing; only for a linear axis. */
double fov_axis_value(const FovAxis *axis, double at);

/** The least of 1, 0.5, 0.2, 0.1 … 1e-4 that is no less than a probability. */
double fov_round_up(double probability);

enum { FOV_TICKS = 32 };

/** Fills ticks with round values (1, 2, 5 × 10^k) of the axis, about `wanted` of them if it is
 * linear; returns how many. */
int fov_axis_ticks(double ticks[FOV_TICKS], const FovAxis *axis, int wanted);

/** Draws the ticks of a vertical axis along the left edge of a plot, with rules across it; light.
 */
void fov_draw_value_ticks(cairo_t *cr, const FovAxis *axis, FovBox box);

/** Draws the title line of a sheet or a map: title, selection, and a note on the right. Without
 * room for all, the last parts of the note are left out, which commas separate, and others
 * shortened. */
void fov_draw_title(cairo_t *cr, const FovTheme *theme, FovBox box, double em, const char *title,
                    const char *what, const char *aside);

/** The width of a frame's line: even, two units or more. */
double fov_border(double em);

/** Fills a box with the hatching that marks what no glimpse has covered. */
void fov_draw_hatch(cairo_t *cr, const FovTheme *theme, FovBox box, double em);

/** Draws the heading of a part, shortened to the box, and cuts it off the box; sets the font of the
 * part's labels. */
void fov_draw_heading(cairo_t *cr, FovBox *box, const FovTheme *theme, double em, const char *text);

/** A picture that is drawn into a file. Zero-initialise before begin. */
typedef struct FovDrawing {
  cairo_t *cr;
  FovReplace file;
  bool raster;
} FovDrawing;

/** Opens a picture of width × height units; .svg and .pdf by the ending of `path`, else a PNG of
 * `density` pixels per unit. */
FovStatus fov_drawing_begin(FovDrawing *drawing, const char *path, double width, double height,
                            double density);

/** Replaces the file; on failure it is untouched. Either way the drawing is finished. */
FovStatus fov_drawing_commit(FovDrawing *drawing);

#endif
