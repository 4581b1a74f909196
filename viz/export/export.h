/** An episode as a file. */
#ifndef FOV_VIZ_EXPORT_EXPORT_H
#define FOV_VIZ_EXPORT_EXPORT_H

#include "draw.h"
#include "viz/export/page.h"
#include "viz/scene/scene.h"

/** Replaces `path` by the scene's last glimpse, or by its matrix if it is an alignment (.png,
 * .svg), or by all of its episode (.gif, .mp4). */
FovStatus fov_export(const char *path, const FovScene *scene);

/** Replaces `path` by a web page of the episodes from the scene's on, of wrong ones only if asked
 * for. explainer: NULL: none */
FovStatus fov_export_episodes(const char *path, const FovScene *scene, const FovDrawEpisode *what,
                              const FovExplainer *explainer);

#endif
