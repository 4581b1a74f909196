/** PNG files: every colour type, bit depth and interlace becomes 8 bits of grey or RGB. */
#ifndef FOV_ENVS_DATASETS_PNG_H
#define FOV_ENVS_DATASETS_PNG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { FOV_PNG_MAX_SIDE = 4096 }; /**< pixels */

/** The header of a PNG. */
typedef struct FovPngHeader {
  int height, width; /**< 1 … FOV_PNG_MAX_SIDE */
  bool colour;       /**< RGB or a palette, not grey */
} FovPngHeader;

/**
 * Reads all chunks before the pixels. Fails, naming the file and what is wrong, if it cannot be
 * opened, is no PNG, has a side above FOV_PNG_MAX_SIDE or a chunk above 8 MiB, or is damaged in
 * these chunks.
 */
FovStatus fov_png_header(FovPngHeader *header, const char *path);

/**
 * Reads the pixels of the file that `header` was read from; pixels: [H, W, C], C = 1 or 3.
 *
 * 16 bits are rounded to 8, fewer are spread over 0 … 255. Transparent pixels are composed with
 * black, and so is an index past the palette's end. Colour becomes grey as 0.299 R + 0.587 G +
 * 0.114 B, grey becomes three equal channels. Only palette, transparency and pixels are used: no
 * gamma or profile is applied. Fails, naming the file, if anything is damaged, missing or not as in
 * `header`.
 */
FovStatus fov_png_read(uint8_t *pixels, const FovPngHeader *header, int channels, const char *path);

#endif
