/** An episode as a file. */
#ifndef FOV_VIZ_EXPORT_EXPORT_H
#define FOV_VIZ_EXPORT_EXPORT_H

#include "viz/scene/scene.h"

/** Replaces `path` by the scene's last glimpse, or by its matrix if it is an alignment (.png,
 * .svg), or by all of its episode (.gif, .mp4). */
FovStatus fov_export(const char *path, const FovScene *scene);

#endif
