/** What an episode tells of an agent's knowledge: the image as its glimpses gave it, its doubt. */
#ifndef FOV_VIZ_KNOWN_H
#define FOV_VIZ_KNOWN_H

#include <stdint.h>

#include "record/trace.h"

enum { FOV_UNSEEN = 255 };

/** Where patch `scale` of a glimpse lies, in pixels of the image; may reach beyond it. */
typedef struct FovPatch {
  double x, y;   /**< its top left corner */
  double covers; /**< its side: G·2^scale */
} FovPatch;

FovPatch fov_patch(const FovTrace *trace, int episode, int glimpse, int scale);

/**
 * The image reconstructed from glimpses 0 … `glimpse`: each pixel as the finest scale that has
 * covered it received it, the newest of equals. Of an image that changes, what a newer glimpse
 * received is nearer the truth than what an older one received more finely.
 *
 * pixels: [H, W, C], untouched where nothing was seen. scales: [H, W], the scale that a pixel is
 * of, FOV_UNSEEN where none.
 */
void fov_known(uint8_t *pixels, uint8_t *scales, const FovTrace *trace, int episode, int glimpse);

/** The scale that a pixel of it is of; −1: unseen. */
int fov_known_scale(const FovTrace *trace, int episode, int glimpse, double x, double y);

/** The entropy of the answer after a glimpse, bits: 0 when certain, log2 A when no idea. */
double fov_entropy(const FovTrace *trace, int episode, int glimpse);

#endif
