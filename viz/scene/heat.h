/** Where an agent looks: the glimpses of many episodes as a map, all together and one by one. */
#ifndef FOV_VIZ_SCENE_HEAT_H
#define FOV_VIZ_SCENE_HEAT_H

#include <stdbool.h>

#include "record/trace.h"
#include "viz/scene/style.h"

enum { FOV_HEAT_SIDE = 64, FOV_HEAT_MAPS = 12 };

/** Maps over an image's square: 0 of what the policy chose, t of the t-th glimpses, for the first
 * of them that were taken. */
typedef struct FovHeat {
  int maps, episodes;
  int64_t counts[1 + FOV_HEAT_MAPS]; /**< glimpses of each map */
  float *density;                    /**< [maps, FOV_HEAT_SIDE²]: glimpses a cell, smoothed */
  float *most;                       /**< [maps]: the largest of each */
  double *cells; /**< [maps, FOV_HEAT_SIDE²]: share of the map's glimpses, as counted */
  uint8_t *mean; /**< [H, W, C]: of the images that were seen */
} FovHeat;

/** Counts the `count` episodes of a selection. To be finished by the caller on success. */
FovStatus fov_heat_build(FovHeat *heat, const FovTrace *trace, const int *selection, int count);
void fov_heat_finish(FovHeat *heat);

/** Fills the canvas; `what` says which episodes these are. */
void fov_heat_draw(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const FovTheme *theme,
                   double width, double height, const char *what);

/** Tells the share of glimpses under (x, y); false where no map is. */
bool fov_heat_describe(char *text, size_t size, const FovHeat *heat, const FovTrace *trace,
                       double width, double height, double x, double y);

#endif
