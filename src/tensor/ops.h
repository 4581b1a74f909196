/** The operations of the tape; each is a forward and a backward function side by side in ops_*.c.
 */
#ifndef FOV_TENSOR_OPS_H
#define FOV_TENSOR_OPS_H

#include "tensor/tape.h"

typedef enum FovActivation { FOV_LINEAR, FOV_RELU, FOV_TANH } FovActivation;

/** act(x Wᵀ + b). x: [B, D]; w: [E, D]; bias: [1, E] or NULL. Result: [B, E]. */
FovVar *fov_linear(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, FovActivation activation);

/** act(x Wᵀ + h Uᵀ + b). x: [B, D]; w: [E, D]; h: [B, F]; u: [E, F]; bias: [1, E]. Result: [B, E].
 * An h of NULL stands for zeros. */
FovVar *fov_linear2(FovTape *tape, FovVar *x, FovVar *w, FovVar *h, FovVar *u, FovVar *bias,
                    FovActivation activation);

/** Where the filters of a convolution stand: on every `stride`th pixel, down and across, of S
 * pictures [H, W, C] that lie side by side in a row of x, as far as they fit. */
typedef struct FovConv {
  int pictures;                /**< S */
  int height, width, channels; /**< H, W, C of each */
  int side;                    /**< K of the square filters: 1 … min(H, W) */
  int stride;                  /**< 1 or more */
} FovConv;

/** Windows that fit in `extent` pixels, the height or width of a picture: H', W'. */
int fov_conv_fitting(const FovConv *conv, int extent);

/** Places of a filter on all pictures: S·H'·W', where H' = (H − K) / stride + 1, rounded down, and
 * W' likewise. */
int fov_conv_places(const FovConv *conv);

/** Numbers of the scratch that one use of fov_conv with F filters takes, however many the lanes. */
double fov_conv_scratch(const FovConv *conv, int filters);

/**
 * act(x ∗ w + b): a convolution without padding (LeCun et al. 1998), the same filters on every
 * picture.
 *
 * y[b, s, i, j, f] = act(Σ_klc x[b, s, i·stride + k, j·stride + l, c] w[f, k, l, c] + b[f]).
 * x: [B, S·H·W·C]; w: [F, K·K·C]; bias: [1, F] or NULL. Result: [B, S·H'·W'·F].
 */
FovVar *fov_conv(FovTape *tape, FovVar *x, FovVar *w, FovVar *bias, const FovConv *conv,
                 FovActivation activation);

/** a + b, both [B, D]. */
FovVar *fov_add(FovTape *tape, FovVar *a, FovVar *b);

/** Rows rows[0 … count−1] of x [B, D], each 0 … B−1, as a result of their own: [count, D]. */
FovVar *fov_gather(FovTape *tape, FovVar *x, const int *rows, int count);

/**
 * One LSTM cell (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).
 *
 * c_t = σ(f) ∘ c_prev + σ(i) ∘ tanh(g),  h_t = σ(o) ∘ tanh(c_t).
 * gates: [B, 4D] in the order i f g o, before their activations; c_prev: [B, D] or NULL for zeros.
 * Results: *h_t, *c_t: [B, D].
 */
void fov_lstm_cell(FovVar **h_t, FovVar **c_t, FovTape *tape, FovVar *gates, FovVar *c_prev);

/**
 * One GRU cell (Cho et al. 2014, the reset gate applied after the product).
 *
 * h_t = (1 − σ(z)) ∘ tanh(n_x + σ(r) ∘ n_h) + σ(z) ∘ h_prev.
 * x: [B, 3D] in the order r z n, from the input; h: [B, 3D] from the state; h_prev: [B, D] or NULL
 * for zeros. Result: [B, D].
 */
FovVar *fov_gru_cell(FovTape *tape, FovVar *x, FovVar *h, FovVar *h_prev);

/**
 * Cross-entropy of a softmax, in nats. logits: [B, A]; labels: [B], each 0 … A−1.
 * Result: [B, 1]. log_probabilities: [B, A], written unless NULL.
 */
FovVar *fov_cross_entropy(FovTape *tape, real *log_probabilities, FovVar *logits,
                          const int *labels);

/** log softmax(logits)_a of an action a. logits: [B, A]; actions: [B], each 0 … A−1. Result: [B,
 * 1].
 */
FovVar *fov_categorical_log_prob(FovTape *tape, FovVar *logits, const int *actions);

/** Entropy of softmax(logits), in nats: −Σ_a p_a log p_a. logits: [B, A]. Result: [B, 1]. */
FovVar *fov_softmax_entropy(FovTape *tape, FovVar *logits);

/**
 * log Normal(sample; mean, diag(sigma²)), summed over columns. mean: [B, D]; sample: [B, D], a
 * constant; sigma: [D], each > 0. Result: [B, 1].
 */
FovVar *fov_gaussian_log_prob(FovTape *tape, FovVar *mean, const real *sample, const real *sigma);

/** (x − target)² / 2. x: [B, 1]; target: [B], a constant. Result: [B, 1]. */
FovVar *fov_squared_error(FovTape *tape, FovVar *x, const real *target);

/** Row-wise log-softmax without a gradient. log_probabilities: [B, A], dense; logits: [B, A]. */
void fov_log_softmax(real *log_probabilities, FovMatrix logits);

#endif
