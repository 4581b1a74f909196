/**
 * Muon (Jordan et al. 2024): steps along the momentum of a layer's weights with all its singular
 * values made about 1, so that no direction is learned faster than another. Its steps are as long
 * as Adam's (Liu et al. 2025, eq. 4). Biases, and layers of fewer than 32 inputs or outputs, are
 * left to Adam and do not decay.
 */
#include <math.h>

#include "base/gemm.h"
#include "learn/optimiser/adam.h"

typedef struct Options {
  FovAdamOptions adam; /**< of what is small; comes first */
  double momentum, decay;
  int turns;
} Options;

static const FovOption options[] = {
    FOV_REAL(Options, momentum, "0.95", 0, 0.9999, "mu: share of a layer's momentum that is kept"),
    FOV_INT(Options, turns, "5", 1, 20,
            "Newton-Schulz iterations, which bring the singular values near 1"),
    FOV_ADAM_OPTIONS,
    FOV_REAL(Options, decay, "0", 0, 1,
             "share of a weight that an orthogonal step subtracts from it, times the rate"),
    FOV_OPTIONS_END,
};

/** Inputs and outputs that Muon takes a layer from. */
enum { LEAST = 32 };

/** Momentum of a smaller norm makes shorter steps: nothing is left in it to follow. */
static const double faint = 1e-7;

static int shorter(int rows, int cols) {
  return rows < cols ? rows : cols;
}

/** The direction, its next turn, and two products of the shorter side. */
static size_t scratch(int rows, int cols) {
  size_t side = (size_t)shorter(rows, cols);
  return side < LEAST ? 0 : 2 * ((size_t)rows * (size_t)cols + side * side);
}

/** Nesterov's: m = mu m + g, x = g + mu m. Returns the sum of squares of x. */
FOV_KERNEL static double gather(real *restrict x, const FovOptimiserStep *step, real momentum) {
  real *restrict m = step->first;
  const real *restrict g = step->gradient;
  double squares = 0;
  for (size_t i = 0; i < step->count; i++) {
    real g_i = g[i] * step->scale;
    m[i] = momentum * m[i] + g_i;
    x[i] = g_i + momentum * m[i];
    squares += (double)x[i] * (double)x[i];
  }
  return squares;
}

FOV_KERNEL static void scale(real *x, real factor, size_t count) {
  for (size_t i = 0; i < count; i++) x[i] *= factor;
}

/** y = a x + b y */
FOV_KERNEL static void mix(real *restrict y, const real *restrict x, real a, real b, size_t count) {
  for (size_t i = 0; i < count; i++) y[i] = a * x[i] + b * y[i];
}

/**
 * Newton and Schulz's iteration X = a X + (b G + c G²) X with G = X Xᵀ (Xᵀ X, from the right, if X
 * is tall). Each turn makes small singular values 3.4 times as large, and keeps those from 0.68 to
 * 1.21 there. `at` is scratch() numbers that begin with X. Returns where X is.
 */
static real *orthogonalise(real *at, const FovOptimiserStep *step, int turns) {
  const real a = (real)3.4445, b = (real)-4.7750, c = (real)2.0315;
  int rows = step->rows, cols = step->cols, side = shorter(rows, cols);
  bool tall = rows > cols;
  size_t area = (size_t)side * (size_t)side;
  FovMatrix x = {at, rows, cols, cols}, next = {at + step->count, rows, cols, cols};
  FovMatrix gram = {next.at + step->count, side, side, side};
  FovMatrix square = {gram.at + area, side, side, side};
  for (int turn = 0; turn < turns; turn++) {
    fov_gemm(gram, x, tall, x, !tall, 0);
    fov_gemm(square, gram, false, gram, false, 0);
    mix(square.at, gram.at, b, c, area);
    if (tall)
      fov_gemm(next, x, false, square, false, 0);
    else
      fov_gemm(next, square, false, x, false, 0);
    mix(next.at, x.at, a, 1, step->count);
    FovMatrix last = x;
    x = next, next = last;
  }
  return x.at;
}

static void step_muon(const FovOptimiserStep *step, const void *values) {
  const Options *o = values;
  if (scratch(step->rows, step->cols) == 0) {
    fov_adam_step(step, &o->adam);
    return;
  }
  real *x = step->scratch;
  double norm = sqrt(gather(x, step, (real)o->momentum));
  scale(x, (real)(1 / fmax(norm, faint)), step->count);
  int longer = step->rows > step->cols ? step->rows : step->cols;
  mix(step->value, orthogonalise(x, step, o->turns), -step->rate * (real)(0.2 * sqrt(longer)),
      1 - step->rate * (real)o->decay, step->count);
}

const FovOptimiser fov_optimiser_muon = {
    .plugin = {.name = "muon",
               .help = "orthogonal steps for layers at least 32 wide (Jordan et al. 2024), Adam "
                       "for the others",
               .options = options,
               .options_size = sizeof(Options)},
    .scratch = scratch,
    .step = step_muon,
};
