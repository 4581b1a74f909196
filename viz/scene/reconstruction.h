/** The image reconstructed from what the agent received. */
#ifndef FOV_VIZ_SCENE_RECONSTRUCTION_H
#define FOV_VIZ_SCENE_RECONSTRUCTION_H

#include <stdint.h>

#include "record/trace.h"

enum { FOV_UNSEEN = 255 };

/** Where patch `scale` of a glimpse lies, in pixels of the image; may reach beyond it. */
typedef struct FovPatchArea {
  double x, y;   /**< its top left corner */
  double covers; /**< its side: G·2^scale */
} FovPatchArea;

FovPatchArea fov_patch_area(const FovTrace *trace, int episode, int glimpse, int scale);

/**
 * The image reconstructed from glimpses 0 … `glimpse`: each pixel as the finest scale that has
 * covered it received it, the newest of equals. Of an image that changes, what a newer glimpse
 * received is nearer the truth than what an older one received more finely.
 *
 * pixels: [H, W, C], untouched where nothing was seen. scales: [H, W], the scale that a pixel is
 * of, FOV_UNSEEN where none.
 */
void fov_reconstruct(uint8_t *pixels, uint8_t *scales, const FovTrace *trace, int episode,
                     int glimpse);

/** The scale that a pixel of it is of; −1: unseen. */
int fov_reconstructed_scale(const FovTrace *trace, int episode, int glimpse, double x, double y);

#endif
