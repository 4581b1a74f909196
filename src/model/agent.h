/**
 * The agent of Mnih et al. 2014, section 3.1: encoder, glimpse network, core and heads, composed.
 *
 * An Agent only describes: it is const once built. Its parameters are a block of numbers in the
 * layout of `params`, and one episode's state is on a tape.
 */
#ifndef FOV_MODEL_AGENT_H
#define FOV_MODEL_AGENT_H

#include "model/core.h"
#include "model/encoder.h"
#include "sensor/sensor.h"

/** Where the first glimpse falls. */
typedef enum FovFirst {
  FOV_FIRST_CENTRE,
  FOV_FIRST_RANDOM,  /**< uniform over the image */
  FOV_FIRST_LEARNED, /**< the policy's choice from h_0 = 0 */
} FovFirst;

/** Which heads' gradients do not reach the core. */
typedef enum FovStop {
  FOV_STOP_NONE,     /**< none: Mnih et al. 2014, eq. 2, over all parameters */
  FOV_STOP_BASELINE, /**< the baseline's */
  FOV_STOP_LOCATION, /**< the location network's, and that of stopping */
  FOV_STOP_BOTH,     /**< both: the core learns from the answer alone, as many repositories do */
} FovStop;

typedef struct FovAgentOptions {
  int glimpses;      /**< before each answer or action */
  int first;         /**< FovFirst */
  int mean;          /**< 0: linear, 1: tanh */
  int stop_gradient; /**< FovStop */
} FovAgentOptions;

/** Widths of the glimpse network g_t = relu(Linear(h_g) + Linear(h_l)); h_g is the encoder's. */
typedef struct FovGlimpseOptions {
  int where; /**< units of h_l = relu(Linear(l)) */
  int width; /**< units of g_t */
} FovGlimpseOptions;

extern const FovOption fov_agent_options[], fov_glimpse_options[];

enum { FOV_MAX_GLIMPSES = 64 };

/** What an agent is composed of. */
typedef struct FovAgentParts {
  FovAgentOptions options;
  FovGlimpseOptions glimpse;
  FovSensor sensor;
  const FovEncoder *encoder;
  const void *encoder_options; /**< the encoder's struct */
  const FovCore *core;
  const void *core_options;    /**< the core's struct */
  int height, width, channels; /**< H, W, C of the images */
  int actions;                 /**< A: classes of the answer, or moves */
  bool stops;                  /**< it has a head that decides whether to stop looking */
} FovAgentParts;

/** Numbers of the parameters, by what they belong to; a bias follows its weight. */
typedef struct FovAgentIds {
  int where_w, where_bias;
  int glimpse_what, glimpse_where, glimpse_bias;
  int location_w, location_bias, class_w, class_bias, baseline_w, baseline_bias;
  int stop_w, stop_bias;
} FovAgentIds;

typedef struct FovAgent {
  FovAgentOptions options;
  FovSensor sensor;
  FovGlimpse glimpse; /**< what the sensor gives */
  const FovEncoder *encoder;
  FovEncoderLayout encoder_layout;
  const FovCore *core;
  FovCoreLayout core_layout;
  int actions; /**< A */
  FovParams params;
  FovAgentIds ids;
} FovAgent;

/** Builds an agent; fails if its parts do not fit together. The parts may be gone afterwards. */
FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts);

/**
 * One glimpse: g_t = f_g(rho, l_t), h_t = f_h(h_{t−1}, g_t).
 *
 * rho: [B, S·G·G·C] and l_t: [B, 2], constants: what was seen, and where.
 */
void fov_agent_see(FovCoreState *state, const FovAgent *agent, FovTape *tape, FovVar *rho,
                   FovVar *l_t);

/** h_0 = 0 for `lanes` lanes, for the heads to answer before the first glimpse. */
FovCoreState fov_agent_begin(const FovAgent *agent, FovTape *tape, int lanes);

/** Goes on with rows rows[0 … count−1] of the state, each 0 … B−1: the lanes that still play. */
void fov_agent_keep(FovCoreState *state, FovTape *tape, const int *rows, int count);

/** The mean of the next location's distribution: [B, 2]. */
FovVar *fov_agent_mean(const FovAgent *agent, FovTape *tape, const FovCoreState *state);

/** Logits of the answer or action: [B, A]. */
FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovCoreState *state);

/** Logits of looking on and of stopping: [B, 2]; only of an agent with such a head. */
FovVar *fov_agent_stop(const FovAgent *agent, FovTape *tape, const FovCoreState *state);

/** b_t, the return expected from here on: [B, 1]. */
FovVar *fov_agent_baseline(const FovAgent *agent, FovTape *tape, const FovCoreState *state);

#endif
