#include "model/agent.h"

#include <stdlib.h>

#include "base/profile.h"
#include "model/coarse_view.h"
#include "model/watch.h"
#include "tensor/ops.h"

static const char *const stops[] = {"none", "baseline", "location", "both", NULL};

const FovOption fov_agent_options[] = {
    FOV_INT(FovAgentOptions, layers, "1", 1, 2,
            "recurrent layers; with 2, the first answers and the second chooses where to look"),
    FOV_CHOICE(FovAgentOptions, stop_gradient, "none", stops,
               "heads whose gradient does not reach the core (layers = 2: its first layer)"),
    FOV_BOOL(FovAgentOptions, time, "no",
             "give the core the time, too: 2(t - 1) / T - 1 at glimpse t = 1 to T"),
    FOV_INT(
        FovAgentOptions, previous, "0", 0, 8192,
        "size of the embedding of the previous answer, an input of the core: the right answer in "
        "training, otherwise the agent's own; 0: none"),
    FOV_OPTIONS_END,
};

const FovOption fov_context_options[] = {
    FOV_INT(FovContextOptions, side, "0", 0, FOV_MAX_SIDE,
            "side in cells of a coarse view that the second layer starts from; 0: none"),
    FOV_INT(FovContextOptions, width, "128", 1, 8192,
            "units of the layer between coarse view and start"),
    FOV_OPTIONS_END,
};

/* ---- building ---- */

static FovStatus create_layout(void **layout, size_t size) {
  *layout = calloc(1, size ? size : 1);
  return *layout ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for an agent's layout");
}

static FovStatus add_attention(FovAgent *agent, int *width, const FovAgentParts *parts) {
  const FovAttentionParts seen = {.attention = parts->attention->plugin.name,
                                  .glimpse = {.sensor = parts->sensor,
                                              .shape = agent->glimpse,
                                              .encoder = parts->encoder,
                                              .encoder_options = parts->encoder_options,
                                              .options = parts->glimpse},
                                  .height = parts->height,
                                  .width = parts->width,
                                  .vocabulary = parts->vocabulary,
                                  .actions = parts->actions,
                                  .tiles = parts->tiles,
                                  .score = parts->score,
                                  .score_options = parts->score_options};
  FOV_TRY(create_layout(&agent->attention_layout, parts->attention->layout_size));
  return parts->attention->build(agent->attention_layout, width, &agent->params,
                                 parts->attention_options, &seen);
}

/** The cue's encoder, and the layer that joins its code and g_t [B, width]. */
static FovStatus add_cue(FovAgent *agent, const FovAgentParts *parts, int width) {
  FovParams *params = &agent->params;
  int content;
  if (parts->cue.scales == 0) return FOV_OK;
  FOV_TRY(create_layout(&agent->cue_layout, parts->encoder->layout_size));
  params->prefix = "cue.";
  FovStatus status = parts->encoder->build(agent->cue_layout, &content, params,
                                           parts->encoder_options, parts->cue);
  params->prefix = NULL;
  if (status != FOV_OK) return fov_fail(status, "the cue: %s", fov_error_message());
  agent->cue_w = fov_params_add(params, "cue.what", width, content, FOV_INIT_UNIFORM, 1);
  agent->cue_glimpse = fov_params_add(params, "cue.glimpse", width, width, FOV_INIT_UNIFORM, 1);
  agent->cue_bias = fov_params_add(params, "cue.bias", 1, width, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

/** The core, for g_t [B, inputs] and the time, and the gaze: of the same kind, named apart, fed by
 * the core. */
static FovStatus add_cores(FovAgent *agent, const FovAgentParts *parts, int inputs) {
  const FovCore *core = parts->core;
  FovParams *params = &agent->params;
  FovCoreParts seen = {.inputs = inputs + parts->options.time + parts->options.previous,
                       .score = parts->score,
                       .score_options = parts->score_options};
  FOV_TRY(create_layout(&agent->core_layout, core->layout_size));
  FOV_TRY(core->build(agent->core_layout, &agent->width, params, parts->core_options, &seen));
  if (parts->options.layers < 2) return FOV_OK;
  int width;
  FOV_TRY(create_layout(&agent->gaze_layout, core->layout_size));
  seen.inputs = agent->width;
  params->prefix = "gaze.";
  FovStatus status = core->build(agent->gaze_layout, &width, params, parts->core_options, &seen);
  params->prefix = NULL;
  return status;
}

static int add_bias(FovParams *params, const char *name, int width) {
  return fov_params_add(params, name, 1, width, FOV_INIT_ZERO, 0);
}

static void add_context(FovAgent *agent) {
  FovParams *params = &agent->params;
  int side = agent->context.side, hidden = agent->context.width, start = agent->width;
  agent->coarse = side * side * agent->glimpse.channels;
  agent->context_w = fov_params_add(params, "context.w", hidden, agent->coarse, FOV_INIT_HE, 1);
  agent->context_bias = add_bias(params, "context.bias", hidden);
  agent->start_w = fov_params_add(params, "start.w", start, hidden, FOV_INIT_UNIFORM, 1);
  agent->start_bias = add_bias(params, "start.bias", start);
}

/** The agent's own head: a softmax of a linear layer. */
typedef struct Answer {
  int w, bias;
} Answer;

static void build_answer(void *layout, FovParams *params, const void *actions, int inputs) {
  Answer *answer = layout;
  int A = *(const int *)actions;
  answer->w = fov_params_add(params, "class.w", A, inputs, FOV_INIT_UNIFORM, 1);
  answer->bias = add_bias(params, "class.bias", A);
}

static const FovHead answer_head = {.layout_size = sizeof(Answer), .build = build_answer};

static FovStatus add_heads(FovAgent *agent, const FovAgentParts *parts) {
  for (int r = 0; r < FOV_READERS; r++) {
    bool answer = r == FOV_READER_ANSWER;
    const FovHead *head = answer ? &answer_head : parts->heads[r];
    if (!head || !head->build) {
      // A head that is left out counts as two parameters, so that the heads after it start with
      // the same values. (A policy that learns its noise has four.)
      fov_params_skip(&agent->params, 2);
      continue;
    }
    FOV_TRY(create_layout(&agent->heads[r], head->layout_size));
    head->build(agent->heads[r], &agent->params, answer ? &agent->actions : parts->head_options[r],
                agent->width);
  }
  return FOV_OK;
}

static FovStatus check_size(const FovAgentParts *parts, bool seen_whole, const char *key,
                            const char *instead) {
  if (!seen_whole || (parts->height <= FOV_MAX_WHOLE && parts->width <= FOV_MAX_WHOLE))
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: images of %d x %d pixels, expected at most %d each way; make them smaller "
                  "or set %s = %s",
                  key, parts->width, parts->height, FOV_MAX_WHOLE, key, instead);
}

static FovStatus check_context(const FovAgentParts *parts) {
  int side = parts->context.side, layers = parts->options.layers;
  if (side && layers < 2)
    return fov_fail(FOV_ERR_USAGE,
                    "context.side = %d: expected layers = 2, found layers = %d; set "
                    "layers = 2 or context.side = 0",
                    side, layers);
  if (side && parts->channels != 1 && parts->channels != 3)
    return fov_fail(FOV_ERR_USAGE,
                    "context.side = %d: expected images of 1 or 3 channels, found %d; set "
                    "context.side = 0",
                    side, parts->channels);
  if (side && !parts->core->starts)
    return fov_fail(FOV_ERR_USAGE,
                    "context.side = %d: core = %s has no state that could start from the context; "
                    "choose another core or set context.side = 0",
                    side, parts->core->plugin.name);
  return FOV_OK;
}

/** Windows and tiles have places of their own, which do not depend on where a policy may look. */
static FovStatus check_inside(const FovAgentParts *parts) {
  const FovAttention *attention = parts->attention;
  if (!parts->sensor.inside || (!attention->without_policy && !attention->scores)) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "sensor.inside = yes: expected attention = gaze, found attention = %s, on which "
                  "it has no effect; set sensor.inside = no",
                  attention->plugin.name);
}

/** What the sensor gives; of a sequence, a symbol. */
static FovGlimpseShape shape_of(const FovAgentParts *parts) {
  if (parts->vocabulary) return (FovGlimpseShape){.scales = 1, .side = 1, .channels = 1};
  return fov_sensor_glimpse(&parts->sensor, parts->height, parts->width, parts->channels);
}

static FovStatus add_parts(FovAgent *agent, const FovAgentParts *parts) {
  int width;
  FOV_TRY(check_size(parts, parts->sensor.whole, "sensor.whole", "no"));
  FOV_TRY(check_size(parts, parts->context.side, "context.side", "0"));
  FOV_TRY(check_context(parts));
  FOV_TRY(check_inside(parts));
  agent->glimpse = shape_of(parts);
  FOV_TRY(add_attention(agent, &width, parts));
  FOV_TRY(add_cue(agent, parts, width));
  if (parts->options.previous)
    fov_symbols_build(&agent->previous, &agent->params, "previous", parts->actions + 1,
                      parts->options.previous);
  FOV_TRY(add_cores(agent, parts, width));
  if (parts->attention->connect)
    FOV_TRY(parts->attention->connect(agent->attention_layout, &agent->params, agent->width));
  if (parts->context.side) add_context(agent);
  return add_heads(agent, parts);
}

FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts) {
  *agent = (FovAgent){.options = parts->options,
                      .context = parts->context,
                      .sensor = parts->sensor,
                      .cue = parts->cue,
                      .cue_encoder = parts->encoder,
                      .attention = parts->attention,
                      .core = parts->core,
                      .actions = parts->actions};
  FovStatus status = add_parts(agent, parts);
  if (status != FOV_OK) fov_agent_finish(agent);
  return status;
}

FovStatus fov_agent_build_heads(FovAgent *agent, const FovAgentParts *parts, int width) {
  *agent = (FovAgent){.actions = parts->actions, .width = width};
  FovStatus status = add_heads(agent, parts);
  if (status != FOV_OK) fov_agent_finish(agent);
  return status;
}

static void finish_core(const FovAgent *agent, void *layout) {
  if (layout && agent->core->finish) agent->core->finish(layout);
  free(layout);
}

void fov_agent_finish(FovAgent *agent) {
  if (agent->attention_layout) agent->attention->finish(agent->attention_layout);
  free(agent->attention_layout);
  free(agent->cue_layout);
  finish_core(agent, agent->core_layout);
  finish_core(agent, agent->gaze_layout);
  for (int r = 0; r < FOV_READERS; r++) free(agent->heads[r]);
  fov_params_finish(&agent->params);
  *agent = (FovAgent){0};
}

int fov_agent_columns(FovColumn columns[FOV_COLUMNS], const FovAgent *agent) {
  const FovAttention *attention = agent->attention;
  return attention->columns ? attention->columns(columns, agent->attention_layout) : 0;
}

/* ---- an episode ---- */

/** tanh(Linear(relu(Linear(coarse)))), of every lane's image. */
static FovVar *start_of(const FovAgent *agent, FovTape *tape, const FovImage *images, int lanes) {
  FovVar *p = tape->params;
  FovVar *coarse = fov_coarse_views(tape, images, lanes, agent->context.side);
  FovVar *hidden =
      fov_linear(tape, coarse, &p[agent->context_w], &p[agent->context_bias], FOV_RELU);
  return fov_linear(tape, hidden, &p[agent->start_w], &p[agent->start_bias], FOV_TANH);
}

/** The code of every lane's cue, which is seen whole; NULL: there is none. */
static FovVar *code_of(const FovAgent *agent, FovTape *tape, const FovImage *cues, int lanes) {
  if (!agent->cue_layout) return NULL;
  FovVar *cue = fov_constant(tape, lanes, fov_glimpse_features(agent->cue));
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int b = 0; b < lanes; b++)
    fov_sensor_look(fov_value_row(cue, b), &(FovSensor){.whole = true}, &cues[b], 0, 0);
  fov_profile_enter(before);
  return agent->cue_encoder->encode(agent->cue_layout, tape, cue);
}

FovAgentState fov_agent_begin(const FovAgent *agent, FovTape *tape, const FovImage *images,
                              const FovImage *cues, int lanes, int glimpses) {
  FovAgentState state = {.lanes = lanes, .cue = code_of(agent, tape, cues, lanes)};
  state.attention = fov_arena_alloc(tape->arena, agent->attention->state_size);
  agent->attention->begin(state.attention, agent->attention_layout, tape, lanes, glimpses);
  if (!agent->coarse) return state;
  FovVar *start = start_of(agent, tape, images, lanes);
  for (int i = 0; i < agent->core->starts; i++) state.gaze.vars[i] = start;
  return state;
}

/** Whether the gradient of a head, the policy's or the baseline's, is to stop. */
static bool is_stopped(const FovAgent *agent, FovStopGradient head) {
  FovStopGradient stop = (FovStopGradient)agent->options.stop_gradient;
  return stop == head || stop == FOV_STOP_GRADIENT_BOTH;
}

/** The state that asks what to read: that of the layer which would choose where to look. */
static FovVar *asking(const FovAgentState *state, const FovAgent *agent, FovTape *tape) {
  FovVar *h = agent->gaze_layout ? state->gaze.vars[0] : state->core.vars[0];
  return h ? h : fov_zeros(tape, state->lanes, agent->width);
}

/** The answers before, [n, units]; where there was none, the table's last row. */
static FovVar *embed_previous(const FovAgent *agent, FovTape *tape, const int *previous, int n) {
  const FovSymbols *symbols = &agent->previous;
  int *indices = FOV_NEW(tape->arena, int, n);
  for (int b = 0; b < n; b++) indices[b] = previous[b] < 0 ? symbols->count - 1 : previous[b];
  return fov_gather(tape, &tape->params[symbols->table], indices, n);
}

/** g_t, joined with the cue if there is one, and the answer before and the time if the core reads
 * them. */
static FovVar *core_input(const FovAgent *agent, FovTape *tape, const FovAgentState *state,
                          FovVar *g, const FovView *view) {
  FovVar *p = tape->params;
  if (state->cue)
    g = fov_linear2(tape, g, &p[agent->cue_glimpse], state->cue, &p[agent->cue_w],
                    &p[agent->cue_bias], FOV_RELU);
  FovVar *parts[3] = {g};
  int count = 1;
  if (agent->previous.count) parts[count++] = embed_previous(agent, tape, view->previous, g->rows);
  if (agent->options.time) {
    FovVar *time = parts[count++] = fov_constant(tape, g->rows, 1);
    for (int b = 0; b < g->rows; b++) fov_value_row(time, b)[0] = view->time;
  }
  return count > 1 ? fov_concat(tape, parts, count) : g;
}

/** The parameters as constants: a tape with them gives gradients to other vars only. */
static FovVar *freeze(FovTape *tape) {
  FovVar *frozen = FOV_NEW(tape->arena, FovVar, tape->count);
  for (int i = 0; i < tape->count; i++) {
    frozen[i] = tape->params[i];
    frozen[i].wants_grad = false;
    frozen[i].param = -1;
    frozen[i].series = NULL;
  }
  return frozen;
}

/** The logits of the answer that a read-out would give; the state stays as it is. */
static FovVar *answer_at_once(const FovAgent *agent, const FovAgentState *state, FovTape *tape,
                              FovVar *g, const FovView *view) {
  FovAgentState after = *state;
  for (int i = 0; i < FOV_STATE_VARS; i++)
    if (after.core.vars[i]) after.core.vars[i] = fov_stop_gradient(tape, after.core.vars[i]);
  if (after.cue) after.cue = fov_stop_gradient(tape, after.cue);
  FovVar *input = core_input(agent, tape, &after, g, view);
  agent->core->step(&after.core, agent->core_layout, tape, input);
  return fov_agent_logits(agent, tape, &after);
}

/** Replaces the read-outs of relaxed choices by c, of which a control variate is made. */
static void judge_relaxed(FovReadout *readout, const FovAgentState *state, const FovAgent *agent,
                          FovTape *tape, const FovView *view) {
  const FovAttention *attention = agent->attention;
  FovVar *params = tape->params, **g = readout->relaxed;
  FovView known = *view;
  if (!g[0]) return;
  if (attention->control) {
    known.state = fov_stop_gradient(tape, view->state);
    FovVar *read = fov_stop_gradient(tape, g[1]);
    readout->fitted = attention->control(tape, read, &known, agent->attention_layout);
  }
  tape->params = freeze(tape);
  for (int i = 0; i < 2; i++)
    if (attention->control) {
      g[i] = attention->control(tape, g[i], &known, agent->attention_layout);
    } else {
      FovVar *logits = answer_at_once(agent, state, tape, g[i], view);
      g[i] = fov_categorical_log_prob(tape, logits, view->labels);
    }
  tape->params = params;
}

void fov_agent_see(FovReadout *readout, FovAgentState *state, const FovAgent *agent, FovTape *tape,
                   const FovView *view) {
  FOV_CHECK(view->lanes == state->lanes, "a view of %d lanes, a state of %d", view->lanes,
            state->lanes);
  FovView seen = *view;
  if (agent->attention->connect) seen.state = asking(state, agent, tape);
  agent->attention->read(readout, state->attention, agent->attention_layout, tape, &seen);
  readout->g = fov_watch(tape, readout->g, FOV_WATCH_READOUT, NULL, NULL);
  judge_relaxed(readout, state, agent, tape, &seen);
  FovVar *input = core_input(agent, tape, state, readout->g, view);
  agent->core->step(&state->core, agent->core_layout, tape, input);
  if (!agent->gaze_layout) return;
  FovVar *h_t = state->core.vars[0];
  if (is_stopped(agent, FOV_STOP_GRADIENT_LOCATION)) h_t = fov_stop_gradient(tape, h_t);
  agent->core->step(&state->gaze, agent->gaze_layout, tape, h_t);
}

void fov_agent_keep(FovAgentState *state, const FovAgent *agent, FovTape *tape, const int *lanes,
                    int count) {
  for (int i = 0; i < FOV_STATE_VARS; i++) {
    FovVar **core = &state->core.vars[i], **gaze = &state->gaze.vars[i];
    if (*core) *core = fov_gather_lanes(tape, *core, state->lanes, lanes, count);
    if (*gaze) *gaze = fov_gather_lanes(tape, *gaze, state->lanes, lanes, count);
  }
  if (state->cue) state->cue = fov_gather_lanes(tape, state->cue, state->lanes, lanes, count);
  if (agent->attention->keep)
    agent->attention->keep(state->attention, tape, state->lanes, lanes, count);
  state->lanes = count;
}

FovVar *fov_agent_scores(FovAgentState *state, const FovAgent *agent, FovTape *tape,
                         const FovView *view) {
  FovView seen = *view;
  if (!agent->attention->scores) return NULL;
  seen.state = fov_agent_read(agent, tape, state, FOV_READER_POLICY);
  return agent->attention->scores(state->attention, agent->attention_layout, tape, &seen);
}

static bool reads_gaze(const FovAgent *agent, FovReader reader) {
  return agent->gaze_layout && (reader == FOV_READER_POLICY || reader == FOV_READER_BASELINE);
}

/** Whether a reader's gradient stops at the layer that it reads. */
static bool is_cut_off(const FovAgent *agent, FovReader reader) {
  switch (reader) {
  case FOV_READER_POLICY: // a gaze is cut off from the core already, and is to learn
    return !agent->gaze_layout && is_stopped(agent, FOV_STOP_GRADIENT_LOCATION);
  case FOV_READER_STOP:
    return is_stopped(agent, FOV_STOP_GRADIENT_LOCATION);
  case FOV_READER_BASELINE:
    return is_stopped(agent, FOV_STOP_GRADIENT_BASELINE);
  default:
    return false;
  }
}

FovVar *fov_agent_read(const FovAgent *agent, FovTape *tape, const FovAgentState *state,
                       FovReader reader) {
  FovVar *h_t = reads_gaze(agent, reader) ? state->gaze.vars[0] : state->core.vars[0];
  if (!h_t) return fov_zeros(tape, state->lanes, agent->width);
  return is_cut_off(agent, reader) ? fov_stop_gradient(tape, h_t) : h_t;
}

FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovAgentState *state) {
  const Answer *answer = agent->heads[FOV_READER_ANSWER];
  FovVar *p = tape->params, *h_t = fov_agent_read(agent, tape, state, FOV_READER_ANSWER);
  return fov_linear(tape, h_t, &p[answer->w], &p[answer->bias], FOV_LINEAR);
}
