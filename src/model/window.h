/**
 * Attention through a window: place and size of a glimpse are functions of the state, and the
 * gradient flows through its pixels into them. No policy chooses, nothing is sampled.
 *
 *     x = W h_{t−1} + b     (l, δ, σ, γ) = fov_window_numbers(x)     rho = window(image)
 *     g_t = g(rho, l), the glimpse network's, with a gradient into l too
 *
 * b starts at 0, and so do the states: the first window of an untrained agent is in the centre.
 * With context.side the context starts the states, and so decides where it is.
 *
 * Only a share of the gradient flows on from x into h_{t−1}; W and b get all of it. h_{t−1} depends
 * on the window before, which depends on h_{t−2}, and so on: a small step of a window changes many
 * pixels, so the whole gradient grows from window to window.
 */
#ifndef FOV_MODEL_WINDOW_H
#define FOV_MODEL_WINDOW_H

#include "model/attention.h"
#include "model/window_ops.h"

typedef struct FovWindowOptions {
  double start; /**< width of the first window's widest patch; 1: that of the image's longer side */
  double scale; /**< factor of x */
  double gradient; /**< share of the gradient that flows from x into the state */
} FovWindowOptions;

/** The options of a kind of window. Adam changes every weight of the head by about the same amount,
 * so a linear function of a wide state changes by much more. With a scale of 1 windows jump before
 * their content is learned, each jump changes the next window, and gradients through many glimpses
 * explode. */
#define FOV_WINDOW_OPTIONS(SCALE)                                                                  \
  FOV_REAL(FovWindowOptions, start, "1", 0.01, 10,                                                 \
           "width of the first window's widest patch; 1: the image's longer side"),                \
      FOV_REAL(FovWindowOptions, scale, SCALE, 1e-4, 100,                                          \
               "factor of what the state adds to place and size; less: slower, more stable"),      \
      FOV_REAL(FovWindowOptions, gradient, "0.1", 0, 1,                                            \
               "share of the gradient of place and size that flows into the state"),               \
      FOV_OPTIONS_END

/** Const once built. */
typedef struct FovWindowNet {
  FovGlimpseNet net;
  FovWindowKind kind;
  real first[FOV_WINDOW_SHAPE]; /**< the shape that x = 0 gives */
  real scale, gradient;
  int w, bias;
} FovWindowNet;

/** What is kept of an episode. */
typedef struct FovWindowState {
  real *scratch; /**< for images of the episode's size; NULL before the first glimpse */
} FovWindowState;

/* Functions of FovAttention for attentions whose layout is FovWindowNet. */

/** Adds the glimpse network. Fails if the sensor sees the whole image. */
FovStatus fov_window_build(FovWindowNet *window, int *width, FovParams *params,
                           const FovWindowOptions *options, const FovAttentionParts *parts,
                           FovWindowKind kind);
/** Adds W and b. */
FovStatus fov_window_connect(void *window, FovParams *params, int inputs);
/** Columns "window": x, y, width and height of the finest patch, in locations (2: the image's);
 * and "filter" of Gaussians: sigma in pixels, and intensity. */
int fov_window_columns(FovColumn columns[FOV_COLUMNS], const void *window);
void fov_window_finish(void *window);
void fov_window_begin(void *state, const void *window, FovTape *tape, int lanes, int glimpses);
void fov_window_read(FovReadout *readout, void *state, const void *window, FovTape *tape,
                     const FovView *view);

/** What they have in common, as members of FovAttention. */
#define FOV_ATTENTION_THROUGH_WINDOW                                                               \
  .layout_size = sizeof(FovWindowNet), .state_size = sizeof(FovWindowState),                       \
  .without_policy = true, .connect = fov_window_connect, .columns = fov_window_columns,            \
  .finish = fov_window_finish, .begin = fov_window_begin, .read = fov_window_read

#endif
