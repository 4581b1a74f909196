/** An episode as an MP4. */
#ifndef FOV_VIZ_EXPORT_FILM_H
#define FOV_VIZ_EXPORT_FILM_H

#include "viz/scene/scene.h"

/** Replaces `path` by all of the scene's episode, encoded by ffmpeg, which must be on the PATH. */
FovStatus fov_export_mp4(const char *path, const FovScene *scene);

#endif
