#include "tensor/ops.h"

void fov_log_softmax(real *log_probabilities, FovMatrix matrix) {
  int cols = matrix.cols;
  for (int b = 0; b < matrix.rows; b++, log_probabilities += cols) {
    const real *logits = matrix.at + (size_t)b * matrix.stride;
    real top = logits[0], sum = 0;
    for (int j = 1; j < cols; j++) top = logits[j] > top ? logits[j] : top;
    for (int j = 0; j < cols; j++) sum += fov_exp(logits[j] - top);
    real log_sum = top + (real)log(sum);
    for (int j = 0; j < cols; j++) log_probabilities[j] = logits[j] - log_sum;
  }
}

typedef struct LogProbabilities {
  FovVar *x, *y;
} LogProbabilities;

static void log_probabilities_backward(FovTape *tape, void *saved) {
  LogProbabilities *op = saved;
  fov_grad(tape, op->x);
  for (int b = 0; b < op->x->rows; b++) {
    real *dx = fov_grad_row(op->x, b), *dy = fov_grad_row(op->y, b), *y = fov_value_row(op->y, b);
    real sum = 0;
    for (int j = 0; j < op->x->cols; j++) sum += dy[j];
    for (int j = 0; j < op->x->cols; j++) dx[j] += dy[j] - sum * fov_exp(y[j]);
  }
}

FovVar *fov_log_probabilities(FovTape *tape, FovVar *x) {
  FovVar *y = fov_result(tape, x->rows, x->cols, x->wants_grad);
  real *log_p = FOV_NEW(tape->arena, real, (size_t)x->rows * x->cols);
  fov_log_softmax(log_p, fov_values(x));
  for (int b = 0; b < x->rows; b++)
    memcpy(fov_value_row(y, b), log_p + (size_t)b * x->cols, (size_t)x->cols * sizeof *log_p);
  LogProbabilities *op = FOV_NEW(tape->arena, LogProbabilities, 1);
  *op = (LogProbabilities){.x = x, .y = y};
  fov_note(tape, y, NULL, log_probabilities_backward, op);
  return y;
}

typedef struct Categorical {
  FovVar *logits, *y;
  const real *log_probabilities;
  const int *chosen;
  real sign; /**< of log π in y */
} Categorical;

static void categorical_backward(FovTape *tape, void *saved) {
  Categorical *op = saved;
  int cols = op->logits->cols;
  real *dlogits = fov_grad(tape, op->logits);
  for (int b = 0; b < op->y->rows; b++, dlogits += op->logits->stride) {
    const real *log_p = op->log_probabilities + (size_t)b * cols;
    real dy = op->sign * op->y->grad[b];
    for (int j = 0; j < cols; j++) dlogits[j] -= dy * fov_exp(log_p[j]);
    dlogits[op->chosen[b]] += dy;
  }
}

/** sign · log softmax(logits) at the chosen classes. */
static FovVar *log_prob_of(FovTape *tape, real *log_probabilities, FovVar *logits,
                           const int *chosen, real sign) {
  int rows = logits->rows, cols = logits->cols;
  real *log_p = FOV_NEW(tape->arena, real, (size_t)rows * cols);
  int *kept = FOV_NEW(tape->arena, int, rows);
  fov_log_softmax(log_p, fov_values(logits));
  FovVar *y = fov_result(tape, rows, 1, logits->wants_grad);
  for (int b = 0; b < rows; b++) {
    FOV_CHECK(chosen[b] >= 0 && chosen[b] < cols, "class %d of %d", chosen[b], cols);
    kept[b] = chosen[b];
    y->value[b] = sign * log_p[(size_t)b * cols + chosen[b]];
  }
  if (log_probabilities) memcpy(log_probabilities, log_p, (size_t)rows * cols * sizeof(real));
  Categorical *op = FOV_NEW(tape->arena, Categorical, 1);
  *op = (Categorical){
      .logits = logits, .y = y, .log_probabilities = log_p, .chosen = kept, .sign = sign};
  fov_note(tape, y, NULL, categorical_backward, op);
  return y;
}

FovVar *fov_cross_entropy(FovTape *tape, real *log_probabilities, FovVar *logits,
                          const int *labels) {
  return log_prob_of(tape, log_probabilities, logits, labels, -1);
}

FovVar *fov_categorical_log_prob(FovTape *tape, FovVar *logits, const int *actions) {
  return log_prob_of(tape, NULL, logits, actions, 1);
}

typedef struct Entropy {
  FovVar *logits, *y;
  const real *log_probabilities;
} Entropy;

/** dlogits_j −= dH p_j (log p_j + H) */
static void entropy_backward(FovTape *tape, void *saved) {
  Entropy *op = saved;
  int cols = op->logits->cols;
  fov_grad(tape, op->logits);
  for (int b = 0; b < op->y->rows; b++) {
    const real *log_p = op->log_probabilities + (size_t)b * cols;
    real *dlogits = fov_grad_row(op->logits, b), entropy = op->y->value[b], dy = op->y->grad[b];
    for (int j = 0; j < cols; j++) dlogits[j] -= dy * fov_exp(log_p[j]) * (log_p[j] + entropy);
  }
}

FovVar *fov_softmax_entropy(FovTape *tape, FovVar *logits) {
  int rows = logits->rows, cols = logits->cols;
  real *log_p = FOV_NEW(tape->arena, real, (size_t)rows * cols);
  fov_log_softmax(log_p, fov_values(logits));
  FovVar *y = fov_result(tape, rows, 1, logits->wants_grad);
  for (int b = 0; b < rows; b++) {
    y->value[b] = 0;
    for (int j = b * cols; j < (b + 1) * cols; j++) y->value[b] -= fov_exp(log_p[j]) * log_p[j];
  }
  Entropy *op = FOV_NEW(tape->arena, Entropy, 1);
  *op = (Entropy){.logits = logits, .y = y, .log_probabilities = log_p};
  fov_note(tape, y, NULL, entropy_backward, op);
  return y;
}

#define LOG_ROOT_TWO_PI 0.91893853320467274178 // log √(2π)

typedef struct Gaussian {
  FovVar *mean, *y;
  const real *sample, *sigma;
} Gaussian;

static real value_at(const FovVar *x, int row, int col) {
  return x->value[(size_t)row * x->stride + col];
}

static void gaussian_backward(FovTape *tape, void *saved) {
  Gaussian *op = saved;
  int cols = op->mean->cols;
  real *dmean = fov_grad(tape, op->mean);
  for (int b = 0, i = 0; b < op->mean->rows; b++, dmean += op->mean->stride)
    for (int j = 0; j < cols; j++, i++)
      dmean[j] += op->y->grad[b] * (op->sample[i] - value_at(op->mean, b, j)) /
                  (op->sigma[j] * op->sigma[j]);
}

/** A copy in the arena: the caller may free the numbers before the backward pass. */
static const real *keep(FovTape *tape, const real *values, size_t count) {
  return memcpy(FOV_NEW(tape->arena, real, count), values, count * sizeof(real));
}

FovVar *fov_gaussian_log_prob(FovTape *tape, FovVar *mean, const real *sample, const real *sigma) {
  int rows = mean->rows, cols = mean->cols;
  FovVar *y = fov_result(tape, rows, 1, mean->wants_grad);
  for (int b = 0, i = 0; b < rows; b++) {
    y->value[b] = 0;
    for (int j = 0; j < cols; j++, i++) {
      real z = (sample[i] - value_at(mean, b, j)) / sigma[j];
      y->value[b] -= z * z / 2 + (real)(log(sigma[j]) + LOG_ROOT_TWO_PI);
    }
  }
  Gaussian *op = FOV_NEW(tape->arena, Gaussian, 1);
  *op = (Gaussian){.mean = mean,
                   .y = y,
                   .sample = keep(tape, sample, (size_t)rows * cols),
                   .sigma = keep(tape, sigma, (size_t)cols)};
  fov_note(tape, y, NULL, gaussian_backward, op);
  return y;
}

typedef struct Normal {
  FovVar *mean, *log_sigma, *y;
  const real *sample;
} Normal;

static void normal_backward(FovTape *tape, void *saved) {
  Normal *op = saved;
  if (op->mean->wants_grad) fov_grad(tape, op->mean);
  if (op->log_sigma->wants_grad) fov_grad(tape, op->log_sigma);
  for (int b = 0, i = 0; b < op->mean->rows; b++)
    for (int j = 0; j < op->mean->cols; j++, i++) {
      real dy = op->y->grad[b], inverse = fov_exp(-value_at(op->log_sigma, b, j));
      real z = (op->sample[i] - value_at(op->mean, b, j)) * inverse;
      if (op->mean->wants_grad) fov_grad_row(op->mean, b)[j] += dy * z * inverse;
      if (op->log_sigma->wants_grad) fov_grad_row(op->log_sigma, b)[j] += dy * (z * z - 1);
    }
}

FovVar *fov_normal_log_prob(FovTape *tape, FovVar *mean, FovVar *log_sigma, const real *sample) {
  int rows = mean->rows, cols = mean->cols;
  FOV_CHECK(log_sigma->rows == rows && log_sigma->cols == cols, "log sigma [%d, %d] of [%d, %d]",
            log_sigma->rows, log_sigma->cols, rows, cols);
  FovVar *y = fov_result(tape, rows, 1, mean->wants_grad || log_sigma->wants_grad);
  for (int b = 0, i = 0; b < rows; b++) {
    y->value[b] = 0;
    for (int j = 0; j < cols; j++, i++) {
      real log_s = value_at(log_sigma, b, j);
      real z = (sample[i] - value_at(mean, b, j)) * fov_exp(-log_s);
      y->value[b] -= z * z / 2 + log_s + (real)LOG_ROOT_TWO_PI;
    }
  }
  Normal *op = FOV_NEW(tape->arena, Normal, 1);
  *op = (Normal){.mean = mean,
                 .log_sigma = log_sigma,
                 .y = y,
                 .sample = keep(tape, sample, (size_t)rows * cols)};
  fov_note(tape, y, NULL, normal_backward, op);
  return y;
}

typedef struct SquaredError {
  FovVar *x, *y;
  const real *target;
} SquaredError;

static void squared_error_backward(FovTape *tape, void *saved) {
  SquaredError *op = saved;
  int cols = op->x->cols;
  real *dx = fov_grad(tape, op->x);
  for (int b = 0, i = 0; b < op->x->rows; b++, dx += op->x->stride)
    for (int j = 0; j < cols; j++, i++)
      dx[j] += op->y->grad[b] * (value_at(op->x, b, j) - op->target[i]);
}

FovVar *fov_squared_error(FovTape *tape, FovVar *x, const real *target) {
  int rows = x->rows, cols = x->cols;
  FovVar *y = fov_result(tape, rows, 1, x->wants_grad);
  for (int b = 0, i = 0; b < rows; b++) {
    y->value[b] = 0;
    for (int j = 0; j < cols; j++, i++) {
      real difference = value_at(x, b, j) - target[i];
      y->value[b] += difference * difference / 2;
    }
  }
  SquaredError *op = FOV_NEW(tape->arena, SquaredError, 1);
  *op = (SquaredError){.x = x, .y = y, .target = keep(tape, target, (size_t)rows * cols)};
  fov_note(tape, y, NULL, squared_error_backward, op);
  return y;
}
