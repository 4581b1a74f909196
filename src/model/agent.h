/**
 * The agent of Mnih et al. 2014, section 3.1: attention, core and heads, composed.
 *
 * An agent of two layers is that of Ba et al. 2015, section 3: the core's h_t is the input of a
 * second core of the same kind, the gaze. The answer and the decision to stop are read from the
 * core; where to look next and the return to expect, from the gaze. A context network may start the
 * gaze from a coarse view of the whole image; the answer then depends on it only through the places
 * that were looked at. A cue, such as a patch to find, has an encoder of the same kind as the
 * glimpse's, with its own parameters; its code joins every g_t.
 *
 * An agent only describes: it is const once built. Its parameters are a block of numbers in the
 * layout of `params`, and one episode's state is on a tape.
 */
#ifndef FOV_MODEL_AGENT_H
#define FOV_MODEL_AGENT_H

#include "model/attention.h"
#include "model/core.h"
#include "model/head.h"
#include "model/symbols.h"

/** Which heads' gradients do not reach the core.
 *
 * With two layers, stopping the policy's gradient cuts between core and gaze, and so every gradient
 * that passes through the gaze; stopping the baseline's cuts before the gaze's state. */
typedef enum FovStopGradient {
  FOV_STOP_GRADIENT_NONE,     /**< none: Mnih et al. 2014, eq. 2, over all parameters */
  FOV_STOP_GRADIENT_BASELINE, /**< the baseline's */
  FOV_STOP_GRADIENT_LOCATION, /**< the policy's, and that of stopping */
  FOV_STOP_GRADIENT_BOTH,     /**< both: the core learns from the answer alone */
} FovStopGradient;

typedef struct FovAgentOptions {
  int layers;        /**< 1 or 2 */
  int stop_gradient; /**< FovStopGradient */
  bool time;         /**< the core reads the time, too */
  int previous;      /**< units that stand for the answer before, which the core reads; 0: none */
} FovAgentOptions;

/** The context network start = tanh(Linear(relu(Linear(coarse)))). */
typedef struct FovContextOptions {
  int side;  /**< of the coarse view, cells; 0: no context */
  int width; /**< units of its hidden layer */
} FovContextOptions;

extern const FovOption fov_agent_options[], fov_context_options[];

/** Readers of the state, in the order of their parameters. */
typedef enum FovReader {
  FOV_READER_POLICY,   /**< where to look next */
  FOV_READER_ANSWER,   /**< the answer, or the move; the agent's own head */
  FOV_READER_BASELINE, /**< the return to expect */
  FOV_READER_STOP,     /**< whether to look on */
  FOV_READERS,
} FovReader;

/** What an agent is composed of. */
typedef struct FovAgentParts {
  FovAgentOptions options;
  FovGlimpseOptions glimpse;
  FovContextOptions context;
  FovSensor sensor;
  const FovAttention *attention;
  const void *attention_options; /**< the attention's struct */
  const FovEncoder *encoder;
  const void *encoder_options; /**< the encoder's struct */
  FovTilesOptions tiles;
  const FovCore *core;
  const void *core_options; /**< the core's struct */
  const FovScore *score;
  const void *score_options;             /**< the score's struct */
  const FovHead *heads[FOV_READERS];     /**< except the answer's; NULL: none */
  const void *head_options[FOV_READERS]; /**< their plug-ins' structs */
  int height, width, channels;           /**< H, W, C of the images */
  int vocabulary;                        /**< V of sequences, 1 × W symbols; 0: of images */
  FovGlimpseShape cue;                   /**< of what is shown besides; all 0: nothing */
  int actions;                           /**< A: classes, moves or numbers of a vector */
} FovAgentParts;

typedef struct FovAgent {
  FovAgentOptions options;
  FovContextOptions context;
  int coarse; /**< numbers of a coarse view, side·side·C; 0: no context */
  FovSensor sensor;
  FovGlimpseShape glimpse; /**< what the sensor gives */
  FovGlimpseShape cue;     /**< all 0: there is none */
  const FovEncoder *cue_encoder;
  const FovAttention *attention;
  const FovCore *core;
  void *attention_layout, *core_layout;
  void *gaze_layout;        /**< of the second core; NULL: there is none */
  void *cue_layout;         /**< of the cue's encoder; NULL: there is no cue */
  void *heads[FOV_READERS]; /**< layouts of the heads; NULL: none */
  int width;                /**< D of h_t */
  int actions;              /**< A */
  FovParams params;
  int context_w, context_bias, start_w, start_bias; /**< numbers of parameters */
  int cue_w, cue_glimpse, cue_bias;
  FovSymbols previous; /**< answers, and one that stands for none yet; count 0: they are not read */
} FovAgent;

/** Builds an agent; fails if its parts do not fit together. It refers to the plug-ins, which must
 * outlive it, but not to `parts`. Released by fov_agent_finish; nothing is owned after a failure.
 */
FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts);

/** Builds only the heads, for states [B, width]: an agent that cannot see, but has the heads'
 * parameters under their names. */
FovStatus fov_agent_build_heads(FovAgent *agent, const FovAgentParts *parts, int width);

/** Frees what the agent owns; safe on a zeroed one and twice. */
void fov_agent_finish(FovAgent *agent);

/** What the attention records of each glimpse. Returns how many columns. */
int fov_agent_columns(FovColumn columns[FOV_COLUMNS], const FovAgent *agent);

/** What an agent remembers of an episode. */
typedef struct FovAgentState {
  FovCoreState core, gaze; /**< gaze: of the second layer; unused if there is none */
  FovVar *cue;             /**< [B, width]: the cue's code; NULL: there is none */
  void *attention;         /**< the attention's own */
  int lanes;               /**< B */
} FovAgentState;

/**
 * The state before the first glimpse, which the heads may already read.
 *
 * images: [B], which a context network sees coarsely. cues: [B]; NULL if there are none. glimpses:
 * the most that will be taken.
 */
FovAgentState fov_agent_begin(const FovAgent *agent, FovTape *tape, const FovImage *images,
                              const FovImage *cues, int lanes, int glimpses);

/** Scores [n, N] of the sites that the next read-out may choose from, for the state that the policy
 * reads; NULL: the attention does not choose among sites. view: without a place. */
FovVar *fov_agent_scores(FovAgentState *state, const FovAgent *agent, FovTape *tape,
                         const FovView *view);

/** One time step: the attention reads g_t from the view, h_t = f_h(h_{t−1}, g_t); a second layer's
 * input is h_t. With a cue, relu(Linear(g_t) + Linear(code)) replaces g_t. readout: zeroed; what
 * the attention does not have stays NULL. */
void fov_agent_see(FovReadout *readout, FovAgentState *state, const FovAgent *agent, FovTape *tape,
                   const FovView *view);

/** Keeps lanes[0 … count−1] of the state, each 0 … B−1: those that still play. */
void fov_agent_keep(FovAgentState *state, const FovAgent *agent, FovTape *tape, const int *lanes,
                    int count);

/** The state as a reader's head receives it: [B, D]; before the first glimpse zeros, or the
 * context's start. Its gradient stops where the options require it. */
FovVar *fov_agent_read(const FovAgent *agent, FovTape *tape, const FovAgentState *state,
                       FovReader reader);

/** Logits of the answer or move, or the vector that is answered: [B, A]. */
FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovAgentState *state);

#endif
