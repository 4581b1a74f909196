#include <limits.h>

#include "tensor/activation.h"
#include "tensor/ops.h"
#include "tensor/rows.h"

/** Pixels that are unfolded at a time: the matrix products then find them in the second-level
 * cache, and memory grows neither with the lanes nor with the pictures. */
enum { ROOM = 1 << 15 };

typedef struct Conv {
  FovVar *x, *w, *bias, *y;
  FovConv shape;
  FovActivation activation;
  size_t places, places_down, places_across; /**< S·H'·W', H', W' */
  bool dense;        /**< no padding between the lanes of y, whose places are then a matrix */
  FovMatrix windows; /**< [group, K·K·C]: the pixels under a filter at each place of a group */
  FovMatrix sums; /**< [group, F]: what the filters give for them, or its gradient; if y is dense,
                       in y and its gradient */
} Conv;

int fov_conv_fitting(const FovConv *conv, int extent) {
  return (extent - conv->side) / conv->stride + 1;
}

int fov_conv_places(const FovConv *conv) {
  return conv->pictures * fov_conv_fitting(conv, conv->height) *
         fov_conv_fitting(conv, conv->width);
}

static int window_size(const FovConv *conv) {
  return conv->side * conv->side * conv->channels;
}

/** Places that are processed at a time, unless there are fewer. */
static int group_size(const FovConv *conv, int filters) {
  int window = window_size(conv), most = window > filters ? window : filters;
  return most < ROOM ? ROOM / most : 1;
}

/** Where the window of a place starts in x; places are counted lane after lane. */
FOV_INLINE size_t window_at(const Conv *op, size_t place) {
  const FovConv *shape = &op->shape;
  size_t lane = place / op->places, line = place % op->places / op->places_across;
  size_t picture = line / op->places_down, down = line % op->places_down;
  size_t across = place % op->places_across;
  size_t row = picture * shape->height + down * shape->stride;
  return lane * op->x->stride + (row * shape->width + across * shape->stride) * shape->channels;
}

/** Where the results of a place stand in y. */
FOV_INLINE size_t result_at(const Conv *op, size_t place) {
  if (op->dense) return place * op->w->rows;
  return place / op->places * op->y->stride + place % op->places * op->w->rows;
}

/** How many places, of `left` from `place` on, are side by side on one line. */
FOV_INLINE int run_from(const Conv *op, size_t place, int left) {
  size_t run = op->places_across - place % op->places_across;
  return run < (size_t)left ? (int)run : left;
}

/** Copies a line of a window from x or, backwards, adds it to dx. */
FOV_INLINE void move_line(real *x, real *window, int count, int unit, bool back) {
  for (int i = 0; i < count; i += unit)
    if (back)
      fov_row_add(x + i, window + i, unit);
    else
      memcpy(window + i, x + i, (size_t)unit * sizeof *x);
}

/** Moves the windows of a group from `first` on. Their lines have `line` numbers, a multiple of
 * `unit`: constants, where that matters. */
FOV_INLINE void move_windows(const Conv *op, FovMatrix windows, size_t first, int line, int unit,
                             bool back) {
  const FovConv *shape = &op->shape;
  int row = shape->width * shape->channels, step = shape->stride * shape->channels, run;
  real *window = windows.at;
  for (int n = 0; n < windows.rows; n += run, window += (size_t)run * windows.stride) {
    real *x = (back ? op->x->grad : op->x->value) + window_at(op, first + n);
    run = run_from(op, first + n, windows.rows - n);
    for (int k = 0; k < shape->side; k++)
      for (int i = 0; i < run; i++)
        move_line(x + k * row + i * step, window + k * line + i * windows.stride, line, unit, back);
  }
}

FOV_INLINE void move_by_units(const Conv *op, FovMatrix windows, size_t first, bool back) {
  int line = op->shape.side * op->shape.channels;
  if (line == 4)
    move_windows(op, windows, first, 4, 4, back);
  else if (line % 16 == 0)
    move_windows(op, windows, first, line, 16, back);
  else
    move_windows(op, windows, first, line, line, back);
}

/** Copies the windows of a group from `first` on. */
FOV_KERNEL static void unfold(const Conv *op, FovMatrix windows, size_t first) {
  move_by_units(op, windows, first, false);
}

/** The backward pass of unfold: adds the windows' gradients to dx; windows may overlap. */
FOV_KERNEL static void fold(const Conv *op, FovMatrix windows, size_t first) {
  move_by_units(op, windows, first, true);
}

/** Clears dx of the lanes whose first place is in a group, just before fold adds to it. */
static void clear_lanes(const Conv *op, size_t first, int rows) {
  const FovVar *x = op->x;
  size_t lane = (first + op->places - 1) / op->places;
  size_t end = (first + (size_t)rows + op->places - 1) / op->places;
  memset(x->grad + lane * x->stride, 0, (end - lane) * x->stride * sizeof *x->grad);
}

/** y = act(sums + bias) at the places of a group. */
FOV_KERNEL static void activate_group(const Conv *op, FovMatrix sums, size_t first) {
  const real *bias = op->bias ? op->bias->value : NULL;
  for (int n = 0; n < sums.rows; n++) {
    real *sum = sums.at + (size_t)n * sums.stride;
    fov_activate_row(sum, bias, op->activation, sums.cols);
    if (!op->dense)
      memcpy(op->y->value + result_at(op, first + n), sum, (size_t)sums.cols * sizeof *sum);
  }
}

/** The gradient of the sums of a group, and dbias += it, unless that is NULL. */
FOV_KERNEL static void deactivate_group(const Conv *op, FovMatrix sums, real *dbias, size_t first) {
  for (int n = 0; n < sums.rows; n++) {
    real *dsum = sums.at + (size_t)n * sums.stride;
    size_t at = result_at(op, first + n);
    if (!op->dense) memcpy(dsum, op->y->grad + at, (size_t)sums.cols * sizeof *dsum);
    fov_deactivate_row(dsum, dbias, op->y->value + at, op->activation, sums.cols);
  }
}

/** Cuts the scratch memory, or y [B, …], its values or gradient, to the group from `first` on, of
 * which the last may be short. False if no place is left. */
static bool take_group(FovMatrix *windows, FovMatrix *sums, const Conv *op, real *y, size_t first) {
  size_t left = op->places * op->y->rows - first;
  *windows = op->windows, *sums = op->sums;
  if (op->dense) sums->at = y + result_at(op, first);
  if (left < (size_t)windows->rows) windows->rows = sums->rows = (int)left;
  return left > 0;
}

static void conv_backward(FovTape *tape, void *saved) {
  Conv *op = saved;
  FovVar *x = op->x, *w = op->w;
  FovMatrix windows, sums;
  real *dbias = op->bias && op->bias->wants_grad ? fov_grad(tape, op->bias) : NULL;
  real beta = 0, x_beta = 0;
  if (w->wants_grad) fov_grad_product(tape, w, &beta);
  if (x->wants_grad) fov_grad_product(tape, x, &x_beta);
  for (size_t first = 0; take_group(&windows, &sums, op, op->y->grad, first);
       first += (size_t)sums.rows) {
    deactivate_group(op, sums, dbias, first);
    if (w->wants_grad) {
      unfold(op, windows, first);
      fov_gemm(fov_grads(w), sums, true, windows, false, beta);
      beta = 1;
    }
    if (x->wants_grad) {
      fov_gemm(windows, sums, false, fov_values(w), false, 0);
      if (x_beta == 0) clear_lanes(op, first, sums.rows);
      fold(op, windows, first);
    }
  }
}

static void check_shapes(const FovVar *x, const FovVar *w, const FovVar *bias, const FovConv *c) {
  FOV_CHECK(c->pictures > 0 && c->channels > 0 && c->side > 0 && c->stride > 0 &&
                c->side <= c->height && c->side <= c->width,
            "%d pictures [%d, %d, %d], filters %d wide, %d apart", c->pictures, c->height, c->width,
            c->channels, c->side, c->stride);
  FOV_CHECK(x->cols == (int64_t)c->pictures * c->height * c->width * c->channels,
            "x [%d, %d] as %d pictures [%d, %d, %d]", x->rows, x->cols, c->pictures, c->height,
            c->width, c->channels);
  FOV_CHECK(w->cols == (int64_t)c->side * c->side * c->channels,
            "w [%d, %d] as filters [%d, %d, %d]", w->rows, w->cols, c->side, c->side, c->channels);
  FOV_CHECK(!bias || (bias->rows == 1 && bias->cols == w->rows), "bias [%d, %d] for %d filters",
            bias->rows, bias->cols, w->rows);
  FOV_CHECK((int64_t)fov_conv_places(c) * w->rows <= INT_MAX, "%d filters at %d places each",
            w->rows, fov_conv_places(c));
}

FovVar *fov_conv(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, const FovConv *conv,
                 FovActivation activation) {
  check_shapes(x, w, bias, conv);
  int filters = w->rows, places = fov_conv_places(conv), group = group_size(conv, filters);
  if ((int64_t)places * x->rows < group) group = places * x->rows;
  bool wants_grad = x->wants_grad || w->wants_grad || (bias && bias->wants_grad);
  FovVar *y = fov_result_of(tape, w, 0, x->rows, places * filters, wants_grad);
  Conv *op = FOV_NEW(tape->arena, Conv, 1);
  *op = (Conv){.x = x, .w = w, .bias = bias, .y = y, .shape = *conv, .activation = activation};
  op->places = (size_t)places;
  op->places_down = (size_t)fov_conv_fitting(conv, conv->height);
  op->places_across = (size_t)fov_conv_fitting(conv, conv->width);
  op->windows = fov_scratch(tape, group, w->cols);
  op->dense = y->stride == y->cols;
  op->sums = fov_scratch(tape, group, filters);

  FovMatrix windows, sums;
  for (size_t first = 0; take_group(&windows, &sums, op, y->value, first);
       first += (size_t)sums.rows) {
    unfold(op, windows, first);
    fov_multiply_weight(sums, windows, w, 0);
    activate_group(op, sums, first);
  }
  fov_note(tape, y, NULL, conv_backward, op);
  return y;
}
