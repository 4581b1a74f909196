/** Self-attention among the rows of each lane. */
#include "tensor/ops.h"
#include "tensor/rows.h"

typedef struct SelfAttention {
  FovVar *query, *key, *value, *y;
  const int *lengths; /**< [B]: rows that are read; NULL: all */
  int lanes, heads;
  real scale;        /**< 1 / √d */
  FovMatrix weights; /**< [B·heads·N, N] */
  FovMatrix scores;  /**< [N, N]: of one head of one lane, or their gradient */
} SelfAttention;

/** The columns of head h in the rows of lane b. */
static FovMatrix head_of(const SelfAttention *op, FovMatrix x, int b, int h) {
  FovMatrix part = {.rows = x.rows / op->lanes, .cols = x.cols / op->heads, .stride = x.stride};
  part.at = x.at + (size_t)b * part.rows * x.stride + (size_t)h * part.cols;
  return part;
}

static FovMatrix weights_of(const SelfAttention *op, int b, int h) {
  FovMatrix part = op->weights;
  part.rows = part.cols;
  part.at += (size_t)(b * op->heads + h) * part.rows * part.stride;
  return part;
}

/** weights = softmax(scale · scores) over the first `length` columns, row by row; the others are 0.
 */
FOV_KERNEL static void self_attention_weigh(FovMatrix weights, FovMatrix scores, real scale,
                                            int length) {
  for (int i = 0; i < weights.rows; i++) {
    real *w = weights.at + (size_t)i * weights.stride;
    fov_row_softmax(w, scores.at + (size_t)i * scores.stride, scale, length);
    for (int j = length; j < weights.cols; j++) w[j] = 0;
  }
}

/** The gradient of weights becomes that of scores: scale · w ∘ (d − Σ_k d_k w_k), row by row. */
FOV_KERNEL static void self_attention_to_scores(FovMatrix d, FovMatrix weights, real scale) {
  for (int i = 0; i < d.rows; i++) {
    real *to = d.at + (size_t)i * d.stride;
    const real *w = weights.at + (size_t)i * weights.stride;
    real mean = fov_row_dot(to, w, d.cols);
    for (int j = 0; j < d.cols; j++) to[j] = scale * w[j] * (to[j] - mean);
  }
}

static void attend(const SelfAttention *op, int b, int h) {
  FovMatrix weights = weights_of(op, b, h);
  fov_gemm(op->scores, head_of(op, fov_values(op->query), b, h), false,
           head_of(op, fov_values(op->key), b, h), true, 0);
  self_attention_weigh(weights, op->scores, op->scale, op->lengths ? op->lengths[b] : weights.cols);
  fov_gemm(head_of(op, fov_values(op->y), b, h), weights, false,
           head_of(op, fov_values(op->value), b, h), false, 0);
}

/** What the gradients of query, key and value are multiplied by before adding to them. */
typedef struct Betas {
  real query, key, value;
} Betas;

/** One head of one lane. Query, key, value: where they are one var, the first overwrites. */
static void attend_backward(const SelfAttention *op, int b, int h, Betas beta) {
  FovMatrix weights = weights_of(op, b, h), dy = head_of(op, fov_grads(op->y), b, h);
  fov_gemm(op->scores, dy, false, head_of(op, fov_values(op->value), b, h), true, 0);
  self_attention_to_scores(op->scores, weights, op->scale);
  if (op->query->wants_grad)
    fov_gemm(head_of(op, fov_grads(op->query), b, h), op->scores, false,
             head_of(op, fov_values(op->key), b, h), false, beta.query);
  if (op->key->wants_grad)
    fov_gemm(head_of(op, fov_grads(op->key), b, h), op->scores, true,
             head_of(op, fov_values(op->query), b, h), false, beta.key);
  if (op->value->wants_grad)
    fov_gemm(head_of(op, fov_grads(op->value), b, h), weights, true, dy, false, beta.value);
}

static void self_attention_backward(FovTape *tape, void *saved) {
  SelfAttention *op = saved;
  Betas beta = {0};
  if (op->query->wants_grad) fov_grad_product(tape, op->query, &beta.query);
  if (op->key->wants_grad) fov_grad_product(tape, op->key, &beta.key);
  if (op->value->wants_grad) fov_grad_product(tape, op->value, &beta.value);
  for (int b = 0; b < op->lanes; b++)
    for (int h = 0; h < op->heads; h++) attend_backward(op, b, h, beta);
}

/** A copy of the lengths, each 1 … N. */
static const int *copy_lengths(FovTape *tape, const int *lengths, int lanes, int N) {
  if (!lengths) return NULL;
  int *copy = FOV_NEW(tape->arena, int, lanes);
  for (int b = 0; b < lanes; b++) {
    FOV_CHECK(lengths[b] >= 1 && lengths[b] <= N, "%d of %d rows", lengths[b], N);
    copy[b] = lengths[b];
  }
  return copy;
}

FovVar *fov_self_attention(FovTape *tape, FovVar *query, FovVar *key, FovVar *value,
                           const int *lengths, int lanes, int heads) {
  int rows = query->rows, D = query->cols, N = rows / lanes;
  FOV_CHECK(heads > 0 && D % heads == 0 && rows == lanes * N && key->rows == rows &&
                key->cols == D && value->rows == rows && value->cols == D,
            "%d lanes, %d heads of query [%d, %d], key [%d, %d], value [%d, %d]", lanes, heads,
            rows, D, key->rows, key->cols, value->rows, value->cols);
  FovVar *y = fov_result_of(tape, query, 0, rows, D,
                            query->wants_grad || key->wants_grad || value->wants_grad);
  SelfAttention *op = FOV_NEW(tape->arena, SelfAttention, 1);
  *op = (SelfAttention){.query = query, .key = key, .value = value, .y = y, .lanes = lanes};
  op->lengths = copy_lengths(tape, lengths, lanes, N);
  op->heads = heads, op->scale = 1 / (real)sqrt((double)D / heads);
  op->weights = fov_scratch(tape, rows * heads, N);
  op->scores = fov_scratch(tape, N, N);
  for (int b = 0; b < lanes; b++)
    for (int h = 0; h < heads; h++) attend(op, b, h);
  fov_note(tape, y, NULL, self_attention_backward, op);
  return y;
}
