#include "model/window.h"

FovStatus fov_window_build(FovWindowNet *window, int *width, FovParams *params,
                           const FovWindowOptions *options, const FovAttentionParts *parts,
                           FovWindowKind kind) {
  const FovSensor *sensor = &parts->glimpse.sensor;
  int longer = parts->height > parts->width ? parts->height : parts->width;
  if (sensor->whole)
    return fov_fail(FOV_ERR_USAGE,
                    "attention = %s: expected sensor.whole = no, found yes; set "
                    "sensor.whole = no",
                    parts->attention);
  double stride = options->start * longer / (sensor->side << (sensor->scales - 1));
  *width = parts->glimpse.options.width;
  *window = (FovWindowNet){
      .kind = kind, .scale = (real)options->scale, .gradient = (real)options->gradient};
  window->first[FOV_WINDOW_STRIDE] = (real)stride;
  // Neighbouring Gaussians meet where they are at 0.6 of their maximum: no pixel is missed.
  window->first[FOV_WINDOW_SIGMA] = (real)(stride / 2);
  window->first[FOV_WINDOW_INTENSITY] = 1;
  return fov_glimpse_build(&window->net, params, &parts->glimpse);
}

FovStatus fov_window_connect(void *layout, FovParams *params, int inputs) {
  FovWindowNet *window = layout;
  int numbers = 2 + (window->kind == FOV_WINDOW_GAUSSIAN ? FOV_WINDOW_SHAPE : 1);
  window->w = fov_params_add(params, "window.w", numbers, inputs, FOV_INIT_UNIFORM, 1);
  window->bias = fov_params_add(params, "window.bias", 1, numbers, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

void fov_window_finish(void *layout) {
  fov_glimpse_finish(&((FovWindowNet *)layout)->net);
}

enum { WINDOW, FILTER };

int fov_window_columns(FovColumn columns[FOV_COLUMNS], const void *layout) {
  const FovWindowNet *window = layout;
  columns[WINDOW] = (FovColumn){"window", 4};
  columns[FILTER] = (FovColumn){"filter", 2};
  return window->kind == FOV_WINDOW_GAUSSIAN ? FILTER + 1 : WINDOW + 1;
}

void fov_window_begin(void *state, const void *layout, FovTape *tape, int lanes, int glimpses) {
  (void)layout, (void)tape, (void)lanes, (void)glimpses;
  *(FovWindowState *)state = (FovWindowState){.scratch = NULL};
}

/** place, shape: of the window at image b. */
static void record_lane(FovReadout *readout, const FovWindowNet *window, const FovImage *image,
                        const real *place, const real *shape, int b) {
  real *outline = fov_value_row(readout->columns[WINDOW], b);
  real pixels = (real)window->net.shape.side * shape[FOV_WINDOW_STRIDE];
  memcpy(outline, place, 2 * sizeof *outline);
  outline[2] = 2 * pixels / (real)image->width;
  outline[3] = 2 * pixels / (real)image->height;
  if (window->kind != FOV_WINDOW_GAUSSIAN) return;
  real *filter = fov_value_row(readout->columns[FILTER], b);
  filter[0] = shape[FOV_WINDOW_SIGMA];
  filter[1] = shape[FOV_WINDOW_INTENSITY];
}

static void record(FovReadout *readout, const FovWindowNet *window, FovTape *tape,
                   const FovView *view, const FovVar *place, const FovVar *shape) {
  readout->columns[WINDOW] = fov_constant(tape, view->lanes, 4);
  if (window->kind == FOV_WINDOW_GAUSSIAN)
    readout->columns[FILTER] = fov_constant(tape, view->lanes, 2);
  for (int b = 0; b < view->lanes; b++) {
    const real *l = fov_value_row(place, b);
    memcpy(fov_value_row(view->location, b), l, 2 * sizeof *l);
    record_lane(readout, window, &view->images[b], l, fov_value_row(shape, b), b);
  }
}

static real *make_scratch(FovTape *tape, const FovSensor *sensor, const FovImage *image) {
  size_t numbers = fov_window_scratch(sensor, image->height, image->width, image->channels);
  return FOV_NEW(tape->arena, real, numbers);
}

/** The window that was recorded, as constants: the inverse of record_lane. */
static void repeat(FovVar **place, FovVar **shape, const FovWindowNet *window, FovTape *tape,
                   const FovView *view) {
  bool gaussian = window->kind == FOV_WINDOW_GAUSSIAN;
  *place = fov_constant(tape, view->lanes, 2);
  *shape = fov_constant(tape, view->lanes, gaussian ? FOV_WINDOW_SHAPE : 1);
  for (int b = 0; b < view->lanes; b++) {
    const real *outline = fov_value_row(view->held[WINDOW], b);
    real *numbers = fov_value_row(*shape, b), pixels = outline[2] * (real)view->images[b].width / 2;
    memcpy(fov_value_row(*place, b), outline, 2 * sizeof *outline);
    numbers[FOV_WINDOW_STRIDE] = pixels / (real)window->net.shape.side;
    if (!gaussian) continue;
    const real *filter = fov_value_row(view->held[FILTER], b);
    numbers[FOV_WINDOW_SIGMA] = filter[0];
    numbers[FOV_WINDOW_INTENSITY] = filter[1];
  }
}

/** Place and shape as functions of the state. */
static void choose(FovVar **place, FovVar **shape, const FovWindowNet *window, FovTape *tape,
                   const FovView *view) {
  FovVar *p = tape->params, *h = fov_share_gradient(tape, view->state, window->gradient);
  FovVar *x = fov_linear(tape, h, &p[window->w], &p[window->bias], FOV_LINEAR);
  fov_window_numbers(place, shape, tape, x, window->first, window->scale);
}

void fov_window_read(FovReadout *readout, void *values, const void *layout, FovTape *tape,
                     const FovView *view) {
  FovWindowState *state = values;
  const FovWindowNet *window = layout;
  const FovSensor *sensor = &window->net.sensor;
  FovVar *place, *shape;
  if (!state->scratch) state->scratch = make_scratch(tape, sensor, &view->images[0]);
  if (view->held)
    repeat(&place, &shape, window, tape, view);
  else
    choose(&place, &shape, window, tape, view);
  FovWindowView seen = {.kind = window->kind,
                        .sensor = *sensor,
                        .images = view->images,
                        .changing = view->changed,
                        .scratch = state->scratch};
  readout->rho = fov_window_glimpses(tape, place, shape, &seen);
  readout->g = fov_glimpse_join(tape, &window->net, readout->rho, place);
  record(readout, window, tape, view, place, shape);
}
