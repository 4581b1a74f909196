/**
 * The gaze of Mnih et al. 2014, section 3.1: a policy chooses a place l, the sensor takes one
 * glimpse rho there, and the glimpse network joins content and place:
 * h_l = relu(Linear(l)),  g = relu(Linear(h_g) + Linear(h_l)).
 */
#include <stdlib.h>

#include "base/profile.h"
#include "model/attention.h"

const FovOption fov_glimpse_options[] = {
    FOV_INT(FovGlimpseOptions, where, "128", 1, 8192, "units that encode the place of a glimpse"),
    FOV_INT(FovGlimpseOptions, width, "256", 1, 8192, "units of the glimpse vector g_t"),
    FOV_OPTIONS_END,
};

typedef struct Layout {
  FovSensor sensor;
  FovGlimpseShape shape;
  const FovEncoder *encoder;
  void *encoder_layout; // owned
  int where_w, where_bias, content_w, place_w, bias;
} Layout;

typedef struct State {
  FovVar *glimpses; // rows for all time steps, so that their matrix products can be joined
  int row;          // the first that is free
} State;

static FovStatus build(void *values, int *width, FovParams *params, const void *options,
                       const FovAttentionParts *parts) {
  (void)options;
  Layout *layout = values;
  const FovGlimpseOptions *o = &parts->glimpse;
  int content;
  *layout = (Layout){.sensor = parts->sensor, .shape = parts->shape, .encoder = parts->encoder};
  layout->encoder_layout = calloc(1, parts->encoder->layout_size);
  if (!layout->encoder_layout) return fov_fail(FOV_ERR_MEMORY, "no memory for an encoder");
  FOV_TRY(parts->encoder->build(layout->encoder_layout, &content, params, parts->encoder_options,
                                parts->shape));
  layout->where_w = fov_params_add(params, "where.w", o->where, 2, FOV_INIT_UNIFORM, 1);
  layout->where_bias = fov_params_add(params, "where.bias", 1, o->where, FOV_INIT_UNIFORM, 1);
  layout->content_w =
      fov_params_add(params, "glimpse.what", o->width, content, FOV_INIT_UNIFORM, 1);
  layout->place_w =
      fov_params_add(params, "glimpse.where", o->width, o->where, FOV_INIT_UNIFORM, 1);
  layout->bias = fov_params_add(params, "glimpse.bias", 1, o->width, FOV_INIT_ZERO, 0);
  *width = o->width;
  return FOV_OK;
}

static void finish(void *layout) {
  free(((Layout *)layout)->encoder_layout);
}

static void begin(void *values, const void *layout, FovTape *tape, int lanes, int glimpses) {
  const Layout *gaze = layout;
  State *state = values;
  state->glimpses = fov_constant(tape, lanes * glimpses, fov_glimpse_features(gaze->shape));
  state->row = 0;
}

static void look(FovVar *rho, const Layout *layout, const FovView *view) {
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  const real *l = view->location->value;
  size_t stride = (size_t)view->location->stride;
  for (int i = 0; i < view->lanes; i++)
    fov_sensor_look(rho->value + (size_t)i * rho->stride, &layout->sensor, &view->images[i],
                    l[i * stride], l[i * stride + 1]);
  fov_profile_enter(before);
}

static void read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                 const FovView *view) {
  const Layout *gaze = layout;
  State *state = values;
  FovVar *p = tape->params, *l = view->location;
  FovVar *rho = readout->rho = fov_rows(tape, state->glimpses, state->row, view->lanes);
  state->row += view->lanes;
  look(rho, gaze, view);
  FovVar *h_g = gaze->encoder->encode(gaze->encoder_layout, tape, rho);
  FovVar *h_l = fov_linear(tape, l, &p[gaze->where_w], &p[gaze->where_bias], FOV_RELU);
  readout->g =
      fov_linear2(tape, h_g, &p[gaze->content_w], h_l, &p[gaze->place_w], &p[gaze->bias], FOV_RELU);
}

const FovAttention fov_attention_gaze = {
    .plugin = {.name = "gaze", .help = "one glimpse where the policy looks (Mnih et al. 2014)"},
    .layout_size = sizeof(Layout),
    .state_size = sizeof(State),
    .build = build,
    .finish = finish,
    .begin = begin,
    .read = read,
};
