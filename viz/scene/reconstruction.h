/** Where patches lie, and the image reconstructed from what the agent received. */
#ifndef FOV_VIZ_SCENE_RECONSTRUCTION_H
#define FOV_VIZ_SCENE_RECONSTRUCTION_H

#include <stdint.h>

#include "record/gaze.h"

/**
 * Reconstructs the image from glimpses 0 … `glimpse`. Each pixel has the value received in the
 * smallest patch that covered its middle, from the newest of those of the same size. If the image
 * changes, the newest glimpse counts whatever its size; the reconstruction may be out of date
 * elsewhere.
 *
 * pixels: [H, W, C], unchanged where no glimpse was. areas: [H, W], in pixels, that of the patch
 * which each pixel is from; infinite where no glimpse was.
 */
void fov_reconstruct(uint8_t *pixels, float *areas, const FovTrace *trace, int episode,
                     int glimpse);

/** The scale of the patch that one of its pixels is from; −1: unseen. */
int fov_reconstructed_scale(const FovTrace *trace, int episode, int glimpse, double x, double y);

#endif
