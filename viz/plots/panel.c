#include "viz/plots/panel.h"

#include <math.h>

#include "viz/plots/column.h"
#include "viz/plots/legend.h"

/** A column of a figure, with what its panel needs to draw it. */
typedef struct Panel {
  const FovCurves *curves;
  int column;
  bool seeds;
  double scale; // of the values
  FovAxis x, y;
} Panel;

/* ---- axes ---- */

typedef struct Range {
  double lo, hi;
} Range;

static const Range nothing = {INFINITY, -INFINITY};

static void include(Range *range, double value) {
  range->lo = fmin(range->lo, value);
  range->hi = fmax(range->hi, value);
}

/** Includes the seeds of all experiments: along the one axis or the other. */
static void include_seeds(Range *range, const Panel *panel, bool vertical) {
  for (int r = 0; r < panel->curves->run_count; r++) {
    const FovSeries *series = &panel->curves->runs[r].series[panel->column];
    for (size_t i = 0; i < series->count; i++)
      include(range, vertical ? panel->scale * series->y[i] : series->x[i]);
  }
}

/** The ranges of what is drawn: of the centres alone, and of everything. lo > hi: no values. */
static void find_ranges(Range *centres, Range *all, const Panel *panel) {
  *centres = *all = nothing;
  for (int e = 0; e < panel->curves->experiment_count; e++) {
    const FovBand *band = &panel->curves->experiments[e].bands[panel->column];
    for (size_t i = 0; i < band->count; i++) {
      include(centres, panel->scale * band->points[i].centre);
      include(all, panel->scale * band->points[i].lo);
      include(all, panel->scale * band->points[i].hi);
    }
  }
  if (panel->seeds) include_seeds(all, panel, true);
}

/** Errors and costs over more than a decade get a logarithmic axis, if it can show all bands: none
 * may go further than a decade below the centres. */
static bool is_logarithmic(Range centres, Range all) {
  enum { MOST = 1000000 }; // ratio of the centres that a logarithmic axis shows
  return centres.lo > 0 && centres.hi > 10 * centres.lo && centres.hi < MOST * centres.lo &&
         all.lo > centres.lo / 10;
}

/** Contains every centre, band and seed. */
static void set_value_axis(Panel *panel, bool decades, FovBox box) {
  FovAxis *axis = &panel->y;
  Range centres, all;
  find_ranges(&centres, &all, panel);
  *axis = (FovAxis){.lo = 0, .hi = 1, .from = box.y + box.h, .to = box.y};
  if (all.lo > all.hi) return;
  double span = all.hi - all.lo, size = fmax(fabs(all.lo), fabs(all.hi));
  if (decades && is_logarithmic(centres, all)) {
    double pad = pow(all.hi / all.lo, 0.04);
    axis->log = true;
    axis->lo = all.lo / pad;
    axis->hi = all.hi * pad;
    return;
  }
  if (span < 1e-9 * size || span < 1e-100) span = size > 1e-100 ? size : 1; // a flat line
  axis->lo = all.lo - 0.06 * span;
  axis->hi = all.hi + 0.06 * span;
  if (decades && all.lo >= 0) axis->lo = fmax(axis->lo, 0);
}

/** From 0 to the last value of any seed. */
static void set_x_axis(Panel *panel, FovBox box) {
  Range range = {0, 0};
  include_seeds(&range, panel, false);
  if (range.hi - range.lo < 1e-9) range.hi = range.lo + 1;
  panel->x = (FovAxis){.lo = range.lo, .hi = range.hi, .from = box.x, .to = box.x + box.w};
}

static void draw_x_ticks(cairo_t *cr, const Panel *panel, FovBox box) {
  const char *name = panel->curves->x, *words;
  double unit = fov_column_unit(&words, name, panel->x.hi), ticks[FOV_TICKS];
  FovAxis axis = panel->x;
  axis.lo /= unit;
  axis.hi /= unit;
  double y = box.y + box.h + 0.5;
  int count = fov_axis_ticks(ticks, &axis, 6);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  cairo_set_line_width(cr, 1);
  fov_line(cr, box.x, y, box.x + box.w, y);
  for (int i = 0; i < count; i++) {
    double x = round(fov_axis_at(&axis, ticks[i])) + 0.5;
    fov_line(cr, x, y, x, y + 5);
    fov_text(cr, x, y + 20, FOV_ALIGN_CENTRE, "%g", ticks[i]);
  }
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, box.x + box.w / 2, y + 44, FOV_ALIGN_CENTRE, "%s%s", fov_column(name).title, words);
}

/* ---- curves ---- */

static void add_point(cairo_t *cr, const Panel *panel, double x, double y) {
  cairo_line_to(cr, fov_axis_at(&panel->x, x), fov_axis_at(&panel->y, panel->scale * y));
}

enum { PIECE = 5000 }; // points that cairo strokes in about 0.1 s

/** Adds point i of a line. Cairo's time for a path grows faster than its number of points, so a
 * long line is stroked in pieces. */
static void add_line_point(cairo_t *cr, const Panel *panel, size_t i, double x, double y) {
  add_point(cr, panel, x, y);
  if (i % PIECE != PIECE - 1) return;
  cairo_stroke(cr);
  add_point(cr, panel, x, y);
}

static void draw_band(cairo_t *cr, const Panel *panel, const FovBand *band) {
  for (size_t i = 0; i < band->count; i++)
    add_point(cr, panel, band->points[i].x, band->points[i].hi);
  for (size_t i = band->count; i-- > 0;)
    add_point(cr, panel, band->points[i].x, band->points[i].lo);
  cairo_fill(cr);
}

static void draw_seed(cairo_t *cr, const Panel *panel, const FovSeries *series) {
  cairo_set_line_width(cr, 0.75);
  for (size_t i = 0; i < series->count; i++)
    add_line_point(cr, panel, i, series->x[i], series->y[i]);
  cairo_stroke(cr);
}

static void draw_centre(cairo_t *cr, const Panel *panel, const FovBand *band) {
  if (band->count == 0) return;
  for (size_t i = 0; i < band->count; i++)
    add_line_point(cr, panel, i, band->points[i].x, band->points[i].centre);
  cairo_stroke(cr);
  // A dot ends the line; after one evaluation the line is only this dot.
  const FovBandPoint *last = &band->points[band->count - 1];
  fov_disc(cr, fov_axis_at(&panel->x, last->x), fov_axis_at(&panel->y, panel->scale * last->centre),
           3.5);
  cairo_fill(cr);
}

/** All bands, then all seeds, then all centres. */
static void draw_curves(cairo_t *cr, const Panel *panel) {
  const FovCurves *curves = panel->curves;
  int c = panel->column;
  cairo_save(cr);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND); // a mitre would reach beyond its point
  for (int e = 0; e < curves->experiment_count; e++) {
    fov_plot_pen(cr, e, 0.16);
    if (curves->experiments[e].seeds > 1) draw_band(cr, panel, &curves->experiments[e].bands[c]);
  }
  for (int r = 0; r < curves->run_count && panel->seeds; r++) {
    fov_plot_pen(cr, curves->runs[r].experiment, 0.6);
    draw_seed(cr, panel, &curves->runs[r].series[c]);
  }
  for (int e = 0; e < curves->experiment_count; e++) {
    fov_plot_pen(cr, e, 1);
    draw_centre(cr, panel, &curves->experiments[e].bands[c]);
  }
  cairo_restore(cr);
}

/** Draws the title on the left and what the bands are, if there are any, on the right. */
static void draw_title(cairo_t *cr, const FovCurves *curves, const char *title, FovBox box) {
  static const char *const notes[] = {[FOV_CENTRE_MEAN] = "mean, 95 % band over seeds",
                                      [FOV_CENTRE_IQM] = "IQM, 95 % bootstrap band over seeds"};
  fov_set_font(cr, 13, true);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, box.x, box.y - 14, FOV_ALIGN_LEFT, "%s", title);
  fov_set_font(cr, 13, false);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  if (curves->run_count > curves->experiment_count)
    fov_text(cr, box.x + box.w, box.y - 14, FOV_ALIGN_RIGHT, "%s", notes[curves->centre]);
}

void fov_plot_panel(cairo_t *cr, const FovCurves *curves, int c, bool seeds, FovBox box) {
  FovColumnLabel column = fov_column(curves->y[c]);
  Panel panel = {.curves = curves, .column = c, .seeds = seeds, .scale = column.scale};
  set_value_axis(&panel, column.decades, box);
  set_x_axis(&panel, box);
  draw_title(cr, curves, column.title, box);
  fov_draw_value_ticks(cr, &panel.y, box);
  draw_x_ticks(cr, &panel, box);
  draw_curves(cr, &panel);
}
