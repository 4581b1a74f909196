/** Operations of scores of attention: additive scores, and vectors of a given length. */
#include "base/profile.h"
#include "tensor/ops.h"
#include "tensor/rows.h"

typedef struct AdditiveSites {
  FovVar *query, *keys, *v, *y;
  real *t; /**< [2, D]: tanh(q + k) of one site; the gradient of a constant v, which is not used */
  int heads;
} AdditiveSites;

/** t = tanh(q + k) */
FOV_INLINE void tanh_of_sum(real *restrict t, const real *restrict q, const real *restrict k,
                            int cols) {
  for (int j = 0; j < cols; j++) t[j] = fov_tanh(q[j] + k[j]);
}

/** v·t, de · t and de · v multiply once for each number of each key. */
static void count_product(const FovVar *keys) {
  fov_profile_flops(2.0 * keys->rows * keys->cols);
}

/** e[h·N + i] = v_h · t_h for each site i of each lane, and each head h. */
FOV_KERNEL static void additive_forward(FovMatrix e, FovMatrix q, FovMatrix k, const real *v,
                                        real *t, int heads) {
  int N = e.cols / heads, d = q.cols / heads;
  for (int b = 0; b < q.rows; b++)
    for (int i = 0; i < N; i++) {
      tanh_of_sum(t, q.at + (size_t)b * q.stride, k.at + (size_t)(b * N + i) * k.stride, q.cols);
      for (int h = 0; h < heads; h++)
        e.at[(size_t)b * e.stride + h * N + i] = fov_row_dot(v + h * d, t + h * d, d);
    }
}

/** dv += de · t, then t becomes the gradient of the sum inside, de · v ∘ (1 − t²): of one head. */
FOV_INLINE void additive_inside(real *restrict t, real *restrict dv, const real *restrict v,
                                real de, int cols) {
  for (int j = 0; j < cols; j++) {
    dv[j] += de * t[j];
    t[j] = de * v[j] * (1 - t[j] * t[j]);
  }
}

/** Adds to the gradients of query, keys and v. t is computed again: to keep that of all sites would
 * take as much memory as the keys in every time step. */
FOV_KERNEL static void additive_to(const AdditiveSites *op, real *dv, real *restrict t) {
  const FovVar *q = op->query, *k = op->keys, *y = op->y;
  int N = y->cols / op->heads, d = q->cols / op->heads;
  for (int b = 0; b < q->rows; b++)
    for (int i = 0; i < N; i++) {
      const real *de = fov_grad_row(y, b) + i;
      tanh_of_sum(t, fov_value_row(q, b), fov_value_row(k, b * N + i), q->cols);
      for (int h = 0; h < op->heads; h++)
        additive_inside(t + h * d, dv + h * d, op->v->value + h * d, de[h * N], d);
      if (q->wants_grad) fov_row_add(fov_grad_row(q, b), t, q->cols);
      if (k->wants_grad) fov_row_add(fov_grad_row(k, b * N + i), t, q->cols);
    }
}

static void additive_backward(FovTape *tape, void *saved) {
  AdditiveSites *op = saved;
  FovVar *operands[] = {op->query, op->keys, op->v};
  for (int i = 0; i < 3; i++)
    if (operands[i]->wants_grad) fov_grad(tape, operands[i]);
  if (op->v->wants_grad) count_product(op->keys);
  if (op->query->wants_grad || op->keys->wants_grad) count_product(op->keys);
  additive_to(op, op->v->wants_grad ? op->v->grad : op->t + op->query->cols, op->t);
}

FovVar *fov_additive_sites(FovTape *tape, FovVar *query, FovVar *keys, FovVar *v, int heads) {
  int B = query->rows, D = query->cols, N = keys->rows / B;
  FOV_CHECK(heads > 0 && D % heads == 0 && keys->rows == B * N && keys->cols == D && v->rows == 1 &&
                v->cols == D,
            "%d heads of query [%d, %d] against keys [%d, %d] with v [%d, %d]", heads, B, D,
            keys->rows, keys->cols, v->rows, v->cols);
  FovVar *y =
      fov_result(tape, B, heads * N, query->wants_grad || keys->wants_grad || v->wants_grad);
  AdditiveSites *op = FOV_NEW(tape->arena, AdditiveSites, 1);
  *op = (AdditiveSites){.query = query, .keys = keys, .v = v, .y = y, .heads = heads};
  op->t = FOV_NEW(tape->arena, real, 2 * (size_t)D);
  memset(op->t, 0, 2 * (size_t)D * sizeof *op->t);
  count_product(keys);
  additive_forward(fov_values(y), fov_values(query), fov_values(keys), v->value, op->t, heads);
  fov_note(tape, y, NULL, additive_backward, op);
  return y;
}

/** Added to a squared length: of zeros, the length is not zero. */
static const real LENGTH_EPSILON = (real)1e-8;

typedef struct Normalise {
  FovVar *x, *length, *y;
  int groups;
} Normalise;

/** 1 / √(|x|² + ε) */
FOV_INLINE real inverse_length(const real *x, int cols) {
  return 1 / (real)sqrt((double)(fov_row_dot(x, x, cols) + LENGTH_EPSILON));
}

/** y = s x / |x|, [cols] each. */
FOV_KERNEL static void normalise_forward(real *restrict y, const real *restrict x, real s,
                                         int cols) {
  real factor = s * inverse_length(x, cols);
  for (int j = 0; j < cols; j++) y[j] = factor * x[j];
}

/** dx += s / |x| (dy − u (dy · u)), u = x / |x|; returns ds = dy · u. dx: NULL if not wanted. */
FOV_KERNEL static real normalise_to(real *restrict dx, const real *restrict dy,
                                    const real *restrict x, real s, int cols) {
  real inverse = inverse_length(x, cols), slope = inverse * fov_row_dot(dy, x, cols);
  for (int j = 0; dx && j < cols; j++) dx[j] += s * inverse * (dy[j] - inverse * x[j] * slope);
  return slope;
}

static real length_of(const Normalise *op, int b, int g) {
  return op->length ? fov_value_row(op->length, b)[g] : 1;
}

static void normalise_backward(FovTape *tape, void *saved) {
  Normalise *op = saved;
  FovVar *x = op->x, *length = op->length;
  int cols = x->cols / op->groups;
  bool wants_length = length && length->wants_grad;
  if (x->wants_grad) fov_grad(tape, x);
  if (wants_length) fov_grad(tape, length);
  for (int b = 0; b < x->rows; b++)
    for (int g = 0; g < op->groups; g++) {
      real slope = normalise_to(x->wants_grad ? fov_grad_row(x, b) + g * cols : NULL,
                                fov_grad_row(op->y, b) + g * cols, fov_value_row(x, b) + g * cols,
                                length_of(op, b, g), cols);
      if (wants_length) fov_grad_row(length, b)[g] += slope;
    }
}

FovVar *fov_normalise(FovTape *tape, FovVar *x, FovVar *length, int groups) {
  FOV_CHECK(groups > 0 && x->cols % groups == 0, "%d groups of columns of [%d, %d]", groups,
            x->rows, x->cols);
  FOV_CHECK(!length || (length->rows == x->rows && length->cols == groups),
            "lengths [%d, %d] of %d groups of [%d, %d]", length->rows, length->cols, groups,
            x->rows, x->cols);
  int cols = x->cols / groups;
  FovVar *y =
      fov_result_of(tape, x, 0, x->rows, x->cols, x->wants_grad || (length && length->wants_grad));
  Normalise *op = FOV_NEW(tape->arena, Normalise, 1);
  *op = (Normalise){.x = x, .length = length, .y = y, .groups = groups};
  for (int b = 0; b < x->rows; b++)
    for (int g = 0; g < groups; g++)
      normalise_forward(fov_value_row(y, b) + g * cols, fov_value_row(x, b) + g * cols,
                        length_of(op, b, g), cols);
  fov_note(tape, y, NULL, normalise_backward, op);
  return y;
}
