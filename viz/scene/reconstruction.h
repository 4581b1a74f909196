/** The image reconstructed from what the agent received. */
#ifndef FOV_VIZ_SCENE_RECONSTRUCTION_H
#define FOV_VIZ_SCENE_RECONSTRUCTION_H

#include <stdint.h>

#include "record/trace.h"

enum { FOV_UNSEEN = 255 };

/** The area of patch `scale` of a glimpse, in pixels of the image; may reach beyond it. */
typedef struct FovPatchArea {
  double x, y;   /**< its top left corner */
  double covers; /**< its side: G·2^scale */
} FovPatchArea;

FovPatchArea fov_patch_area(const FovTrace *trace, int episode, int glimpse, int scale);

/**
 * Reconstructs the image from glimpses 0 … `glimpse`. Each pixel has the value received at the
 * finest scale that covered it, from the newest glimpse at that scale. If the image changes, the
 * newest glimpse counts whatever its scale; the reconstruction may be out of date elsewhere.
 *
 * pixels: [H, W, C], unchanged where no glimpse was. scales: [H, W], the scale of each
 * pixel, or FOV_UNSEEN.
 */
void fov_reconstruct(uint8_t *pixels, uint8_t *scales, const FovTrace *trace, int episode,
                     int glimpse);

/** The scale of one of its pixels; −1: unseen. */
int fov_reconstructed_scale(const FovTrace *trace, int episode, int glimpse, double x, double y);

#endif
