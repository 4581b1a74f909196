#include "draw.h"
#include "viz/plots/legend.h"
#include "viz/plots/panel.h"

enum { WIDTH = 1000, MARGIN = 24, DENSITY = 2 }; // units of DENSITY pixels
// The space left of a panel, above it, its height, the space below it, and between two panels.
enum { GUTTER = 44, TITLE = 40, HEIGHT = 274, FOOT = 62, GAP = 36 };
enum { ACROSS = 2 }; // panels side by side

/** Where the legend of a plot ends. */
static double measure_legend(const FovCurves *curves) {
  cairo_surface_t *nothing = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t *cr = cairo_create(nothing);
  double end = fov_plot_legend(cr, curves, MARGIN, WIDTH - MARGIN, MARGIN);
  cairo_destroy(cr);
  cairo_surface_destroy(nothing);
  return end;
}

/** The panels from `top`, two side by side; a single one has the whole width. */
static void draw_panels(cairo_t *cr, const FovCurves *curves, bool seeds, double top) {
  int across = curves->columns < ACROSS ? curves->columns : ACROSS;
  double width = (WIDTH - 2 * MARGIN - (across - 1) * GAP) / across;
  for (int c = 0; c < curves->columns; c++) {
    double left = MARGIN + c % ACROSS * (width + GAP) + GUTTER;
    double y = top + c / ACROSS * (TITLE + HEIGHT + FOOT) + TITLE;
    fov_plot_panel(cr, curves, c, seeds, (FovBox){left, y, width - GUTTER, HEIGHT});
  }
}

FovStatus fov_draw_curves(const char *path, const FovCurves *curves, bool seeds) {
  FOV_TRY(fov_draw_check(path));
  int rows = (curves->columns + ACROSS - 1) / ACROSS;
  double top = measure_legend(curves), height = top + rows * (TITLE + HEIGHT + FOOT);
  FovDrawing drawing = {0};
  FOV_TRY(fov_drawing_begin(&drawing, path, WIDTH, height, DENSITY));
  fov_fill_box(drawing.cr, (FovBox){0, 0, WIDTH, height}, fov_theme_light.paper);
  fov_plot_legend(drawing.cr, curves, MARGIN, WIDTH - MARGIN, MARGIN);
  draw_panels(drawing.cr, curves, seeds, top);
  return fov_drawing_commit(&drawing);
}
