#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "draw.h"
#include "viz/scene/style.h"

enum { WIDTH = 1000, MARGIN = 28, DENSITY = 2 }; // units of DENSITY pixels
enum { TOP = 84, BOTTOM = 64, ROW = 52, GUTTER = 48, GAP = 40, LEAST_HEIGHT = 420 };
enum { MOST = 14, NAME = 256 }; // recipes, 7 colours × 2; bytes of a name

/** Where things are. */
typedef struct Layout {
  double height;
  FovBox rows, profiles;
  double pitch; // from a recipe to the next
  int shown;    // recipes
} Layout;

static Layout lay_out(const FovDrawComparison *comparison) {
  int shown = comparison->count < MOST ? comparison->count : MOST;
  double height = fmax(LEAST_HEIGHT, TOP + shown * ROW + BOTTOM), half = (WIDTH - GAP) / 2.0;
  double inner = height - TOP - BOTTOM, right = half + GAP;
  return (Layout){.height = height,
                  .rows = {MARGIN, TOP, half - MARGIN, inner},
                  .pitch = fmin(inner / shown, 2 * ROW),
                  .profiles = {right + GUTTER, TOP, WIDTH - MARGIN - right - GUTTER, inner},
                  .shown = shown};
}

/** Colours distinguish recipes; a second round of them is dashed. */
static void set_pen(cairo_t *cr, int recipe, double alpha) {
  static const double dash[] = {6, 3};
  fov_set_colour(cr, fov_theme_light.series[recipe % FOV_SERIES], alpha);
  cairo_set_dash(cr, dash, recipe < FOV_SERIES ? 0 : 2, 0);
}

/* ---- axes ---- */

static void include(FovAxis *axis, double value) {
  if (!isfinite(value)) return;
  axis->lo = fmin(axis->lo, value);
  axis->hi = fmax(axis->hi, value);
}

/** From all runs and intervals of the recipes that are shown. */
static FovAxis result_axis(const FovDrawComparison *comparison, const Layout *layout) {
  FovAxis axis = {.lo = INFINITY, .hi = -INFINITY};
  for (int r = 0; r < layout->shown; r++) {
    const FovDrawRecipe *recipe = &comparison->recipes[r];
    for (int i = 0; i < recipe->count; i++) include(&axis, recipe->results[i]);
    include(&axis, recipe->mean.low);
    include(&axis, recipe->mean.high);
    include(&axis, recipe->iqm.low);
    include(&axis, recipe->iqm.high);
  }
  double span = axis.hi - axis.lo, size = fmax(fabs(axis.lo), fabs(axis.hi));
  if (span < 1e-9 * fmax(1, size)) span = fmax(1, size); // equal results
  axis.lo -= 0.06 * span;
  axis.hi += 0.06 * span;
  axis.from = layout->rows.x;
  axis.to = layout->rows.x + layout->rows.w;
  return axis;
}

static FovAxis threshold_axis(const FovDrawComparison *comparison, FovBox box) {
  double first = comparison->thresholds[0];
  double last = comparison->thresholds[comparison->threshold_count - 1];
  return (FovAxis){
      .lo = fmin(first, last), .hi = fmax(first, last), .from = box.x, .to = box.x + box.w};
}

/** Ticks below a box, and what they measure. */
static void draw_x_ticks(cairo_t *cr, const FovAxis *axis, FovBox box, const char *label) {
  double ticks[FOV_TICKS], y = box.y + box.h + 0.5;
  int count = fov_axis_ticks(ticks, axis, 6);
  fov_set_font(cr, 13, false);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  cairo_set_line_width(cr, 1);
  fov_line(cr, box.x, y, box.x + box.w, y);
  for (int i = 0; i < count; i++) {
    double x = round(fov_axis_at(axis, ticks[i])) + 0.5;
    fov_line(cr, x, y, x, y + 5);
    fov_text(cr, x, y + 20, FOV_ALIGN_CENTRE, "%g", ticks[i]);
  }
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, box.x + box.w / 2, y + 42, FOV_ALIGN_CENTRE, "%s", label);
}

/* ---- recipes ---- */

/** The name, in ASCII, cut where it is too long; and how many runs. */
static void draw_name(cairo_t *cr, const FovDrawRecipe *recipe, double x, double y, double room) {
  char name[NAME], runs[32];
  snprintf(name, sizeof name, "%s", recipe->name);
  fov_text_ascii(name);
  snprintf(runs, sizeof runs, "n = %d", recipe->count);
  double width = fov_text_width(cr, runs);
  fov_fit_text(cr, name, sizeof name, room - width - 12);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", name);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_text(cr, x + room, y, FOV_ALIGN_RIGHT, "%s", runs);
}

static void draw_diamond(cairo_t *cr, double x, double y) {
  enum { SIZE = 5 };
  cairo_move_to(cr, x - SIZE, y);
  cairo_line_to(cr, x, y - SIZE);
  cairo_line_to(cr, x + SIZE, y);
  cairo_line_to(cr, x, y + SIZE);
  cairo_close_path(cr);
  cairo_fill(cr);
}

/** A bar over the IQM's interval, and a line at the IQM. */
static void draw_iqm(cairo_t *cr, const FovDrawEstimate *iqm, const FovAxis *axis, double y) {
  enum { BAR = 12 };
  double x = fov_axis_at(axis, iqm->value);
  if (isfinite(iqm->low)) {
    double low = fov_axis_at(axis, iqm->low), high = fov_axis_at(axis, iqm->high);
    cairo_rectangle(cr, low, y - BAR / 2.0, high - low, BAR);
    cairo_fill(cr);
  }
  fov_set_colour(cr, fov_theme_light.ink, 1);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, 2);
  fov_line(cr, x, y - BAR / 2.0 - 1, x, y + BAR / 2.0 + 1);
}

/** A diamond on its interval. */
static void draw_mean(cairo_t *cr, const FovDrawEstimate *mean, const FovAxis *axis, double y) {
  cairo_set_line_width(cr, 1.5);
  if (isfinite(mean->low))
    fov_line(cr, fov_axis_at(axis, mean->low), y, fov_axis_at(axis, mean->high), y);
  draw_diamond(cr, fov_axis_at(axis, mean->value), y);
}

/** A recipe: its name, its runs, and its estimates one below the other. */
static void draw_row(cairo_t *cr, const FovDrawRecipe *recipe, int number, const FovAxis *axis,
                     double top) {
  draw_name(cr, recipe, axis->from, top + 12, axis->to - axis->from);
  set_pen(cr, number, 0.6);
  for (int i = 0; i < recipe->count; i++) {
    fov_disc(cr, fov_axis_at(axis, recipe->results[i]), top + 22, 3);
    cairo_fill(cr);
  }
  set_pen(cr, number, 1);
  draw_mean(cr, &recipe->mean, axis, top + 33);
  set_pen(cr, number, 0.45);
  draw_iqm(cr, &recipe->iqm, axis, top + 33);
  set_pen(cr, number, 1);
  draw_diamond(cr, fov_axis_at(axis, recipe->mean.value), top + 33);
}

/** What the marks mean, above the rows. */
static void draw_legend(cairo_t *cr, double x, double y) {
  fov_set_font(cr, 13, false);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_disc(cr, x + 3, y - 4.5, 3);
  cairo_fill(cr);
  x += 12 + fov_text(cr, x + 12, y, FOV_ALIGN_LEFT, "run") + 20;
  cairo_set_line_width(cr, 1.5);
  fov_line(cr, x, y - 4.5, x + 26, y - 4.5);
  draw_diamond(cr, x + 13, y - 4.5);
  x += 34 + fov_text(cr, x + 34, y, FOV_ALIGN_LEFT, "mean, Student's 95 %%") + 20;
  fov_set_colour(cr, fov_theme_light.quiet, 0.45);
  cairo_rectangle(cr, x, y - 10, 26, 11);
  cairo_fill(cr);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  cairo_set_line_width(cr, 2);
  fov_line(cr, x + 13, y - 11, x + 13, y + 2);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_text(cr, x + 34, y, FOV_ALIGN_LEFT, "IQM, bootstrap 95 %%");
}

static void draw_rows(cairo_t *cr, const FovDrawComparison *comparison, const Layout *layout) {
  FovAxis axis = result_axis(comparison, layout);
  double ticks[FOV_TICKS];
  int count = fov_axis_ticks(ticks, &axis, 6);
  FovBox box = layout->rows;
  fov_set_colour(cr, fov_theme_light.rule, 1);
  cairo_set_line_width(cr, 1);
  for (int i = 0; i < count; i++) {
    double x = round(fov_axis_at(&axis, ticks[i])) + 0.5;
    fov_line(cr, x, box.y, x, box.y + box.h);
  }
  draw_legend(cr, box.x, TOP - 22);
  draw_x_ticks(cr, &axis, box, comparison->label);
  fov_set_font(cr, 13, false);
  for (int r = 0; r < layout->shown; r++)
    draw_row(cr, &comparison->recipes[r], r, &axis,
             box.y + (r + 0.5) * layout->pitch - ROW / 2.0 + 4);
  cairo_set_dash(cr, NULL, 0, 0);
}

/* ---- profiles ---- */

static void draw_band(cairo_t *cr, const FovDrawEstimate *profile, const double *thresholds, int n,
                      const FovAxis *x, const FovAxis *y) {
  if (isnan(profile[0].low)) return;
  for (int i = 0; i < n; i++)
    cairo_line_to(cr, fov_axis_at(x, thresholds[i]), fov_axis_at(y, profile[i].high));
  for (int i = n - 1; i >= 0; i--)
    cairo_line_to(cr, fov_axis_at(x, thresholds[i]), fov_axis_at(y, profile[i].low));
  cairo_fill(cr);
}

static void draw_profiles(cairo_t *cr, const FovDrawComparison *comparison, const Layout *layout) {
  FovBox box = layout->profiles;
  FovAxis x = threshold_axis(comparison, box);
  FovAxis y = {.lo = 0, .hi = 100, .from = box.y + box.h, .to = box.y};
  int n = comparison->threshold_count;
  fov_set_font(cr, 13, false);
  fov_draw_value_ticks(cr, &y, box);
  draw_x_ticks(cr, &x, box, comparison->label);
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_text(cr, box.x, TOP - 22, FOV_ALIGN_LEFT, "runs with a %s %s (%%), 95 %% band",
           comparison->lower_is_better ? "lower" : "higher",
           comparison->lower_is_better ? "error" : "score");
  for (int r = 0; r < layout->shown; r++) {
    set_pen(cr, r, 0.13);
    draw_band(cr, comparison->recipes[r].profile, comparison->thresholds, n, &x, &y);
  }
  for (int r = layout->shown - 1; r >= 0; r--) { // the best on top
    set_pen(cr, r, 1);
    cairo_set_line_width(cr, 2);
    for (int i = 0; i < n; i++)
      cairo_line_to(cr, fov_axis_at(&x, comparison->thresholds[i]),
                    fov_axis_at(&y, comparison->recipes[r].profile[i].value));
    cairo_stroke(cr);
  }
  cairo_set_dash(cr, NULL, 0, 0);
}

static void draw_titles(cairo_t *cr, const FovDrawComparison *comparison, const Layout *layout) {
  fov_set_font(cr, 13, true);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  fov_text(cr, layout->profiles.x, TOP - 46, FOV_ALIGN_LEFT, "Performance profiles");
  if (layout->shown < comparison->count)
    fov_text(cr, layout->rows.x, TOP - 46, FOV_ALIGN_LEFT, "The best %d of %d recipes",
             layout->shown, comparison->count);
  else
    fov_text(cr, layout->rows.x, TOP - 46, FOV_ALIGN_LEFT, "Recipes, the best first");
}

FovStatus fov_draw_comparison(const char *path, const FovDrawComparison *comparison) {
  FOV_TRY(fov_draw_check(path));
  Layout layout = lay_out(comparison);
  FovDrawing drawing = {0};
  FOV_TRY(fov_drawing_begin(&drawing, path, WIDTH, layout.height, DENSITY));
  fov_fill_box(drawing.cr, (FovBox){0, 0, WIDTH, layout.height}, fov_theme_light.paper);
  draw_titles(drawing.cr, comparison, &layout);
  draw_rows(drawing.cr, comparison, &layout);
  draw_profiles(drawing.cr, comparison, &layout);
  return fov_drawing_commit(&drawing);
}
