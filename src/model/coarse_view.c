#include "model/coarse_view.h"

#include <string.h>

#include "base/profile.h"

typedef struct Views {
  FovVar *y;
  const FovImage *images; // [n]
  int side;
} Views;

static void views_backward(FovTape *tape, void *saved) {
  (void)tape;
  Views *op = saved;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int b = 0; b < op->y->rows; b++) {
    const FovImage *image = &op->images[b];
    fov_sensor_shrink_back(image->gradient, fov_grad_row(op->y, b), op->side, image->height,
                           image->width, image->channels);
  }
  fov_profile_enter(before);
}

FovVar *fov_coarse_views(FovTape *tape, const FovImage *images, int n, int side) {
  FovVar *y = fov_result(tape, n, side * side * images->channels, images->gradient);
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int b = 0; b < n; b++) fov_sensor_shrink(fov_value_row(y, b), &images[b], side);
  fov_profile_enter(before);
  if (!y->wants_grad) return y;
  Views *op = FOV_NEW(tape->arena, Views, 1);
  *op = (Views){.y = y, .side = side};
  op->images = memcpy(FOV_NEW(tape->arena, FovImage, n), images, (size_t)n * sizeof *images);
  fov_note(tape, y, NULL, views_backward, op);
  return y;
}
