/** Coarse views of whole images (sensor/sensor.h), with a gradient for images that want one. */
#ifndef FOV_MODEL_COARSE_VIEW_H
#define FOV_MODEL_COARSE_VIEW_H

#include "sensor/sensor.h"
#include "tensor/tape.h"

/** Coarse views [n, side·side·C] of n images, which are copied, but not their pixels. */
FovVar *fov_coarse_views(FovTape *tape, const FovImage *images, int n, int side);

#endif
