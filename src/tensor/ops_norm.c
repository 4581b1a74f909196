/** Layer normalisation. */
#include "tensor/ops.h"
#include "tensor/rows.h"

/** Added to a variance, so that a constant row has a finite norm. */
static const real LAYER_NORM_EPSILON = (real)1e-5;

typedef struct LayerNorm {
  FovVar *x, *gain, *bias, *y;
  FovMatrix normal; /**< [B, D]: (x − μ) / σ */
  real *factor;     /**< [B]: 1 / σ */
  real *dnormal;    /**< [D]: of one row in the backward pass */
} LayerNorm;

/** normal = (x − μ) / σ and y = gain ∘ normal + bias; returns 1 / σ. */
FOV_KERNEL static real layer_norm_forward(real *restrict y, real *restrict normal,
                                          const real *restrict x, const real *restrict gain,
                                          const real *restrict bias, int cols) {
  real mean = fov_row_sum(x, cols) / cols;
  for (int j = 0; j < cols; j++) normal[j] = x[j] - mean;
  real variance = fov_row_dot(normal, normal, cols) / cols;
  real factor = 1 / (real)sqrt(variance + LAYER_NORM_EPSILON);
  for (int j = 0; j < cols; j++) {
    normal[j] *= factor;
    y[j] = gain[j] * normal[j] + bias[j];
  }
  return factor;
}

/** dx += (dn − mean(dn) − n mean(dn ∘ n)) / σ, where n is `normal` and dn = gain ∘ dy. */
FOV_KERNEL static void layer_norm_to(real *restrict dx, real *restrict dn, const real *restrict dy,
                                     const real *restrict gain, const real *restrict n, real factor,
                                     int cols) {
  for (int j = 0; j < cols; j++) dn[j] = gain[j] * dy[j];
  real mean = fov_row_sum(dn, cols) / cols, slope = fov_row_dot(dn, n, cols) / cols;
  for (int j = 0; j < cols; j++) dx[j] += factor * (dn[j] - mean - n[j] * slope);
}

/** dgain += dy ∘ normal, summed over rows. */
FOV_KERNEL static void layer_norm_gain(real *dgain, FovMatrix dy, FovMatrix normal) {
  for (int b = 0; b < dy.rows; b++)
    fov_row_add_product(dgain, dy.at + (size_t)b * dy.stride, normal.at + (size_t)b * normal.stride,
                        dy.cols);
}

/** dbias += dy, summed over rows. */
FOV_KERNEL static void layer_norm_bias(real *dbias, FovMatrix dy) {
  for (int b = 0; b < dy.rows; b++) fov_row_add(dbias, dy.at + (size_t)b * dy.stride, dy.cols);
}

static void layer_norm_backward(FovTape *tape, void *saved) {
  LayerNorm *op = saved;
  FovVar *x = op->x, *y = op->y;
  if (op->gain->wants_grad) layer_norm_gain(fov_grad(tape, op->gain), fov_grads(y), op->normal);
  if (op->bias->wants_grad) layer_norm_bias(fov_grad(tape, op->bias), fov_grads(y));
  if (!x->wants_grad) return;
  fov_grad(tape, x);
  for (int b = 0; b < x->rows; b++)
    layer_norm_to(fov_grad_row(x, b), op->dnormal, fov_grad_row(y, b), op->gain->value,
                  op->normal.at + (size_t)b * op->normal.stride, op->factor[b], x->cols);
}

FovVar *fov_layer_norm(FovTape *tape, FovVar *x, FovVar *gain, FovVar *bias) {
  int rows = x->rows, cols = x->cols;
  FOV_CHECK(gain->rows == 1 && gain->cols == cols && bias->rows == 1 && bias->cols == cols,
            "x [%d, %d] with gain [%d, %d] and bias [%d, %d]", rows, cols, gain->rows, gain->cols,
            bias->rows, bias->cols);
  FovVar *y =
      fov_result_of(tape, x, 0, rows, cols, x->wants_grad || gain->wants_grad || bias->wants_grad);
  LayerNorm *op = FOV_NEW(tape->arena, LayerNorm, 1);
  *op = (LayerNorm){.x = x, .gain = gain, .bias = bias, .y = y};
  op->normal = (FovMatrix){FOV_NEW(tape->arena, real, (size_t)rows * cols), rows, cols, cols};
  op->factor = FOV_NEW(tape->arena, real, rows);
  op->dnormal = FOV_NEW(tape->arena, real, cols);
  for (int b = 0; b < rows; b++)
    op->factor[b] = layer_norm_forward(fov_value_row(y, b), op->normal.at + (size_t)b * cols,
                                       fov_value_row(x, b), gain->value, bias->value, cols);
  fov_note(tape, y, NULL, layer_norm_backward, op);
  return y;
}
