/** Episodes as a web page that contains everything it shows. */
#ifndef FOV_VIZ_EXPORT_PAGE_H
#define FOV_VIZ_EXPORT_PAGE_H

#include "viz/scene/scene.h"

/** Replaces `path` by a page of `count` episodes of the scene's traces, of one agent or two, that
 * plays them. It loads nothing. */
FovStatus fov_export_page(const char *path, const FovScene *scene, const int *episodes, int count);

#endif
