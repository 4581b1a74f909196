#include "model/window_ops.h"

#include "base/profile.h"

/* ---- numbers of a window ---- */

typedef struct Numbers {
  FovVar *x, *place, *shape;
  real scale;
} Numbers;

static const real RANGE = FOV_WINDOW_RANGE;

static void numbers_backward(FovTape *tape, void *saved) {
  Numbers *op = saved;
  FovVar *place = op->place, *shape = op->shape;
  fov_grad(tape, op->x);
  for (int b = 0; b < op->x->rows; b++) {
    const real *l = fov_value_row(place, b), *n = fov_value_row(shape, b);
    const real *x = fov_value_row(op->x, b);
    real *dx = fov_grad_row(op->x, b);
    for (int j = 0; j < 2 && place->has_grad; j++)
      dx[j] += op->scale * fov_grad_row(place, b)[j] * (1 - l[j] * l[j]);
    for (int k = 0; k < shape->cols && shape->has_grad; k++) {
      real bound = fov_tanh(op->scale * x[2 + k] / RANGE);
      dx[2 + k] += op->scale * fov_grad_row(shape, b)[k] * n[k] * (1 - bound * bound);
    }
  }
}

void fov_window_numbers(FovVar **place, FovVar **shape, FovTape *tape, FovVar *x, const real *first,
                        real scale) {
  int K = x->cols - 2;
  FOV_CHECK(K == 1 || K == FOV_WINDOW_SHAPE, "x [%d, %d]", x->rows, x->cols);
  *place = fov_result_of(tape, x, 0, x->rows, 2, x->wants_grad);
  *shape = fov_result_of(tape, x, 1, x->rows, K, x->wants_grad);
  for (int b = 0; b < x->rows; b++) {
    const real *from = fov_value_row(x, b);
    for (int j = 0; j < 2; j++) fov_value_row(*place, b)[j] = fov_tanh(scale * from[j]);
    for (int k = 0; k < K; k++)
      fov_value_row(*shape, b)[k] =
          first[k] * fov_exp(RANGE * fov_tanh(scale * from[2 + k] / RANGE));
  }
  Numbers *op = FOV_NEW(tape->arena, Numbers, 1);
  *op = (Numbers){.x = x, .place = *place, .shape = *shape, .scale = scale};
  fov_note(tape, *place, *shape, numbers_backward, op);
}

/* ---- glimpses ---- */

typedef struct Glimpses {
  FovVar *place, *shape, *y;
  FovWindowView view;
} Glimpses;

static FovWindow window_of(const FovVar *place, const FovVar *shape, int b) {
  const real *l = fov_value_row(place, b), *n = fov_value_row(shape, b);
  FovWindow window = {.x = l[0], .y = l[1], .stride = n[FOV_WINDOW_STRIDE], .intensity = 1};
  if (shape->cols == 1) return window;
  window.sigma = n[FOV_WINDOW_SIGMA];
  window.intensity = n[FOV_WINDOW_INTENSITY];
  return window;
}

static void add_gradients(FovVar *place, FovVar *shape, int b, const FovWindow *gradient) {
  const real numbers[] = {[FOV_WINDOW_STRIDE] = gradient->stride,
                          [FOV_WINDOW_SIGMA] = gradient->sigma,
                          [FOV_WINDOW_INTENSITY] = gradient->intensity};
  if (place->wants_grad) {
    fov_grad_row(place, b)[0] += gradient->x;
    fov_grad_row(place, b)[1] += gradient->y;
  }
  for (int k = 0; k < shape->cols && shape->wants_grad; k++)
    fov_grad_row(shape, b)[k] += numbers[k];
}

static void glimpses_backward(FovTape *tape, void *saved) {
  Glimpses *op = saved;
  const FovWindowView *view = &op->view;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  if (op->place->wants_grad) fov_grad(tape, op->place);
  if (op->shape->wants_grad) fov_grad(tape, op->shape);
  for (int b = 0; b < op->y->rows; b++) {
    FovWindow window = window_of(op->place, op->shape, b), gradient = {0};
    fov_window_look_back(&gradient, fov_grad_row(op->y, b), fov_value_row(op->y, b), view->kind,
                         &view->sensor, &view->images[b], &window, view->scratch);
    add_gradients(op->place, op->shape, b, &gradient);
  }
  fov_profile_enter(before);
}

/** Images that will be the same in the backward pass. */
static const FovImage *keep_images(FovTape *tape, const FovWindowView *view, int lanes) {
  FovImage *kept = FOV_NEW(tape->arena, FovImage, lanes);
  memcpy(kept, view->images, (size_t)lanes * sizeof *kept);
  for (int b = 0; b < lanes && view->changing; b++) {
    FovImage *image = &kept[b];
    size_t count = (size_t)image->height * image->width * image->channels;
    if (image->bytes)
      image->bytes = memcpy(fov_arena_alloc(tape->arena, count), image->bytes, count);
    else
      image->floats =
          memcpy(FOV_NEW(tape->arena, float, count), image->floats, count * sizeof(float));
  }
  return kept;
}

FovVar *fov_window_glimpses(FovTape *tape, FovVar *place, FovVar *shape,
                            const FovWindowView *view) {
  const FovSensor *sensor = &view->sensor;
  bool gaussian = view->kind == FOV_WINDOW_GAUSSIAN;
  FOV_CHECK(place->cols == 2 && shape->rows == place->rows &&
                shape->cols == (gaussian ? FOV_WINDOW_SHAPE : 1),
            "place [%d, %d], shape [%d, %d]", place->rows, place->cols, shape->rows, shape->cols);
  const FovImage *image = &view->images[0];
  FovGlimpseShape glimpse =
      fov_sensor_glimpse(sensor, image->height, image->width, image->channels);
  FovVar *y = fov_result_of(tape, place, 0, place->rows, fov_glimpse_features(glimpse),
                            place->wants_grad || shape->wants_grad || image->gradient);
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int b = 0; b < y->rows; b++) {
    FovWindow window = window_of(place, shape, b);
    fov_window_look(fov_value_row(y, b), view->kind, sensor, &view->images[b], &window,
                    view->scratch);
  }
  fov_profile_enter(before);
  if (!y->wants_grad) return y;
  Glimpses *op = FOV_NEW(tape->arena, Glimpses, 1);
  *op = (Glimpses){.place = place, .shape = shape, .y = y, .view = *view};
  op->view.images = keep_images(tape, view, y->rows);
  fov_note(tape, y, NULL, glimpses_backward, op);
  return y;
}
