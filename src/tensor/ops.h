/**
 * The operations of the tape; each is a forward and a backward function side by side in ops_*.c.
 * src/README.md shows how to write one.
 *
 * B: rows, one a lane; D, E, F: columns; A: classes or actions; N: sites that attention chooses
 * among; t: rows of a memory. A matrix of several rows a lane is lane-major: [B·N, D].
 */
#ifndef FOV_TENSOR_OPS_H
#define FOV_TENSOR_OPS_H

#include "tensor/tape.h"

typedef enum FovActivation {
  FOV_LINEAR,
  FOV_RELU,
  FOV_TANH,
  FOV_SIGMOID,
  FOV_SOFTPLUS, /**< log(1 + e^x), for few numbers: it is not vectorised */
} FovActivation;

/** act(x Wᵀ + b). x: [B, D]; w: [E, D]; bias: [1, E] or NULL. Result: [B, E]. */
FovVar *fov_linear(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, FovActivation activation);

/** act(x Wᵀ + h Uᵀ + b). x: [B, D]; w: [E, D]; h: [B, F]; u: [E, F]; bias: [1, E] or NULL.
 * Result: [B, E]. An h of NULL stands for zeros. */
FovVar *fov_linear2(FovTape *tape, FovVar *x, FovVar *w, FovVar *h, FovVar *u, FovVar *bias,
                    FovActivation activation);

/**
 * A linear layer for each head, which reads only its own columns: a block-diagonal weight.
 *
 * y[b, h·E + e] = act(Σ_j w[h·E + e, j] x[b, h·d + j] + bias[h·E + e]).
 * x: [B, heads·d]; w: [heads·E, d]; bias: [1, heads·E] or NULL. Result: [B, heads·E].
 */
FovVar *fov_linear_heads(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, int heads,
                         FovActivation activation);

/** Where the filters of a convolution are applied: at every `stride`th pixel, down and across,
 * where they fit, of S pictures [H, W, C] that lie side by side in a row of x. */
typedef struct FovConv {
  int pictures;                /**< S */
  int height, width, channels; /**< H, W, C of each */
  int side;                    /**< K of the square filters: 1 … min(H, W) */
  int stride;                  /**< 1 or more */
} FovConv;

/** Windows that fit in `extent` pixels, the height or width of a picture: H' or W'. */
int fov_conv_fitting(const FovConv *conv, int extent);

/** Places of a filter on all pictures: S·H'·W', where H' = (H − K) / stride + 1, rounded down, and
 * W' likewise. */
int fov_conv_places(const FovConv *conv);

/**
 * act(x ∗ w + b): a convolution without padding (LeCun et al. 1998), the same filters on every
 * picture.
 *
 * y[b, s, i, j, f] = act(Σ_klc x[b, s, i·stride + k, j·stride + l, c] w[f, k, l, c] + b[f]).
 * x: [B, S·H·W·C]; w: [F, K·K·C]; bias: [1, F] or NULL. Result: [B, S·H'·W'·F].
 */
FovVar *fov_conv(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, const FovConv *conv,
                 FovActivation activation);

/* Each number by itself. */

/** a + b, both [B, D]. */
FovVar *fov_add(FovTape *tape, FovVar *a, FovVar *b);

/** a ∘ b, the product of each number with its counterpart; both [B, D]. */
FovVar *fov_multiply(FovTape *tape, FovVar *a, FovVar *b);

/** factor · x, a constant factor. x: [B, D]. Result: [B, D]. */
FovVar *fov_scale(FovTape *tape, FovVar *x, real factor);

/** act(x). x: [B, D]. Result: [B, D]. */
FovVar *fov_activate(FovTape *tape, FovVar *x, FovActivation activation);

/* Rows and columns. */

/** y[i] = x[rows[i]]. x: [B, D]; rows: [count], each 0 … B−1, copied. Result: [count, D]. */
FovVar *fov_gather(FovTape *tape, FovVar *x, const int *rows, int count);

/**
 * The same for all rows of a lane: y[i·t + k] = x[kept[i]·t + k].
 *
 * x: [B·t, D], B being `lanes`; kept: [count], each 0 … B−1, copied. Result: [count·t, D].
 */
FovVar *fov_gather_lanes(FovTape *tape, FovVar *x, int lanes, const int *kept, int count);

/** Columns side by side. parts: [count], each [B, D_i]. Result: [B, Σ_i D_i]. */
FovVar *fov_concat(FovTape *tape, FovVar *const *parts, int count);

/** Columns first … first+count−1. x: [B, D]. Result: [B, count]. */
FovVar *fov_columns(FovTape *tape, FovVar *x, int first, int count);

/** Adds a row to the memory of each lane, after its t others. memory: [B·t, D], NULL for t = 0; x:
 * [B, D]. Result: [B·(t+1), D]; x itself if there is no memory. */
FovVar *fov_append(FovTape *tape, FovVar *memory, FovVar *x);

/** Rows of several matrices in turn: y[b·N + i] = parts[i][b]. parts: [N], each [B, D]. Result:
 * [B·N, D]. */
FovVar *fov_stack(FovTape *tape, FovVar *const *parts, int count);

/* Attention (Bahdanau et al. 2015; with several heads, Vaswani et al. 2017). D = heads · d. */

/**
 * Scores of sites by dot products.
 *
 * e[b, h·N + i] = scale · Σ_j q[b, h·d + j] k[b·N + i, h·d + j].
 * query: [B, D]; keys: [B·N, D]. Result: [B, heads·N].
 */
FovVar *fov_dot_sites(FovTape *tape, FovVar *query, FovVar *keys, int heads, real scale);

/**
 * Scores of sites by a layer of tanh (Bahdanau et al. 2015, section A.1.2), of which the linear
 * parts are computed before.
 *
 * e[b, h·N + i] = Σ_j v[h·d + j] tanh(q[b, h·d + j] + k[b·N + i, h·d + j]).
 * query: [B, D]; keys: [B·N, D]; v: [1, D]. Result: [B, heads·N].
 */
FovVar *fov_additive_sites(FovTape *tape, FovVar *query, FovVar *keys, FovVar *v, int heads);

/**
 * Gives each of `groups` equal groups of columns a length, and keeps its direction.
 *
 * y_g = s_g x_g / √(|x_g|² + 1e−8), so that a group of zeros has a finite gradient.
 * x: [B, D]; length: s, [B, groups], or NULL for 1. Result: [B, D].
 */
FovVar *fov_normalise(FovTape *tape, FovVar *x, FovVar *length, int groups);

/** A score that a softmax gives at most e^−87 (in double precision 0) beside any other; finite, so
 * that gradients are. */
static const real FOV_NEVER = (real)-1e9;

/** Softmax of each of `groups` equal groups of columns, of any numbers that are finite. x: [B,
 * groups·N]. Result: the same shape; each group of a row sums to 1. */
FovVar *fov_softmax(FovTape *tape, FovVar *x, int groups);

/** The same over some of the columns; the others are 0. inside: [B, N], a constant, the same for
 * every group: not 0 where a column takes part. A row in which none does gives NaN. */
FovVar *fov_softmax_within(FovTape *tape, FovVar *x, const FovVar *inside, int groups);

/**
 * How near the tiles of a grid are to a place (Luong et al. 2015, eq. 10).
 *
 * f[b, i] = exp(−|c_i − p_b|² / 2σ²), c_i being the middle of tile i: (column + ½, row + ½).
 * place: p, [B, 2], x and y in tiles from the top left corner; sigma: in tiles, > 0.
 * Result: [B, across·down], tiles by rows.
 */
FovVar *fov_tile_gaussian(FovTape *tape, FovVar *place, int across, int down, real sigma);

/**
 * The read-out: weighted sums over sites.
 *
 * z[b, h·d + j] = Σ_i w[b, h·N + i] v[b·N + i, h·d + j].
 * weights: [B, heads·N]; values: [B·N, D]. Result: [B, D].
 */
FovVar *fov_weigh_sites(FovTape *tape, FovVar *weights, FovVar *values, int heads);

/**
 * Self-attention: every row of a lane reads all rows of the lane (Vaswani et al. 2017, eq. 1).
 *
 * Z = softmax(Q Kᵀ / √d) V for each head of each lane: its N rows and d columns.
 * query, key, value: [B·N, D], B being `lanes`; lengths: [B], 1 … N: rows of a lane that are read,
 * from its first on, copied; NULL: all. Result: [B·N, D].
 */
FovVar *fov_self_attention(FovTape *tape, FovVar *query, FovVar *key, FovVar *value,
                           const int *lengths, int lanes, int heads);

/**
 * Layer normalisation (Ba, Kiros and Hinton 2016).
 *
 * y = gain ∘ (x − μ) / √(σ² + 1e−5) + bias, with mean μ and variance σ² of each row.
 * x: [B, D]; gain, bias: [1, D]. Result: [B, D].
 */
FovVar *fov_layer_norm(FovTape *tape, FovVar *x, FovVar *gain, FovVar *bias);

/* Recurrent cells. */

/**
 * One LSTM cell (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).
 *
 * c_t = σ(f) ∘ c_prev + σ(i) ∘ tanh(g),  h_t = σ(o) ∘ tanh(c_t).
 * gates: [B, 4D] in the order i, f, g, o, before their activations; c_prev: [B, D] or NULL for
 * zeros. Results: *h_t, *c_t: [B, D].
 */
void fov_lstm_cell(FovVar **h_t, FovVar **c_t, FovTape *tape, FovVar *gates, FovVar *c_prev);

/**
 * One GRU cell (Cho et al. 2014, the reset gate applied after the product).
 *
 * h_t = (1 − σ(z)) ∘ tanh(n_x + σ(r) ∘ n_h) + σ(z) ∘ h_prev.
 * x: [B, 3D] in the order r, z, n, from the input; h: [B, 3D] from the state; h_prev: [B, D] or
 * NULL for zeros. Result: [B, D].
 */
FovVar *fov_gru_cell(FovTape *tape, FovVar *x, FovVar *h, FovVar *h_prev);

/* Losses and log-probabilities. */

/**
 * Cross-entropy of a softmax, in nats. logits: [B, A]; labels: [B], each 0 … A−1, copied.
 * Result: [B, 1]. log_probabilities: [B, A], written unless NULL.
 */
FovVar *fov_cross_entropy(FovTape *tape, real *log_probabilities, FovVar *logits,
                          const int *labels);

/** log softmax(logits)_a of an action a. logits: [B, A]; actions: [B], each 0 … A−1, copied.
 * Result: [B, 1]. */
FovVar *fov_categorical_log_prob(FovTape *tape, FovVar *logits, const int *actions);

/** log softmax of every row. x: [B, D]. Result: [B, D]. */
FovVar *fov_log_probabilities(FovTape *tape, FovVar *x);

/** Entropy of a softmax, in nats: −Σ_a p_a log p_a, where p = softmax(logits). logits: [B, A].
 * Result: [B, 1]. */
FovVar *fov_softmax_entropy(FovTape *tape, FovVar *logits);

/**
 * log Normal(sample; mean, diag(sigma²)), summed over columns. mean: [B, D]; sample: [B, D], dense;
 * sigma: [D], each > 0; both are copied. Result: [B, 1].
 */
FovVar *fov_gaussian_log_prob(FovTape *tape, FovVar *mean, const real *sample, const real *sigma);

/**
 * The same with a σ of each row: log Normal(sample; mean, diag(exp(2 log_sigma))).
 * mean, log_sigma: [B, D]; sample: [B, D], dense, copied. Result: [B, 1].
 */
FovVar *fov_normal_log_prob(FovTape *tape, FovVar *mean, FovVar *log_sigma, const real *sample);

/** ‖x − target‖² / 2, of each row. x: [B, D]; target: [B, D], dense, copied. Result: [B, 1]. */
FovVar *fov_squared_error(FovTape *tape, FovVar *x, const real *target);

/** Row-wise log-softmax without a gradient. log_probabilities: [B, A], dense; logits: [B, A]. */
void fov_log_softmax(real *log_probabilities, FovMatrix logits);

#endif
