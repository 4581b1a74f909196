#include "viz/plots/legend.h"

#include <stdio.h>

#include "base/text.h"

void fov_plot_pen(cairo_t *cr, int experiment, double alpha) {
  static const double dashes[][4] = {{0}, {7, 3}, {2, 2.5}, {9, 3, 2, 3}};
  static const int lengths[] = {0, 2, 2, 4};
  // In the second round of colours the dash is shifted by one, so that no pair occurs twice.
  int dash = (experiment + experiment / FOV_SERIES * 2) % 4;
  fov_set_colour(cr, fov_theme_light.series[experiment % FOV_SERIES], alpha);
  cairo_set_dash(cr, dashes[dash], lengths[dash], 0);
  cairo_set_line_width(cr, 2);
}

enum { ROW = 24, SAMPLE = 30, SPACE = 8, GAP = 28 };

/** Draws one experiment at (x, y). */
static void draw_entry(cairo_t *cr, int number, const char *name, const char *seeds, double x,
                       double y) {
  fov_plot_pen(cr, number, 1);
  fov_line(cr, x, y - 4.5, x + SAMPLE, y - 4.5);
  fov_set_colour(cr, fov_theme_light.ink, 1);
  x += SAMPLE + SPACE;
  x += fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", name) + SPACE;
  fov_set_colour(cr, fov_theme_light.quiet, 1);
  fov_text(cr, x, y, FOV_ALIGN_LEFT, "%s", seeds);
}

/** Makes texts equally wide on every surface, so that a legend is as high as measured. */
static void set_exact_widths(cairo_t *cr) {
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(cr, options);
  cairo_font_options_destroy(options);
}

/** How many seeds there are, unless the path of a single run names none. */
static void count_seeds(char seeds[32], const FovCurves *curves,
                        const FovCurvesExperiment *experiment) {
  const FovCurvesRun *first = &curves->runs[experiment->first];
  int count = experiment->seeds;
  seeds[0] = '\0';
  if (first->path[first->stem] == '-') snprintf(seeds, 32, "%d seed%s", count, fov_plural(count));
}

double fov_plot_legend(cairo_t *cr, const FovCurves *curves, double left, double right,
                       double top) {
  double x = left, y = top + 10;
  cairo_save(cr);
  set_exact_widths(cr);
  fov_set_font(cr, 13, false);
  for (int e = 0; e < curves->experiment_count; e++) {
    const FovCurvesExperiment *experiment = &curves->experiments[e];
    char seeds[32];
    count_seeds(seeds, curves, experiment);
    double width =
        SAMPLE + SPACE + fov_text_width(cr, experiment->name) + SPACE + fov_text_width(cr, seeds);
    if (x > left && x + width > right) {
      x = left;
      y += ROW;
    }
    draw_entry(cr, e, experiment->name, seeds, x, y);
    x += width + GAP;
  }
  cairo_restore(cr);
  return y + 10;
}
