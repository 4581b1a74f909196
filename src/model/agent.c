#include "model/agent.h"

#include "tensor/ops.h"

static const char *const firsts[] = {"centre", "random", "learned", NULL};
enum { MEAN_LINEAR, MEAN_TANH };
static const char *const means[] = {[MEAN_LINEAR] = "linear", [MEAN_TANH] = "tanh", NULL};
static const char *const stops[] = {"none", "baseline", "location", "both", NULL};

const FovOption fov_agent_options[] = {
    FOV_INT(FovAgentOptions, glimpses, "6", 1, FOV_MAX_GLIMPSES,
            "taken before each answer or action"),
    FOV_INT(FovAgentOptions, layers, "1", 1, 2,
            "cores, one on the other; of two the second looks, the first answers"),
    FOV_CHOICE(FovAgentOptions, first, "centre", firsts, "where the first glimpse falls"),
    FOV_CHOICE(FovAgentOptions, mean, "linear", means,
               "location network's output; tanh keeps it in the image"),
    FOV_CHOICE(FovAgentOptions, stop_gradient, "none", stops,
               "heads whose gradient stops before the core, or its first layer"),
    FOV_OPTIONS_END,
};

const FovOption fov_glimpse_options[] = {
    FOV_INT(FovGlimpseOptions, where, "128", 1, 8192, "units that encode where"),
    FOV_INT(FovGlimpseOptions, width, "256", 1, 8192, "units of the glimpse vector g_t"),
    FOV_OPTIONS_END,
};

const FovOption fov_context_options[] = {
    FOV_INT(FovContextOptions, side, "0", 0, FOV_MAX_SIDE,
            "cells each way of a coarse view that starts the second layer; 0: none"),
    FOV_INT(FovContextOptions, width, "128", 1, 8192, "units between coarse view and start"),
    FOV_OPTIONS_END,
};

static int add_bias(FovParams *params, const char *name, int width) {
  return fov_params_add(params, name, 1, width, FOV_INIT_ZERO, 0);
}

static void add_glimpse_network(FovAgent *agent, const FovGlimpseOptions *glimpse) {
  FovParams *params = &agent->params;
  FovAgentIds *id = &agent->ids;
  int what = agent->encoder_layout.width;
  id->where_w = fov_params_add(params, "where.w", glimpse->where, 2, FOV_INIT_UNIFORM, 1);
  id->where_bias = fov_params_add(params, "where.bias", 1, glimpse->where, FOV_INIT_UNIFORM, 1);
  id->glimpse_what =
      fov_params_add(params, "glimpse.what", glimpse->width, what, FOV_INIT_UNIFORM, 1);
  id->glimpse_where =
      fov_params_add(params, "glimpse.where", glimpse->width, glimpse->where, FOV_INIT_UNIFORM, 1);
  id->glimpse_bias = add_bias(params, "glimpse.bias", glimpse->width);
}

/** The second core: named apart, and fed by the first. */
static void add_gaze(FovAgent *agent, const FovAgentParts *parts) {
  agent->params.prefix = "gaze.";
  parts->core->build(&agent->gaze_layout, &agent->params, parts->core_options,
                     agent->core_layout.width);
  agent->params.prefix = NULL;
}

static void add_context(FovAgent *agent) {
  FovParams *params = &agent->params;
  FovAgentIds *id = &agent->ids;
  int side = agent->context.side, hidden = agent->context.width, start = agent->gaze_layout.width;
  agent->coarse = side * side * agent->glimpse.channels;
  id->context_w = fov_params_add(params, "context.w", hidden, agent->coarse, FOV_INIT_HE, 1);
  id->context_bias = add_bias(params, "context.bias", hidden);
  id->start_w = fov_params_add(params, "start.w", start, hidden, FOV_INIT_UNIFORM, 1);
  id->start_bias = add_bias(params, "start.bias", start);
}

static void add_heads(FovAgent *agent, bool may_stop) {
  FovParams *params = &agent->params;
  FovAgentIds *id = &agent->ids;
  int width = agent->core_layout.width;
  // Small at the start: a policy that first looks near the centre, an answer that is undecided.
  id->location_w = fov_params_add(params, "location.w", 2, width, FOV_INIT_UNIFORM, 0.1f);
  id->location_bias = add_bias(params, "location.bias", 2);
  id->class_w = fov_params_add(params, "class.w", agent->actions, width, FOV_INIT_UNIFORM, 1);
  id->class_bias = add_bias(params, "class.bias", agent->actions);
  id->baseline_w = fov_params_add(params, "baseline.w", 1, width, FOV_INIT_UNIFORM, 0.1f);
  id->baseline_bias = add_bias(params, "baseline.bias", 1);
  if (!may_stop) return;
  id->stop_w = fov_params_add(params, "stop.w", 2, width, FOV_INIT_UNIFORM, 0.1f);
  id->stop_bias = add_bias(params, "stop.bias", 2);
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
                    "context.side = %d: the context starts a second layer, found layers = %d; set "
                    "layers = 2 or context.side = 0",
                    side, layers);
  if (side && parts->core->memoryless)
    return fov_fail(FOV_ERR_USAGE,
                    "context.side = %d: core = %s has no memory that could start from the context; "
                    "choose another core or set context.side = 0",
                    side, parts->core->plugin.name);
  return FOV_OK;
}

static FovStatus add_parts(FovAgent *agent, const FovAgentParts *parts) {
  FOV_TRY(check_size(parts, parts->sensor.whole, "sensor.whole", "no"));
  FOV_TRY(check_size(parts, parts->context.side, "context.side", "0"));
  FOV_TRY(check_context(parts));
  agent->glimpse = fov_sensor_glimpse(&agent->sensor, parts->height, parts->width, parts->channels);
  FOV_TRY(parts->encoder->build(&agent->encoder_layout, &agent->params, parts->encoder_options,
                                agent->glimpse));
  add_glimpse_network(agent, &parts->glimpse);
  parts->core->build(&agent->core_layout, &agent->params, parts->core_options,
                     parts->glimpse.width);
  if (parts->options.layers == 2) add_gaze(agent, parts);
  if (parts->context.side) add_context(agent);
  add_heads(agent, parts->stops);
  return FOV_OK;
}

FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts) {
  *agent = (FovAgent){.options = parts->options,
                      .context = parts->context,
                      .sensor = parts->sensor,
                      .encoder = parts->encoder,
                      .core = parts->core,
                      .actions = parts->actions};
  FovStatus status = add_parts(agent, parts);
  if (status != FOV_OK) fov_agent_finish(agent);
  return status;
}

void fov_agent_finish(FovAgent *agent) {
  fov_params_finish(&agent->params);
}

FovAgentState fov_agent_begin(const FovAgent *agent, FovTape *tape, FovVar *coarse, int lanes) {
  FovVar *p = tape->params;
  const FovAgentIds *id = &agent->ids;
  FovAgentState state = {.lanes = lanes};
  FOV_CHECK(coarse ? coarse->rows == lanes && coarse->cols == agent->coarse : agent->coarse == 0,
            "%d lanes with a context of %d numbers", lanes, agent->coarse);
  if (!coarse) return state;
  FovVar *hidden = fov_linear(tape, coarse, &p[id->context_w], &p[id->context_bias], FOV_RELU);
  FovVar *start = fov_linear(tape, hidden, &p[id->start_w], &p[id->start_bias], FOV_TANH);
  state.where = (FovCoreState){.h = start, .c = start};
  return state;
}

/** Whether the gradient of a head, the location's or the baseline's, is to stop. */
static bool is_stopped(const FovAgent *agent, FovStopGradient head) {
  int stop = agent->options.stop_gradient;
  return stop == (int)head || stop == FOV_STOP_GRADIENT_BOTH;
}

static void move_gaze(FovAgentState *state, const FovAgent *agent, FovTape *tape) {
  FovVar *h_t = state->what.h;
  if (is_stopped(agent, FOV_STOP_GRADIENT_LOCATION)) h_t = fov_stop_gradient(tape, h_t);
  agent->core->step(&state->where, &agent->gaze_layout, tape, h_t);
}

void fov_agent_see(FovAgentState *state, const FovAgent *agent, FovTape *tape, FovVar *rho,
                   FovVar *l_t) {
  FovVar *p = tape->params;
  const FovAgentIds *id = &agent->ids;
  FovVar *h_g = agent->encoder->encode(&agent->encoder_layout, tape, rho);
  FovVar *h_l = fov_linear(tape, l_t, &p[id->where_w], &p[id->where_bias], FOV_RELU);
  FovVar *g_t = fov_linear2(tape, h_g, &p[id->glimpse_what], h_l, &p[id->glimpse_where],
                            &p[id->glimpse_bias], FOV_RELU);
  agent->core->step(&state->what, &agent->core_layout, tape, g_t);
  if (agent->options.layers == 2) move_gaze(state, agent, tape);
}

static void keep_rows(FovCoreState *state, FovTape *tape, const int *rows, int count) {
  if (state->h) state->h = fov_gather(tape, state->h, rows, count);
  if (state->c) state->c = fov_gather(tape, state->c, rows, count);
}

void fov_agent_keep(FovAgentState *state, FovTape *tape, const int *rows, int count) {
  keep_rows(&state->what, tape, rows, count);
  keep_rows(&state->where, tape, rows, count);
  state->lanes = count;
}

/** A linear head on a layer's output; before the first glimpse that may be NULL, for zeros. */
static FovVar *head(FovTape *tape, FovVar *h_t, int lanes, int w, int bias,
                    FovActivation activation) {
  if (!h_t) h_t = fov_zeros(tape, lanes, tape->params[w].cols);
  return fov_linear(tape, h_t, &tape->params[w], &tape->params[bias], activation);
}

/** The last layer's output; with a stop no gradient flows back into it. */
static FovVar *last_output(const FovAgent *agent, FovTape *tape, const FovAgentState *state,
                           bool stop) {
  FovVar *h_t = agent->options.layers == 2 ? state->where.h : state->what.h;
  return h_t && stop ? fov_stop_gradient(tape, h_t) : h_t;
}

FovVar *fov_agent_mean(const FovAgent *agent, FovTape *tape, const FovAgentState *state) {
  // Of two layers the first was already cut off, by move_gaze, and the second is to learn.
  bool stop = agent->options.layers == 1 && is_stopped(agent, FOV_STOP_GRADIENT_LOCATION);
  return head(tape, last_output(agent, tape, state, stop), state->lanes, agent->ids.location_w,
              agent->ids.location_bias, agent->options.mean == MEAN_TANH ? FOV_TANH : FOV_LINEAR);
}

FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovAgentState *state) {
  return head(tape, state->what.h, state->lanes, agent->ids.class_w, agent->ids.class_bias,
              FOV_LINEAR);
}

FovVar *fov_agent_stop(const FovAgent *agent, FovTape *tape, const FovAgentState *state) {
  FOV_CHECK(agent->ids.stop_w, "an agent without a head to stop");
  FovVar *h_t = state->what.h;
  if (is_stopped(agent, FOV_STOP_GRADIENT_LOCATION)) h_t = fov_stop_gradient(tape, h_t);
  return head(tape, h_t, state->lanes, agent->ids.stop_w, agent->ids.stop_bias, FOV_LINEAR);
}

FovVar *fov_agent_baseline(const FovAgent *agent, FovTape *tape, const FovAgentState *state) {
  bool stop = is_stopped(agent, FOV_STOP_GRADIENT_BASELINE);
  return head(tape, last_output(agent, tape, state, stop), state->lanes, agent->ids.baseline_w,
              agent->ids.baseline_bias, FOV_LINEAR);
}
