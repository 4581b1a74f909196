/**
 * The encoder's contract: h_g = f(rho), the content of a glimpse without its place, Mnih et al.
 * 2014, section 3.1.
 *
 * An encoder is one const struct in one file, encoder/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_ENCODER_H
#define FOV_MODEL_ENCODER_H

#include "base/error.h"
#include "sensor/sensor.h"
#include "tensor/ops.h"

typedef struct FovEncoder {
  FovPlugin plugin;
  size_t layout_size; /**< bytes of the struct that `build` writes */
  bool maps;          /**< it is convolutional, and its maps can be watched (FOV_WATCH_MAPS) */
  /** Adds the encoder's parameters, named "encoder.…", for glimpses rho [B, S·G·G·C]. Writes the
   * layout, const afterwards, and the width of h_g. Fails if it cannot encode such glimpses; the
   * message names the option to change. */
  FovStatus (*build)(void *layout, int *width, FovParams *params, const void *options,
                     FovGlimpseShape glimpse);
  /** Turns rho into h_g [B, width]. */
  FovVar *(*encode)(const void *layout, FovTape *tape, FovVar *rho);
} FovEncoder;

/** All encoders, NULL-terminated. */
extern const FovEncoder *const fov_encoders[];

#endif
