/** One panel of a plot: a column of every experiment against x. */
#ifndef FOV_VIZ_PLOTS_PANEL_H
#define FOV_VIZ_PLOTS_PANEL_H

#include "experiment/plot/curves.h"
#include "viz/scene/style.h"

/** Draws column `c` into `box`, which does not include title and ticks. seeds: a thin line for each
 * seed. */
void fov_plot_panel(cairo_t *cr, const FovCurves *curves, int c, bool seeds, FovBox box);

#endif
