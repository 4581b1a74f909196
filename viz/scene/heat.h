/** Heat maps of where an agent looks, over many episodes: one of all glimpses, one per glimpse. */
#ifndef FOV_VIZ_SCENE_HEAT_H
#define FOV_VIZ_SCENE_HEAT_H

#include <stdbool.h>

#include "record/trace.h"
#include "viz/scene/style.h"

enum { FOV_HEAT_SIDE = 64, FOV_HEAT_MAPS = 256, FOV_HEAT_PAGE = 12 };

/** Maps over an image's square: map 0 of the glimpses that the policy chose, or of all if it chose
 * none, map t of the t-th glimpses, t = 1 … FOV_HEAT_MAPS or as many as an episode took. */
typedef struct FovHeat {
  bool around; /**< places are relative to the target's, which is in the middle, and the maps reach
                    from −2 to 2 */
  bool chosen; /**< map 0 lacks glimpses that the policy did not choose */
  int head; /**< whose weights are counted, of an attention that reads all tiles; 0: their mean */
  int maps, episodes;
  int first; /**< the first of the FOV_HEAT_PAGE small maps that are shown */
  int64_t counts[1 + FOV_HEAT_MAPS]; /**< glimpses of each map */
  float *density;                    /**< [maps, FOV_HEAT_SIDE²]: share of glimpses, smoothed */
  float *most;                       /**< [maps]: the largest of each */
  double *cells; /**< [maps, FOV_HEAT_SIDE²]: share of the map's glimpses, as counted */
  uint8_t *mean; /**< [H, W, C]: of the images that were seen */
} FovHeat;

/** The cell of a location, or of half a place relative to the target; the nearest one of what lies
 * outside. */
int fov_heat_cell(const float *location);

/** Counts the `count` episodes of a selection; `around`: relative to the target, where its place is
 * known; head: one that the trace has weights of, or 0. The caller finishes the map on success. */
FovStatus fov_heat_build(FovHeat *heat, const FovTrace *trace, const int *selection, int count,
                         bool around, int head);
void fov_heat_finish(FovHeat *heat);

/** Turns the small maps by pages, on (> 0) or back; stays where there are no more. */
void fov_heat_turn(FovHeat *heat, int pages);

/** Fills the canvas; `what` names the selection. */
void fov_heat_draw(cairo_t *cr, const FovHeat *heat, const FovTrace *trace, const FovTheme *theme,
                   double width, double height, const char *what);

/** Describes the share of glimpses under (x, y); false where no map is. text: [size] */
bool fov_heat_describe(char *text, size_t size, const FovHeat *heat, const FovTrace *trace,
                       double width, double height, double x, double y);

#endif
