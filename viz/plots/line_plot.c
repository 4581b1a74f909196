#include <math.h>

#include "draw.h"
#include "viz/plots/legend.h"
#include "viz/scene/style.h"

enum { WIDTH = 720, HEIGHT = 420, DENSITY = 2, LEFT = 76, RIGHT = 24, TOP = 56, BOTTOM = 64 };
enum { SAMPLE = 26, SPACE = 6 }; // of a line, behind its name

/** Room for the names and samples, to the right of the lines' ends. */
static double names_width(cairo_t *cr, const FovDrawLine *lines, int count) {
  double widest = 0;
  for (int l = 0; l < count; l++) widest = fmax(widest, fov_text_width(cr, lines[l].name));
  return fmin(widest, WIDTH / 3.0) + SPACE + SAMPLE;
}

/** The axis from the smallest to the largest value of all lines, with a margin. right: of the
 * lines. */
static FovAxis axis_of(const FovDrawLine *lines, int count, bool vertical, double right) {
  FovAxis axis = {.lo = INFINITY, .hi = 0, .log = true};
  for (int l = 0; l < count; l++)
    for (int i = 0; i < lines[l].count; i++) {
      double value = vertical ? lines[l].y[i] : lines[l].x[i];
      axis.lo = fmin(axis.lo, value);
      axis.hi = fmax(axis.hi, value);
    }
  double room = fmax(1.1, pow(axis.hi / axis.lo, 0.06)); // a single value needs a margin, too
  axis.lo /= room;
  axis.hi *= room;
  axis.from = vertical ? HEIGHT - BOTTOM : LEFT;
  axis.to = vertical ? TOP : WIDTH - right;
  return axis;
}

/** Ticks at the x values of the first line. */
static void draw_x_ticks(cairo_t *cr, const FovAxis *axis, const FovDrawLine *line) {
  double y = HEIGHT - BOTTOM + 0.5;
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_line(cr, LEFT, y, WIDTH - RIGHT, y);
  for (int i = 0; i < line->count; i++) {
    double x = round(fov_axis_at(axis, line->x[i])) + 0.5;
    fov_line(cr, x, y, x, y + 5);
    fov_text(cr, x, y + 20, FOV_ALIGN_CENTRE, "%g", line->x[i]);
  }
}

/** A line and its dots. */
static void draw_line(cairo_t *cr, const FovDrawLine *line, int number, const FovAxis *x,
                      const FovAxis *y) {
  fov_plot_pen(cr, number, 1);
  for (int i = 0; i < line->count; i++)
    cairo_line_to(cr, fov_axis_at(x, line->x[i]), fov_axis_at(y, line->y[i]));
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  for (int i = 0; i < line->count; i++) {
    cairo_arc(cr, fov_axis_at(x, line->x[i]), fov_axis_at(y, line->y[i]), 4, 0, 2 * M_PI);
    cairo_fill(cr);
  }
}

/** The line whose end is the lowest of those not named yet; −1: all are. */
static int lowest(const FovDrawLine *lines, int count, const bool *named) {
  int found = -1;
  for (int l = 0; l < count; l++)
    if (!named[l] &&
        (found < 0 || lines[l].y[lines[l].count - 1] < lines[found].y[lines[found].count - 1]))
      found = l;
  return found;
}

/** Draws the names of all lines at their ends, each above the one below it. */
static void draw_names(cairo_t *cr, const FovDrawLine *lines, int count, const FovAxis *y) {
  enum { MOST = 64, ROW = 16 };
  bool named[MOST] = {false};
  double below = HEIGHT;
  for (int l; (l = lowest(lines, count < MOST ? count : MOST, named)) >= 0; named[l] = true) {
    const FovDrawLine *line = &lines[l];
    below = fmin(fov_axis_at(y, line->y[line->count - 1]), below - ROW);
    fov_plot_pen(cr, l, 1);
    double sample = WIDTH - RIGHT - SAMPLE, middle = below - 4.5;
    fov_text(cr, sample - SPACE, below, FOV_ALIGN_RIGHT, "%s", line->name);
    fov_line(cr, sample, middle, WIDTH - RIGHT, middle);
  }
  cairo_set_dash(cr, NULL, 0, 0);
  fov_set_colour(cr, fov_theme_light.ink, 1);
}

FovStatus fov_draw_check(const char *path) {
  if (fov_has_ending(path, ".png") || fov_has_ending(path, ".svg") || fov_has_ending(path, ".pdf"))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "%s: expected a name that ends in .png, .svg or .pdf", path);
}

FovStatus fov_draw_lines(const char *path, const FovDrawLine *lines, int count, const char *x_label,
                         const char *y_label) {
  FOV_TRY(fov_draw_check(path));
  FovDrawing drawing = {0};
  FOV_TRY(fov_drawing_begin(&drawing, path, WIDTH, HEIGHT, DENSITY));
  cairo_t *cr = drawing.cr;
  fov_fill_box(cr, (FovBox){0, 0, WIDTH, HEIGHT}, fov_theme_light.paper);
  fov_set_font(cr, 13, false);
  double right = RIGHT + names_width(cr, lines, count);
  FovAxis x = axis_of(lines, count, false, right), y = axis_of(lines, count, true, right);
  fov_draw_value_ticks(cr, &y, (FovBox){LEFT, TOP, WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - TOP});
  draw_x_ticks(cr, &x, &lines[0]);
  for (int l = 0; l < count; l++) draw_line(cr, &lines[l], l, &x, &y);
  draw_names(cr, lines, count, &y);
  fov_text(cr, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 46, FOV_ALIGN_CENTRE, "%s", x_label);
  fov_set_font(cr, 13, true);
  fov_text(cr, LEFT, TOP - 22, FOV_ALIGN_LEFT, "%s", y_label);
  return fov_drawing_commit(&drawing);
}
