/** Operations of the tape that make a window of numbers and look through it (sensor/window.h). They
 * are not in tensor/, which may not include the sensor. B: lanes. */
#ifndef FOV_MODEL_WINDOW_OPS_H
#define FOV_MODEL_WINDOW_OPS_H

#include "sensor/window.h"
#include "tensor/ops.h"

/** Columns of a window's shape: stride, sigma and intensity, of which a bilinear window has the
 * first. */
enum { FOV_WINDOW_STRIDE, FOV_WINDOW_SIGMA, FOV_WINDOW_INTENSITY, FOV_WINDOW_SHAPE };

/** A number of a window's shape is at most e^4 = 55 times its first value, and at least 1/55. */
enum { FOV_WINDOW_RANGE = 4 };

/**
 * Any numbers as place and shape of a window.
 *
 * With u = scale · x: place = tanh(u_1, u_2), which is in the image, where a gradient finds pixels;
 * shape_k = first_k exp(4 tanh(u_{2+k} / 4)), which is first_k exp(u_{2+k}) for small numbers, and
 * cannot overflow.
 * x: [B, 2 + K]; first: [K], each > 0; scale > 0. Results: *place: [B, 2]; *shape: [B, K].
 */
void fov_window_numbers(FovVar **place, FovVar **shape, FovTape *tape, FovVar *x, const real *first,
                        real scale);

/** What lanes look at, and how. */
typedef struct FovWindowView {
  FovWindowKind kind;
  FovSensor sensor;
  const FovImage *images; /**< [B]; copied, the pixels only if they change */
  bool changing;          /**< whether the pixels may change before the backward pass */
  real *scratch;          /**< fov_window_scratch numbers, which both passes use */
} FovWindowView;

/**
 * Glimpses through windows: fov_window_look.
 *
 * The gradient flows into place, shape and the images that want one. place: [B, 2]; shape: [B, K],
 * K = FOV_WINDOW_SHAPE, or 1 for a bilinear window. Result: [B, S·G·G·C].
 */
FovVar *fov_window_glimpses(FovTape *tape, FovVar *place, FovVar *shape, const FovWindowView *view);

#endif
