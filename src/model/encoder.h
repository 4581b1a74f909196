/**
 * The encoder's contract: h_g = f(rho), what was seen before it meets where, Mnih et al. 2014,
 * section 3.1.
 *
 * An encoder is one const struct in one file, encoder_<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_ENCODER_H
#define FOV_MODEL_ENCODER_H

#include "base/error.h"
#include "sensor/sensor.h"
#include "tensor/ops.h"

enum { FOV_ENCODER_PARAMS = 8, FOV_ENCODER_LAYERS = 2 };

/** What an encoder added to the parameters; written by build, const afterwards. */
typedef struct FovEncoderLayout {
  int width; /**< units of h_g */
  int params[FOV_ENCODER_PARAMS];
  int layers;                       /**< of filters, for encoders that have some */
  FovConv conv[FOV_ENCODER_LAYERS]; /**< where they stand */
  double lane;    /**< numbers of memory that its maps take at a glimpse, for each lane */
  double scratch; /**< and besides at a glimpse, however many the lanes */
} FovEncoderLayout;

typedef struct FovEncoder {
  FovPlugin plugin;
  /** Adds the encoder's parameters, named "encoder.…", for glimpses rho [B, S·G·G·C]; fails if such
   * glimpses are not for it, saying which option would help. */
  FovStatus (*build)(FovEncoderLayout *layout, FovParams *params, const void *options,
                     FovGlimpseShape glimpse);
  /** Turns rho into h_g [B, width]. */
  FovVar *(*encode)(const FovEncoderLayout *layout, FovTape *tape, FovVar *rho);
} FovEncoder;

/** All encoders, NULL-terminated. */
extern const FovEncoder *const fov_encoders[];

#endif
