/**
 * The attention's contract: from what may be seen to the read-out g_t that the core receives.
 *
 * An attention is one const struct in one file, attention/<name>.c, and one line in tables.c.
 */
#ifndef FOV_MODEL_ATTENTION_H
#define FOV_MODEL_ATTENTION_H

#include "model/encoder.h"

/** Widths of the glimpse network g = relu(Linear(h_g) + Linear(h_l)); h_g is the encoder's. */
typedef struct FovGlimpseOptions {
  int where; /**< units of h_l = relu(Linear(l)) */
  int width; /**< units of g */
} FovGlimpseOptions;

extern const FovOption fov_glimpse_options[];

/** What an attention is composed of. */
typedef struct FovAttentionParts {
  FovSensor sensor;
  FovGlimpseShape shape; /**< what the sensor gives */
  const FovEncoder *encoder;
  const void *encoder_options; /**< the encoder's struct */
  FovGlimpseOptions glimpse;
} FovAttentionParts;

/** What n lanes may look at in a time step. */
typedef struct FovView {
  const FovImage *images; /**< [n] */
  FovVar *location;       /**< [n, 2]: where the policy chose to look, a constant */
  int lanes;              /**< n */
} FovView;

/** What they read. */
typedef struct FovReadout {
  FovVar *g;   /**< [n, width]: for the core */
  FovVar *rho; /**< [n, S·G·G·C]: the glimpse that g was made of, for the record */
} FovReadout;

typedef struct FovAttention {
  FovPlugin plugin;
  size_t layout_size; /**< bytes of the struct that `build` writes */
  size_t state_size;  /**< bytes of what it remembers of an episode */
  /** Adds the attention's parameters. Writes the layout, const afterwards, and the width of g. */
  FovStatus (*build)(void *layout, int *width, FovParams *params, const void *options,
                     const FovAttentionParts *parts);
  /** Frees what the layout owns. */
  void (*finish)(void *layout);
  /** Starts an episode of at most `glimpses` glimpses of each of B lanes. */
  void (*begin)(void *state, const void *layout, FovTape *tape, int lanes, int glimpses);
  void (*read)(FovReadout *readout, void *state, const void *layout, FovTape *tape,
               const FovView *view);
} FovAttention;

/** All kinds of attention, NULL-terminated. */
extern const FovAttention *const fov_attentions[];

#endif
