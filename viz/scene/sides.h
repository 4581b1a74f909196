/** A scene of one or two agents: the part of each. */
#ifndef FOV_VIZ_SCENE_SIDES_H
#define FOV_VIZ_SCENE_SIDES_H

#include "viz/scene/scene.h"

/** Number of agents that are drawn, 1 or 2. */
int fov_scene_sides(const FovScene *scene);

/** The box of an agent's name above its scene, if there are two. */
FovBox fov_scene_name(const FovScene *scene, int side);

/** The scene of one agent alone, and the box of the canvas that it is drawn in; of two, an agent
 * whose episode is over stays at its last glimpse. */
FovScene fov_scene_side(FovBox *box, const FovScene *scene, int side);

#endif
