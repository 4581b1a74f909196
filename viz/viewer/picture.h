/** A picture of one's own as what an agent sees. */
#ifndef FOV_VIZ_VIEWER_PICTURE_H
#define FOV_VIZ_VIEWER_PICTURE_H

#include <stdint.h>

#include "base/error.h"
#include "env.h"

/** Reads a PNG of up to 8192 × 8192 pixels and shrinks or enlarges it into the middle of an image
 * that is black elsewhere. pixels: [height, width, channels], channels 1 (luma of Rec. 601) or 3 */
FovStatus fov_picture_read(uint8_t *pixels, int height, int width, int channels, const char *path);

/** An environment of one case, which shows `pixels` to an agent of another environment of this
 * spec: its first answer ends the episode, without a reward. Fails unless such an agent sees
 * nothing but a picture that does not change, and answers with a class. */
FovStatus fov_picture_env(FovEnv *env, const FovEnvSpec *spec, const uint8_t *pixels);

#endif
