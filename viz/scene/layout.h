/** The layout of a scene: the boxes of its parts. */
#ifndef FOV_VIZ_SCENE_LAYOUT_H
#define FOV_VIZ_SCENE_LAYOUT_H

#include "viz/scene/scene.h"

/** A part of no height is left out. */
typedef struct FovLayout {
  double em; /**< text size, the unit of every distance */
  FovBox title, view, fitted, image, legend, retina, bars, returns;
  FovBox last;     /**< the entropy of answers, or the rewards of a control task */
  FovBox jacobian; /**< beside these, if an explanation is shown */
} FovLayout;

/** The patches of a glimpse and, if they have places, the image reconstructed from them. */
int fov_retina_tiles(const FovTrace *trace);

FovLayout fov_layout(const FovScene *scene);

/** The part that changes while the view moves to the next glimpse. */
FovBox fov_scene_view(const FovScene *scene);

/** The box of the whole image; larger than the view if zoomed. */
FovBox fov_scene_image(const FovScene *scene);

/** The outline of patch `scale` of the glimpse; may reach far beyond the image. No width: there is
 * none. */
FovBox fov_scene_patch(const FovScene *scene, int scale);

/** Zooms by `factor` around (x, y), whose point of the image stays there; limits: 1 … 64. */
FovZoom fov_scene_zoom(const FovScene *scene, double factor, double x, double y);

#endif
