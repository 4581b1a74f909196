/**
 * Windows: glimpses whose gradient flows into where, how widely and how sharply they look.
 *
 * A window is a grid of G × G samples at pixels (μ_j, μ_i). Both axes are sampled separately, by
 * filters F_x [G, W] and F_y [G, H] of the image's columns and rows:
 *
 *     glimpse = γ · F_y · image · F_xᵀ        (Gregor et al. 2015, eq. 27)
 */
#ifndef FOV_SENSOR_WINDOW_H
#define FOV_SENSOR_WINDOW_H

#include "sensor/sensor.h"

/** What a sample is made of. */
typedef enum FovWindowKind {
  FOV_WINDOW_GAUSSIAN, /**< F[i, p] = exp(−(p − μ_i)² / 2σ²) / Z_i (Gregor et al. 2015, eq. 25–26)
                        */
  FOV_WINDOW_BILINEAR, /**< F[i, p] = max(0, 1 − |p − μ_i|) (Jaderberg et al. 2015, eq. 5) */
} FovWindowKind;

/** A window, or a gradient with respect to its numbers. */
typedef struct FovWindow {
  real x, y;      /**< centre, a location; −1e4 … 1e4 */
  real stride;    /**< δ: pixels from a sample to the next one, 0 … 1e4 */
  real sigma;     /**< σ of the Gaussians in pixels, 1e-3 … 1e4; of no effect if bilinear */
  real intensity; /**< γ, finite, not 0 */
} FovWindow;

/**
 * Takes a glimpse [S, G, G, C], overwritten, with the side, the scales and the gain of a sensor
 * that does not see the image whole. C: 1 or 3.
 *
 * Sample j is at pixel μ_j = (x + 1) / 2 · W − 1/2 + (j − (G − 1) / 2) δ, counted from 0 (Gregor et
 * al. 2015, eq. 19–20; their eq. 22 has W + 1 for W: half a pixel further out at x = ±1). Numbers
 * out of range stand for the nearest in it, NaN of x, y, δ and σ for the least. Patch s has strides
 * of 2^s δ, Gaussians of 2^s σ, and is multiplied by gain^s; the article has one scale. The image
 * is black outside: Z_i sums over all integers p, where the article's sums over the image's pixels,
 * which repeats its edges. Weights of less than e^−18 of a Gaussian's largest one are 0 (in double
 * precision, e^−40).
 *
 * Multiplications and additions: 2·G·H·W + 2·G·G·W for each patch and channel, where H and W count
 * only rows and columns that a filter reaches: of a bilinear window, 2·G at most. scratch:
 * fov_window_scratch numbers.
 */
void fov_window_look(real *glimpse, FovWindowKind kind, const FovSensor *sensor,
                     const FovImage *image, const FovWindow *window, real *scratch);

/**
 * The backward pass: adds dL/d(window) to `gradient`, given dL/d(glimpse), and to the image's
 * gradient if it has one. glimpse: what fov_window_look wrote.
 *
 * Where a bilinear sample is on a pixel, its derivative is that towards the next pixel. Where a
 * number of the window is out of range, its derivative is that of the number that stands for it.
 * 4·G·H·W + 4·G·G·W multiplications and additions for each patch and channel, and 2·G·H·W for an
 * image's gradient.
 */
void fov_window_look_back(FovWindow *gradient, const real *glimpse_gradient, const real *glimpse,
                          FovWindowKind kind, const FovSensor *sensor, const FovImage *image,
                          const FovWindow *window, real *scratch);

/** Numbers of scratch memory for images [height, width, channels]. */
size_t fov_window_scratch(const FovSensor *sensor, int height, int width, int channels);

#endif
