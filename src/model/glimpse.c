#include "model/glimpse.h"

#include <stdlib.h>
#include <string.h>

#include "base/profile.h"

static const char *const joins[] = {[FOV_JOIN_ADD] = "add", [FOV_JOIN_SCALE] = "scale", NULL};

const FovOption fov_glimpse_options[] = {
    FOV_INT(FovGlimpseOptions, where, "128", 0, 8192,
            "units that encode the place of a glimpse; 0: it is hidden from the agent"),
    FOV_INT(FovGlimpseOptions, width, "256", 1, 8192, "units of the glimpse vector g_t"),
    FOV_CHOICE(
        FovGlimpseOptions, join, "add", joins,
        "what the place does to the content: add, relu(c + V h), or scale, relu(c) (1 + V h)"),
    FOV_OPTIONS_END,
};

FovStatus fov_glimpse_build(FovGlimpseNet *net, FovParams *params, const FovGlimpseParts *parts) {
  int content, where = parts->options.where, width = parts->options.width;
  *net = (FovGlimpseNet){.sensor = parts->sensor, .shape = parts->shape, .encoder = parts->encoder};
  net->encoder_layout = calloc(1, parts->encoder->layout_size);
  if (!net->encoder_layout) return fov_fail(FOV_ERR_MEMORY, "no memory for an encoder");
  FOV_TRY(parts->encoder->build(net->encoder_layout, &content, params, parts->encoder_options,
                                parts->shape));
  net->hides_place = where == 0;
  net->join = (FovGlimpseJoin)parts->options.join;
  if (net->hides_place && net->join == FOV_JOIN_SCALE)
    return fov_fail(FOV_ERR_USAGE,
                    "glimpse.join = scale: expected the place, found glimpse.where = 0, which "
                    "hides it; set glimpse.join = add");
  if (!net->hides_place) {
    net->where_w = fov_params_add(params, "where.w", where, 2, FOV_INIT_UNIFORM, 1);
    net->where_bias = fov_params_add(params, "where.bias", 1, where, FOV_INIT_UNIFORM, 1);
  }
  net->content_w = fov_params_add(params, "glimpse.what", width, content, FOV_INIT_UNIFORM, 1);
  if (!net->hides_place)
    net->place_w = fov_params_add(params, "glimpse.where", width, where, FOV_INIT_UNIFORM, 1);
  net->bias = fov_params_add(params, "glimpse.bias", 1, width, FOV_INIT_ZERO, 0);
  return FOV_OK;
}

void fov_glimpse_finish(FovGlimpseNet *net) {
  free(net->encoder_layout);
  net->encoder_layout = NULL;
}

FovVar *fov_glimpse_rows(FovTape *tape, const FovGlimpseNet *net, int rows) {
  return fov_constant(tape, rows, fov_glimpse_features(net->shape));
}

typedef struct Taken {
  FovVar *rho;
  const FovVar *places;
  const FovImage *images; // [n]
  FovSensor sensor;
  int sites;
} Taken;

static void take_backward(FovTape *tape, void *saved) {
  (void)tape;
  Taken *op = saved;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < op->rho->rows; i++) {
    const FovImage *image = &op->images[i / op->sites];
    const real *l = fov_value_row(op->places, i);
    fov_sensor_look_back(image->gradient, fov_grad_row(op->rho, i), &op->sensor, l[0], l[1],
                         image->height, image->width, image->channels);
  }
  fov_profile_enter(before);
}

void fov_glimpse_take(FovVar *rho, FovTape *tape, const FovGlimpseNet *net, const FovImage *images,
                      const FovVar *places, int sites) {
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < rho->rows; i++) {
    const real *l = fov_value_row(places, i);
    fov_sensor_look(fov_value_row(rho, i), &net->sensor, &images[i / sites], l[0], l[1]);
  }
  fov_profile_enter(before);
  if (!images->gradient) return;
  size_t bytes = (size_t)(rho->rows / sites) * sizeof *images;
  Taken *op = FOV_NEW(tape->arena, Taken, 1);
  *op = (Taken){.rho = rho, .places = places, .sensor = net->sensor, .sites = sites};
  op->images = memcpy(fov_arena_alloc(tape->arena, bytes), images, bytes);
  rho->wants_grad = true;
  fov_note(tape, rho, NULL, take_backward, op);
}

FovVar *fov_glimpse_join(FovTape *tape, const FovGlimpseNet *net, FovVar *rho, FovVar *places) {
  FovVar *p = tape->params, *h_g = net->encoder->encode(net->encoder_layout, tape, rho);
  if (net->hides_place) return fov_linear(tape, h_g, &p[net->content_w], &p[net->bias], FOV_RELU);
  FovVar *h_l = fov_linear(tape, places, &p[net->where_w], &p[net->where_bias], FOV_RELU);
  if (net->join == FOV_JOIN_ADD)
    return fov_linear2(tape, h_g, &p[net->content_w], h_l, &p[net->place_w], &p[net->bias],
                       FOV_RELU);
  FovVar *content = fov_linear(tape, h_g, &p[net->content_w], &p[net->bias], FOV_RELU);
  FovVar *scale = fov_linear(tape, h_l, &p[net->place_w], NULL, FOV_LINEAR);
  return fov_add(tape, content, fov_multiply(tape, content, scale));
}

FovVar *fov_glimpse_next(FovVar **rho, FovGlimpses *glimpses, FovTape *tape,
                         const FovGlimpseNet *net, const FovImage *images, FovVar *places) {
  if (!glimpses->rho) glimpses->rho = fov_glimpse_rows(tape, net, glimpses->room);
  *rho = fov_rows(tape, glimpses->rho, glimpses->used, places->rows);
  glimpses->used += places->rows;
  fov_glimpse_take(*rho, tape, net, images, places, 1);
  return fov_glimpse_join(tape, net, *rho, places);
}
