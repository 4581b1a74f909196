#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/profile.h"
#include "base/rng.h"
#include "base/team.h"
#include "model/core.h"
#include "model/encoder.h"
#include "model/window_ops.h"
#include "tensor/ops.h"
#include "tests/check.h"

_Static_assert(sizeof(real) == sizeof(double), "finite differences need -DFOV_DOUBLE");

/* ---- Gradients by finite differences ---- */

enum { MAX_INPUTS = 6, MAX_OUTPUTS = 4, ALL = -1 };

/** Builds results `y` (NULL-terminated) from inputs `x`; x[i] is NULL from the last input on. */
typedef void Forward(FovVar *y[], FovTape *tape, FovVar *x[], const void *context);

/** A function of parameters whose gradient is to be checked. Its loss is a weighted sum of all
 * numbers of all results. */
typedef struct Subject {
  const char *name;
  FovParams params;
  Forward *forward;
  const void *context;
  int only; /**< the one parameter that reaches `forward` with a gradient, or ALL */
} Subject;

/** A weight of both signs, different for each number of a result. */
static real weight_of(int output, int i) {
  return sin(1 + 7 * output + 3 * i);
}

/** Index of number i of a result, counted row by row. */
static size_t place_of(const FovVar *y, int i) {
  return (size_t)(i / y->cols) * (size_t)y->stride + (size_t)(i % y->cols);
}

static real loss_of(const FovVar *y, int output) {
  real loss = 0;
  for (int i = 0; i < y->rows * y->cols; i++)
    loss += weight_of(output, i) * y->value[place_of(y, i)];
  return loss;
}

static void add_loss_grad(FovTape *tape, FovVar *y, int output) {
  real *grad = fov_grad(tape, y);
  for (int i = 0; i < y->rows * y->cols; i++) grad[place_of(y, i)] += weight_of(output, i);
}

/** Copies of the parameters for run; NULL: forward passes use the parameters themselves. */
static const real *transposed;

/** The loss, and what backward adds to `gradient` unless that is NULL. */
static real run(const Subject *subject, FovArena *arena, const real *values, real *gradient) {
  FovTape tape;
  FovVar *x[MAX_INPUTS + 1] = {NULL}, *y[MAX_OUTPUTS + 1] = {NULL};
  fov_arena_rewind(arena);
  fov_tape_begin(&tape, arena, &subject->params, values, gradient);
  if (transposed) fov_tape_add_transposed(&tape, &subject->params, transposed);
  for (int i = 0; i < subject->params.count && i < MAX_INPUTS; i++) {
    bool flows = subject->only == ALL || subject->only == i;
    x[i] = flows ? &tape.params[i] : fov_stop_gradient(&tape, &tape.params[i]);
  }
  subject->forward(y, &tape, x, subject->context);
  real loss = 0;
  for (int i = 0; y[i]; i++) {
    loss += loss_of(y[i], i);
    if (y[i]->wants_grad) add_loss_grad(&tape, y[i], i);
    assert_false(y[i]->wants_grad && !gradient);
  }
  if (gradient)
    fov_tape_backward(&tape);
  else
    assert_null(tape.last);
  return loss;
}

static void fill_random(real *values, size_t count, uint64_t index) {
  FovRng rng = fov_rng_stream(11, FOV_STREAM_INIT, index);
  for (size_t i = 0; i < count; i++) values[i] = fov_rng_normal(&rng) / 2;
}

/** (L(v + e) − L(v − e)) / 2e for one value. */
static real central_difference(const Subject *subject, FovArena *arena, const real *values,
                               real *value, real e) {
  const real kept = *value;
  *value = kept + e;
  real above = run(subject, arena, values, NULL);
  *value = kept - e;
  real below = run(subject, arena, values, NULL);
  *value = kept;
  return (above - below) / (2 * e);
}

/** dL/dv: of two differences, such that their errors in e², from curvature, cancel. */
static real derivative(const Subject *subject, FovArena *arena, const real *values, real *value) {
  real wide = central_difference(subject, arena, values, value, 2e-5);
  return (4 * central_difference(subject, arena, values, value, 1e-5) - wide) / 3;
}

/** The gradient's content before backward, which must add to it. */
static const real BEFORE = 0.25;

static void assert_param_gradient(const Subject *subject, FovArena *arena, int number, real *values,
                                  const real *gradient) {
  const FovParam *param = &subject->params.list[number];
  bool flows = subject->only == ALL || subject->only == number;
  real largest = 0;
  for (int i = 0; i < param->rows * param->cols; i++) {
    size_t at = param->offset + (size_t)i;
    real expected = flows ? derivative(subject, arena, values, values + at) : 0;
    assert_near(gradient[at] - BEFORE, expected, flows ? 1e-8 * (1 + fabs(expected)) : 0,
                "%s: gradient of %s[%d]", subject->name, param->name, i);
    largest = fmax(largest, fabs(expected));
  }
  if (flows && largest < 1e-4) fail_msg("%s does not depend on %s", subject->name, param->name);
}

/** Wide sums are scaled to the size of narrow ones: rounding would hide a small difference. */
static void fill_params(real *values, const FovParams *params) {
  fill_random(values, params->size, (uint64_t)params->size);
  for (const FovParam *p = params->list; p < params->list + params->count; p++)
    for (int i = 0; i < p->rows * p->cols; i++) values[p->offset + (size_t)i] *= 2 / sqrt(p->cols);
}

/** Fails unless loss and gradient are the same with transposed copies of the parameters. */
static void assert_transposed(const Subject *subject, FovArena *arena, const real *values,
                              real expected, const real *expected_gradient) {
  const FovParams *params = &subject->params;
  real *copies = fov_params_block(params), *gradient = fov_params_block(params);
  assert_true(copies && gradient);
  for (int i = 0; i < params->count; i++) fov_param_transpose(copies, values, &params->list[i]);
  for (size_t i = 0; i < params->size; i++) gradient[i] = BEFORE;
  transposed = copies;
  real loss = run(subject, arena, values, gradient);
  transposed = NULL;
  assert_near(loss, expected, 1e-11 * (1 + fabs(expected)), "%s: loss", subject->name);
  for (size_t i = 0; i < params->size; i++)
    assert_near(gradient[i], expected_gradient[i], 1e-11 * (1 + fabs(gradient[i])), "%s: [%zu]",
                subject->name, i);
  free(copies), free(gradient);
}

static void assert_gradient(const Subject *subject) {
  FovArena arena = {0};
  real *values = fov_params_block(&subject->params), *gradient = fov_params_block(&subject->params);
  assert_true(values && gradient);
  fill_params(values, &subject->params);
  for (size_t i = 0; i < subject->params.size; i++) gradient[i] = BEFORE;
  real loss = run(subject, &arena, values, gradient);
  // Inference computes the same bits.
  assert_true(loss == run(subject, &arena, values, NULL));
  for (int i = 0; i < subject->params.count; i++)
    assert_param_gradient(subject, &arena, i, values, gradient);
  assert_transposed(subject, &arena, values, loss, gradient);
  free(values), free(gradient);
  fov_arena_finish(&arena);
}

/* ---- A case for every operation ---- */

/** One operation (`op` is its name in ops.h) in one of its uses. */
typedef struct Case {
  const char *op, *use;
  Forward *forward;
  FovActivation activation;
  int shapes[MAX_INPUTS][2]; /**< rows and columns of each input; ends with 0 */
} Case;

static void linear(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  y[0] = fov_linear(tape, x[0], x[1], x[2], c->activation);
}

/** The same operation with its x used twice: on its own result, and beside it. */
static void linear_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  FovVar *once = fov_linear(tape, x[0], x[1], x[2], c->activation);
  y[0] = fov_linear(tape, once, x[1], x[2], c->activation);
  y[1] = fov_linear(tape, x[0], x[1], NULL, c->activation);
  y[2] = once;
}

static void linear2(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  y[0] = fov_linear2(tape, x[0], x[1], x[3], x[4], x[2], c->activation);
}

static void linear2_shared(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  y[0] = fov_linear2(tape, x[0], x[1], x[0], x[1], x[2], c->activation);
}

/** Three steps with room on the tape: the matrix products of u's gradient are joined. */
static void linear2_steps(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  tape->steps = 3;
  for (int t = 0; t < 3; t++)
    y[t] = fov_linear2(tape, x[0], x[1], t ? y[t - 1] : NULL, x[3], x[2], c->activation);
}

static void linear_heads(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  y[0] = fov_linear_heads(tape, x[0], x[1], x[2], x[0]->cols / x[1]->cols, c->activation);
}

/** Twice in three steps, beside a layer of all columns with the same weight. */
static void linear_heads_steps(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  tape->steps = 3;
  for (int t = 0; t < 3; t++)
    y[t] = fov_linear_heads(tape, t ? y[t - 1] : x[0], x[1], x[2], 2, c->activation);
  y[3] = fov_linear(tape, fov_columns(tape, y[1], 1, 2), x[1], NULL, c->activation);
}

/** Defines fov_conv for one geometry. */
#define DEFINE_CONV(name, ...)                                                                     \
  static void name(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {                 \
    FovActivation activation = ((const Case *)context)->activation;                                \
    y[0] = fov_conv(tape, x[0], x[1], x[2], &(FovConv){__VA_ARGS__}, activation);                  \
  }

// pictures, height, width, channels, side, stride
DEFINE_CONV(conv_whole, 1, 3, 3, 1, 3, 1)
DEFINE_CONV(conv, 1, 4, 5, 1, 2, 1)
DEFINE_CONV(conv_stride_2, 1, 6, 7, 1, 3, 2)
DEFINE_CONV(conv_stride_3, 1, 5, 7, 1, 2, 3)
DEFINE_CONV(conv_colours, 1, 4, 5, 3, 2, 1)
DEFINE_CONV(conv_pictures, 3, 4, 3, 1, 2, 1)
DEFINE_CONV(conv_all, 2, 5, 3, 3, 2, 2)

/** Filters on the result of the same filters, and on their input once more. */
static void conv_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  const FovConv first = {1, 4, 5, 1, 2, 1}, second = {1, 3, 4, 1, 2, 1};
  FovVar *once = fov_conv(tape, x[0], x[1], x[2], &first, c->activation);
  y[0] = fov_conv(tape, once, x[1], x[2], &second, c->activation);
  y[1] = fov_conv(tape, x[0], x[1], NULL, &first, c->activation);
  y[2] = once;
}

/** The rows of x and of the results have padding. */
static void conv_apart(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  FovVar *apart = fov_add(tape, x[0], x[0]);
  y[0] = fov_conv(tape, apart, x[1], x[2], &(FovConv){1, 8, 8, 1, 2, 2}, c->activation);
  assert_true(y[0]->stride > y[0]->cols && apart->stride > apart->cols);
}

/** The same with more steps than the tape has room for; no gradient reaches one of them. */
static void linear2_more_steps(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  FovVar *h = NULL;
  tape->steps = 2;
  for (int t = 0; t < 5; t++) {
    FovVar *h_t = fov_linear2(tape, x[0], x[1], h, x[3], x[2], c->activation);
    if (t != 1) h = h_t;
  }
  y[0] = h;
}

/** A weight used twice a step, on its own result and on fewer rows, and as an input. */
static void linear_everywhere(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  FovVar *once = x[0];
  tape->steps = 2;
  for (int t = 0; t < 2; t++)
    once = fov_linear(tape, fov_linear(tape, once, x[1], NULL, c->activation), x[1], NULL,
                      c->activation);
  y[0] = once;
  y[1] = fov_linear(tape, x[1], x[1], NULL, c->activation);
}

static void add(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_add(tape, x[0], x[1]);
}

static void add_to_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *twice = fov_add(tape, x[0], x[0]);
  y[0] = fov_add(tape, twice, x[0]);
  y[1] = twice;
}

static void lstm(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  fov_lstm_cell(&y[0], &y[1], tape, x[0], x[1]);
}

static void lstm_h(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *c_t;
  fov_lstm_cell(&y[0], &c_t, tape, x[0], x[1]);
}

static void lstm_c(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *h_t;
  fov_lstm_cell(&h_t, &y[0], tape, x[0], x[1]);
}

/** Two steps on the same gates, the cell's own result carried on. */
static void lstm_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *c_1;
  fov_lstm_cell(&y[0], &c_1, tape, x[0], x[1]);
  fov_lstm_cell(&y[1], &y[2], tape, x[0], c_1);
}

static void gru(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_gru_cell(tape, x[0], x[1], x[2]);
}

static void gru_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_gru_cell(tape, x[0], x[0], x[1]);
  y[1] = fov_gru_cell(tape, x[0], x[0], y[0]);
}

static void cross_entropy(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_cross_entropy(tape, NULL, x[0], (int[]){2, 0, 3});
  y[1] = fov_cross_entropy(tape, NULL, x[0], (int[]){2, 1, 0});
}

static void normal(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_normal_log_prob(tape, x[0], x[1], (real[]){0.1, 0.4, -0.9, 1.3, 0.7, -0.2});
  y[1] = fov_normal_log_prob(tape, x[0], x[0], (real[]){1, 0.2, 0.3, -0.4, 0.5, 0.6});
}

static void log_probabilities(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_log_probabilities(tape, x[0]);
}

static void gaussian(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  real sample[] = {0.1, -0.7, 1.3, 0.4, -2, 0.9};
  y[0] = fov_gaussian_log_prob(tape, x[0], sample, (real[]){0.3, 1.7});
  y[1] = fov_gaussian_log_prob(tape, x[0], sample, (real[]){2, 0.5});
}

static void squared_error(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_squared_error(tape, x[0], (real[]){0.5, -1.5, 4});
  y[1] = fov_squared_error(tape, x[0], (real[]){0, 1, 2});
}

static void squared_distance(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_squared_error(tape, x[0], (real[]){0.5, -1.5, 4, 0, 1, 2});
  y[1] = fov_squared_error(tape, x[0], (real[]){0, 1, 2, -3, 0.25, 1});
}

static void categorical(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_categorical_log_prob(tape, x[0], (int[]){0, 2, 3});
  y[1] = fov_categorical_log_prob(tape, x[0], (int[]){3, 2, 1});
}

/** Defines fov_gather of some rows. */
#define DEFINE_GATHER(name, ...)                                                                   \
  static void name(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {                 \
    (void)context;                                                                                 \
    const int rows[] = {__VA_ARGS__};                                                              \
    y[0] = fov_gather(tape, x[0], rows, sizeof rows / sizeof *rows);                               \
  }

DEFINE_GATHER(gather, 0, 2)
DEFINE_GATHER(gather_one, 1)
DEFINE_GATHER(gather_again, 2, 0, 2, 2)

/** From a gathered result, and from the same x. */
static void gather_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_gather(tape, fov_gather(tape, x[0], (int[]){0, 2}, 2), (int[]){1}, 1);
  y[1] = fov_gather(tape, x[0], (int[]){2, 1}, 2);
}

static void gather_lanes(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *two = fov_gather_lanes(tape, x[0], 3, (int[]){2, 0}, 2);
  y[0] = fov_gather_lanes(tape, two, 2, (int[]){1, 1, 0}, 3);
  y[1] = two;
}

static void embedding(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_gather(tape, x[0], (int[]){2, 0, 2, 1, 2}, 5);
}

/** A table that is also a weight with a pending product. */
static void embedding_and_weight(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_linear(tape, fov_gather(tape, x[0], (int[]){2, 0, 2}, 3), x[0], NULL, FOV_TANH);
}

static void multiply(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_multiply(tape, x[0], x[1]);
}

static void scale(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_scale(tape, x[0], (real)-1.5);
}

static void multiply_by_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *square = fov_multiply(tape, x[0], x[0]);
  y[0] = fov_multiply(tape, square, x[0]);
  y[1] = square;
}

/** Also on its own result. */
static void activate(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const Case *c = context;
  y[0] = fov_activate(tape, x[0], c->activation);
  y[1] = fov_activate(tape, y[0], c->activation);
}

static void concat(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_concat(tape, (FovVar *[]){x[0], x[1], x[2]}, 3);
}

static void concat_again(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *twice = fov_concat(tape, (FovVar *[]){x[0], x[0]}, 2);
  y[0] = fov_concat(tape, (FovVar *[]){twice, x[0]}, 2);
  y[1] = twice;
}

static void columns(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *middle = fov_columns(tape, x[0], 1, x[0]->cols - 1);
  y[0] = fov_columns(tape, middle, 0, 2);
  y[1] = fov_columns(tape, x[0], 0, x[0]->cols);
  y[2] = middle;
}

/** A memory of three rows per lane; each state of it is a result too. */
static void append(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *memory = NULL;
  for (int t = 0; t < 3; t++) memory = y[t] = fov_append(tape, memory, x[t]);
}

static void append_block(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_append(tape, x[0], x[1]);
}

static void stack(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *parts[] = {x[0], x[1], x[0]};
  y[0] = fov_stack(tape, parts, 3);
}

static void softmax(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_softmax(tape, x[0], 1);
  y[1] = fov_softmax(tape, x[0], 2);
}

/** Over some columns, which differ between rows: one, two and all. */
static void softmax_within(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *inside = fov_zeros(tape, 3, x[0]->cols / 2);
  for (int b = 0; b < 3; b++)
    for (int i = 0; i <= b; i++) fov_value_row(inside, b)[(2 * i + b) % inside->cols] = 1;
  y[0] = fov_softmax_within(tape, x[0], inside, 2);
}

static void tile_gaussian(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_tile_gaussian(tape, x[0], 3, 3, 0.75);
  y[1] = fov_tile_gaussian(tape, x[0], 8, 5, 2);
}

/** Two lanes, two heads; then lanes of different lengths. */
static void self_attention(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_self_attention(tape, x[0], x[1], x[2], NULL, 2, 2);
  y[1] = fov_self_attention(tape, x[0], x[1], x[2], (int[]){x[0]->rows / 2, 1}, 2, 2);
}

static void self_attention_of_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_self_attention(tape, x[0], x[0], x[0], NULL, 3, 1);
  y[1] = fov_self_attention(tape, x[0], y[0], y[0], NULL, 2, 4);
  y[2] = fov_self_attention(tape, y[1], x[0], y[1], NULL, 1, 2);
}

static void dot_sites(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_dot_sites(tape, x[0], x[1], 2, 0.75);
  y[1] = fov_dot_sites(tape, x[0], x[1], 1, -1.5);
}

/** The query is also the key. */
static void dot_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_dot_sites(tape, x[0], x[0], 2, 0.5);
}

static void additive_sites(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_additive_sites(tape, x[0], x[1], x[2], 2);
  y[1] = fov_additive_sites(tape, x[0], x[1], x[2], 1);
}

/** Query, key and v are the same. */
static void additive_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_additive_sites(tape, x[0], x[0], x[0], 2);
}

static void normalise(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_normalise(tape, x[0], x[1], 2);
  y[1] = fov_normalise(tape, y[0], NULL, 1);
}

/** The numbers are also the lengths. */
static void normalise_by_itself(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_normalise(tape, x[0], x[0], x[0]->cols);
  y[1] = fov_normalise(tape, x[0], NULL, 2);
}

static void weigh_sites(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_weigh_sites(tape, x[0], x[1], 2);
}

/** Scaled dot-product attention to a lane's own past, with residual connection and layer norm. */
static void attend(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *e = fov_dot_sites(tape, x[0], x[1], 2, sqrt(0.5));
  FovVar *z = fov_weigh_sites(tape, fov_softmax(tape, e, 2), x[1], 2);
  y[0] = fov_layer_norm(tape, fov_add(tape, x[0], z), x[2], x[3]);
}

static void layer_norm(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_layer_norm(tape, x[0], x[1], x[2]);
}

static void entropy(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = fov_softmax_entropy(tape, x[0]);
}

/** Windows at three images of random pixels, two scales of 3 x 3. */
static FovVar *glimpses(FovTape *tape, FovVar *place, FovVar *shape, FovWindowKind kind) {
  enum { H = 7, W = 9, C = 3 };
  static uint8_t pixels[3 * H * W * C];
  FovImage images[3];
  FovRng rng = fov_rng_stream(3, FOV_STREAM_ENV, 0);
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)fov_rng_below(&rng, 256);
  for (int b = 0; b < 3; b++)
    images[b] = (FovImage){.bytes = pixels + b * H * W * C, .height = H, .width = W, .channels = C};
  FovWindowView view = {.kind = kind,
                        .sensor = {.side = 3, .scales = 2, .gain = 1.5},
                        .images = images,
                        .changing = true};
  size_t scratch = fov_window_scratch(&view.sensor, H, W, C);
  view.scratch = FOV_NEW(tape->arena, real, scratch);
  FovVar *y = fov_window_glimpses(tape, place, shape, &view);
  memset(pixels, 0, sizeof pixels); // as the next turn of an environment might
  return y;
}

static void window_numbers(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  fov_window_numbers(&y[0], &y[1], tape, x[0], (real[]){1.7, 0.8, 1.3}, (real)0.1);
}

static void window_place(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *shape;
  fov_window_numbers(&y[0], &shape, tape, x[0], (real[]){1.7}, (real)0.3);
}

/** Place and shape in separate operands; softplus keeps the shape positive. */
static void window_gaussian(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = glimpses(tape, x[0], fov_activate(tape, x[1], FOV_SOFTPLUS), FOV_WINDOW_GAUSSIAN);
}

static void window_bilinear(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  y[0] = glimpses(tape, x[0], fov_activate(tape, x[1], FOV_SOFTPLUS), FOV_WINDOW_BILINEAR);
}

/** Two time steps, with the place as a result, too. */
static void window_twice(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  (void)context;
  FovVar *shape;
  tape->steps = 2;
  for (int t = 0; t < 2; t++) {
    fov_window_numbers(&y[2 * t], &shape, tape, t ? fov_add(tape, x[0], x[0]) : x[0],
                       (real[]){0.9, 0.8, 1.3}, (real)0.1);
    y[2 * t + 1] = glimpses(tape, y[2 * t], shape, FOV_WINDOW_GAUSSIAN);
  }
}

#ifdef WITH_README_OP // the example of src/README.md
#include "leaky_case.h"
#endif

static const Case cases[] = {
#ifdef WITH_README_OP
#include "leaky_row.h"
#endif
    {"fov_linear", "linear", linear, FOV_LINEAR, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear", "relu", linear, FOV_RELU, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear", "tanh", linear, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear", "sigmoid", linear, FOV_SIGMOID, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear", "without bias", linear, FOV_LINEAR, {{3, 4}, {5, 4}}},
    {"fov_linear", "relu without bias", linear, FOV_RELU, {{3, 4}, {5, 4}}},
    {"fov_linear", "twice, linear", linear_twice, FOV_LINEAR, {{3, 4}, {4, 4}, {1, 4}}},
    {"fov_linear", "twice, relu", linear_twice, FOV_RELU, {{3, 4}, {4, 4}, {1, 4}}},
    {"fov_linear", "twice, tanh", linear_twice, FOV_TANH, {{3, 4}, {4, 4}, {1, 4}}},
    {"fov_linear", "softplus", linear, FOV_SOFTPLUS, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear_heads", "one head", linear_heads, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear_heads", "two heads, relu", linear_heads, FOV_RELU, {{3, 4}, {6, 2}, {1, 6}}},
    {"fov_linear_heads", "of one column", linear_heads, FOV_SOFTPLUS, {{3, 3}, {3, 1}, {1, 3}}},
    {"fov_linear_heads", "without bias", linear_heads, FOV_LINEAR, {{3, 4}, {6, 2}}},
    {"fov_linear_heads", "64 wide", linear_heads, FOV_LINEAR, {{2, 64}, {64, 32}, {1, 64}}},
    {"fov_linear_heads", "steps", linear_heads_steps, FOV_TANH, {{3, 4}, {4, 2}, {1, 4}}},
    {"fov_linear2", "linear", linear2, FOV_LINEAR, {{3, 4}, {5, 4}, {1, 5}, {3, 2}, {5, 2}}},
    {"fov_linear2", "relu", linear2, FOV_RELU, {{3, 4}, {5, 4}, {1, 5}, {3, 2}, {5, 2}}},
    {"fov_linear2", "tanh", linear2, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}, {3, 2}, {5, 2}}},
    {"fov_linear2", "without h", linear2, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear2", "x as h, w as u", linear2_shared, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}}},
    {"fov_linear2", "three steps", linear2_steps, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}, {5, 5}}},
    {"fov_linear2", "64 wide", linear2_steps, FOV_LINEAR, {{2, 3}, {64, 3}, {1, 64}, {64, 64}}},
    {"fov_conv", "one place", conv_whole, FOV_LINEAR, {{2, 9}, {3, 9}, {1, 3}}},
    {"fov_conv", "relu", conv, FOV_RELU, {{2, 20}, {3, 4}, {1, 3}}},
    {"fov_conv", "without bias", conv, FOV_RELU, {{2, 20}, {3, 4}}},
    {"fov_conv", "tanh, stride 2", conv_stride_2, FOV_TANH, {{2, 42}, {3, 9}, {1, 3}}},
    {"fov_conv", "stride 3", conv_stride_3, FOV_LINEAR, {{2, 35}, {3, 4}, {1, 3}}},
    {"fov_conv", "3 channels", conv_colours, FOV_RELU, {{2, 60}, {2, 12}, {1, 2}}},
    {"fov_conv", "3 pictures", conv_pictures, FOV_TANH, {{2, 36}, {2, 4}, {1, 2}}},
    {"fov_conv", "2 of 3 channels, stride 2", conv_all, FOV_RELU, {{2, 90}, {2, 12}, {1, 2}}},
    {"fov_conv", "twice", conv_twice, FOV_RELU, {{2, 20}, {1, 4}, {1, 1}}},
    {"fov_conv", "64 wide", conv_apart, FOV_RELU, {{2, 64}, {4, 4}, {1, 4}}},
    {"fov_linear2", "more steps", linear2_more_steps, FOV_TANH, {{3, 4}, {5, 4}, {1, 5}, {5, 5}}},
    {"fov_linear", "everywhere", linear_everywhere, FOV_TANH, {{3, 4}, {4, 4}}},
    {"fov_add", "two", add, 0, {{3, 4}, {3, 4}}},
    {"fov_add", "to itself", add_to_itself, 0, {{3, 4}}},
    {"fov_add", "64 wide", add_to_itself, 0, {{3, 64}}},
    {"fov_lstm_cell", "both results", lstm, 0, {{3, 8}, {3, 2}}},
    {"fov_lstm_cell", "h_t only", lstm_h, 0, {{3, 8}, {3, 2}}},
    {"fov_lstm_cell", "c_t only", lstm_c, 0, {{3, 8}, {3, 2}}},
    {"fov_lstm_cell", "without c_prev", lstm, 0, {{3, 8}}},
    {"fov_lstm_cell", "twice", lstm_twice, 0, {{3, 8}, {3, 2}}},
    {"fov_lstm_cell", "twice, without c_prev", lstm_twice, 0, {{3, 8}}},
    {"fov_lstm_cell", "64 wide", lstm_twice, 0, {{2, 256}, {2, 64}}},
    {"fov_gru_cell", "64 wide", gru_twice, 0, {{2, 192}, {2, 64}}},
    {"fov_gru_cell", "all", gru, 0, {{3, 6}, {3, 6}, {3, 2}}},
    {"fov_gru_cell", "without h_prev", gru, 0, {{3, 6}, {3, 6}}},
    {"fov_gru_cell", "twice, x as h", gru_twice, 0, {{3, 6}, {3, 2}}},
    {"fov_gru_cell", "twice, x as h, without h_prev", gru_twice, 0, {{3, 6}}},
    {"fov_cross_entropy", "two labels a row", cross_entropy, 0, {{3, 4}}},
    {"fov_cross_entropy", "64 classes", cross_entropy, 0, {{3, 64}}},
    {"fov_log_probabilities", "", log_probabilities, 0, {{3, 4}}},
    {"fov_gaussian_log_prob", "two sigmas", gaussian, 0, {{3, 2}}},
    {"fov_normal_log_prob", "sigmas of rows", normal, 0, {{3, 2}, {3, 2}}},
    {"fov_categorical_log_prob", "two actions a row", categorical, 0, {{3, 4}}},
    {"fov_categorical_log_prob", "64 actions", categorical, 0, {{3, 64}}},
    {"fov_gather", "some", gather, 0, {{3, 4}}},
    {"fov_gather", "one", gather_one, 0, {{3, 4}}},
    {"fov_gather", "one again and again", gather_again, 0, {{3, 4}}},
    {"fov_gather", "twice", gather_twice, 0, {{3, 4}}},
    {"fov_gather", "64 wide", gather_twice, 0, {{3, 64}}},
    {"fov_squared_error", "two targets", squared_error, 0, {{3, 1}}},
    {"fov_squared_error", "two columns", squared_distance, 0, {{3, 2}}},
    {"fov_gather_lanes", "two rows a lane, twice", gather_lanes, 0, {{6, 4}}},
    {"fov_gather_lanes", "64 wide", gather_lanes, 0, {{6, 64}}},
    {"fov_gather", "one again and again", embedding, 0, {{3, 4}}},
    {"fov_gather", "64 wide", embedding, 0, {{3, 64}}},
    {"fov_gather", "its table as a weight", embedding_and_weight, 0, {{4, 5}}},
    {"fov_multiply", "two", multiply, 0, {{3, 4}, {3, 4}}},
    {"fov_multiply", "by itself", multiply_by_itself, 0, {{3, 4}}},
    {"fov_multiply", "64 wide", multiply_by_itself, 0, {{3, 64}}},
    {"fov_scale", "some", scale, 0, {{3, 4}}},
    {"fov_activate", "linear", activate, FOV_LINEAR, {{3, 4}}},
    {"fov_activate", "relu", activate, FOV_RELU, {{3, 4}}},
    {"fov_activate", "tanh", activate, FOV_TANH, {{3, 4}}},
    {"fov_activate", "sigmoid", activate, FOV_SIGMOID, {{3, 4}}},
    {"fov_activate", "softplus", activate, FOV_SOFTPLUS, {{3, 4}}},
    {"fov_activate", "64 wide", activate, FOV_SIGMOID, {{3, 64}}},
    {"fov_concat", "three", concat, 0, {{3, 4}, {3, 1}, {3, 2}}},
    {"fov_concat", "64 wide", concat, 0, {{2, 64}, {2, 3}, {2, 61}}},
    {"fov_concat", "one again and again", concat_again, 0, {{3, 4}}},
    {"fov_columns", "some of some", columns, 0, {{3, 4}}},
    {"fov_columns", "64 wide", columns, 0, {{3, 65}}},
    {"fov_stack", "one of them twice", stack, 0, {{2, 4}, {2, 4}}},
    {"fov_stack", "64 wide", stack, 0, {{2, 64}, {2, 64}}},
    {"fov_append", "three steps", append, 0, {{2, 4}, {2, 4}, {2, 4}}},
    {"fov_append", "64 wide", append, 0, {{2, 64}, {2, 64}, {2, 64}}},
    {"fov_append", "to two rows a lane", append_block, 0, {{6, 4}, {3, 4}}},
    {"fov_softmax", "two groups", softmax, 0, {{3, 6}}},
    {"fov_softmax", "64 wide", softmax, 0, {{2, 64}}},
    {"fov_softmax_within", "two groups", softmax_within, 0, {{3, 6}}},
    {"fov_softmax_within", "64 wide", softmax_within, 0, {{3, 128}}},
    {"fov_tile_gaussian", "two grids", tile_gaussian, 0, {{3, 2}}},
    {"fov_self_attention", "two heads", self_attention, 0, {{6, 4}, {6, 4}, {6, 4}}},
    {"fov_self_attention", "64 wide", self_attention, 0, {{4, 64}, {4, 64}, {4, 64}}},
    {"fov_self_attention", "of itself", self_attention_of_itself, 0, {{6, 4}}},
    {"fov_dot_sites", "two heads", dot_sites, 0, {{2, 4}, {6, 4}}},
    {"fov_dot_sites", "64 wide", dot_sites, 0, {{2, 64}, {4, 64}}},
    {"fov_dot_sites", "its own key", dot_itself, 0, {{3, 4}}},
    {"fov_additive_sites", "two heads", additive_sites, 0, {{2, 4}, {6, 4}, {1, 4}}},
    {"fov_additive_sites", "64 wide", additive_sites, 0, {{2, 64}, {4, 64}, {1, 64}}},
    {"fov_additive_sites", "its own key", additive_itself, 0, {{1, 4}}},
    {"fov_normalise", "two groups", normalise, 0, {{3, 4}, {3, 2}}},
    {"fov_normalise", "length 1", normalise, 0, {{3, 4}}},
    {"fov_normalise", "64 wide", normalise, 0, {{2, 64}, {2, 2}}},
    {"fov_normalise", "its own length", normalise_by_itself, 0, {{3, 4}}},
    {"fov_weigh_sites", "two heads", weigh_sites, 0, {{2, 6}, {6, 4}}},
    {"fov_weigh_sites", "64 wide", weigh_sites, 0, {{2, 64}, {64, 4}}},
    {"fov_weigh_sites", "attention", attend, 0, {{2, 4}, {6, 4}, {1, 4}, {1, 4}}},
    {"fov_layer_norm", "some", layer_norm, 0, {{3, 4}, {1, 4}, {1, 4}}},
    {"fov_layer_norm", "64 wide", layer_norm, 0, {{3, 64}, {1, 64}, {1, 64}}},
    {"fov_softmax_entropy", "some", entropy, 0, {{3, 4}}},
    {"fov_softmax_entropy", "64 classes", entropy, 0, {{3, 64}}},
    {"fov_window_numbers", "all", window_numbers, 0, {{3, 5}}},
    {"fov_window_numbers", "the place, of a bilinear window", window_place, 0, {{3, 3}}},
    {"fov_window_glimpses", "Gaussian", window_gaussian, 0, {{3, 2}, {3, 3}}},
    {"fov_window_glimpses", "bilinear", window_bilinear, 0, {{3, 2}, {3, 1}}},
    {"fov_window_glimpses", "twice", window_twice, 0, {{3, 5}}},
};

enum { CASES = sizeof cases / sizeof *cases };

static void add_inputs(FovParams *params, const Case *c) {
  for (int i = 0; i < MAX_INPUTS && c->shapes[i][0]; i++) {
    char name[] = {'x', (char)('0' + i), '\0'};
    fov_params_add(params, name, c->shapes[i][0], c->shapes[i][1], FOV_INIT_ZERO, 0);
  }
}

/** With gradients for all inputs, then for each input among constants. */
static void every_operation_has_its_gradient(void **state) {
  (void)state;
  for (int i = 0; i < CASES; i++) {
    char name[96];
    Subject subject = {.name = name, .forward = cases[i].forward, .context = &cases[i]};
    add_inputs(&subject.params, &cases[i]);
    for (subject.only = ALL; subject.only < subject.params.count; subject.only++) {
      snprintf(name, sizeof name, "%s (%s; gradient of %s)", cases[i].op, cases[i].use,
               subject.only == ALL ? "all" : subject.params.list[subject.only].name);
      assert_gradient(&subject);
    }
    fov_params_finish(&subject.params);
  }
}

/* ---- Inputs, and second passes ---- */

/** Inputs of a case have the same gradients as parameters would. */
static void assert_inputs_have_gradients(const Case *c, FovArena *arena) {
  Subject subject = {.name = c->op, .forward = c->forward, .context = c, .only = ALL};
  add_inputs(&subject.params, c);
  const FovParams *params = &subject.params;
  real *values = fov_params_block(params), *gradient = fov_params_block(params);
  assert_true(values && gradient);
  fill_params(values, params);
  run(&subject, arena, values, gradient);
  FovTape tape;
  FovVar *x[MAX_INPUTS + 1] = {NULL}, *y[MAX_OUTPUTS + 1] = {NULL};
  fov_tape_begin(&tape, arena, params, values, NULL);
  for (int i = 0; i < params->count; i++) {
    x[i] = fov_input(&tape, params->list[i].rows, params->list[i].cols);
    for (int j = 0; j < x[i]->rows * x[i]->cols; j++)
      x[i]->value[place_of(x[i], j)] = values[params->list[i].offset + (size_t)j];
  }
  c->forward(y, &tape, x, c);
  for (int i = 0; y[i]; i++) add_loss_grad(&tape, y[i], i);
  fov_tape_backward(&tape);
  for (int i = 0; i < params->count; i++)
    for (int j = 0; j < x[i]->rows * x[i]->cols; j++)
      assert_near(x[i]->grad[place_of(x[i], j)], gradient[params->list[i].offset + (size_t)j],
                  1e-12, "%s (%s): gradient of input %d[%d]", c->op, c->use, i, j);
  free(values), free(gradient);
  fov_params_finish(&subject.params);
}

static void an_input_has_a_gradient(void **state) {
  (void)state;
  FovArena arena = {0};
  for (int i = 0; i < CASES; i++) {
    fov_arena_rewind(&arena);
    assert_inputs_have_gradients(&cases[i], &arena);
  }
  fov_arena_finish(&arena);
}

/** A tape on which a case has run forwards; its first operand is the sum of a parameter and an
 * fov_input. */
typedef struct Pass {
  FovTape tape;
  FovParams params;
  real *values, *gradient;
  FovVar *input, *y[MAX_OUTPUTS + 1];
} Pass;

static void pass_begin(Pass *pass, FovArena *arena, const Case *c) {
  *pass = (Pass){0};
  add_inputs(&pass->params, c);
  pass->values = fov_params_block(&pass->params);
  pass->gradient = fov_params_block(&pass->params);
  assert_true(pass->values && pass->gradient);
  fill_params(pass->values, &pass->params);
  fov_tape_begin(&pass->tape, arena, &pass->params, pass->values, pass->gradient);
  FovVar *x[MAX_INPUTS + 1] = {NULL};
  for (int i = 0; i < pass->params.count; i++) x[i] = &pass->tape.params[i];
  pass->input = fov_input(&pass->tape, x[0]->rows, x[0]->cols);
  for (int j = 0; j < x[0]->rows * x[0]->cols; j++)
    pass->input->value[place_of(pass->input, j)] = x[0]->value[j];
  x[0] = fov_add(&pass->tape, pass->input, x[0]);
  c->forward(pass->y, &pass->tape, x, c);
}

static void pass_finish(Pass *pass) {
  free(pass->values), free(pass->gradient);
  fov_params_finish(&pass->params);
}

/** Backward from number `j` of result `i` alone. */
static void backward_from(Pass *pass, int i, int j) {
  FovVar *y = pass->y[i];
  real *one = calloc((size_t)y->rows * y->cols, sizeof *one);
  assert_non_null(one);
  one[j] = 1;
  fov_tape_add_grad(&pass->tape, y, one);
  fov_tape_backward(&pass->tape);
  free(one);
}

/** A second backward pass from number j of result i equals, bit for bit, the first one of a fresh
 * tape. */
static void assert_row_of_jacobian(Pass *again, const Case *c, int i, int j) {
  FovArena arena = {0};
  Pass fresh;
  pass_begin(&fresh, &arena, c);
  backward_from(&fresh, i, j);
  fov_tape_clear_grads(&again->tape);
  backward_from(again, i, j);
  const FovVar *input = fresh.input;
  if (memcmp(again->gradient, fresh.gradient, fresh.params.size * sizeof(real)) ||
      again->input->has_grad != input->has_grad)
    fail_msg("%s (%s): another gradient of result %d[%d]", c->op, c->use, i, j);
  for (int b = 0; input->has_grad && b < input->rows; b++)
    assert_memory_equal(fov_grad_row(again->input, b), fov_grad_row(input, b),
                        (size_t)input->cols * sizeof(real));
  pass_finish(&fresh);
  fov_arena_finish(&arena);
}

/** All rows of the Jacobian from one tape; only the first pass allocates. */
static void further_passes_are_exact_and_take_no_memory(void **state) {
  (void)state;
  for (int n = 0; n < CASES; n++) {
    FovArena arena = {0};
    Pass pass;
    pass_begin(&pass, &arena, &cases[n]);
    for (int i = 0; pass.y[i]; i++) fov_grad(&pass.tape, pass.y[i]);
    fov_tape_backward(&pass.tape);
    size_t used = arena.used, blocks = arena.blocks;
    for (int i = 0; pass.y[i]; i++) {
      int numbers = pass.y[i]->rows * pass.y[i]->cols, step = numbers > 24 ? numbers / 12 : 1;
      for (int j = 0; j < numbers; j += step) assert_row_of_jacobian(&pass, &cases[n], i, j);
    }
    assert_true(arena.used == used && arena.blocks == blocks);
    pass_finish(&pass);
    fov_arena_finish(&arena);
  }
}

/** Overwrites the comments of C text with blanks. */
static void blank_comments(char *text) {
  for (char *start = text; (start = strstr(start, "/*"));) {
    char *end = strstr(start, "*/");
    assert_non_null(end);
    memset(start, ' ', (size_t)(end - start) + 2);
  }
}

static bool has_case(const char *name, size_t length) {
  for (int i = 0; i < CASES; i++)
    if (strlen(cases[i].op) == length && strncmp(cases[i].op, name, length) == 0) return true;
  return false;
}

/** Every function of a header with a FovVar is an operation, and has a case above. */
static void assert_header_has_cases(const char *header, int least) {
  const char *root = getenv("FOVEA_SOURCE");
  char path[1024], *text, *rest;
  size_t size;
  snprintf(path, sizeof path, "%s/src/%s", root ? root : ".", header);
  if (fov_file_read(&text, &size, path, 1 << 20) != FOV_OK) fail_msg("%s", fov_error_message());
  blank_comments(text);
  int found = 0;
  for (char *line = strtok_r(text, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
    char *end = strchr(line, '('), *name = end;
    if (!end || !strstr(line, "FovVar")) continue;
    while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
    if (!has_case(name, (size_t)(end - name)))
      fail_msg("%.*s of %s has no gradient case", (int)(end - name), name, header);
    found++;
  }
  assert_true(found >= least);
  free(text);
}

static void every_operation_has_a_case(void **state) {
  (void)state;
  assert_header_has_cases("tensor/ops.h", 8);
  assert_header_has_cases("model/window_ops.h", 2);
}

/* ---- The cores ---- */

/** Sets options to their defaults, as config does from text, except for numbers of units, which
 * are 8. */
static void set_default(void *values, const FovOption *option) {
  void *field = (char *)values + option->offset;
  bool units = strcmp(option->name, "width") == 0 || strcmp(option->name, "hidden") == 0;
  const char *text = units ? "8" : option->fallback;
  switch (option->type) {
  case FOV_OPTION_INT:
    *(int *)field = atoi(text);
    break;
  case FOV_OPTION_LONG:
    *(int64_t *)field = atoll(text);
    break;
  case FOV_OPTION_REAL:
    *(double *)field = atof(text);
    break;
  case FOV_OPTION_BOOL:
    *(bool *)field = strchr("ty1", *text) || strcmp(text, "on") == 0;
    break;
  case FOV_OPTION_CHOICE:
    for (int i = 0; option->choices[i]; i++)
      if (strcmp(option->choices[i], text) == 0) *(int *)field = i;
    break;
  case FOV_OPTION_STRING:
    snprintf(field, FOV_STRING_SIZE, "%s", text);
    break;
  case FOV_OPTION_TEXT:
    *(const char **)field = text;
    break;
  }
}

enum { STEPS = 3, LANES = 2, INPUTS = 4, WIDTH = 8 };

typedef struct CoreCase {
  const FovCore *core;
  void *layout; /**< owned */
  int width;    /**< D */
  int start;    /**< the parameter that the state starts from; 0: zeros */
} CoreCase;

/** A plug-in's options, with their defaults except for numbers of units; freed by the caller. */
static void *default_options(const FovPlugin *plugin) {
  void *options = calloc(1, plugin->options_size + 1);
  assert_non_null(options);
  for (const FovOption *o = plugin->options; o && o->name; o++) set_default(options, o);
  return options;
}

/** Checks a plug-in's name, its help and its parameters from `first` on. */
static void assert_plugin(const FovPlugin *plugin, const FovParams *params, int first,
                          const char *prefix) {
  assert_true(*plugin->name && *plugin->help);
  for (int i = first; i < params->count; i++)
    assert_int_equal(strncmp(params->list[i].name, prefix, strlen(prefix)), 0);
}

/** Parameters x0, x1, x2 are the glimpses; then come the core's. */
static void build_core_with(CoreCase *c, FovParams *params, const FovCore *core,
                            const FovScore *score) {
  void *options = default_options(&core->plugin);
  *c = (CoreCase){.core = core, .layout = calloc(1, core->layout_size + 1)};
  assert_non_null(c->layout);
  add_inputs(params, &(Case){.shapes = {{LANES, INPUTS}, {LANES, INPUTS}, {LANES, INPUTS}}});
  void *score_options = default_options(&score->plugin);
  const FovCoreParts parts = {.inputs = INPUTS, .score = score, .score_options = score_options};
  if (core->build(c->layout, &c->width, params, options, &parts) != FOV_OK)
    fail_msg("%s: %s", core->plugin.name, fov_error_message());
  free(options);
  free(score_options);
}

static void build_core(CoreCase *c, FovParams *params, const FovCore *core) {
  build_core_with(c, params, core, fov_scores[0]);
}

static void finish_core(CoreCase *c, FovParams *params) {
  if (c->core->finish) c->core->finish(c->layout);
  free(c->layout);
  fov_params_finish(params);
}

/** A state whose vars are `start`, as many as an episode may start from. */
static FovCoreState state_from(const FovCore *core, FovVar *start) {
  FovCoreState state = {{NULL}};
  assert_in_range(core->starts, 0, FOV_STATE_VARS);
  for (int i = 0; i < core->starts; i++) state.vars[i] = start;
  return state;
}

static void steps(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const CoreCase *c = context;
  FovCoreState core_state = state_from(c->core, c->start ? &tape->params[c->start] : NULL);
  for (int t = 0; t < STEPS; t++) {
    c->core->step(&core_state, c->layout, tape, x[t]);
    y[t] = core_state.vars[0];
  }
}

static void assert_core_gradient(const FovCore *core, const FovScore *score) {
  CoreCase c;
  Subject subject = {.name = core->plugin.name, .forward = steps, .context = &c, .only = ALL};
  build_core_with(&c, &subject.params, core, score);
  assert_gradient(&subject);
  if (core->starts) {
    c.start = fov_params_add(&subject.params, "start", LANES, c.width, FOV_INIT_ZERO, 0);
    assert_gradient(&subject);
  }
  finish_core(&c, &subject.params);
}

/** With every score that a memory allows. */
static void every_core_has_its_gradient(void **state) {
  (void)state;
  for (const FovCore *const *core = fov_cores; *core; core++)
    for (const FovScore *const *score = fov_scores; *score; score++)
      if (!(*score)->keyless) assert_core_gradient(*core, *score);
}

static void every_core_keeps_its_contract(void **state) {
  (void)state;
  for (const FovCore *const *core = fov_cores; *core; core++) {
    CoreCase c;
    FovParams params = {0};
    build_core(&c, &params, *core);
    assert_plugin(&(*core)->plugin, &params, STEPS, "core.");
    // Only a core with parameters can have another width than the glimpse vector.
    assert_int_equal(c.width, params.count > STEPS ? WIDTH : INPUTS);
    finish_core(&c, &params);
  }
}

/** Fails unless h is `expected` [rows, D]; sums may be taken in another order. */
static void assert_state(const FovVar *h, const real *expected, int rows, const CoreCase *c) {
  assert_int_equal(h->rows, rows);
  assert_int_equal(h->cols, c->width);
  for (int i = 0; i < rows * h->cols; i++)
    assert_near(h->value[i], expected[i], 1e-13, "%s", c->core->plugin.name);
}

/** Whether a core keeps more state than an episode may start from, such as a memory that grows. */
static bool keeps_more(const FovCoreState *state, const FovCore *core) {
  for (int i = core->starts ? core->starts : 1; i < FOV_STATE_VARS; i++)
    if (state->vars[i]) return true;
  return false;
}

/** A first step from explicit zeros equals one from NULL, unless the zeros become part of a memory;
 * a second step differs from the first, unless the core has no memory; and a lane's result depends
 * on no other lane. */
static void assert_memory_of(const CoreCase *c, FovTape *tape) {
  const FovCore *core = c->core;
  int width = c->width;
  FovCoreState first = {{NULL}}, alone = {{NULL}};
  FovCoreState zeros = state_from(core, fov_zeros(tape, LANES, width));
  FovVar *g_t = &tape->params[0], *lane = fov_constant(tape, 1, INPUTS);
  memcpy(lane->value, g_t->value + INPUTS, INPUTS * sizeof(real));
  core->step(&first, c->layout, tape, g_t);
  core->step(&zeros, c->layout, tape, g_t);
  core->step(&alone, c->layout, tape, lane);
  const real *h_1 = first.vars[0]->value;
  if (!keeps_more(&first, core)) assert_state(zeros.vars[0], h_1, LANES, c);
  assert_state(alone.vars[0], h_1 + width, 1, c);
  FovCoreState second = first;
  core->step(&second, c->layout, tape, g_t);
  core->step(&alone, c->layout, tape, lane);
  const real *h_2 = second.vars[0]->value;
  bool same = !memcmp(h_2, h_1, (size_t)(LANES * width) * sizeof(real));
  assert_int_equal(same, core->starts == 0);
  assert_state(alone.vars[0], h_2 + width, 1, c);
}

static void every_core_remembers(void **state) {
  (void)state;
  for (const FovCore *const *core = fov_cores; *core; core++) {
    CoreCase c;
    FovParams params = {0};
    FovArena arena = {0};
    FovTape tape;
    build_core(&c, &params, *core);
    real *values = fov_params_block(&params);
    assert_non_null(values);
    fill_random(values, params.size, 1);
    fov_tape_begin(&tape, &arena, &params, values, NULL);
    assert_memory_of(&c, &tape);
    free(values);
    finish_core(&c, &params);
    fov_arena_finish(&arena);
  }
}

/* ---- The encoders ---- */

/** Glimpses wide enough for two places of the default filters each way, and for two scales. */
static const FovGlimpseShape seen = {.scales = 2, .side = 15, .channels = 1};

typedef struct EncoderCase {
  const FovEncoder *encoder;
  void *layout; /**< owned */
  int width;    /**< of h_g */
} EncoderCase;

/** Parameter x0 is rho; then come the encoder's. */
static void build_encoder(EncoderCase *c, FovParams *params, const FovEncoder *encoder) {
  void *options = default_options(&encoder->plugin);
  *c = (EncoderCase){.encoder = encoder, .layout = calloc(1, encoder->layout_size + 1)};
  assert_non_null(c->layout);
  add_inputs(params, &(Case){.shapes = {{LANES, fov_glimpse_features(seen)}}});
  assert_int_equal(encoder->build(c->layout, &c->width, params, options, seen), FOV_OK);
  free(options);
}

static void encode(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const EncoderCase *c = context;
  y[0] = c->encoder->encode(c->layout, tape, x[0]);
  assert_true(y[0]->rows == LANES && y[0]->cols == c->width);
}

static void every_encoder_keeps_its_contract(void **state) {
  (void)state;
  for (const FovEncoder *const *encoder = fov_encoders; *encoder; encoder++) {
    EncoderCase c;
    Subject subject = {
        .name = (*encoder)->plugin.name, .forward = encode, .context = &c, .only = ALL};
    build_encoder(&c, &subject.params, *encoder);
    assert_plugin(&(*encoder)->plugin, &subject.params, 1, "encoder.");
    assert_gradient(&subject);
    free(c.layout);
    fov_params_finish(&subject.params);
  }
}

/* ---- The scores ---- */

typedef struct ScoreCase {
  const FovScore *score;
  void *layout; /**< owned */
  int heads, sites;
} ScoreCase;

/** Heads and sites: several, one site, one head, heads of two numbers. */
static const int score_shapes[][2] = {{2, 3}, {2, 1}, {1, 3}, {4, 2}};

enum { SCORE_SHAPES = sizeof score_shapes / sizeof *score_shapes };

/** Parameters x0 and x1 are query and keys, these only if they are read; then come the score's. */
static void build_score(ScoreCase *c, FovParams *params, const FovScore *score,
                        const int shape[2]) {
  void *options = default_options(&score->plugin);
  *c = (ScoreCase){.score = score, .heads = shape[0], .sites = shape[1]};
  c->layout = calloc(1, score->layout_size + 1);
  assert_non_null(c->layout);
  add_inputs(params,
             &(Case){.shapes = {{LANES, WIDTH}, {LANES * !score->keyless * c->sites, WIDTH}}});
  int sites = score->keyless ? c->sites : 0;
  if (score->build && score->build(c->layout, params, options, WIDTH, c->heads, sites) != FOV_OK)
    fail_msg("%s: %s", score->plugin.name, fov_error_message());
  free(options);
}

static FovVar *prepared(const ScoreCase *c, FovTape *tape, FovVar *keys) {
  return keys && c->score->prepare ? c->score->prepare(c->layout, tape, keys, c->heads) : keys;
}

/** Scores of a query and of keys, which may be NULL if they are not read. */
static FovVar *scores_of(const ScoreCase *c, FovTape *tape, FovVar *query, FovVar *keys) {
  keys = prepared(c, tape, keys);
  FovVar *e = c->score->score(c->layout, tape, query, keys, c->heads);
  assert_true(e->rows == query->rows && e->cols == c->heads * c->sites);
  assert_true(!keys || keys->cols == query->cols);
  return e;
}

static void match(FovVar *y[], FovTape *tape, FovVar *x[], const void *context) {
  const ScoreCase *c = context;
  y[0] = scores_of(c, tape, x[0], c->score->keyless ? NULL : x[1]);
}

static void every_score_has_its_gradient(void **state) {
  (void)state;
  for (const FovScore *const *score = fov_scores; *score; score++)
    for (int i = 0; i < SCORE_SHAPES; i++) {
      ScoreCase c;
      Subject subject = {
          .name = (*score)->plugin.name, .forward = match, .context = &c, .only = ALL};
      build_score(&c, &subject.params, *score, score_shapes[i]);
      assert_plugin(&(*score)->plugin, &subject.params, (*score)->keyless ? 1 : 2, "score.");
      assert_gradient(&subject);
      free(c.layout);
      fov_params_finish(&subject.params);
    }
}

/** A copy of rows × cols numbers, `by` added to those of one head in one lane. */
static FovVar *moved(FovTape *tape, const FovVar *x, const ScoreCase *c, int lane, int head,
                     real by) {
  int rows = x->rows / LANES, d = x->cols / c->heads;
  FovVar *y = fov_constant(tape, x->rows, x->cols);
  memcpy(y->value, x->value, (size_t)x->rows * x->stride * sizeof(real));
  for (int i = lane * rows; i < (lane + 1) * rows; i++)
    for (int j = head * d; j < (head + 1) * d; j++) fov_value_row(y, i)[j] += by * (1 + i + j);
  return y;
}

/** A head's scores in a lane depend on its own numbers of that lane's query and keys alone. */
static void assert_apart(const ScoreCase *c, FovTape *tape, const FovVar *query, FovVar *keys) {
  FovVar *e = scores_of(c, tape, (FovVar *)query, keys);
  for (int b = 0; b < LANES; b++)
    for (int h = 0; h < c->heads; h++) {
      FovVar *changed = scores_of(c, tape, moved(tape, query, c, b, h, 0.25),
                                  keys ? moved(tape, keys, c, b, h, -0.125) : NULL);
      for (int i = 0; i < LANES * e->cols; i++) {
        bool own = i / e->cols == b && i % e->cols / c->sites == h;
        real before = e->value[place_of(e, i)], after = changed->value[place_of(changed, i)];
        if (own == (fabs(after - before) < 1e-9))
          fail_msg("%s: head %d of lane %d, score %d", c->score->plugin.name, h, b, i);
      }
    }
}

/** Sites in reverse order have the same scores in reverse order; so have keys that are prepared one
 * by one, as they come to a memory. */
static void assert_each_site(const ScoreCase *c, FovTape *tape, FovVar *query, FovVar *keys) {
  FovVar *e = scores_of(c, tape, query, keys), *memory = NULL;
  int N = c->sites, of_site[LANES];
  for (int i = N - 1; i >= 0; i--) {
    for (int b = 0; b < LANES; b++) of_site[b] = b * N + i;
    memory = fov_append(tape, memory, prepared(c, tape, fov_gather(tape, keys, of_site, LANES)));
  }
  FovVar *reversed = c->score->score(c->layout, tape, query, memory, c->heads);
  for (int b = 0; b < LANES; b++)
    for (int i = 0; i < e->cols; i++)
      assert_near(fov_value_row(reversed, b)[i / N * N + N - 1 - i % N], fov_value_row(e, b)[i],
                  1e-12, "%s: score %d of lane %d", c->score->plugin.name, i, b);
}

static void every_score_keeps_its_contract(void **state) {
  (void)state;
  for (const FovScore *const *score = fov_scores; *score; score++)
    for (int i = 0; i < SCORE_SHAPES; i++) {
      ScoreCase c;
      FovParams params = {0};
      FovArena arena = {0};
      FovTape tape;
      build_score(&c, &params, *score, score_shapes[i]);
      real *values = fov_params_block(&params);
      assert_non_null(values);
      fill_params(values, &params);
      fov_tape_begin(&tape, &arena, &params, values, NULL);
      FovVar *query = &tape.params[0], *keys = (*score)->keyless ? NULL : &tape.params[1];
      assert_apart(&c, &tape, query, keys);
      if (keys) assert_each_site(&c, &tape, query, keys);
      free(values), free(c.layout);
      fov_params_finish(&params);
      fov_arena_finish(&arena);
    }
}

/* ---- Values, against the equations ---- */

/** A tape of inference over no parameters, for the tests of values. */
static FovArena scratch;
static FovTape tape;

static int begin(void **state) {
  (void)state;
  fov_tape_begin(&tape, &scratch, &(FovParams){0}, NULL, NULL);
  return 0;
}

static int finish(void **state) {
  (void)state;
  fov_arena_finish(&scratch);
  return 0;
}

static FovVar *constant(int rows, int cols, uint64_t index) {
  FovVar *x = fov_constant(&tape, rows, cols);
  fill_random(x->value, (size_t)rows * cols, index);
  return x;
}

static real at(const FovVar *x, int row, int col) {
  return x->value[row * x->cols + col];
}

static real sigmoid(real x) {
  return 1 / (1 + exp(-x));
}

static real activated(real x, FovActivation activation) {
  return activation == FOV_RELU       ? fmax(x, 0)
         : activation == FOV_TANH     ? tanh(x)
         : activation == FOV_SIGMOID  ? sigmoid(x)
         : activation == FOV_SOFTPLUS ? log(1 + exp(x))
                                      : x;
}

static void linear_computes_its_equation(void **state) {
  (void)state;
  FovVar *x = constant(3, 4, 1), *w = constant(5, 4, 2), *bias = constant(1, 5, 3);
  FovVar *h = constant(3, 2, 4), *u = constant(5, 2, 5);
  for (FovActivation act = FOV_LINEAR; act <= FOV_SOFTPLUS; act++) {
    FovVar *y = fov_linear(&tape, x, w, bias, act);
    FovVar *y2 = fov_linear2(&tape, x, w, h, u, bias, act);
    assert_true(y->rows == 3 && y->cols == 5 && y2->rows == 3 && y2->cols == 5);
    for (int b = 0; b < 3; b++)
      for (int e = 0; e < 5; e++) {
        real sum = at(bias, 0, e);
        for (int d = 0; d < 4; d++) sum += at(x, b, d) * at(w, e, d);
        assert_near(at(y, b, e), activated(sum, act), 1e-14, "[%d, %d]", b, e);
        for (int d = 0; d < 2; d++) sum += at(h, b, d) * at(u, e, d);
        assert_near(at(y2, b, e), activated(sum, act), 1e-14, "[%d, %d] of two", b, e);
      }
  }
}

static void linear_heads_computes_its_equation(void **state) {
  (void)state;
  enum { B = 3, HEADS = 2, D = 3, E = 2 };
  FovVar *x = constant(B, HEADS * D, 1), *w = constant(HEADS * E, D, 2);
  FovVar *bias = constant(1, HEADS * E, 3);
  FovVar *y = fov_linear_heads(&tape, x, w, bias, HEADS, FOV_TANH);
  assert_true(y->rows == B && y->cols == HEADS * E);
  for (int b = 0; b < B; b++)
    for (int e = 0; e < HEADS * E; e++) {
      real sum = at(bias, 0, e);
      for (int d = 0; d < D; d++) sum += at(w, e, d) * at(x, b, e / E * D + d);
      assert_near(at(y, b, e), tanh(sum), 1e-14, "[%d, %d]", b, e);
    }
}

/** Adds the terms of one place of one filter: to y, or from dy to dx, dw and dbias. */
typedef struct Naive {
  const FovVar *x, *w, *bias;
  const real *dy; /**< NULL: forwards */
  real *y, *dx, *dw, *dbias;
} Naive;

static void convolve_place(const Naive *n, const FovConv *c, int b, int p, int f) {
  int across = (c->width - c->side) / c->stride + 1, down = (c->height - c->side) / c->stride + 1;
  int s = p / (down * across), i = p / across % down, j = p % across, filters = n->w->rows;
  int out = (b * fov_conv_places(c) + p) * filters + f;
  if (n->dy)
    n->dbias[f] += n->dy[out];
  else
    n->y[out] = at(n->bias, 0, f);
  for (int k = 0, weight = f * n->w->cols; k < c->side; k++)
    for (int l = 0; l < c->side; l++)
      for (int channel = 0; channel < c->channels; channel++, weight++) {
        int row = s * c->height + i * c->stride + k, column = j * c->stride + l;
        int pixel = (row * c->width + column) * c->channels + channel + b * n->x->cols;
        if (n->dy) {
          n->dw[weight] += n->dy[out] * n->x->value[pixel];
          n->dx[pixel] += n->dy[out] * n->w->value[weight];
        } else {
          n->y[out] += n->x->value[pixel] * n->w->value[weight];
        }
      }
}

static void convolve_slowly(const Naive *n, const FovConv *c) {
  for (int b = 0; b < n->x->rows; b++)
    for (int p = 0; p < fov_conv_places(c); p++)
      for (int f = 0; f < n->w->rows; f++) convolve_place(n, c, b, p, f);
}

/** Parameters x, w and bias of a convolution with F filters of B lanes. */
static void add_conv(FovParams *params, const FovConv *c, int B, int F) {
  int x_cols = c->pictures * c->height * c->width * c->channels;
  int w_cols = c->side * c->side * c->channels;
  add_inputs(params, &(Case){.shapes = {{B, x_cols}, {F, w_cols}, {1, F}}});
}

/** Compares y with `expected` and sets its gradient to dy. */
static void assert_conv_result(FovVar *y, const real *expected, const real *dy, size_t shape) {
  real *grad = fov_grad(&tape, y);
  for (int j = 0; j < y->rows * y->cols; j++) {
    assert_near(y->value[place_of(y, j)], expected[j], 1e-10, "shape %zu: y[%d]", shape, j);
    grad[place_of(y, j)] = dy[j];
  }
}

/** Against the definition, forward and backward. */
static void assert_conv(const FovConv *c, size_t shape) {
  enum { B = 3, F = 4 };
  FovParams params = {0};
  add_conv(&params, c, B, F);
  real *values = fov_params_block(&params), *gradient = fov_params_block(&params);
  real *expected = fov_params_block(&params);
  size_t size = (size_t)B * F * fov_conv_places(c);
  real *y_slow = calloc(size, sizeof *y_slow), *dy = calloc(size, sizeof *dy);
  assert_true(values && gradient && expected && y_slow && dy);
  fill_random(values, params.size, shape), fill_random(dy, size, shape);
  fov_tape_begin(&tape, &scratch, &params, values, gradient);
  // Not the parameter itself, whose gradient is clear.
  FovVar *p = tape.params, *x = fov_add(&tape, &p[0], fov_zeros(&tape, B, p[0].cols));
  FovVar *y = fov_conv(&tape, x, &p[1], &p[2], c, FOV_LINEAR);
  const size_t at[] = {params.list[0].offset, params.list[1].offset, params.list[2].offset};
  Naive naive = {&p[0],           &p[1], &p[2], NULL, y_slow, expected + at[0], expected + at[1],
                 expected + at[2]};
  convolve_slowly(&naive, c);
  assert_true(y->rows == B && y->cols == F * fov_conv_places(c));
  assert_conv_result(y, y_slow, dy, shape);
  naive.dy = dy;
  convolve_slowly(&naive, c);
  fov_tape_backward(&tape);
  for (size_t j = 0; j < params.size; j++)
    assert_near(gradient[j], expected[j], 1e-10, "shape %zu: gradient of %s", shape,
                fov_params_name_at(&params, j));
  free(values), free(gradient), free(expected), free(y_slow), free(dy);
  fov_params_finish(&params);
  fov_arena_rewind(&scratch);
}

/** Also for places and filters that do not fit in the scratch at once. */
static void conv_computes_its_equation(void **state) {
  (void)state;
  static const FovConv shapes[] = {
      {1, 3, 4, 1, 1, 1},   {2, 7, 5, 3, 3, 2},     {1, 60, 60, 1, 10, 5}, {3, 12, 12, 1, 5, 1},
      {1, 70, 66, 3, 8, 3}, {1, 200, 200, 1, 1, 1}, {1, 28, 28, 3, 20, 4}, {2, 110, 108, 3, 105, 1},
      {1, 64, 62, 1, 4, 1}, {9, 7, 7, 16, 3, 1},    {4, 10, 10, 16, 3, 1},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) assert_conv(&shapes[i], i);
}

/** The scratch memory of an operation, besides its result, stops growing after a few lanes. */
static void conv_takes_scratch_of_a_bounded_size(void **state) {
  (void)state;
  const FovConv c = {1, 60, 60, 1, 10, 5};
  FovVar *w = constant(8, 100, 1);
  size_t room[3];
  for (int i = 0; i < 3; i++) {
    FovVar *x = constant((const int[]){1, 8, 64}[i], 3600, 2);
    size_t before = scratch.used, blocks = scratch.blocks;
    FovVar *y = fov_conv(&tape, x, w, NULL, &c, FOV_RELU);
    assert_int_equal(scratch.blocks, blocks);
    room[i] = scratch.used - before - (size_t)y->rows * y->stride * sizeof(real);
  }
  assert_true(room[0] < room[1] && room[1] == room[2]);
}

static void add_adds(void **state) {
  (void)state;
  FovVar *a = constant(2, 3, 1), *b = constant(2, 3, 2), *y = fov_add(&tape, a, b);
  for (int i = 0; i < 6; i++) assert_true(y->value[i] == a->value[i] + b->value[i]);
}

static void lstm_computes_its_equations(void **state) {
  (void)state;
  enum { D = 3 };
  FovVar *gates = constant(2, 4 * D, 1), *c_prev = constant(2, D, 2);
  for (int with = 0; with < 2; with++) {
    FovVar *h_t, *c_t;
    fov_lstm_cell(&h_t, &c_t, &tape, gates, with ? c_prev : NULL);
    for (int b = 0; b < 2; b++)
      for (int j = 0; j < D; j++) {
        real i = sigmoid(at(gates, b, j)), f = sigmoid(at(gates, b, D + j));
        real g = tanh(at(gates, b, 2 * D + j)), o = sigmoid(at(gates, b, 3 * D + j));
        real c = f * (with ? at(c_prev, b, j) : 0) + i * g;
        assert_near(at(c_t, b, j), c, 1e-14, "c_t[%d, %d]", b, j);
        assert_near(at(h_t, b, j), o * tanh(c), 1e-14, "h_t[%d, %d]", b, j);
      }
  }
}

static void gru_computes_its_equations(void **state) {
  (void)state;
  enum { D = 3 };
  FovVar *x = constant(2, 3 * D, 1), *h = constant(2, 3 * D, 2), *h_prev = constant(2, D, 3);
  for (int with = 0; with < 2; with++) {
    FovVar *h_t = fov_gru_cell(&tape, x, h, with ? h_prev : NULL);
    for (int b = 0; b < 2; b++)
      for (int j = 0; j < D; j++) {
        real r = sigmoid(at(x, b, j) + at(h, b, j));
        real z = sigmoid(at(x, b, D + j) + at(h, b, D + j));
        real n = tanh(at(x, b, 2 * D + j) + r * at(h, b, 2 * D + j));
        real expected = (1 - z) * n + z * (with ? at(h_prev, b, j) : 0);
        assert_near(at(h_t, b, j), expected, 1e-14, "h_t[%d, %d]", b, j);
      }
  }
}

static void cross_entropy_computes_its_equation(void **state) {
  (void)state;
  FovVar *logits = constant(3, 4, 1);
  // A softmax does not change with a shift, however large.
  for (int j = 0; j < 4; j++) logits->value[4 + j] += 1e4, logits->value[8 + j] -= 1e4;
  static const int labels[] = {3, 0, 1};
  real log_p[12];
  FovVar *y = fov_cross_entropy(&tape, log_p, logits, labels);
  assert_true(y->rows == 3 && y->cols == 1);
  for (int b = 0; b < 3; b++) {
    real shift = at(logits, b, 0), sum = 0;
    for (int j = 0; j < 4; j++) sum += exp(at(logits, b, j) - shift);
    for (int j = 0; j < 4; j++)
      assert_near(log_p[4 * b + j], log(exp(at(logits, b, j) - shift) / sum), 1e-11, "[%d, %d]", b,
                  j);
    assert_true(y->value[b] == -log_p[4 * b + labels[b]]);
  }
  real again[12];
  fov_log_softmax(again, fov_values(logits));
  assert_memory_equal(again, log_p, sizeof log_p);
}

static void categorical_is_the_log_probability(void **state) {
  (void)state;
  FovVar *logits = constant(3, 4, 1);
  static const int actions[] = {3, 0, 1};
  FovVar *loss = fov_cross_entropy(&tape, NULL, logits, actions);
  FovVar *y = fov_categorical_log_prob(&tape, logits, actions);
  assert_true(y->rows == 3 && y->cols == 1);
  for (int b = 0; b < 3; b++) {
    real sum = 0;
    for (int j = 0; j < 4; j++) sum += exp(at(logits, b, j));
    assert_near(y->value[b], at(logits, b, actions[b]) - log(sum), 1e-14, "log p of row %d", b);
    assert_true(y->value[b] == -loss->value[b]);
  }
}

static void gather_takes_its_rows(void **state) {
  (void)state;
  static const int rows[] = {2, 0, 2, 1};
  FovVar *x = constant(3, 5, 1), *y = fov_gather(&tape, x, rows, 4);
  assert_true(y->rows == 4 && y->cols == 5);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) assert_true(at(y, i, j) == at(x, rows[i], j));
}

static void the_loss_of_an_extreme_logit_is_exact(void **state) {
  (void)state;
  FovVar *logits = fov_constant(&tape, 1, 2);
  logits->value[0] = 5000, logits->value[1] = -5000;
  assert_true(fov_cross_entropy(&tape, NULL, logits, (int[]){1})->value[0] == 10000);
  assert_true(fov_cross_entropy(&tape, NULL, logits, (int[]){0})->value[0] == 0);
}

static void gaussian_computes_its_density(void **state) {
  (void)state;
  static const real sample[] = {0.1, -0.7, 1.3, 0.4}, sigma[] = {0.3, 1.7};
  FovVar *mean = constant(2, 2, 1), *y = fov_gaussian_log_prob(&tape, mean, sample, sigma);
  assert_true(y->rows == 2 && y->cols == 1);
  for (int b = 0; b < 2; b++) {
    real density = 1;
    for (int j = 0; j < 2; j++) {
      real d = sample[2 * b + j] - at(mean, b, j);
      density *= exp(-d * d / (2 * sigma[j] * sigma[j])) / (sigma[j] * sqrt(2 * M_PI));
    }
    assert_near(exp(y->value[b]), density, 1e-14, "density %d", b);
  }
}

static void squared_error_is_half_the_square(void **state) {
  (void)state;
  FovVar *x = fov_constant(&tape, 2, 1);
  x->value[0] = 3, x->value[1] = -1;
  FovVar *y = fov_squared_error(&tape, x, (real[]){1, 4});
  assert_true(y->value[0] == 2 && y->value[1] == 12.5);
  FovVar *pairs = fov_constant(&tape, 2, 2);
  for (int i = 0; i < 4; i++) fov_value_row(pairs, i / 2)[i % 2] = (real)i;
  y = fov_squared_error(&tape, pairs, (real[]){2, 1, 0, 0});
  assert_true(y->value[0] == 2 && y->value[1] == 6.5);
}

static void elementwise_operations_compute_their_equations(void **state) {
  (void)state;
  FovVar *a = constant(2, 3, 1), *b = constant(2, 3, 2), *y = fov_multiply(&tape, a, b);
  for (int i = 0; i < 6; i++) assert_true(y->value[i] == a->value[i] * b->value[i]);
  for (FovActivation act = FOV_LINEAR; act <= FOV_SOFTPLUS; act++) {
    y = fov_activate(&tape, a, act);
    for (int i = 0; i < 6; i++)
      assert_near(y->value[i], activated(a->value[i], act), 1e-14, "number %d", i);
  }
}

static void concat_and_columns_are_inverse(void **state) {
  (void)state;
  FovVar *a = constant(3, 2, 1), *b = constant(3, 64, 2);
  FovVar *y = fov_concat(&tape, (FovVar *[]){a, b, a}, 3);
  assert_true(y->rows == 3 && y->cols == 68);
  FovVar *first = fov_columns(&tape, y, 0, 2), *second = fov_columns(&tape, y, 2, 64);
  for (int i = 0; i < 3; i++) {
    assert_memory_equal(fov_value_row(first, i), fov_value_row(a, i), 2 * sizeof(real));
    assert_memory_equal(fov_value_row(second, i), fov_value_row(b, i), 64 * sizeof(real));
    assert_memory_equal(fov_value_row(y, i) + 66, fov_value_row(a, i), 2 * sizeof(real));
  }
}

/** Row k of lane b is that lane's input at step k, also after lanes have left. */
static void a_memory_grows_by_one_row_per_lane(void **state) {
  (void)state;
  enum { T = 4, B = 3, D = 2 };
  FovVar *x[T], *memory = NULL;
  for (int t = 0; t < T; t++) {
    x[t] = constant(B, D, (uint64_t)t);
    memory = fov_append(&tape, memory, x[t]);
    assert_true(memory->rows == B * (t + 1) && memory->cols == D);
  }
  FovVar *kept = fov_gather_lanes(&tape, memory, B, (int[]){2, 0}, 2);
  assert_true(kept->rows == 2 * T && kept->cols == D);
  for (int t = 0; t < T; t++)
    for (int j = 0; j < D; j++) {
      for (int b = 0; b < B; b++) assert_true(at(memory, b * T + t, j) == at(x[t], b, j));
      assert_true(at(kept, t, j) == at(x[t], 2, j) && at(kept, T + t, j) == at(x[t], 0, j));
    }
}

static void embedding_looks_up_its_rows(void **state) {
  (void)state;
  static const int indices[] = {4, 0, 4};
  FovVar *table = constant(5, 3, 1), *y = fov_gather(&tape, table, indices, 3);
  assert_true(y->rows == 3 && y->cols == 3);
  for (int i = 0; i < 9; i++) assert_true(at(y, i / 3, i % 3) == at(table, indices[i / 3], i % 3));
}

static void softmax_computes_its_equation(void **state) {
  (void)state;
  enum { GROUPS = 3, N = 20 };
  FovVar *x = constant(2, GROUPS * N, 1);
  // Shifts beyond the range of the exponential change nothing.
  for (int j = 0; j < N; j++) x->value[j] += 1e4, x->value[N + j] -= 1e4;
  FovVar *y = fov_softmax(&tape, x, GROUPS);
  for (int b = 0; b < 2; b++)
    for (int g = 0; g < GROUPS * N; g += N) {
      real sum = 0;
      for (int j = 0; j < N; j++) sum += exp(at(x, b, g + j) - at(x, b, g));
      for (int j = 0; j < N; j++)
        assert_near(at(y, b, g + j), exp(at(x, b, g + j) - at(x, b, g)) / sum, 1e-11, "[%d, %d]", b,
                    g + j);
    }
}

/** With more columns than are summed side by side, and not a multiple of them. */
static void sites_compute_their_equations(void **state) {
  (void)state;
  enum { B = 2, N = 3, HEADS = 2, WIDTH_OF_HEAD = 19, D = HEADS * WIDTH_OF_HEAD };
  FovVar *query = constant(B, D, 1), *sites = constant(B * N, D, 2);
  FovVar *weights = constant(B, HEADS * N, 3);
  FovVar *e = fov_dot_sites(&tape, query, sites, HEADS, 0.25);
  FovVar *z = fov_weigh_sites(&tape, weights, sites, HEADS);
  assert_true(e->rows == B && e->cols == HEADS * N && z->rows == B && z->cols == D);
  for (int b = 0; b < B; b++) {
    for (int i = 0; i < HEADS * N; i++) {
      real sum = 0;
      for (int j = i / N * WIDTH_OF_HEAD; j < (i / N + 1) * WIDTH_OF_HEAD; j++)
        sum += at(query, b, j) * at(sites, b * N + i % N, j);
      assert_near(at(e, b, i), 0.25 * sum, 1e-14, "e[%d, %d]", b, i);
    }
    for (int j = 0; j < D; j++) {
      real sum = 0;
      for (int i = 0; i < N; i++)
        sum += at(weights, b, j / WIDTH_OF_HEAD * N + i) * at(sites, b * N + i, j);
      assert_near(at(z, b, j), sum, 1e-14, "z[%d, %d]", b, j);
    }
  }
}

static void additive_sites_compute_their_equation(void **state) {
  (void)state;
  enum { B = 2, N = 3, HEADS = 2, WIDTH_OF_HEAD = 19, D = HEADS * WIDTH_OF_HEAD };
  FovVar *query = constant(B, D, 1), *keys = constant(B * N, D, 2), *v = constant(1, D, 3);
  FovVar *e = fov_additive_sites(&tape, query, keys, v, HEADS);
  assert_true(e->rows == B && e->cols == HEADS * N);
  for (int b = 0; b < B; b++)
    for (int i = 0; i < HEADS * N; i++) {
      real sum = 0;
      for (int j = i / N * WIDTH_OF_HEAD; j < (i / N + 1) * WIDTH_OF_HEAD; j++)
        sum += at(v, 0, j) * tanh(at(query, b, j) + at(keys, b * N + i % N, j));
      assert_near(at(e, b, i), sum, 1e-13, "e[%d, %d]", b, i);
    }
}

/** Of numbers small and large, and of zeros. */
static void normalise_gives_a_length(void **state) {
  (void)state;
  enum { GROUPS = 2, D = 19 };
  FovVar *x = constant(3, GROUPS * D, 1), *length = constant(3, GROUPS, 2);
  for (int j = 0; j < GROUPS * D; j++) x->value[j] *= 1e-4, x->value[2 * GROUPS * D + j] = 0;
  FovVar *y = fov_normalise(&tape, x, length, GROUPS), *one = fov_normalise(&tape, x, NULL, GROUPS);
  for (int b = 0; b < 3; b++)
    for (int g = 0; g < GROUPS; g++) {
      real squares = 1e-8;
      for (int j = g * D; j < (g + 1) * D; j++) squares += pow(at(x, b, j), 2);
      for (int j = g * D; j < (g + 1) * D; j++) {
        real expected = at(x, b, j) / sqrt(squares);
        assert_near(at(one, b, j), expected, 1e-14, "[%d, %d]", b, j);
        assert_near(at(y, b, j), at(length, b, g) * expected, 1e-14, "[%d, %d] of length", b, j);
      }
    }
}

static void layer_norm_computes_its_equation(void **state) {
  (void)state;
  enum { D = 37 };
  FovVar *x = constant(2, D, 1), *gain = constant(1, D, 2), *bias = constant(1, D, 3);
  for (int j = 0; j < D; j++) x->value[D + j] = 3; // a row without variance
  FovVar *y = fov_layer_norm(&tape, x, gain, bias);
  for (int b = 0; b < 2; b++) {
    real mean = 0, variance = 0;
    for (int j = 0; j < D; j++) mean += at(x, b, j) / D;
    for (int j = 0; j < D; j++) variance += pow(at(x, b, j) - mean, 2) / D;
    for (int j = 0; j < D; j++)
      assert_near(at(y, b, j),
                  at(gain, 0, j) * (at(x, b, j) - mean) / sqrt(variance + 1e-5) + at(bias, 0, j),
                  1e-12, "[%d, %d]", b, j);
  }
}

static void softmax_entropy_computes_its_equation(void **state) {
  (void)state;
  FovVar *logits = constant(3, 8, 1);
  for (int j = 0; j < 8; j++) logits->value[j] = 1e4, logits->value[8 + j] = j ? -1e4 : 1e4;
  FovVar *y = fov_softmax_entropy(&tape, logits);
  assert_true(y->rows == 3 && y->cols == 1);
  real sum = 0, entropy = 0;
  for (int j = 0; j < 8; j++) sum += exp(at(logits, 2, j));
  for (int j = 0; j < 8; j++) {
    real p = exp(at(logits, 2, j)) / sum;
    entropy -= p * log(p);
  }
  assert_near(y->value[0], log(8), 1e-11, "the entropy of equal logits");
  assert_near(y->value[1], 0, 0, "the entropy of a certain choice");
  assert_near(y->value[2], entropy, 1e-14, "an entropy");
}

/* ---- The tape ---- */

/** Two parameters, x [2, 1] = (3, 5) and w [1, 1] = 2, and their gradient. */
typedef struct Small {
  FovParams params;
  real *values, *gradient;
  FovVar *x, *w;
} Small;

static void small_begin(Small *small) {
  *small = (Small){0};
  fov_params_add(&small->params, "x", 2, 1, FOV_INIT_ZERO, 0);
  fov_params_add(&small->params, "w", 1, 1, FOV_INIT_ZERO, 0);
  small->values = fov_params_block(&small->params);
  small->gradient = fov_params_block(&small->params);
  assert_true(small->values && small->gradient);
  fov_tape_begin(&tape, &scratch, &small->params, small->values, small->gradient);
  small->x = &tape.params[0], small->w = &tape.params[1];
  small->x->value[0] = 3, small->x->value[1] = 5, small->w->value[0] = 2;
}

static void small_finish(Small *small) {
  free(small->values);
  free(small->gradient);
  fov_params_finish(&small->params);
}

/** Zeros give the first window, huge numbers one that is bounded, small ones e^x. */
static void numbers_of_a_window_are_bounded(void **state) {
  (void)state;
  const real xs[] = {0, 1, -1, 1e30, -1e30, INFINITY};
  const real expected[] = {1, exp(0.1), exp(-0.1), exp(4), exp(-4), exp(4)};
  const real first[] = {1.5, 0.25, 2};
  FovVar *place, *shape, *x = fov_constant(&tape, 6, 5);
  for (int b = 0; b < 6; b++)
    for (int i = 0; i < 5; i++) fov_value_row(x, b)[i] = xs[b];
  fov_window_numbers(&place, &shape, &tape, x, first, (real)0.1);
  for (int b = 0; b < 6; b++) {
    for (int i = 0; i < 2; i++) assert_close(fov_value_row(place, b)[i], tanh(xs[b] / 10), 1e-12);
    for (int k = 0; k < 3; k++)
      assert_close(fov_value_row(shape, b)[k], first[k] * expected[b],
                   b == 1 || b == 2 ? 1e-4 : 1e-9);
  }
}

/** Every lane looks at its own image through its own window. */
static void glimpses_are_those_of_the_sensor(void **state) {
  (void)state;
  uint8_t pixels[2][25];
  FovImage images[2];
  real room[1000], expected[8];
  for (int i = 0; i < 50; i++) pixels[i / 25][i % 25] = (uint8_t)(i * i);
  for (int b = 0; b < 2; b++)
    images[b] = (FovImage){.bytes = pixels[b], .height = 5, .width = 5, .channels = 1};
  FovWindowView view = {
      .sensor = {.side = 2, .scales = 2, .gain = 1}, .images = images, .scratch = room};
  assert_true(fov_window_scratch(&view.sensor, 5, 5, 1) <= 1000);
  const real numbers[2][5] = {{0.1, -0.3, 1.2, 0.7, 1.5}, {-0.6, 0.2, 0.8, 1.1, 0.5}};
  for (view.kind = 0; view.kind < 2; view.kind++) {
    FovVar *place = fov_constant(&tape, 2, 2), *shape = fov_constant(&tape, 2, view.kind ? 1 : 3);
    for (int b = 0; b < 2; b++) {
      memcpy(fov_value_row(place, b), numbers[b], 2 * sizeof(real));
      memcpy(fov_value_row(shape, b), numbers[b] + 2, (size_t)shape->cols * sizeof(real));
    }
    FovVar *y = fov_window_glimpses(&tape, place, shape, &view);
    assert_true(y->rows == 2 && y->cols == 8 && !y->wants_grad);
    for (int b = 0; b < 2; b++) {
      FovWindow w = {numbers[b][0], numbers[b][1], numbers[b][2], numbers[b][3], 1};
      if (view.kind == FOV_WINDOW_GAUSSIAN) w.intensity = numbers[b][4];
      fov_window_look(expected, view.kind, &view.sensor, &images[b], &w, room);
      assert_memory_equal(fov_value_row(y, b), expected, sizeof expected);
    }
  }
}

static void stop_gradient_keeps_the_value_and_stops(void **state) {
  (void)state;
  Small small;
  small_begin(&small);
  FovVar *y = fov_linear(&tape, small.x, small.w, NULL, FOV_LINEAR);
  FovVar *stopped = fov_stop_gradient(&tape, y);
  assert_memory_equal(stopped->value, y->value, 2 * sizeof(real));
  assert_true(y->wants_grad && !stopped->wants_grad);
  FovVar *z = fov_linear(&tape, stopped, small.w, NULL, FOV_LINEAR);
  fov_tape_add_grad(&tape, z, (real[]){1, 10});
  fov_tape_backward(&tape);
  assert_true(small.x->grad[0] == 0 && small.x->grad[1] == 0);
  // z = w · stop(w x): only the outer w counts, dz/dw = w x.
  assert_true(small.w->grad[0] == 6 + 10 * 10);
  assert_false(y->has_grad);
  small_finish(&small);
}

static void share_gradient_keeps_the_value_and_lets_a_share_through(void **state) {
  (void)state;
  for (int quarters = 0; quarters <= 4; quarters++) {
    Small small;
    small_begin(&small);
    FovVar *y = fov_linear(&tape, small.x, small.w, NULL, FOV_LINEAR);
    FovVar *shared = fov_share_gradient(&tape, y, (real)quarters / 4);
    assert_memory_equal(shared->value, y->value, 2 * sizeof(real));
    assert_ptr_equal(fov_share_gradient(&tape, y, 1), y);
    // z = y + share(y): dz/dy is 1 + share.
    fov_tape_add_grad(&tape, fov_add(&tape, y, shared), (real[]){1, 10});
    fov_tape_backward(&tape);
    assert_near(y->grad[0], 1 + quarters / 4.0, 0, "share %d / 4", quarters);
    assert_near(y->grad[1], 10 * (1 + quarters / 4.0), 0, "share %d / 4", quarters);
    small_finish(&small);
  }
}

/** dW of y = (x Wᵀ) w2ᵀ. `cell`: an LSTM cell also reads the gates, through a stop, and a stopped y
 * also gets a gradient. */
static void gates_gradient(real dw[8], bool cell) {
  FovParams params = {0};
  FovArena arena = {0};
  FovTape local;
  fov_params_add(&params, "w", 4, 2, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "w2", 1, 4, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "c", 3, 1, FOV_INIT_ZERO, 0);
  real *values = fov_params_block(&params), *gradient = fov_params_block(&params);
  assert_true(values && gradient);
  fill_random(values, params.size, 3);
  fov_tape_begin(&local, &arena, &params, values, gradient);
  FovVar *p = local.params, *x = fov_constant(&local, 3, 2), *h, *c;
  for (int i = 0; i < 6; i++) x->value[i] = i - 2;
  FovVar *gates = fov_linear(&local, x, &p[0], NULL, FOV_LINEAR);
  FovVar *y = fov_linear(&local, gates, &p[1], NULL, FOV_LINEAR);
  fov_tape_add_grad(&local, y, (real[]){1, 2, 3});
  if (cell) {
    fov_lstm_cell(&h, &c, &local, fov_stop_gradient(&local, gates), &p[2]);
    fov_tape_add_grad(&local, h, (real[]){4, 5, 6});
    fov_tape_add_grad(&local, fov_stop_gradient(&local, y), (real[]){7, 8, 9});
  }
  fov_tape_backward(&local);
  assert_true((gradient[params.list[2].offset] != 0) == cell);
  memcpy(dw, gradient, 8 * sizeof *dw);
  free(values), free(gradient);
  fov_params_finish(&params);
  fov_arena_finish(&arena);
}

static void a_stopped_copy_has_a_gradient_of_its_own(void **state) {
  (void)state;
  real alone[8], beside[8];
  gates_gradient(alone, false);
  gates_gradient(beside, true);
  assert_memory_equal(alone, beside, sizeof alone);
  assert_true(alone[0] != 0);
}

/** Joining over time steps does not change the gradient, so the matrix products are counted. */
static void a_weights_gradient_is_one_product(void **state) {
  (void)state;
  enum { T = 3, B = 2, D = 4 };
  FovParams params = {0};
  FovArena arena = {0};
  FovTape local;
  fov_params_add(&params, "w", D, D, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "u", D, D, FOV_INIT_ZERO, 0);
  real *values = fov_params_block(&params), *gradient = fov_params_block(&params);
  FovProfile *profiles = aligned_alloc(64, FOV_MAX_THREADS * sizeof *profiles);
  assert_true(values && gradient && profiles);
  memset(profiles, 0, FOV_MAX_THREADS * sizeof *profiles);
  fov_profile_into(profiles);
  fov_profile_attach(0);
  fov_tape_begin(&local, &arena, &params, values, gradient);
  local.steps = T;
  FovVar *x = fov_zeros(&local, T * B, D), *h = NULL;
  for (int t = 0; t < T; t++)
    h = fov_linear2(&local, fov_rows(&local, x, t * B, B), &local.params[0], h, &local.params[1],
                    NULL, FOV_TANH);
  fov_grad(&local, h);
  fov_tape_backward(&local);
  fov_profile_detach();
  fov_profile_into(NULL);
  int64_t calls = 0;
  for (int i = 0; i < profiles->shapes; i++) {
    const FovProduct *product = &profiles->products[i];
    if (!product->a_transposed) continue;
    // u has no use at the first step.
    assert_true(product->k == T * B || product->k == (T - 1) * B);
    calls += profiles->calls[i];
  }
  assert_int_equal(calls, 2);
  free(values), free(gradient), free(profiles);
  fov_params_finish(&params);
  fov_arena_finish(&arena);
}

/** A pass over the tape, counted. */
typedef struct Counted {
  double forward, backward; /**< floating-point operations of products */
} Counted;

static Counted count_flops(Forward *forward, FovVar *x[]) {
  FovVar *y[MAX_OUTPUTS] = {NULL};
  FovProfile *profiles = fov_profiles_create();
  assert_non_null(profiles);
  fov_profile_into(profiles);
  fov_profile_attach(0);
  forward(y, &tape, x, NULL);
  Counted counted = {.forward = profiles->flops};
  for (int i = 0; y[i]; i++) fov_grad(&tape, y[i]);
  fov_tape_backward(&tape);
  fov_profile_detach();
  fov_profile_into(NULL);
  counted.backward = profiles->flops - counted.forward;
  free(profiles);
  return counted;
}

/** The backward pass has as much work as the forward pass for each of its two factors that wants a
 * gradient; the query and the key of an additive score are one of them. */
static void products_beside_gemm_are_counted(void **state) {
  enum { B = 2, N = 3, D = 4, FLOPS = 2 * B * N * D };
  static const struct {
    Forward *forward;
    int times; // that it computes the product
    int rows[3], cols[3];
    int factors[3]; // to which factor each operand belongs
  } operations[] = {
      {dot_sites, 2, {B, B * N}, {D, D}, {0, 1}},
      {weigh_sites, 1, {B, B * N}, {2 * N, D}, {0, 1}},
      {additive_sites, 2, {B, B * N, 1}, {D, D, D}, {0, 0, 1}},
  };
  for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
    for (int wanted = 1; wanted < 8; wanted++) {
      FovVar *x[3] = {NULL};
      bool wants[2] = {false};
      begin(state); // another tape
      for (int i = 0; i < 3 && operations[o].rows[i]; i++) {
        bool wants_grad = wanted >> i & 1;
        int rows = operations[o].rows[i], cols = operations[o].cols[i];
        x[i] = wants_grad ? fov_input(&tape, rows, cols) : fov_constant(&tape, rows, cols);
        memset(x[i]->value, 0, (size_t)rows * x[i]->stride * sizeof(real));
        wants[operations[o].factors[i]] |= wants_grad;
      }
      if (!wants[0] && !wants[1]) continue;
      Counted counted = count_flops(operations[o].forward, x);
      assert_near(counted.forward, operations[o].times * FLOPS, 0, "operation %zu", o);
      assert_near(counted.backward, (wants[0] + wants[1]) * operations[o].times * FLOPS, 0,
                  "operation %zu backwards, wanted %d", o, wanted);
    }
}

/** Also to a matrix with padded rows; two gradients are added. */
static void a_gradient_is_added_number_by_number(void **state) {
  (void)state;
  enum { B = 3, D = 64 };
  real grad[B * D];
  for (int i = 0; i < B * D; i++) grad[i] = i + 1;
  FovVar *x = fov_input(&tape, B, D), *constant_one = fov_constant(&tape, B, D);
  assert_true(x->stride > D && !x->has_grad);
  fov_tape_add_grad(&tape, x, grad);
  fov_tape_add_grad(&tape, x, grad);
  fov_tape_add_grad(&tape, constant_one, grad);
  assert_true(x->has_grad && !constant_one->has_grad);
  for (int i = 0; i < B * D; i++) assert_true(x->grad[place_of(x, i)] == 2 * (i + 1));
  fov_tape_clear_grads(&tape);
  assert_false(x->has_grad);
}

static void results_of_constants_are_not_on_the_tape(void **state) {
  (void)state;
  Small small;
  small_begin(&small);
  FovVar *stopped = fov_stop_gradient(&tape, small.x), *y = fov_add(&tape, stopped, stopped);
  assert_true(y->value[1] == 10 && !y->wants_grad);
  assert_null(tape.last);
  small_finish(&small);
}

static void gradients_add_up_and_results_without_one_are_skipped(void **state) {
  (void)state;
  Small small;
  small_begin(&small);
  FovVar *unused = fov_linear(&tape, small.x, small.w, NULL, FOV_LINEAR);
  FovVar *y = fov_add(&tape, small.x, small.x);
  FovVar *after = fov_add(&tape, unused, y);
  fov_tape_add_grad(&tape, y, (real[]){1, -1});
  fov_tape_add_grad(&tape, y, (real[]){2, 5});
  fov_tape_backward(&tape);
  assert_true(small.x->grad[0] == 6 && small.x->grad[1] == 8 && small.w->grad[0] == 0);
  assert_false(unused->has_grad);
  assert_false(after->has_grad);
  small_finish(&small);
}

/** The caller may free labels, samples and targets before the backward pass. */
static void operations_keep_their_own_constants(void **state) {
  (void)state;
  Small small;
  small_begin(&small);
  real target[] = {1, 1}, sigma[] = {1};
  int labels[] = {0, 0}, rows[] = {1, 0};
  fov_tape_add_grad(&tape, fov_squared_error(&tape, small.x, target), (real[]){1, 1});
  fov_tape_add_grad(&tape, fov_gaussian_log_prob(&tape, small.x, target, sigma), (real[]){1, 1});
  FovVar *logits = fov_linear(&tape, small.x, fov_stop_gradient(&tape, small.x), NULL, FOV_LINEAR);
  fov_tape_add_grad(&tape, fov_cross_entropy(&tape, NULL, logits, labels), (real[]){0, 0});
  fov_tape_add_grad(&tape, fov_categorical_log_prob(&tape, logits, labels), (real[]){0, 0});
  fov_tape_add_grad(&tape, fov_gather(&tape, small.x, rows, 2), (real[]){3, 4});
  target[0] = target[1] = sigma[0] = NAN;
  labels[0] = labels[1] = rows[0] = rows[1] = INT32_MAX;
  fov_tape_backward(&tape);
  // d/dx of (x − 1)² / 2 − (x − 1)² / 2, and the gathered numbers in reverse.
  assert_true(small.x->grad[0] == 4 && small.x->grad[1] == 3);
  small_finish(&small);
}

static void multiply_misfits(void) {
  fov_linear(&tape, fov_constant(&tape, 2, 3), fov_constant(&tape, 4, 5), NULL, FOV_LINEAR);
}

static void conv_with(const FovConv *shape, int x_cols, int w_cols, int bias_cols) {
  fov_conv(&tape, fov_constant(&tape, 2, x_cols), fov_constant(&tape, 4, w_cols),
           fov_constant(&tape, 1, bias_cols), shape, FOV_LINEAR);
}

static void conv_fits(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 2, 1}, 20, 4, 4);
}

static void conv_misfits_x(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 2, 1}, 21, 4, 4);
}

static void conv_misfits_w(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 2, 1}, 20, 5, 4);
}

static void conv_misfits_bias(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 2, 1}, 20, 4, 5);
}

static void conv_too_wide(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 5, 1}, 20, 25, 4);
}

static void conv_without_stride(void) {
  conv_with(&(FovConv){1, 4, 5, 1, 2, 0}, 20, 4, 4);
}

static void add_misfits(void) {
  fov_add(&tape, fov_constant(&tape, 2, 3), fov_constant(&tape, 3, 2));
}

static void label_beyond(void) {
  fov_cross_entropy(&tape, NULL, constant(1, 3, 1), (int[]){3});
}

static void action_beyond(void) {
  fov_categorical_log_prob(&tape, constant(1, 3, 1), (int[]){-1});
}

static void row_beyond(void) {
  fov_gather(&tape, constant(2, 3, 1), (int[]){0, 2}, 2);
}

static void lane_beyond(void) {
  fov_gather_lanes(&tape, constant(6, 2, 1), 3, (int[]){3}, 1);
}

static void rows_of_no_lane(void) {
  fov_gather_lanes(&tape, constant(6, 2, 1), 4, (int[]){0}, 1);
}

static void concat_misfits(void) {
  fov_concat(&tape, (FovVar *[]){constant(2, 3, 1), constant(3, 3, 1)}, 2);
}

static void columns_beyond(void) {
  fov_columns(&tape, constant(2, 3, 1), 1, 3);
}

static void append_misfits(void) {
  fov_append(&tape, constant(3, 4, 1), constant(2, 4, 1));
}

static void softmax_of_uneven_groups(void) {
  fov_softmax(&tape, constant(2, 6, 1), 4);
}

static void keys_misfit(void) {
  fov_dot_sites(&tape, constant(2, 4, 1), constant(3, 4, 1), 2, 1);
}

static void heads_misfit(void) {
  fov_dot_sites(&tape, constant(2, 4, 1), constant(4, 4, 1), 3, 1);
}

static void weights_misfit(void) {
  fov_weigh_sites(&tape, constant(2, 4, 1), constant(6, 4, 1), 2);
}

static void linear_heads_misfit_x(void) {
  fov_linear_heads(&tape, constant(2, 6, 1), constant(4, 2, 1), NULL, 2, FOV_LINEAR);
}

static void linear_heads_misfit_w(void) {
  fov_linear_heads(&tape, constant(2, 4, 1), constant(5, 2, 1), NULL, 2, FOV_LINEAR);
}

static void linear_heads_misfit_bias(void) {
  fov_linear_heads(&tape, constant(2, 4, 1), constant(4, 2, 1), constant(1, 2, 1), 2, FOV_LINEAR);
}

static void additive_keys_misfit(void) {
  fov_additive_sites(&tape, constant(2, 4, 1), constant(3, 4, 1), constant(1, 4, 1), 2);
}

static void additive_v_misfits(void) {
  fov_additive_sites(&tape, constant(2, 4, 1), constant(4, 4, 1), constant(1, 2, 1), 2);
}

static void normalise_uneven_groups(void) {
  fov_normalise(&tape, constant(2, 4, 1), NULL, 3);
}

static void lengths_misfit(void) {
  fov_normalise(&tape, constant(2, 4, 1), constant(1, 2, 1), 2);
}

static void norm_misfits(void) {
  fov_layer_norm(&tape, constant(2, 4, 1), constant(1, 3, 1), constant(1, 4, 1));
}

static void window_misfits_kind(void) {
  glimpses(&tape, fov_constant(&tape, 3, 2), fov_constant(&tape, 3, 3), FOV_WINDOW_BILINEAR);
}

static void window_misfits_place(void) {
  glimpses(&tape, fov_constant(&tape, 3, 1), fov_constant(&tape, 3, 1), FOV_WINDOW_BILINEAR);
}

static void window_numbers_misfit(void) {
  FovVar *place, *shape;
  fov_window_numbers(&place, &shape, &tape, fov_constant(&tape, 3, 4), (real[]){1, 1}, 1);
}

static void backward_twice(void) {
  fov_tape_backward(&tape);
  fov_tape_backward(&tape);
}

static void add_grad_after_backward(void) {
  FovVar *x = fov_input(&tape, 1, 1);
  fov_tape_backward(&tape);
  fov_tape_add_grad(&tape, x, (real[]){1});
}

static void shapes_that_do_not_match_abort(void **state) {
  (void)state;
  assert_true(aborts(window_misfits_kind));
  assert_true(aborts(window_misfits_place));
  assert_true(aborts(window_numbers_misfit));
  assert_true(aborts(lane_beyond));
  assert_true(aborts(rows_of_no_lane));
  assert_true(aborts(concat_misfits));
  assert_true(aborts(columns_beyond));
  assert_true(aborts(append_misfits));
  assert_true(aborts(softmax_of_uneven_groups));
  assert_true(aborts(keys_misfit));
  assert_true(aborts(heads_misfit));
  assert_true(aborts(weights_misfit));
  assert_true(aborts(linear_heads_misfit_x));
  assert_true(aborts(linear_heads_misfit_w));
  assert_true(aborts(linear_heads_misfit_bias));
  assert_true(aborts(additive_keys_misfit));
  assert_true(aborts(additive_v_misfits));
  assert_true(aborts(normalise_uneven_groups));
  assert_true(aborts(lengths_misfit));
  assert_true(aborts(norm_misfits));
  assert_true(aborts(backward_twice));
  assert_true(aborts(add_grad_after_backward));
  assert_true(aborts(multiply_misfits));
  assert_false(aborts(conv_fits));
  assert_true(aborts(conv_misfits_x));
  assert_true(aborts(conv_misfits_w));
  assert_true(aborts(conv_misfits_bias));
  assert_true(aborts(conv_too_wide));
  assert_true(aborts(conv_without_stride));
  assert_true(aborts(add_misfits));
  assert_true(aborts(label_beyond));
  assert_true(aborts(action_beyond));
  assert_true(aborts(row_beyond));
}

/* ---- The parameters ---- */

static void params_lie_apart_and_aligned(void **state) {
  (void)state;
  static const int shapes[][2] = {{1, 1}, {8, 1}, {3, 3}, {1, 64}, {7, 5}};
  FovParams params = {0};
  size_t end = 0, learned = 0;
  for (int i = 0; i < 5; i++) {
    char name[] = {'p', (char)('0' + i), '\0'};
    size_t count = (size_t)shapes[i][0] * shapes[i][1];
    assert_int_equal(fov_params_add(&params, name, shapes[i][0], shapes[i][1], 0, 0), i);
    size_t offset = params.list[i].offset;
    assert_int_equal(offset * sizeof(real) % 64, 0);
    assert_true(offset >= end && params.size >= offset + count);
    end = offset + count, learned += count;
  }
  assert_int_equal(params.count, 5);
  assert_int_equal(fov_params_learned(&params), learned);
  real *block = fov_params_block(&params);
  assert_int_equal((uintptr_t)block % 64, 0);
  for (size_t i = 0; i < params.size; i++) assert_true(block[i] == 0);
  free(block);
  fov_params_finish(&params);
}

static void a_parameter_is_transposed_number_by_number(void **state) {
  (void)state;
  static const int shapes[][2] = {{1, 9}, {9, 1}, {16, 8}, {40, 24}, {33, 70}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    FovParams params = {0};
    int rows = shapes[i][0], cols = shapes[i][1];
    fov_params_add(&params, "before", 3, 3, FOV_INIT_ONE, 1);
    fov_params_add(&params, "w", rows, cols, FOV_INIT_UNIFORM, 1);
    real *values = fov_params_block(&params), *copies = fov_params_block(&params);
    assert_true(values && copies);
    fov_params_init(values, &params, 5);
    fov_param_transpose(copies, values, &params.list[1]);
    const real *w = values + params.list[1].offset, *t = copies + params.list[1].offset;
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < cols; c++) assert_true(t[c * rows + r] == w[r * cols + c]);
    assert_true(copies[0] == 0);
    free(values), free(copies);
    fov_params_finish(&params);
  }
}

/** Many more parameters than any agent has; each keeps its name, shape and place while the list
 * grows. */
static void params_are_as_many_as_are_added(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  FovParams params = {0};
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(fov_params_add(&params, name, 1 + i % 3, 2, FOV_INIT_ONE, (real)i), i);
  }
  real *values = fov_params_block(&params), *gradient = fov_params_block(&params);
  assert_true(values && gradient);
  fov_params_init(values, &params, 1);
  fov_tape_begin(&tape, &scratch, &params, values, gradient);
  for (int i = 0; i < COUNT; i++) {
    const FovVar *p = &tape.params[i];
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    assert_string_equal(params.list[i].name, name);
    assert_true(p->param == i && p->rows == 1 + i % 3 && p->cols == 2 && p->value[0] == i);
  }
  FovVar *last = &tape.params[COUNT - 1];
  fov_tape_add_grad(
      &tape, fov_squared_error(&tape, fov_linear(&tape, last, last, NULL, FOV_LINEAR), (real[]){0}),
      (real[]){1});
  fov_tape_backward(&tape);
  assert_true(gradient[params.list[COUNT - 1].offset] != 0);
  assert_true(gradient[params.list[COUNT - 2].offset] == 0);
  free(values), free(gradient);
  fov_params_finish(&params);
  assert_true(!params.list && params.count == 0 && params.size == 0);
}

static void name_at_names_the_parameter(void **state) {
  (void)state;
  FovParams params = {0};
  fov_params_add(&params, "first", 1, 3, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "second", 5, 7, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "third", 1, 1, FOV_INIT_ZERO, 0);
  for (int i = 0; i < 3; i++) {
    size_t start = params.list[i].offset;
    size_t end = start + (size_t)params.list[i].rows * params.list[i].cols;
    assert_string_equal(fov_params_name_at(&params, start), params.list[i].name);
    assert_string_equal(fov_params_name_at(&params, end - 1), params.list[i].name);
  }
  assert_string_equal(params.list[1].name, "second");
  fov_params_finish(&params);
}

static void a_prefix_stands_before_every_name(void **state) {
  (void)state;
  FovParams params = {0};
  fov_params_add(&params, "w", 1, 1, FOV_INIT_ZERO, 0);
  params.prefix = "second.";
  fov_params_add(&params, "w", 1, 1, FOV_INIT_ZERO, 0);
  params.prefix = NULL;
  fov_params_add(&params, "u", 1, 1, FOV_INIT_ZERO, 0);
  assert_string_equal(params.list[0].name, "w");
  assert_string_equal(params.list[1].name, "second.w");
  assert_string_equal(params.list[2].name, "u");
  fov_params_finish(&params);
}

static void add_a_name_twice(void) {
  FovParams params = {.prefix = "a."};
  fov_params_add(&params, "w", 1, 1, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "w", 1, 1, FOV_INIT_ZERO, 0);
}

/** Too long with its prefix. */
static void add_a_long_name(void) {
  FovParams params = {.prefix = "a prefix of twenty-four "};
  fov_params_add(&params, "and as long a name's end", 1, 1, FOV_INIT_ZERO, 0);
}

static void an_invalid_name_aborts(void **state) {
  (void)state;
  assert_true(aborts(add_a_name_twice));
  assert_true(aborts(add_a_long_name));
}

/** Fails unless the numbers are uniform over ±bound. */
static void assert_spread(const real *values, int count, real bound, const char *what) {
  real sum = 0, squares = 0, largest = 0;
  for (int i = 0; i < count; i++) {
    sum += values[i], squares += values[i] * values[i];
    largest = fmax(largest, fabs(values[i]));
  }
  assert_true(largest <= bound * (1 + 1e-12));
  assert_near(largest, bound, 0.01 * bound, "largest of %s", what);
  assert_near(sum / count, 0, 5 * bound / sqrt(3.0 * count), "mean of %s", what);
  assert_near(squares / count, bound * bound / 3, 0.1 * bound * bound, "variance of %s", what);
}

static void initial_values_follow_their_distribution(void **state) {
  (void)state;
  FovParams params = {0};
  fov_params_add(&params, "zero", 3, 5, FOV_INIT_ZERO, 1);
  fov_params_add(&params, "uniform", 50, 25, FOV_INIT_UNIFORM, 2);
  fov_params_add(&params, "he", 50, 24, FOV_INIT_HE, 0.5);
  fov_params_add(&params, "identity", 3, 5, FOV_INIT_IDENTITY, 0.75);
  fov_params_add(&params, "forget", 1, 12, FOV_INIT_FORGET, 1.5);
  fov_params_add(&params, "one", 2, 3, FOV_INIT_ONE, 2.5);
  real *block = fov_params_block(&params);
  assert_non_null(block);
  for (size_t i = 0; i < params.size; i++) block[i] = NAN;
  fov_params_init(block, &params, 1);
  const FovParam *p = params.list;
  for (int i = 0; i < 15; i++) assert_true(block[p[0].offset + i] == 0);
  assert_spread(block + p[1].offset, 50 * 25, 2 / sqrt(25), "uniform");
  assert_spread(block + p[2].offset, 50 * 24, 0.5 * sqrt(6.0 / 24), "he");
  for (int i = 0; i < 15; i++) assert_true(block[p[3].offset + i] == (i / 5 == i % 5 ? 0.75 : 0));
  for (int i = 0; i < 12; i++) assert_true(block[p[4].offset + i] == (i / 3 == 1 ? 1.5 : 0));
  for (int i = 0; i < 6; i++) assert_true(block[p[5].offset + i] == 2.5);
  free(block);
  fov_params_finish(&params);
}

/** Initial values of the second of two parameters, the first being [rows, 3]. */
static void init_second(real values[8], int rows, uint64_t seed) {
  FovParams params = {0};
  fov_params_add(&params, "first", rows, 3, FOV_INIT_UNIFORM, 1);
  fov_params_add(&params, "second", 2, 4, FOV_INIT_UNIFORM, 1);
  real *block = fov_params_block(&params);
  assert_non_null(block);
  fov_params_init(block, &params, seed);
  memcpy(values, block + params.list[1].offset, 8 * sizeof *values);
  free(block);
  fov_params_finish(&params);
}

static void a_parameter_draws_from_its_own_stream(void **state) {
  (void)state;
  real a[8], other_shape[8], other_seed[8];
  init_second(a, 2, 1);
  init_second(other_shape, 20, 1);
  init_second(other_seed, 2, 2);
  assert_memory_equal(other_shape, a, sizeof a);
  assert_memory_not_equal(other_seed, a, sizeof a);
}

static void add_twice(void) {
  FovParams params = {0};
  fov_params_add(&params, "same", 1, 1, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "other", 1, 1, FOV_INIT_ZERO, 0);
  fov_params_add(&params, "same", 1, 1, FOV_INIT_ZERO, 0);
}

static void add_empty(void) {
  fov_params_add(&(FovParams){0}, "empty", 0, 1, FOV_INIT_ZERO, 0);
}

static void a_name_taken_or_an_empty_shape_aborts(void **state) {
  (void)state;
  assert_true(aborts(add_twice));
  assert_true(aborts(add_empty));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_has_its_gradient),
      cmocka_unit_test(every_operation_has_a_case),
      cmocka_unit_test(an_input_has_a_gradient),
      cmocka_unit_test(further_passes_are_exact_and_take_no_memory),
      cmocka_unit_test(every_core_has_its_gradient),
      cmocka_unit_test(every_core_keeps_its_contract),
      cmocka_unit_test(every_core_remembers),
      cmocka_unit_test(every_encoder_keeps_its_contract),
      cmocka_unit_test(every_score_has_its_gradient),
      cmocka_unit_test(every_score_keeps_its_contract),
      cmocka_unit_test_setup_teardown(linear_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(linear_heads_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(conv_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(conv_takes_scratch_of_a_bounded_size, begin, finish),
      cmocka_unit_test_setup_teardown(add_adds, begin, finish),
      cmocka_unit_test_setup_teardown(lstm_computes_its_equations, begin, finish),
      cmocka_unit_test_setup_teardown(gru_computes_its_equations, begin, finish),
      cmocka_unit_test_setup_teardown(cross_entropy_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(categorical_is_the_log_probability, begin, finish),
      cmocka_unit_test_setup_teardown(gather_takes_its_rows, begin, finish),
      cmocka_unit_test_setup_teardown(the_loss_of_an_extreme_logit_is_exact, begin, finish),
      cmocka_unit_test_setup_teardown(gaussian_computes_its_density, begin, finish),
      cmocka_unit_test_setup_teardown(squared_error_is_half_the_square, begin, finish),
      cmocka_unit_test_setup_teardown(elementwise_operations_compute_their_equations, begin,
                                      finish),
      cmocka_unit_test_setup_teardown(concat_and_columns_are_inverse, begin, finish),
      cmocka_unit_test_setup_teardown(a_memory_grows_by_one_row_per_lane, begin, finish),
      cmocka_unit_test_setup_teardown(embedding_looks_up_its_rows, begin, finish),
      cmocka_unit_test_setup_teardown(softmax_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(sites_compute_their_equations, begin, finish),
      cmocka_unit_test_setup_teardown(additive_sites_compute_their_equation, begin, finish),
      cmocka_unit_test_setup_teardown(normalise_gives_a_length, begin, finish),
      cmocka_unit_test_setup_teardown(layer_norm_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(softmax_entropy_computes_its_equation, begin, finish),
      cmocka_unit_test_setup_teardown(numbers_of_a_window_are_bounded, begin, finish),
      cmocka_unit_test_setup_teardown(glimpses_are_those_of_the_sensor, begin, finish),
      cmocka_unit_test_setup_teardown(stop_gradient_keeps_the_value_and_stops, begin, finish),
      cmocka_unit_test_setup_teardown(share_gradient_keeps_the_value_and_lets_a_share_through,
                                      begin, finish),
      cmocka_unit_test(a_stopped_copy_has_a_gradient_of_its_own),
      cmocka_unit_test(a_weights_gradient_is_one_product),
      cmocka_unit_test_setup_teardown(products_beside_gemm_are_counted, begin, finish),
      cmocka_unit_test_setup_teardown(a_gradient_is_added_number_by_number, begin, finish),
      cmocka_unit_test_setup_teardown(results_of_constants_are_not_on_the_tape, begin, finish),
      cmocka_unit_test_setup_teardown(gradients_add_up_and_results_without_one_are_skipped, begin,
                                      finish),
      cmocka_unit_test_setup_teardown(operations_keep_their_own_constants, begin, finish),
      cmocka_unit_test_setup_teardown(shapes_that_do_not_match_abort, begin, finish),
      cmocka_unit_test(params_lie_apart_and_aligned),
      cmocka_unit_test(a_parameter_is_transposed_number_by_number),
      cmocka_unit_test_setup_teardown(params_are_as_many_as_are_added, begin, finish),
      cmocka_unit_test(name_at_names_the_parameter),
      cmocka_unit_test(a_prefix_stands_before_every_name),
      cmocka_unit_test(an_invalid_name_aborts),
      cmocka_unit_test(initial_values_follow_their_distribution),
      cmocka_unit_test(a_parameter_draws_from_its_own_stream),
      cmocka_unit_test(a_name_taken_or_an_empty_shape_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
