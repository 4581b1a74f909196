#include "model/agent.h"

#include "tensor/ops.h"

static const char *const firsts[] = {"centre", "random", "learned", NULL};
enum { MEAN_LINEAR, MEAN_TANH };
static const char *const means[] = {[MEAN_LINEAR] = "linear", [MEAN_TANH] = "tanh", NULL};
static const char *const stops[] = {"none", "baseline", "location", "both", NULL};

const FovOption fov_agent_options[] = {
    FOV_INT(FovAgentOptions, glimpses, "6", 1, FOV_MAX_GLIMPSES,
            "taken before each answer or action"),
    FOV_CHOICE(FovAgentOptions, first, "centre", firsts, "where the first glimpse falls"),
    FOV_CHOICE(FovAgentOptions, mean, "linear", means,
               "location network's output; tanh keeps it in the image"),
    FOV_CHOICE(FovAgentOptions, stop_gradient, "none", stops,
               "heads whose gradient stops before the core"),
    FOV_OPTIONS_END,
};

const FovOption fov_glimpse_options[] = {
    FOV_INT(FovGlimpseOptions, where, "128", 1, 8192, "units that encode where"),
    FOV_INT(FovGlimpseOptions, width, "256", 1, 8192, "units of the glimpse vector g_t"),
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

FovStatus fov_agent_build(FovAgent *agent, const FovAgentParts *parts) {
  int height = parts->height, width = parts->width;
  *agent = (FovAgent){.options = parts->options,
                      .sensor = parts->sensor,
                      .encoder = parts->encoder,
                      .core = parts->core,
                      .actions = parts->actions};
  if (agent->sensor.whole && (height > FOV_MAX_WHOLE || width > FOV_MAX_WHOLE))
    return fov_fail(FOV_ERR_USAGE,
                    "sensor.whole: images of %d x %d pixels, expected at most %d each way; make "
                    "them smaller or set sensor.whole = no",
                    width, height, FOV_MAX_WHOLE);
  agent->glimpse = fov_sensor_glimpse(&agent->sensor, height, width, parts->channels);
  FOV_TRY(parts->encoder->build(&agent->encoder_layout, &agent->params, parts->encoder_options,
                                agent->glimpse));
  add_glimpse_network(agent, &parts->glimpse);
  parts->core->build(&agent->core_layout, &agent->params, parts->core_options,
                     parts->glimpse.width);
  add_heads(agent, parts->stops);
  return FOV_OK;
}

void fov_agent_see(FovCoreState *state, const FovAgent *agent, FovTape *tape, FovVar *rho,
                   FovVar *l_t) {
  FovVar *p = tape->params;
  const FovAgentIds *id = &agent->ids;
  FovVar *h_g = agent->encoder->encode(&agent->encoder_layout, tape, rho);
  FovVar *h_l = fov_linear(tape, l_t, &p[id->where_w], &p[id->where_bias], FOV_RELU);
  FovVar *g_t = fov_linear2(tape, h_g, &p[id->glimpse_what], h_l, &p[id->glimpse_where],
                            &p[id->glimpse_bias], FOV_RELU);
  agent->core->step(state, &agent->core_layout, tape, g_t);
}

FovCoreState fov_agent_begin(const FovAgent *agent, FovTape *tape, int lanes) {
  return (FovCoreState){.h = fov_zeros(tape, lanes, agent->core_layout.width)};
}

static FovVar *head(FovTape *tape, FovVar *h_t, int w, int bias, bool stop,
                    FovActivation activation) {
  if (stop) h_t = fov_stop_gradient(tape, h_t);
  return fov_linear(tape, h_t, &tape->params[w], &tape->params[bias], activation);
}

void fov_agent_keep(FovCoreState *state, FovTape *tape, const int *rows, int count) {
  state->h = fov_gather(tape, state->h, rows, count);
  if (state->c) state->c = fov_gather(tape, state->c, rows, count);
}

FovVar *fov_agent_mean(const FovAgent *agent, FovTape *tape, const FovCoreState *state) {
  int stop = agent->options.stop_gradient;
  return head(tape, state->h, agent->ids.location_w, agent->ids.location_bias,
              stop == FOV_STOP_LOCATION || stop == FOV_STOP_BOTH,
              agent->options.mean == MEAN_TANH ? FOV_TANH : FOV_LINEAR);
}

FovVar *fov_agent_stop(const FovAgent *agent, FovTape *tape, const FovCoreState *state) {
  int stop = agent->options.stop_gradient;
  FOV_CHECK(agent->ids.stop_w, "an agent without a head to stop");
  return head(tape, state->h, agent->ids.stop_w, agent->ids.stop_bias,
              stop == FOV_STOP_LOCATION || stop == FOV_STOP_BOTH, FOV_LINEAR);
}

FovVar *fov_agent_logits(const FovAgent *agent, FovTape *tape, const FovCoreState *state) {
  return head(tape, state->h, agent->ids.class_w, agent->ids.class_bias, false, FOV_LINEAR);
}

FovVar *fov_agent_baseline(const FovAgent *agent, FovTape *tape, const FovCoreState *state) {
  int stop = agent->options.stop_gradient;
  return head(tape, state->h, agent->ids.baseline_w, agent->ids.baseline_bias,
              stop == FOV_STOP_BASELINE || stop == FOV_STOP_BOTH, FOV_LINEAR);
}
