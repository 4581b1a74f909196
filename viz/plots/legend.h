/** Names and pens of the experiments of a plot. */
#ifndef FOV_VIZ_PLOTS_LEGEND_H
#define FOV_VIZ_PLOTS_LEGEND_H

#include "experiment/plot/curves.h"
#include "viz/scene/style.h"

/** Sets colour and dash of an experiment: neighbours differ in both, so grey print keeps them
 * apart.
 */
void fov_plot_pen(cairo_t *cr, int experiment, double alpha);

/** Draws the legend between `left` and `right`, from `top`; returns where it ends. */
double fov_plot_legend(cairo_t *cr, const FovCurves *curves, double left, double right, double top);

#endif
