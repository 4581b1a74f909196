/**
 * The glimpse network of Mnih et al. 2014, section 3.1: joins the content of a glimpse and its
 * place l, h_l = relu(Linear(l)),  g = relu(Linear(h_g) + V h_l); or g = relu(Linear(h_g)), which
 * hides the place from the agent. With join = scale, g = relu(Linear(h_g)) ∘ (1 + V h_l): the place
 * scales the content (Perez et al. 2018, without their shift).
 */
#ifndef FOV_MODEL_GLIMPSE_H
#define FOV_MODEL_GLIMPSE_H

#include "model/encoder.h"

typedef enum FovGlimpseJoin { FOV_JOIN_ADD, FOV_JOIN_SCALE } FovGlimpseJoin;

/** The glimpse network; the width of h_g is the encoder's. */
typedef struct FovGlimpseOptions {
  int where; /**< units of h_l; 0: the place is hidden */
  int width; /**< units of g */
  int join;  /**< FovGlimpseJoin */
} FovGlimpseOptions;

extern const FovOption fov_glimpse_options[];

/** What a glimpse network is composed of. */
typedef struct FovGlimpseParts {
  FovSensor sensor;
  FovGlimpseShape shape; /**< what the sensor gives */
  const FovEncoder *encoder;
  const void *encoder_options; /**< the encoder's struct */
  FovGlimpseOptions options;
} FovGlimpseParts;

/** Const once built. */
typedef struct FovGlimpseNet {
  FovSensor sensor;
  FovGlimpseShape shape;
  const FovEncoder *encoder;
  void *encoder_layout; /**< owned */
  bool hides_place;
  FovGlimpseJoin join;
  int where_w, where_bias, content_w, place_w, bias;
} FovGlimpseNet;

/** Adds the network's parameters. Fails as the encoder does, and if a hidden place is to scale.
 * Finished by fov_glimpse_finish, also after a failure. */
FovStatus fov_glimpse_build(FovGlimpseNet *net, FovParams *params, const FovGlimpseParts *parts);
void fov_glimpse_finish(FovGlimpseNet *net);

/** Glimpses of an episode: rows for all time steps, so that their matrix products can be joined. */
typedef struct FovGlimpses {
  FovVar *rho; /**< NULL before the first */
  int room;    /**< rows: lanes times time steps */
  int used;    /**< of them */
} FovGlimpses;

/** A matrix for `rows` glimpses, [rows, S·G·G·C]. */
FovVar *fov_glimpse_rows(FovTape *tape, const FovGlimpseNet *net, int rows);

/** Fills a constant rho [n·N, S·G·G·C] with glimpses at places [n·N, 2], which must stay as they
 * are: N at each of n images. If the images want a gradient, so does rho from then on. */
void fov_glimpse_take(FovVar *rho, FovTape *tape, const FovGlimpseNet *net, const FovImage *images,
                      const FovVar *places, int sites);

/** g [B, width] of glimpses rho [B, S·G·G·C] at places [B, 2]. */
FovVar *fov_glimpse_join(FovTape *tape, const FovGlimpseNet *net, FovVar *rho, FovVar *places);

/** g [n, width] of a glimpse at each of n images, at places [n, 2], and the glimpses, *rho [n,
 * S·G·G·C]: the next rows of `glimpses`, which this makes if there are none. */
FovVar *fov_glimpse_next(FovVar **rho, FovGlimpses *glimpses, FovTape *tape,
                         const FovGlimpseNet *net, const FovImage *images, FovVar *places);

#endif
