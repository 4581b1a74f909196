/**
 * Grad-CAM (Selvaraju et al. 2017) on the last convolutional layer of the encoder.
 *
 * A patch has feature maps A_k [H', W']. Their weighted sum relu(Σ_k a_k A_k), a_k = mean ∂y/∂A_k,
 * is enlarged to the patch by bilinear interpolation. The cells of all patches are then added to
 * the pixels that they were made of, as gradients are: by the sensor's adjoint.
 */
#include <math.h>
#include <string.h>

#include "explain/method.h"
#include "tensor/ops.h"

static FovStatus check(const FovTask *task, bool through) {
  const FovEncoder *encoder = task->agent->cue_encoder; // all encoders of an agent are of one kind
  if (through) return fov_fail(FOV_ERR_USAGE, "grad_cam: not defined with --through; leave it out");
  if (!encoder->maps)
    return fov_fail(FOV_ERR_USAGE, "grad_cam: expected encoder = conv, found encoder = %s",
                    encoder->plugin.name);
  return FOV_OK;
}

/** F maps of n × n cells, and the patch [side, side, C] that they were made of. */
typedef struct Shape {
  int n, filters, side, channels;
} Shape;

/** cam [n, n] = relu(Σ_k a_k A_k). maps, gradients: [n, n, F] */
static void weigh_maps(double *cam, const real *maps, const real *gradients, const Shape *shape) {
  int cells = shape->n * shape->n, F = shape->filters;
  memset(cam, 0, (size_t)cells * sizeof *cam);
  for (int k = 0; k < F; k++) {
    double weight = 0;
    for (int i = 0; i < cells; i++) weight += (double)gradients[i * F + k] / cells;
    for (int i = 0; i < cells; i++) cam[i] += weight * (double)maps[i * F + k];
  }
  for (int i = 0; i < cells; i++) cam[i] = fmax(cam[i], 0);
}

/** The cells around place p of an axis that is enlarged from n to `side`, and the weight of the
 * second. */
static double cells_around(int cells[2], int p, int n, int side) {
  double place = fmin(fmax((p + 0.5) * n / side - 0.5, 0), n - 1);
  cells[0] = (int)place;
  cells[1] = cells[0] + 1 < n ? cells[0] + 1 : cells[0];
  return place - cells[0];
}

/** patch [side, side, C]: the cam enlarged, the same in all channels. */
static void enlarge(real *patch, const double *cam, const Shape *shape) {
  int row[2], column[2];
  for (int y = 0; y < shape->side; y++)
    for (int x = 0; x < shape->side; x++) {
      double down = cells_around(row, y, shape->n, shape->side), lines[2];
      double right = cells_around(column, x, shape->n, shape->side);
      for (int i = 0; i < 2; i++) {
        const double *line = cam + row[i] * shape->n;
        lines[i] = (1 - right) * line[column[0]] + right * line[column[1]];
      }
      for (int c = 0; c < shape->channels; c++)
        *patch++ = (real)((1 - down) * lines[0] + down * lines[1]);
    }
}

/** Glimpses' maps in the place of their gradient: [rows, S·G·G·C]. */
static real *paint(FovArena *arena, const FovWatched *watched, FovGlimpseShape glimpse) {
  const FovConv *conv = watched->about;
  const FovVar *maps = watched->var, *rho = watched->from;
  int n = fov_conv_fitting(conv, conv->height), S = conv->pictures;
  Shape shape = {.n = n,
                 .filters = maps->cols / (S * n * n),
                 .side = glimpse.side,
                 .channels = glimpse.channels};
  int patch = rho->cols / S, numbers = maps->cols / S;
  real *painted = FOV_NEW(arena, real, (size_t)rho->rows * rho->cols);
  double *cam = FOV_NEW(arena, double, n *n);
  for (int b = 0; b < rho->rows; b++)
    for (int s = 0; s < S; s++) {
      size_t first = (size_t)s * (size_t)numbers;
      weigh_maps(cam, fov_value_row(maps, b) + first, fov_grad_row(maps, b) + first, &shape);
      enlarge(painted + (size_t)b * rho->cols + (size_t)s * patch, cam, &shape);
    }
  return painted;
}

/** Whether y depends on these maps, and they on the pixels. */
static bool is_painted(const FovWatched *watched) {
  return watched->from->wants_grad && watched->var->has_grad;
}

static void map(real *map, const FovExplained *explained, const void *options) {
  (void)options;
  const FovHeld *held = explained->held;
  FovReplay replay;
  const FovReplayRequest request = {.reader = fov_target_reader(&explained->target),
                                    .gradient = true,
                                    .watching = FOV_WATCH_MAPS};
  FovArena *arena = explained->arena;
  if (fov_explained_stops(explained)) return;
  fov_arena_rewind(explained->scratch);
  fov_replay_run(&replay, explained->scratch, held, &request);
  fov_explained_seed(FOV_NEW(arena, double, held->lanes), &replay, explained);
  fov_replay_backward(&replay, held);
  int count = 0, n = 0;
  for (FovWatched *w = replay.tape.watched; w; w = w->previous) count++;
  real **painted = FOV_NEW_ZEROS(arena, real *, count ? count : 1);
  for (FovWatched *w = replay.tape.watched; w; w = w->previous, n++)
    if (is_painted(w)) painted[n] = paint(arena, w, held->agent.glimpse);
  // A second backward pass takes the painted cells to the pixels.
  fov_replay_clear(&replay, held);
  n = 0;
  for (FovWatched *w = replay.tape.watched; w; w = w->previous, n++)
    if (painted[n]) fov_tape_add_grad(&replay.tape, w->from, painted[n]);
  fov_tape_backward(&replay.tape);
  memcpy(map, replay.gradient, fov_explained_pixels(explained) * sizeof *map);
}

const FovMethod fov_method_grad_cam = {
    .plugin = {.name = "grad_cam",
               .help = "maps of a convolutional encoder, weighted (Selvaraju et al. 2017)"},
    .check = check,
    .map = map,
};
