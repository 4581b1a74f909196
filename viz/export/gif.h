/** An episode as a GIF, written frame by frame in constant memory. */
#ifndef FOV_VIZ_EXPORT_GIF_H
#define FOV_VIZ_EXPORT_GIF_H

#include "viz/scene/scene.h"

typedef struct FovGif FovGif;

/** Begins a file of the scene's episode, whose trace must last until the end. The caller
 * destroys it on success. */
FovStatus fov_gif_begin(FovGif **gif, const char *path, const FovScene *scene);

/** The scene of the next frame, whose explanation may be changed. */
FovScene *fov_gif_scene(FovGif *gif);

/** Writes the next frame; after the last one replaces the file and sets `done`. Not to be called
 * after that or after a failure. */
FovStatus fov_gif_step(bool *done, FovGif *gif);

/** Frees a GIF or NULL; a file that is not done is removed. */
void fov_gif_destroy(FovGif *gif);

#endif
