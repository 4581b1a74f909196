/**
 * The agent of Mnih et al. 2014, section 3.1: encoder, glimpse network, core and heads, composed.
 *
 * With two layers it is that of Ba et al. 2015, section 3: the core's h_t is the input of a second
 * core of the same kind. The first answers what it is, the second where to look next and what to
 * expect. A context network may start the second from a coarse view of the whole image, which the
 * answer then depends on only by where the eye goes.
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
  FOV_FIRST_LEARNED, /**< the policy's choice from h_0: 0, or what the context says */
} FovFirst;

/** Which heads' gradients do not reach the core.
 *
 * Of two layers the second is there for the location network, so the location's gradient stops
 * between them, and with it all that comes through the second; the baseline's stops before both. */
typedef enum FovStopGradient {
  FOV_STOP_GRADIENT_NONE,     /**< none: Mnih et al. 2014, eq. 2, over all parameters */
  FOV_STOP_GRADIENT_BASELINE, /**< the baseline's */
  FOV_STOP_GRADIENT_LOCATION, /**< the location network's, and that of stopping */
  FOV_STOP_GRADIENT_BOTH,     /**< both: the first layer learns from the answer alone */
} FovStopGradient;

typedef struct FovAgentOptions {
  int glimpses;      /**< before each answer or action */
  int layers;        /**< 1 or 2 */
  int first;         /**< FovFirst */
  int mean;          /**< 0: linear, 1: tanh */
  int stop_gradient; /**< FovStopGradient */
} FovAgentOptions;

/** Widths of the glimpse network g_t = relu(Linear(h_g) + Linear(h_l)); h_g is the encoder's. */
typedef struct FovGlimpseOptions {
  int where; /**< units of h_l = relu(Linear(l)) */
  int width; /**< units of g_t */
} FovGlimpseOptions;

/** The context network start = tanh(Linear(relu(Linear(coarse)))). */
typedef struct FovContextOptions {
  int side;  /**< of the coarse view, cells; 0: no context */
  int width; /**< units of its hidden layer */
} FovContextOptions;

extern const FovOption fov_agent_options[], fov_glimpse_options[], fov_context_options[];

enum { FOV_MAX_GLIMPSES = 64 };

/** What an agent is composed of. */
typedef struct FovAgentParts {
  FovAgentOptions options;
  FovGlimpseOptions glimpse;
  FovContextOptions context;
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
  int context_w, context_bias, start_w, start_bias;
  int location_w, location_bias, class_w, class_bias, baseline_w, baseline_bias;
  int stop_w, stop_bias;
} FovAgentIds;

typedef struct FovAgent {
  FovAgentOptions options;
  FovContextOptions context;
  int coarse; /**< numbers of a coarse view, side·side·C; 0: no context */
  FovSensor sensor;
  FovGlimpseShape glimpse; /**< what the sensor gives */
  const FovEncoder *encoder;
  FovEncoderLayout encoder_layout;
  const FovCore *core;
  FovCoreLayout core_layout, gaze_layout; /**< of the first layer, and of the second if there is */
  int actions;                            /**< A */
  FovParams params;
  FovAgentIds ids;
} FovAgent;

/** Builds an agent; fails if its parts do not fit together. The parts may be gone afterwards.
 * Released by fov_agent_finish; nothing is owned after a failure. */
FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts);

/** Releases what a built agent owns; a zero-initialised agent owns nothing. */
void fov_agent_finish(FovAgent *agent);

/** What an agent remembers of an episode. */
typedef struct FovAgentState {
  FovCoreState what;  /**< of the first layer, which answers */
  FovCoreState where; /**< of the second, which looks; unused if there is none */
  int lanes;          /**< B */
} FovAgentState;

/**
 * The state before the first glimpse, which the heads may already be asked of.
 *
 * coarse: [B, side·side·C], a constant: the whole images as fov_sensor_shrink makes them; NULL for
 * an agent without a context, which starts from zeros.
 */
FovAgentState fov_agent_begin(const FovAgent *agent, FovTape *tape, FovVar *coarse, int lanes);

/**
 * One glimpse: g_t = f_g(rho, l_t), h_t = f_h(h_{t−1}, g_t); a second layer's input is h_t.
 *
 * rho: [B, S·G·G·C] and l_t: [B, 2], constants: what was seen, and where.
 */
void fov_agent_see(FovAgentState *state, const FovAgent *agent, FovTape *tape, FovVar *rho,
                   FovVar *l_t);

/** Goes on with rows rows[0 … count−1] of the state, each 0 … B−1: the lanes that still play. */
void fov_agent_keep(FovAgentState *state, FovTape *tape, const int *rows, int count);

/** The mean of the next location's distribution, from the last layer: [B, 2]. */
FovVar *fov_agent_mean(const FovAgent *agent, FovTape *tape, const FovAgentState *state);

/** Logits of the answer or action, from the first layer: [B, A]. */
FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovAgentState *state);

/** Logits of looking on and of stopping, from the first layer: [B, 2]; only of an agent with such a
 * head. */
FovVar *fov_agent_stop(const FovAgent *agent, FovTape *tape, const FovAgentState *state);

/** b_t, the return expected from here on, from the last layer: [B, 1]. */
FovVar *fov_agent_baseline(const FovAgent *agent, FovTape *tape, const FovAgentState *state);

#endif
